"""Mask or hide a token, or give it another position, and measure how the model changes.

Two interventions are those of the waiver paper, Section 4.2. `Mask` is its first: in the row of token k every key but
its own is masked before the softmax (Eq. 11); all other rows stay as they are, and still see it. `Replace` is its
second: a token has the learned position of the first or the last place instead of its own. Two are ours: `Hide` masks
the column of token k, and `Swap` exchanges two tokens' positions.
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

from dynamics.heads.rows import Apart
from dynamics.model.decoder import InductionModel
from dynamics.sinks import passes, positions, states
from dynamics.sinks.attention import Parted, Seen, reading
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


class Hide(NamedTuple):
    """No other token of each window sees token k, in layers and heads as those of `Mask`; it still sees all it saw.

    In a model that shifts keys or values, those of the next token hold a part of it, and are still seen.
    """

    token: int
    heads: Mapping[int, Collection[int]] | None = None


class Swap(NamedTuple):
    """Two tokens of each window exchange their learned positions; their places where positions are not learned."""

    first: int
    second: int


class Replace(NamedTuple):
    """The token at `place` of each window has the learned position of the token at `position`, which keeps it too.

    Source: the waiver paper, Section 4.2.2, with the first and the last position.
    """

    place: int
    position: int


@comparable
class Effect(NamedTuple):
    """What an intervention changed, window by window.

    kind: "mask", "hide", "replaced"; of a swap "positions", where learned positions were exchanged and the tokens
    stayed, or "tokens", where the tokens were, because nothing of a position is added to the states. places: the tokens
    it is about, and those asked for besides. loss_before, loss_after (windows,): mean cross-entropy in nats, of the
    next token, or, where tokens see those after them, of the token itself, which is then in sight. divergence
    (windows,): KL(before || after) of the distributions at the last token; change: the largest change of a logit there.
    These four are NaN for a model without a head. moved (windows, window): r_i = ||y_i - x_i|| / ||x_i|| of the last
    states, behind the final norm, x before and y after, at the same place; neighbours (windows,): for comparison, the
    mean of ||x_{i+1} - x_i|| / ||x_i||, the last token beside the first. weight_before, weight_after (layers, heads,
    places): the mean weight of the places from all queries that come after them, or from all others where tokens see
    those after them; NaN where there is no such query.
    """

    kind: str
    places: tuple[int, ...]
    window: int
    loss_before: Array
    loss_after: Array
    divergence: Array
    change: Array
    moved: Array
    neighbours: Array
    weight_before: Array
    weight_after: Array


class _Outcome(NamedTuple):
    loss: float
    last: Tensor
    states: Tensor
    weights: Array


def intervene(
    model: nn.Module,
    tokens: Text | ArrayLike,
    change: Mask | Hide | Swap | Replace,
    window: int | None = None,
    *,
    begin: int | None = None,
    also: Collection[int] = (),
    progress: bool = False,
) -> Effect:
    """Run each window as it is and with the change, and compare.

    Args: as `dynamics.sinks.measured.measure`; also: other places whose weights are wanted.

    Raises: ValueError as there, for tokens outside the window, layers and heads that are not there, and a swap or a
        replacement that would change nothing or for which the model has no positions.
    """
    sizes = passes.sizes(model)
    rows = cut(model, tokens, window, begin)
    parting = isinstance(change, Mask | Hide)
    places = ((change.token,) if parting else tuple(change)) + tuple(also)
    for place in places:
        if not 0 <= place < rows.shape[1]:
            raise ValueError(f"token {place} is outside the window: 0..{rows.shape[1] - 1}")
    texts = torch.from_numpy(rows).to(passes.device_of(model))
    run = partial(_run, model, places, sizes)
    if parting:
        kind, changed = type(change).__name__.lower(), partial(run, parted=_parted(change, sizes))
    else:
        kind, moves = _moves(model, texts, change)
        changed = partial(_elsewhere, model, run, change, moves)
    found = [
        _compared(run(text), changed(text)) for text in tqdm(texts, unit="window", disable=not progress, leave=False)
    ]
    *numbers, before, after = (np.array(part) for part in zip(*found, strict=True))
    return Effect(kind, places, rows.shape[1], *numbers, before.mean(0), after.mean(0))


def _compared(one: _Outcome, other: _Outcome) -> tuple[float | Array, ...]:
    """Of one window, the fields of `Effect` from loss_before on, without the logits and states themselves."""
    p, q = one.last.log_softmax(0), other.last.log_softmax(0)
    divergence, change = (p.exp() * (p - q)).sum().item(), (one.last - other.last).abs().max().item()
    moved = states.relative_change(one.states, other.states).cpu().numpy()
    neighbours = states.relative_change(one.states, one.states.roll(-1, 0)).mean().item()
    return one.loss, other.loss, divergence, change, moved, neighbours, one.weights, other.weights


def _parted(change: Mask | Hide, sizes: passes.Sizes) -> Parted:
    """The `parted` of `reading`. Raises: ValueError for layers and heads that are not there."""
    chosen = dict.fromkeys(range(sizes.n_layers), ()) if change.heads is None else change.heads
    for layer, heads in chosen.items():
        if not 0 <= layer < sizes.n_layers:
            raise ValueError(f"layers must be in 0..{sizes.n_layers - 1}, got {layer}")
        if wrong := [head for head in heads if not 0 <= head < sizes.n_heads]:
            raise ValueError(f"heads of layer {layer} must be in 0..{sizes.n_heads - 1}, got {wrong[0]}")

    def parted(layer: int, n_heads: int) -> Apart | None:
        if layer not in chosen:
            return None
        some = torch.full((n_heads,), not chosen[layer])
        some[list(chosen[layer])] = True
        return Apart(change.token, some, isinstance(change, Hide))

    return parted


def _moves(model: nn.Module, texts: Tensor, change: Swap | Replace) -> tuple[str, dict[int, int]]:
    """The kind of `Effect`, and which learned position each place is to have, {place: position}; none of "tokens".

    Raises: ValueError for a change that changes nothing, or without any positions.
    """
    one, other = change
    if one == other:
        raise ValueError(f"a swap or replacement is of two tokens, got {one} twice")
    learned = positions.learned(model) is not None
    if isinstance(change, Replace):
        if not learned:
            raise ValueError("this model adds no learned positions to its states: there is none to replace")
        return "replaced", {one: other}
    if learned:
        return "positions", {one: other, other: one}
    if isinstance(model, InductionModel) and model.config.position == "none":
        raise ValueError("this model has no positions that two tokens could exchange")
    if torch.equal(texts[:, one], texts[:, other]):
        raise ValueError(f"tokens {one} and {other} are the same: to exchange them changes nothing")
    return "tokens", {}


def _elsewhere(
    model: nn.Module, run: Callable[..., _Outcome], change: Swap | Replace, moves: dict[int, int], text: Tensor
) -> _Outcome:
    if moves:
        with positions.moved(model, moves):
            return run(text)
    text = text.clone()
    text[list(change)] = text[list(change)[::-1]]
    return run(text)


def _run(
    model: nn.Module,
    places: tuple[int, ...],
    sizes: passes.Sizes,
    tokens: Tensor,
    parted: Parted | None = None,
) -> _Outcome:
    seen, length = Seen(), len(tokens)
    given = torch.zeros(sizes.n_layers, sizes.n_heads, len(places), dtype=torch.float64)

    def visit(layer: int, heads: slice, start: int, weights: Tensor) -> None:
        queries = torch.arange(start, start + weights.shape[1], device=weights.device)
        for index, place in enumerate(places):
            if place < weights.shape[2]:
                others = queries > place if seen.causal else queries != place
                given[layer, heads, index] += weights[:, others, place].sum(1, dtype=torch.float64).cpu()

    with torch.no_grad(), passes.through(model, reading(visit, seen, parted)):
        hidden = passes.features(model, tokens)[0]
        loss, last = _loss(model, hidden, tokens, seen)
    numbers = [length - 1 - place if seen.causal else length - 1 for place in places]
    weights = np.divide(given.numpy(), numbers, out=np.full(given.shape, np.nan), where=np.array(numbers) > 0)
    return _Outcome(loss, last, hidden, weights)


def _loss(model: nn.Module, hidden: Tensor, targets: Tensor, seen: Seen) -> tuple[float, Tensor]:
    """The mean cross-entropy and the logits at the last token, (vocabulary,); NaN without a head."""
    if not passes.headed(model):
        return np.nan, torch.tensor([torch.nan])
    total, last, ahead = 0.0, torch.empty(0), int(seen.causal)
    for start, found in passes.read_out(model, hidden):
        scored = targets[start + ahead : start + ahead + len(found)]
        total += F.cross_entropy(found[: len(scored)], scored, reduction="sum").item()
        last = found[-1].double()
    return total / (len(targets) - ahead), last
