"""A bound on how far an output can be off because a cache has forgotten tokens, from what the cache still knows.

Kept tokens have the mass Z_K and the output o_K; forgotten ones logits y_j = q.k_j - slope * distance_j, the mass Z_F
and the mean value v_F; T = Z_F / (Z_K + Z_F). The full output is o = (1 - T) o_K + T v_F, so for any vector r that was
returned in its place

    o - r = (1 - T) (o_K - r) + T (v_F - r):

affine in T and in v_F, hence its norm is largest at an end of T's interval and on the rim of the ball of v_F. Nothing
is asked of r: a truncation, a compensation token, rounding to half precision.

Let S = sum_F e^{-slope distance}, known from positions. If all products q.k_j lie in [low, high] then Z_F lies in
[S e^low, S e^high]; if their mean m, weighted by e^{-slope distance}, is known as well, then in
[S e^m, S ((high - m) e^low + (m - low) e^high) / (high - low)]: Jensen below, the chord of e^x above, both attained.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.cache.compensation_bounds import total_error_bound
from theory.cache.dropped import Array, odds_share
from theory.checked import ANYTHING, NONNEGATIVE, UNIT, reals, shown, sized, wholes

ROUNDING = 2.0**-50  # of one step in float64, with room for a few


@sized(infinite=True)
def log_decay(slope: ArrayLike, nearest: ArrayLike, count: ArrayLike) -> Array:
    """ln sum of e^{-slope d} over the distances d = nearest .. nearest + count - 1; -inf for no token.

    Args, which broadcast: slope >= 0; nearest and count, whole numbers >= 0. Raises ValueError outside.
    """
    rate, near = reals("slope", slope, NONNEGATIVE), wholes("nearest", nearest, 0)
    n = wholes("count", count, 0)
    small = rate * np.maximum(n, 1.0) < 1e-16
    safe = np.where(small, 1.0, rate)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        geometric = np.log(-np.expm1(-safe * n)) - np.log(-np.expm1(-safe))
        return np.where(small, np.log(n), geometric) - rate * near


def log_mean_exp_bound(mean: ArrayLike, low: ArrayLike, high: ArrayLike) -> Array:
    """ln of the largest mean of e^x over laws on [low, high] of this mean: the chord of e^x, attained at the ends.

    Args, which broadcast; a mean outside of [low, high], as rounding makes it, counts as the next end.
    Raises ValueError for numbers that are not finite and high < low.
    """
    m, least, most = reals("mean", mean), reals("low", low), reals("high", high)
    if (most < least).any():
        raise ValueError(f"high must be at least low, got {shown(high)} and {shown(low)}")
    m = np.clip(m, least, most)
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        part = np.where(np.isinf(most - least), 0.5, 1.0)
        rise, width = part * m - part * least, part * most - part * least
        top = rise / np.where(width == 0, 1.0, width)  # the weight of the upper end
        # it may be too small for a float, and still count
        log_top = np.where(top > 1e-290, np.log(top), np.log(rise) - np.log(width))
        return np.logaddexp(most + np.where(width == 0, -np.inf, log_top), least + np.log1p(-top))


def log_mass(
    log_decayed: ArrayLike, low: ArrayLike, high: ArrayLike, mean: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Least and largest ln Z_F: ln S + low and ln S + high, with a mean those of Jensen and of the chord.

    Args, which broadcast: log_decayed ln S, -inf for nothing forgotten; the ends of q.k_j, and their mean weighted by
    e^{-slope distance}. Raises ValueError as `log_mean_exp_bound`.
    """
    total, least, most = reals("log_decayed", log_decayed, ANYTHING), reals("low", low), reals("high", high)
    if mean is None:
        return total + least, total + most
    m = np.clip(reals("mean", mean), least, most)
    return total + m, total + log_mean_exp_bound(m, least, most)


def share(log_forgotten: ArrayLike, log_kept: ArrayLike) -> Array:
    """T = Z_F / (Z_F + Z_K) from the logarithms; log_forgotten may be -inf. Increasing in the first argument."""
    return odds_share(reals("log_forgotten", log_forgotten, ANYTHING) - reals("log_kept", log_kept))


@sized()
def mean_value_radius(logit_width: ArrayLike, distance: ArrayLike, radius: ArrayLike) -> Array:
    """How far v_F can be from the known mean of the forgotten values, weighted by e^{-slope distance}.

    The smaller of tanh(w / 4) 2 radius (`compensation_bounds.mean_gap_bound`: products q.k_j of range w shift the mean
    by no more) and distance + radius. Args, which broadcast: logit_width w = high - low; the forgotten values lie
    within `radius` of a centre, from which their mean has this `distance`. Raises ValueError for negative numbers.
    """
    ball, away = reals("radius", radius, NONNEGATIVE), reals("distance", distance, NONNEGATIVE)
    with np.errstate(over="ignore"):  # of the larger one
        return np.minimum(2.0 * total_error_bound(logit_width, ball), away + ball)


@sized()
def receipt_bound(
    least: ArrayLike, largest: ArrayLike, kept: ArrayLike, returned: ArrayLike, centre: ArrayLike, radius: ArrayLike
) -> Array:
    """||o - r|| <= max ||(1 - T)(o_K - r) + T (v - r)|| over T in [least, largest] and ||v - centre|| <= radius.

    Args: least, largest (...) in [0, 1]; kept o_K, returned r, centre (..., d_v); radius (...). Attained.
    Raises ValueError for shares outside [0, 1], a negative radius, and numbers that are not finite.
    """
    back = reals("kept", kept) - reals("returned", returned)
    away, ball = reals("centre", centre) - reals("returned", returned), reals("radius", radius, NONNEGATIVE)

    def at(part: Array) -> Array:
        off = (1.0 - part)[..., None] * back + part[..., None] * away
        unit = np.ldexp(1.0, np.frexp(np.abs(off).max(-1))[1])  # squares may overflow, or vanish
        return np.linalg.norm(off / unit[..., None], axis=-1) * unit + part * ball

    ends = np.broadcast_arrays(reals("least", least, UNIT), reals("largest", largest, UNIT))
    return np.maximum(at(ends[0]), at(ends[1]))


@sized()
def rounded(size: ArrayLike, steps: ArrayLike) -> Array:
    """Bound on the rounding error of `steps` additions in float64: steps (1 + size) 2^-50, size the sum of |terms|."""
    return ROUNDING * (1.0 + reals("size", size, NONNEGATIVE)) * reals("steps", steps, NONNEGATIVE)
