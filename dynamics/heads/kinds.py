"""Scores of heads by kind, and the choice of heads by the size of a score against its baselines.

Scores are means over the rows of the second copy that `copies` keeps, t the row and t' the earlier copy of its token:

    induction    a_{t, t'+1}                               the token that came next
    duplicate    a_{t, t'}                                 the earlier copy: an echo head's score, where there is one
    retrieval    1 if a_{t, t'+1} is largest, else 0       Wu et al. 2024, Section 2
    previous     a_{t, t-1}                                all rows of a prompt from the third on; of a text too
    sink         a_{t, 0}                                  shown, and never chosen

Beside each stand three baselines. Even attention is the mean of 1 / (t + 1). The twin is the score at the same rows and
keys of prompts without the earlier copy. `shuffled` is the mean score of the same head in 20 copies of the model whose
matrices have their entries permuted: slopes, norms and embeddings stay. A head is chosen if its score is at least
`SIZE` above all three, and further above even and shuffled than any head of any copy, in nine of ten seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dynamics.heads.batched import Integers, show, shuffled
from dynamics.heads.copies import Prompts, draw
from dynamics.heads.returned import Returning
from dynamics.heads.rows import vocabulary

if TYPE_CHECKING:
    from torch import nn

Array = NDArray[np.float64]
Over = Callable[..., Iterable[Any]]
Places = dict[Any, tuple[Integers, Integers, Integers]]
SIZE, PROMPTS, COPIES = 0.1, 8, 20
KINDS = ("induction", "duplicate", "retrieval", "previous token", "previous token on text")
WHOLE = KINDS[:3]  # a head of these kinds looks far back, and a cache keeps all tokens for it


class Score(NamedTuple):
    """One kind of score. seeds (n, layers, heads): by seed of the prompts; even: of even attention.

    twin, shuffled (layers, heads): baselines, NaN where there are none; null: the most that a head of a copy is above
    its baseline; passed (layers, heads): in how many seeds a head passes; chosen, bool: in nine of ten.
    """

    seeds: Array
    even: float
    twin: Array
    shuffled: Array
    null: float
    passed: NDArray[np.int64]
    chosen: NDArray[np.bool_]

    @property
    def mean(self) -> Array:
        """The score of each head, (layers, heads)."""
        return self.seeds.mean(0)


class Source(NamedTuple):
    """Where prompts come from: a model's vocabulary, its first token, ids that are never drawn, pieces of a text."""

    model: nn.Module | Returning
    first: int | None
    excluded: Collection[int]
    text: Sequence[Integers]
    seed: int

    def prompts(self, count: int, length: int, *more: int) -> Prompts:
        """Prompts that `more` tells apart."""
        return draw(vocabulary(self.model), length, count, (self.seed, *more), self.first, self.excluded)

    def windows(self, length: int, number: int) -> Integers | None:
        """Windows of the text at random places, (prompts, length or what the longest piece allows), None without one.

        Raises: ValueError for tokens outside the vocabulary, and a text of fewer than 3 tokens.
        """
        if not self.text:
            return None
        lead = [] if self.first is None else [self.first]
        taken = min(length - len(lead), max(map(len, self.text)))
        known, every = vocabulary(self.model), np.concatenate(self.text)
        if taken < 3 or every.min() < 0 or every.max() >= known:
            raise ValueError(f"a text needs 3 tokens in 0..{known - 1}, got {taken}: {every.min()}..{every.max()}")
        starts = [(piece, at) for piece in self.text for at in range(len(piece) - taken + 1)]
        chosen = np.random.default_rng((self.seed, number)).integers(len(starts), size=PROMPTS)
        return np.array([[*lead, *piece[at : at + taken]] for piece, at in (starts[one] for one in chosen)])


