"""Bounds on the weights of a head from its logit range and its slope, sink, rounded biases or shared raw keys."""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dynamics.scope.ranges import Mixed
from dynamics.weights.reader import Architecture
from theory import alibi
from theory.alibi import shifted_scope as shifted
from theory.alibi.sinks import sink_dropped_mass, sink_scope
from theory.alibi.tables import rounded_biases, table_dropped_mass, table_scope, table_window


class Headed(Protocol):
    """A query head of a layer, as far as it is asked for here."""

    @property
    def head(self) -> int: ...
    @property
    def sink(self) -> float | None: ...


class Rule(Enum):
    """What scope, window and dropped mass of a head follow from."""

    RANGE = "from the range D alone"
    NEIGHBOURS = "from the range D of raw keys and two coefficients, as neighbours share a key"


class Bounds(NamedTuple):
    """A head beside the range D of its logits: its slope, or 0; the logit of its sink; its table of biases, if rounded.

    All take D, or one with rounding in it; a sink's lead is that over D / 2, or over the largest logit where given.
    mixed: where the hypotheses of `theory.alibi.shifted_scope` hold; then D is that of mixed keys.
    """

    slope: float
    sink: float | None = None
    biases: NDArray[np.float64] | None = None
    mixed: Mixed | None = None

    @property
    def rule(self) -> Rule:
        return Rule.RANGE if self.mixed is None else Rule.NEIGHBOURS

    def scope(self, logit_range: float, eps: float, largest: float | None = None) -> float:
        """The distance from which no token weighs more than eps; inf where there is none."""
        if self.sink is not None:
            return sink_scope(logit_range, self._lead(self.sink, logit_range, largest), eps)
        if self.biases is not None:
            return table_scope(self.biases, logit_range, eps)
        found = alibi.scope(self.slope, logit_range, eps)
        return found if self.mixed is None else min(found, shifted.shifted_scope(self.slope, *self.mixed, eps))

    def window(self, logit_range: float, mass: float) -> float:
        """The window outside of which all tokens weigh at most mass together; inf where there is none."""
        if self.biases is not None:
            return table_window(self.biases, logit_range, mass)
        if self.mixed is not None:
            return shifted.shifted_window(self.slope, *self.mixed, mass)
        return alibi.window_for_mass(self.slope, logit_range, mass)

    def dropped(self, logit_range: float, window: int, n_tokens: int) -> float:
        """A bound on what tokens outside of a window weigh together in a context of n_tokens."""
        if self.sink is not None:
            return sink_dropped_mass(window, logit_range, self._lead(self.sink, logit_range), n_tokens)
        if self.biases is not None:
            return table_dropped_mass(self.biases[:n_tokens], logit_range, window)
        if self.mixed is not None:
            return shifted.shifted_dropped_mass(window, self.slope, *self.mixed, n_tokens)
        return alibi.dropped_mass_bound(window, self.slope, logit_range, n_tokens)

    def _lead(self, sink: float, logit_range: float, largest: float | None = None) -> float:
        return sink - (logit_range / 2 if largest is None else largest)


def bounds_of(head: Headed, sizes: Architecture, context: int, mixed: Mixed | None = None) -> Bounds:
    """Those of a query head. Raises: ValueError for a sink where logits are not bounded to both sides, or with a slope.

    context: as long as a table of biases has to be; mixed: of heads whose keys are.
    """
    slope = 0.0 if sizes.slopes is None else sizes.slopes[head.head]
    if head.sink is not None and sizes.position != "rope":
        raise ValueError(f"a sink beside positions {sizes.position!r} is not supported")
    if not sizes.rounded_biases or sizes.slopes is None:
        return Bounds(slope, head.sink, mixed=mixed)
    root = math.sqrt(sizes.d_head)
    return Bounds(slope, None, rounded_biases(slope * root, context, 1 / root))
