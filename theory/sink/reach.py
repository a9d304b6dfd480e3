"""How far a sink can reach: the largest weight of one token, from the range of the logits, without and with ALiBi.

Without positions a sink of weight tau among t tokens needs the range ln(tau (t - 1)/(1 - tau)) only. ALiBi takes
slope * distance from the logit of a first token, so that it ceases to be a sink at a length that grows as D / slope.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from theory.alibi import log_weight_bound, scope, weight_bound
from theory.alibi.logs import less, log_odds, softplus
from theory.checked import NONNEGATIVE, POSITIVE, SHARE, Array, elementwise, real, reals, sized, whole, wholes
from theory.lowering.digits import excess

_ROUNDING = 1e-12  # a weight that is reached but for rounding is reached


@sized()
def largest_weight(length: ArrayLike, logit_range: ArrayLike) -> Array:
    """e^r / (e^r + t - 1): the largest weight of one token among t, whose logits have range r.

    Attained: one token r above all others. Args, which broadcast: length t >= 1; logit_range r >= 0.
    Raises ValueError outside.
    """
    r, others = reals("logit_range", logit_range, NONNEGATIVE), wholes("length", length, 1) - 1
    found = np.exp(-np.logaddexp(0.0, np.log(np.maximum(others, 1.0)) - r))
    return np.where(others > 0, found, 1.0)


@sized()
def range_for_weight(length: ArrayLike, weight: ArrayLike) -> Array:
    """max(0, ln(tau (t - 1)/(1 - tau))): the least range of logits at which one token among t can weigh tau.

    The inverse of `largest_weight`. Args, which broadcast: length t >= 1; weight tau in (0, 1). Raises ValueError.
    """
    tau, others = reals("weight", weight, SHARE), wholes("length", length, 1) - 1
    found = np.log(tau) - np.log1p(-tau) + np.log(np.maximum(others, 1.0))
    return np.where(others > 0, np.maximum(found, 0.0), 0.0)


def divergence_bound(logit_range: ArrayLike) -> Array:
    """KL(p || u) = ln t - H(p) <= min(r, r^2/8) for p = softmax of logits of range r, u uniform, any number t.

    Proof: with psi the cumulant function of the logits under u, KL = int_0^1 s psi''(s) ds, and psi'' <= r^2/4, the
    variance of what lies in an interval of length r. Also KL = E_p x - ln E_u e^x <= max x - min x. Neither is reached
    but at r = 0; `largest_divergence` is. Raises ValueError for a negative or infinite range.
    """
    r = reals("logit_range", logit_range, NONNEGATIVE)
    return r * (np.minimum(r, 8.0) / 8.0)


@elementwise("length", "logit_range")
@sized()
def largest_divergence(length: int, logit_range: float) -> float:
    """max KL(p || u) = max ln t - H(p) over t logits of range at most r: k logits at r and the others at 0, the best k.

    Proof: in one logit x_i, d KL/dx_i = p_i (x_i - E_p x), whose sign changes once, from - to +: the maximum is at a
    corner. At a share s = k/t it has one maximum, at (r e^r/(e^r - 1) - 1)/(e^r - 1), so that k is a neighbour of that.
    Args: length t >= 1; logit_range r >= 0. Raises ValueError outside.
    """
    length, r = whole("length", length, 1), real("logit_range", logit_range, NONNEGATIVE)
    if length == 1:
        return 0.0
    rest = -math.expm1(-r)  # 1 - e^{-r}
    best = 0.5 if r < 1e-5 else (r / rest - 1.0) * math.exp(-r) / rest
    near = math.floor(best * length)
    return max(_corner(min(max(k, 1), length - 1), length, r) for k in (near, near + 1))


def _corner(k: int, t: int, r: float) -> float:
    """KL(p || u) where k of t logits are r above the others: a sum of p/u - 1 over both, none of them below 0."""
    share, others = k / t, (t - k) / t
    rest = -math.expm1(-r) / (share + others * math.exp(-r))
    above, below = excess(np.array([others * rest, -share * rest]))
    return float(share * above + others * below)


@elementwise("length", "slope", "logit_range", "self_gap")
def first_token_bound(length: int, slope: float, logit_range: float, self_gap: float | None = None) -> float:
    """The largest weight of the first of `length` tokens for the last one: `alibi.weight_bound` at length - 1.

    1/(1 + e^{-D} sum_{j=1}^{length-1} e^{slope j}). Attained where the query's own token may be lowest (D_s = D): the
    first token has the highest logit, every other one the lowest. With self_gap D_s < D it is a bound. At slope 0,
    `largest_weight`. A distance that is no float counts as the float below it.
    Args: length >= 1; slope >= 0; logit_range >= 0; self_gap in [0, logit_range].
    Raises ValueError outside.
    """
    distance = whole("length", length, 1) - 1
    near = float(distance)
    return float(weight_bound(near if near <= distance else math.nextafter(near, 0.0), slope, logit_range, self_gap))


@elementwise("slope", "logit_range", "weight")
@sized()
def sink_length(slope: float, logit_range: float, weight: float) -> float:
    """The longest context whose first token can still weigh tau: 1 + floor of `alibi.scope` at eps = tau.

    The distance (1/slope) ln(1 + (1/tau - 1)(1 - e^{-slope}) e^D), or (1/tau - 1) e^D at slope 0, inverts
    `first_token_bound`, which decreases strictly; attained as that is, where D_s = D. A weight short by a relative
    1e-12 counts as reached.
    Args: slope >= 0; logit_range >= 0; weight tau in (0, 1). Returns: a whole number >= 1.
    Raises ValueError outside, and where it overflows.
    """
    tau = real("weight", weight, SHARE)
    reach = math.floor(scope(slope, logit_range, tau))
    return 1.0 + _settled(reach, lambda n: log_weight_bound(n, slope, logit_range), tau)


@elementwise("slope", "self_gap", "weight")
@sized()
def masked_sink_length(slope: float, self_gap: float, weight: float) -> float:
    """As `sink_length` where any token between may be dropped: 1 + floor((D_s + ln(1/tau - 1)) / slope), at least 1.

    The inverse of `alibi.masked_weight_bound`: holds for a cache that drops any of them, attained where it drops all.
    A cache that keeps the distances is meant. The sum is rounded upwards by 2^-51 of a negative logarithm, which may
    cancel it. Args: slope > 0; self_gap D_s >= 0; weight tau in (0, 1).
    Raises ValueError outside, and where it overflows.
    """
    slope, gap = real("slope", slope, POSITIVE), real("self_gap", self_gap, NONNEGATIVE)
    tau = real("weight", weight, SHARE)
    odds = log_odds(tau)
    reach = max(0, math.floor((gap + odds - 2.0**-51 * min(odds, 0.0)) / slope))
    return 1.0 + _settled(reach, lambda n: -softplus(less(slope, n, gap)), tau)


def _settled(reach: int, log_bound: Callable[[int], float], weight: float) -> int:
    """The last distance at which the bound is at least the weight: a rounded logarithm may have lost one."""
    return reach + 1 if log_bound(reach + 1) >= math.log(weight) - _ROUNDING else reach