def choose(source: Source, length: int, seeds: int, over: Over) -> tuple[dict[str, Score], Array]:
    """The scores by kind of all heads, and the mean attention to key 0, (layers, heads)."""
    model, plain, twins, evens, copies = source.model, [], [], [], []
    for number in over(range(seeds), desc="prompts"):
        prompts, windows = source.prompts(PROMPTS, length, 3, number), source.windows(length, number)
        plain.append(_scores(model, prompts, windows))
        places = _places(prompts)
        twins.append(measured(model, prompts.twins, {kind: places[kind] for kind in WHOLE}))
        texts = {} if windows is None else {"previous token on text": _before(windows)}
        evens.append({kind: (1 / (at[1] + 1)).mean() for kind, at in (places | texts).items()})
    for number in over(range(0 if isinstance(model, Returning) else COPIES), desc="shuffled copies"):
        prompts = source.prompts(PROMPTS, length, 3, number % seeds)
        copies.append(_scores(shuffled(model, number), prompts, source.windows(length, number % seeds)))
    of = lambda runs, kind: np.array([one[kind] for one in runs if kind in one])  # noqa: E731
    found = {k: _score(k, of(plain, k), of(evens, k), of(twins, k), of(copies, k)) for k in KINDS if k in plain[0]}
    return found, of(plain, "sink").mean(0)


def _score(kind: str, seeds: Array, even: Array, twins: Array, copies: Array) -> Score:
    """The choice: seeds, twins and copies (n, layers, heads), even (n,)."""
    unknown, usual = np.full(seeds.shape[1:], np.nan), even[:, None, None]
    twin, mean = (runs.mean(0) if len(runs) else unknown for runs in (twins, copies))
    beside = np.fmax(usual, mean)
    null = float((copies - np.fmax(even.mean(), mean)).max()) if len(copies) else np.nan
    own = twins if len(twins) else unknown
    passed = ((seeds - np.fmax(beside, own) >= SIZE) & ~(seeds - beside <= null)).sum(0)
    # Slope and position alone make previous-token heads: without copies nothing tells those apart.
    chosen = (10 * passed >= 9 * len(seeds)) & (len(copies) > 0 or kind in WHOLE)
    return Score(seeds, float(even.mean()), twin, mean, null, passed, chosen)


def _places(prompts: Prompts) -> Places:
    second, before = (prompts.prompt, prompts.row), prompts.row - prompts.back
    found = {"induction": before + 1, "duplicate": before, "retrieval": before + 1, "sink": 0 * before}
    return {kind: (*second, key) for kind, key in found.items()} | {"previous token": _before(prompts.tokens)}


def _before(tokens: Integers) -> tuple[Integers, Integers, Integers]:
    prompt, row = (one[:, 2:].ravel() for one in np.indices(tokens.shape))
    return prompt, row, row - 1


def _scores(model: nn.Module | Returning, prompts: Prompts, windows: Integers | None) -> dict[str, Array]:
    found = measured(model, prompts.tokens, _places(prompts))
    if windows is not None:
        found |= measured(model, windows, {"previous token on text": _before(windows)})
    return found


def measured(model: nn.Module | Returning, tokens: Integers, places: Places) -> dict[str, Array]:
    """The mean of each kind over its places (prompt, row, key), (layers, heads)."""
    sums: dict[Any, dict[int, Tensor]] = {kind: {} for kind in places}

    def visit(part: slice, layer: int, weights: Tensor) -> None:
        for kind, (prompt, row, key) in places.items():
            at = (part.start <= prompt) & (prompt < part.start + len(weights))
            prompts, rows, keys = (torch.from_numpy(one[at]) for one in (prompt - part.start, row, key))
            if kind == "retrieval":
                found = weights[prompts, :, rows].argmax(-1) == keys.to(weights.device)[:, None]
            else:
                found = weights[prompts, :, rows, keys]
            sums[kind][layer] = sums[kind].get(layer, 0) + found.double().sum(0).cpu()

    show(model, tokens, visit)
    counts = {kind: len(at[0]) for kind, at in places.items()}
    return {kind: np.stack([by[n].numpy() for n in sorted(by)]) / counts[kind] for kind, by in sums.items()}
