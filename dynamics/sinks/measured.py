"""Where a model's sinks are, and what they do: attention, values and states of its layers, window by window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from tqdm import tqdm

from dynamics.sinks import passes, states
from dynamics.sinks.attention import Received, Seen, entropy, most_entropy, reading
from dynamics.sinks.positions import untrained
from dynamics.sinks.texts import Text
from dynamics.sinks.windows import windows_of
from theory.records import comparable

Array = NDArray[np.float64]


@comparable
class HeadSinks(NamedTuple):
    """What the heads give, rows are layers: means over the windows, (layers, heads) but for importance.

    importance (layers, heads, window): a_j, the mean of column j over all queries. entropy: of a_j / sum a, in nats, in
    [0, ln window], ResFormer's Eq. 11 for column means; most_entropy: the largest that the importance of the first
    token leaves. first: the importance of the first token; largest and place: of the token that is given most, and
    which that is. needed_range: logits of a smaller range could not give the first token what some query of the text
    gives it. sink_share: the share of learned sink logits, 0 without them.
    """

    importance: Array
    entropy: Array
    most_entropy: Array
    first: Array
    largest: Array
    place: NDArray[np.int64]
    needed_range: Array
    sink_share: Array


@comparable
class LayerStates(NamedTuple):
    """Vectors by layer: means over the windows, (layers,) where nothing else is said.

    value_norms (layers, window): of all heads' values side by side, as attention reads them; drain: the first token's
    over the mean of the others; sink (layers,) is the token with the most importance on the mean over heads, and
    sink_drain its drain; head_drain (layers, kv_heads): by key-value head. state_norms (layers, window), peak,
    sink_peak and similarity (mean cosine over pairs): of the states that leave the layer, before any final norm, and
    before a mean over depth. eigenvalues (layers, value width): of the second moment of the values, centred_eigenvalues
    of their covariance, largest first; rank and centred_rank: their effective rank; top and centred_top: the share of
    the largest.
    """

    value_norms: Array
    drain: Array
    sink: NDArray[np.int64]
    sink_drain: Array
    head_drain: Array
    state_norms: Array
    peak: Array
    sink_peak: Array
    similarity: Array
    eigenvalues: Array
    rank: Array
    top: Array
    centred_eigenvalues: Array
    centred_rank: Array
    centred_top: Array


@comparable
class Measured(NamedTuple):
    """Rows of the arrays are `layers`; windows of `window` tokens each, left_out tokens at the end of the text unread.

    mid_text: windows that begin in the middle of a text or record. causal: whether no token sees those after it.
    untrained: the first learned position that looks so (`dynamics.sinks.positions`), or None.
    """

    layers: tuple[int, ...]
    window: int
    windows: int
    left_out: int
    mid_text: int
    causal: bool
    untrained: int | None
    heads: HeadSinks
    states: LayerStates


def measure(
    model: nn.Module,
    tokens: Text | ArrayLike,
    window: int | None = None,
    layers: Iterable[int] | None = None,
    *,
    begin: int | None = None,
    progress: bool = False,
) -> Measured:
    """Read a text window by window; attention is never held whole, nor more than one window of states.

    Args: model, an `InductionModel` or a model of transformers that `dynamics.hf.families` knows, in evaluation mode;
        tokens, window, begin: as `dynamics.sinks.windows.windows_of`; layers: which to measure, None for all.
    Raises: ValueError as `cut`, for another model, layers that are not there, states that are not finite.
    """
    chosen, n_heads = chosen_layers(model, layers), passes.sizes(model).n_heads
    windows = windows_of(model, tokens, window, begin)
    rows = windows.rows
    sums: dict[str, Array] = {}
    for row in tqdm(rows, unit="window", disable=not progress, leave=False):
        found, causal = _window(model, torch.from_numpy(row), chosen, n_heads)
        for name, value in found.items():
            if name == "needed_range":
                sums[name] = np.maximum(sums.get(name, 0.0), value)
            else:
                sums[name] = sums.get(name, 0.0) + value / len(rows)
    mid_text = len(rows) - len(np.unique(windows.piece))
    numbers = rows.shape[1], len(rows), windows.left_out, mid_text, causal, untrained(model)
    return Measured(chosen, *numbers, _heads(sums), _states(sums))


def chosen_layers(model: nn.Module, layers: Iterable[int] | None) -> tuple[int, ...]:
    """These layers in order, or all. Raises: ValueError for layers that are not there, and for none."""
    number = passes.sizes(model).n_layers
    chosen = tuple(range(number)) if layers is None else tuple(sorted(set(layers)))
    if not chosen or chosen[0] < 0 or chosen[-1] >= number:
        raise ValueError(f"layers must be in 0..{number - 1}, got {', '.join(map(str, chosen)) or 'none'}")
    return chosen


def _window(model: nn.Module, tokens: Tensor, layers: Sequence[int], n_heads: int) -> tuple[dict[str, Array], bool]:
    """Every array of one window that a mean is taken of, rows are layers; and whether attention is causal."""
    device = passes.device_of(model)
    received = {layer: Received(n_heads, len(tokens), device) for layer in layers}
    vectors: dict[int, dict[str, Tensor]] = {layer: {} for layer in layers}

    def visit(layer: int, heads: slice, start: int, weights: Tensor) -> None:
        if layer in received:
            received[layer].add(heads, start, weights)

    def values(layer: int, value: Tensor) -> None:
        if layer in vectors:
            vectors[layer] |= _of_values(value)

    def leaving(layer: int, hidden: Tensor) -> None:
        if not torch.isfinite(hidden).all():
            raise ValueError(f"the states of layer {layer} are not finite, as {hidden.dtype}")
        if layer in vectors:
            vectors[layer] |= {"state_norms": states.norms(hidden[0]), "similarity": states.mean_cosine(hidden[0])}

    seen = Seen(values)
    with torch.no_grad(), passes.through(model, reading(visit, seen)), passes.shown(model, leaving):
        passes.features(model, tokens.to(device))
    found = [_of_heads(received[layer], seen) | _plain(vectors[layer]) for layer in layers]
    return {name: np.stack([of[name] for of in found]) for name in found[0]}, seen.causal


def _of_heads(received: Received, seen: Seen) -> dict[str, Array]:
    importance, share = received.importance(), received.sink_share()
    return {
        "importance": importance,
        "entropy": entropy(importance),
        "needed_range": received.needed_range(seen.causal),
        "sink_share": share if seen.sinks else np.zeros_like(share),
    }


def _of_values(value: Tensor) -> dict[str, Tensor]:
    """From the values (kv_heads, length, d) of a layer."""
    beside = value.transpose(0, 1).flatten(1)
    return {
        "value_norms": states.norms(beside),
        "head_norms": states.norms(value),
        "eigenvalues": states.spectrum(beside, centred=False),
        "centred_eigenvalues": states.spectrum(beside, centred=True),
    }


def _plain(vectors: dict[str, Tensor]) -> dict[str, Array]:
    return {name: value.cpu().numpy() for name, value in vectors.items()}


def _heads(means: dict[str, Array]) -> HeadSinks:
    importance = means["importance"]
    first = importance[..., 0]
    total = importance.sum(-1)
    share = np.divide(first, total, out=np.full_like(first, np.nan), where=total > 0)
    return HeadSinks(
        importance,
        means["entropy"],
        most_entropy(share, importance.shape[-1]),
        first,
        importance.max(-1),
        importance.argmax(-1),
        means["needed_range"],
        means["sink_share"],
    )


def _states(means: dict[str, Array]) -> LayerStates:
    sink = means["importance"].mean(1).argmax(-1)
    values, hidden = means["value_norms"], means["state_norms"]
    second, covariance = means["eigenvalues"], means["centred_eigenvalues"]
    return LayerStates(
        values, _ratio(values), sink, _ratio(values, sink), _ratio(means["head_norms"]),
        hidden, _ratio(hidden), _ratio(hidden, sink), means["similarity"],
        second, _effective_rank(second), _top(second), covariance, _effective_rank(covariance), _top(covariance),
    )  # fmt: skip


def _ratio(sizes: Array, token: NDArray[np.int64] | int = 0) -> Array:
    return states.first_over_others(torch.from_numpy(sizes), torch.as_tensor(token)).numpy()


def _effective_rank(eigenvalues: Array) -> Array:
    return states.effective_rank(torch.from_numpy(eigenvalues)).numpy()


def _top(eigenvalues: Array) -> Array:
    return states.top_share(torch.from_numpy(eigenvalues)).numpy()
