"""Make a token a waiver, by a mask or by another place for it, and measure how the model changes.

The waiver paper, Section 4.2: in the row of token k every key but its own is masked before the softmax (Eq. 11), all
other rows stay as they are, so that all others still see it. Where positions are learned embeddings, two tokens
exchange them (its second strategy puts those of the first and the last place elsewhere).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from dynamics.model.decoder import InductionModel
from dynamics.sinks import passes
from dynamics.sinks.attention import Alone, Seen, reading
from dynamics.sinks.texts import Text
from dynamics.sinks.windows import cut
from theory.records import comparable

Array = NDArray[np.float64]


class Mask(NamedTuple):
    """Token k of each window sees itself alone, in these layers (None: all) and heads of each (none named: all).

    A learned sink logit stays in its row; in a model that shifts keys, its key holds a part of the token before.
    """

    token: int
    heads: Mapping[int, Collection[int]] | None = None


class Swap(NamedTuple):
    """Two tokens of each window exchange their places."""

    first: int
    second: int


@comparable
class Effect(NamedTuple):
    """What an intervention changed, window by window.

    kind: "mask"; of a swap "positions", where the embeddings of positions were exchanged and the tokens stayed, or
    "tokens", where the tokens were, because nothing of a position is added to the states. places: the tokens it is
    about, and those asked for besides. loss_before, loss_after (windows,): mean cross-entropy in nats, of the next
    token, or, where tokens see those after them, of the token itself, which is then in sight. divergence (windows,):
    KL(before || after) of the distributions at the last token; change: the largest change of a logit there.
    weight_before, weight_after (layers, heads, places): the mean weight of the places from all queries that come after
    them, or from all others where tokens see those after them; NaN where there is no such query.
    """

    kind: str
    places: tuple[int, ...]
    window: int
    loss_before: Array
    loss_after: Array
    divergence: Array
    change: Array
    weight_before: Array
    weight_after: Array


class _Outcome(NamedTuple):
    loss: float
    last: Tensor
    weights: Array


def intervene(
    model: nn.Module,
    tokens: Text | ArrayLike,
    change: Mask | Swap,
    window: int | None = None,
    *,
    begin: int | None = None,
    also: Collection[int] = (),
    progress: bool = False,
) -> Effect:
    """Run each window as it is and with the change, and compare.

    Args: as `dynamics.sinks.measured.measure`; also: other places whose weights are wanted.

    Raises: ValueError as there, for tokens outside the window, layers and heads that are not there, a model without a
        head, and a swap that would change nothing or for which the model has no positions.
    """
    sizes = passes.sizes(model)
    rows = cut(model, tokens, window, begin)
    places = ((change.token,) if isinstance(change, Mask) else tuple(change)) + tuple(also)
    for place in places:
        if not 0 <= place < rows.shape[1]:
            raise ValueError(f"token {place} is outside the window: 0..{rows.shape[1] - 1}")
    texts = torch.from_numpy(rows).to(passes.device_of(model))
    run = partial(_run, model, places, sizes)
    if isinstance(change, Mask):
        kind, changed = "mask", partial(run, alone=_alone(change, sizes))
    else:
        kind = _kind(model, texts, change)
        changed = partial(_swapped, model, run, change, kind)
    found = [
        _compared(run(text), changed(text)) for text in tqdm(texts, unit="window", disable=not progress, leave=False)
    ]
    *numbers, before, after = (np.array(part) for part in zip(*found, strict=True))
    return Effect(kind, places, rows.shape[1], *numbers, before.mean(0), after.mean(0))


def _compared(one: _Outcome, other: _Outcome) -> tuple[float, float, float, float, Array, Array]:
    """Of one window, the fields of `Effect` from loss_before on: numbers, and no logits that would be kept."""
    p, q = one.last.log_softmax(0), other.last.log_softmax(0)
    divergence, change = (p.exp() * (p - q)).sum().item(), (one.last - other.last).abs().max().item()
    return one.loss, other.loss, divergence, change, one.weights, other.weights


def _alone(mask: Mask, sizes: passes.Sizes) -> Alone:
    """The `alone` of `reading`. Raises: ValueError for layers and heads that are not there."""
    chosen = dict.fromkeys(range(sizes.n_layers), ()) if mask.heads is None else mask.heads
    for layer, heads in chosen.items():
        if not 0 <= layer < sizes.n_layers:
            raise ValueError(f"layers must be in 0..{sizes.n_layers - 1}, got {layer}")
        if wrong := [head for head in heads if not 0 <= head < sizes.n_heads]:
            raise ValueError(f"heads of layer {layer} must be in 0..{sizes.n_heads - 1}, got {wrong[0]}")

    def alone(layer: int, n_heads: int) -> tuple[int, Tensor] | None:
        if layer not in chosen:
            return None
        some = torch.full((n_heads,), not chosen[layer])
        some[list(chosen[layer])] = True
        return mask.token, some

    return alone


def _kind(model: nn.Module, texts: Tensor, swap: Swap) -> str:
    """Whether the states that enter the first layer hold positions, which can be exchanged, or the tokens have to be.

    Raises: ValueError for a swap of one token with itself, or that changes nothing, or without any positions.
    """
    if swap.first == swap.second:
        raise ValueError(f"a swap is of two tokens, got {swap.first} twice")
    pair, turned = list(swap), [swap.second, swap.first]
    plain, moved = _entering(model, texts[0])[pair], _entering(model, _exchanged(texts[0], swap))[turned]
    if not torch.allclose(plain, moved, rtol=1e-4, atol=1e-6):
        return "positions"
    if isinstance(model, InductionModel) and model.config.position == "none":
        raise ValueError("this model has no positions that two tokens could exchange")
    if torch.equal(texts[:, swap.first], texts[:, swap.second]):
        raise ValueError(f"tokens {swap.first} and {swap.second} are the same: to exchange them changes nothing")
    return "tokens"


def _swapped(model: nn.Module, run: Callable[..., _Outcome], swap: Swap, kind: str, text: Tensor) -> _Outcome:
    exchanged = _exchanged(text, swap)
    if kind == "tokens":
        return run(exchanged)
    # The other's token at this place, and then the two rows turned: each token with the position of the other.
    with passes.shown(model, entering=lambda states: _exchanged(states[0], swap)[None]):
        return run(exchanged, targets=text)


def _exchanged(rows: Tensor, swap: Swap) -> Tensor:
    out = rows.clone()
    out[list(swap)] = rows[[swap.second, swap.first]]
    return out


def _entering(model: nn.Module, tokens: Tensor) -> Tensor:
    """The states (length, width) that the first layer takes."""

    class Found(Exception):
        pass

    def stop(states: Tensor) -> Tensor:
        raise Found(states[0])

    try:
        with torch.no_grad(), passes.shown(model, entering=stop):
            passes.features(model, tokens)
    except Found as found:
        return found.args[0]
    raise AssertionError("no layer was called")


def _run(
    model: nn.Module,
    places: tuple[int, ...],
    sizes: passes.Sizes,
    tokens: Tensor,
    targets: Tensor | None = None,
    alone: Alone | None = None,
) -> _Outcome:
    seen, length = Seen(), len(tokens)
    given = torch.zeros(sizes.n_layers, sizes.n_heads, len(places), dtype=torch.float64)

    def visit(layer: int, heads: slice, start: int, weights: Tensor) -> None:
        queries = torch.arange(start, start + weights.shape[1], device=weights.device)
        for index, place in enumerate(places):
            if place < weights.shape[2]:
                others = queries > place if seen.causal else queries != place
                given[layer, heads, index] += weights[:, others, place].sum(1, dtype=torch.float64).cpu()

    with torch.no_grad(), passes.through(model, reading(visit, seen, alone)):
        loss, last = _loss(model, tokens, tokens if targets is None else targets, seen)
    numbers = [length - 1 - place if seen.causal else length - 1 for place in places]
    weights = np.divide(given.numpy(), numbers, out=np.full(given.shape, np.nan), where=np.array(numbers) > 0)
    return _Outcome(loss, last, weights)


def _loss(model: nn.Module, tokens: Tensor, targets: Tensor, seen: Seen) -> tuple[float, Tensor]:
    """The mean cross-entropy and the logits at the last token, (vocabulary,)."""
    total, last = 0.0, torch.empty(0)
    for start, found in passes.logits(model, tokens):
        # Told by the layers, which have run before there are logits.
        ahead = int(seen.causal)
        scored = targets[start + ahead : start + ahead + len(found)]
        total += F.cross_entropy(found[: len(scored)], scored, reduction="sum").item()
        last = found[-1].double()
    return total / (len(targets) - seen.causal), last
