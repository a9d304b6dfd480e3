"""What a head sees, from the range of its logits alone or from raw keys that neighbours share."""

from __future__ import annotations

from enum import Enum

from dynamics.scope.ranges import HeadRange
from theory import alibi
from theory.alibi import shifted_scope as shifted


class Rule(Enum):
    """What scope, window and dropped mass of a head follow from."""

    RANGE = "from the range D alone"
    NEIGHBOURS = "from the range D of raw keys and two coefficients, as neighbours share a key"


def rule(head: HeadRange) -> Rule:
    """NEIGHBOURS where the hypotheses of `theory.alibi.shifted_scope` hold."""
    return Rule.RANGE if head.mixed is None else Rule.NEIGHBOURS


def scope(head: HeadRange, eps: float) -> float:
    """The distance from which no weight exceeds eps."""
    slope = head.slope or 0.0
    if head.mixed is None:
        return alibi.scope(slope, head.logit_range, eps)
    return min(alibi.scope(slope, head.logit_range, eps), shifted.shifted_scope(slope, *head.mixed, eps))


def window_for_mass(head: HeadRange, mass: float) -> float:
    """The window outside of which the total attention is at most mass."""
    slope = head.slope or 0.0
    if head.mixed is None:
        return alibi.window_for_mass(slope, head.logit_range, mass)
    return shifted.shifted_window(slope, *head.mixed, mass)


def dropped_mass(head: HeadRange, window: int, n_tokens: int) -> float:
    """Bound on the total attention to distances >= window in n_tokens."""
    slope = head.slope or 0.0
    if head.mixed is None:
        return alibi.dropped_mass_bound(window, slope, head.logit_range, n_tokens)
    return shifted.shifted_dropped_mass(window, slope, *head.mixed, n_tokens)
