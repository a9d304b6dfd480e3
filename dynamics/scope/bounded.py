"""What bounds the weights of a head once the range of its logits is known: its slope, its sink, its rounded biases."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dynamics.weights.reader import Architecture
from theory import alibi
from theory.alibi.sinks import sink_dropped_mass, sink_scope
from theory.alibi.tables import rounded_biases, table_dropped_mass, table_scope, table_window


class Headed(Protocol):
    """A query head of a layer, as far as it is asked for here."""

    @property
    def head(self) -> int: ...
    @property
    def sink(self) -> float | None: ...


class Bounds(NamedTuple):
    """A head beside the range D of its logits: its slope, or 0; the logit of its sink; its table of biases, if rounded.

    All take D, or one with rounding in it; a sink's lead is that over D / 2, or over the largest logit where given.
    """

    slope: float
    sink: float | None = None
    biases: NDArray[np.float64] | None = None

    def scope(self, logit_range: float, eps: float, largest: float | None = None) -> float:
        """The distance from which no token weighs more than eps; inf where there is none."""
        if self.sink is not None:
            return sink_scope(logit_range, self._lead(self.sink, logit_range, largest), eps)
        if self.biases is not None:
            return table_scope(self.biases, logit_range, eps)
        return alibi.scope(self.slope, logit_range, eps)

    def window(self, logit_range: float, mass: float) -> float:
        """The window outside of which all tokens weigh at most mass together; inf where there is none."""
        if self.biases is not None:
            return table_window(self.biases, logit_range, mass)
        return alibi.window_for_mass(self.slope, logit_range, mass)

    def dropped(self, logit_range: float, window: int, n_tokens: int) -> float:
        """A bound on what tokens outside of a window weigh together in a context of n_tokens."""
        if self.sink is not None:
            return sink_dropped_mass(window, logit_range, self._lead(self.sink, logit_range), n_tokens)
        if self.biases is not None:
            return table_dropped_mass(self.biases[:n_tokens], logit_range, window)
        return alibi.dropped_mass_bound(window, self.slope, logit_range, n_tokens)

    def _lead(self, sink: float, logit_range: float, largest: float | None = None) -> float:
        return sink - (logit_range / 2 if largest is None else largest)


def bounds_of(head: Headed, sizes: Architecture, context: int) -> Bounds:
    """Those of a query head. Raises: ValueError for a sink where logits are not bounded to both sides, or with a slope.

    context: as long as a table of biases has to be.
    """
    slope = 0.0 if sizes.slopes is None else sizes.slopes[head.head]
    if head.sink is not None and sizes.position != "rope":
        raise ValueError(f"a sink beside positions {sizes.position!r} is not supported")
    if not sizes.rounded_biases or sizes.slopes is None:
        return Bounds(slope, head.sink)
    root = math.sqrt(sizes.d_head)
    return Bounds(slope, None, rounded_biases(slope * root, context, 1 / root))
