"""An eviction with a receipt: for every step, layer and head a bound on what forgotten tokens would have changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.razor.cache import RazorCache, check_no_graph
from dynamics.razor.receipt_layer import NAMES, ReceiptLayer
from dynamics.razor.weighed import Guard, Weighed
from theory.records import comparable

BLOCK = 128  # queries at a time: what bounds the memory of their scores
VACUOUS = 0.99  # a share of the weights that may be with forgotten tokens, from which on a bound says nothing


@comparable
class Receipt(NamedTuple):
    """By (batch, steps, layers, heads); a head that forgets nothing has zeros.

    bound: on the norm of (full attention of the layer's inputs - what the cache returned), before the output matrix;
    share: the largest share of attention that forgotten tokens can have; ranged, ranged_share: the same from the range
    of the logits, slopes and the kept mass alone, NaN without the weights; measured: the norm itself, NaN unless asked.
    """

    bound: np.ndarray
    share: np.ndarray
    ranged: np.ndarray
    ranged_share: np.ndarray
    measured: np.ndarray

    @property
    def layers(self) -> np.ndarray:
        """The bound for all heads of a layer side by side, (batch, steps, layers): the root of the sum of squares."""
        return np.sqrt((self.bound**2).sum(-1))

    @property
    def total_of_local_errors(self) -> np.ndarray:
        """For each sequence, the sum over steps and layers. It is not a bound on logits, and nothing here gives one."""
        return self.layers.sum((1, 2))

    @property
    def forgetful(self) -> np.ndarray:
        """Where something may be lost: entries whose share is not 0."""
        return ~(self.share <= 0)

    @property
    def vacuous(self) -> float:
        """The part of those in which the bound says nothing, 0 where there are none."""
        return _mean(self.share[self.forgetful] >= VACUOUS)

    @property
    def vacuous_range(self) -> float:
        """The same of the bound from the range alone."""
        return _mean(self.ranged_share[self.forgetful] >= VACUOUS)

    @property
    def violations(self) -> int:
        """Entries not measured within their bound, or that from the range. Raises: ValueError if none was measured."""
        if np.isnan(self.measured).any():
            raise ValueError("violations are counted against what is measured: ask for measure=True")
        # of all entries, also of those that are said to forget nothing
        over = ~(self.measured <= self.bound)
        if not np.isnan(self.ranged[self.forgetful]).all():
            over |= ~(self.measured <= self.ranged)
        return int(over.sum())

    @property
    def tightness(self) -> float:
        """The median of bound / measured over what forgets and was measured; NaN where nothing was."""
        some = self.forgetful & (self.measured > 0)
        return float(np.median(self.bound[some] / self.measured[some])) if some.any() else float("nan")


class Receipts:
    """A stateful `AttentionFunction` beside a Razor cache: hands its outputs on, and writes a receipt for each.

    It keeps what the cache keeps once more, and of the forgotten tokens their number, weighted means and extents:
    2 (d_k + d_v) + 3 numbers for each key-value head and as many for each query head, whatever their number.
    Args: cache, which has seen nothing yet; weighed, what the weights say of each layer (`dynamics.scope.receipt`), or
        None; measure: also keep everything, and compute the full attention in float64 beside each output.
    Raises: ValueError for a cache that holds tokens, or a number of layers that differs; in a call for keys and values
        that the weights do not allow, before anything is kept of them.
    """

    stateful = True

    def __init__(self, cache: RazorCache, weighed: Sequence[Weighed] | None = None, measure: bool = False) -> None:
        layers = len(cache.plan.full)
        if cache.n_tokens():
            raise ValueError(f"receipts begin with a cache that is empty, this one has seen {cache.n_tokens()} tokens")
        if weighed is not None and len(weighed) != layers:
            raise ValueError(f"the weights are of {len(weighed)} layers, the plan is of {layers}")
        self.cache, self.plan = cache, cache.plan
        given = [None] * layers if weighed is None else weighed
        self._layers = [ReceiptLayer(cache.plan, layer, given[layer], measure) for layer in range(layers)]
        self._guards = [Guard(one, layer) for layer, one in enumerate(weighed or ())]

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None, **more: Any
    ) -> Tensor:
        check_plain(query, key, value, **more)
        if self._guards:
            self._guards[layer].check(scale, keys=key, values=value)
        returned = self.cache(layer, query, key, value, scale=scale, slopes=slopes)
        for part in zip(*(x.split(BLOCK, 2) for x in (query, key, value, returned)), strict=True):
            self._layers[layer].read(*part, scale, slopes)
        return returned

    def n_tokens(self, layer: int = 0) -> int:
        """Tokens that this layer has seen."""
        return self.cache.n_tokens(layer)

    def nbytes(self) -> int:
        """Bytes that the cache holds; receipts hold as many again for the heads that forget, and their records."""
        return self.cache.nbytes()

    def reorder(self, beam_index: Tensor) -> None:
        """Replace sequence b, and what was said of it, by sequence beam_index[b]."""
        self.cache.reorder(beam_index)
        for layer in self._layers:
            layer.reorder(beam_index)

    def receipt(self) -> Receipt:
        """All that was said so far, each layer as far as all are. Raises: ValueError before the first step."""
        steps = min(layer.n_tokens for layer in self._layers)
        if not steps:
            raise ValueError("there is no receipt before the first step")
        return Receipt(*(self._table(name, steps) for name in NAMES))

    def _table(self, name: str, steps: int) -> np.ndarray:
        columns = [torch.cat([one[name] for one in layer.records], dim=2)[:, :, :steps] for layer in self._layers]
        return torch.stack(columns, dim=1).permute(0, 3, 1, 2).numpy()


def check_plain(query: Tensor, key: Tensor, value: Tensor, **more: object) -> None:
    """Raise ValueError in training, and for what only some models hand over: sinks, caps, windows, pads, attention to
    later tokens."""
    check_no_graph(query, key, value)
    for name, value in more.items():
        if value is not None and not (name == "causal" and value is True):
            raise ValueError(f"receipts and promises are for causal softmax attention to all tokens: this has {name!r}")


def _mean(of: np.ndarray) -> float:
    return float(of.mean()) if of.size else 0.0
