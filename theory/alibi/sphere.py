"""The largest value of a quadratic on a sphere, with the multiplier that shows it to be the largest."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq


class SphereMaximum(NamedTuple):
    """`value` of the dual at `multiplier`, an upper bound but for its own rounding, whatever that of `point` (n,)."""

    value: float
    multiplier: float
    point: np.ndarray


def sphere_maximum(curvature: np.ndarray, linear: np.ndarray, radius2: float, digits: float = 1e-14) -> SphereMaximum:
    """max of sum_i (curvature_i z_i^2 + 2 linear_i z_i) over ||z||^2 = radius2.

    Equal to min over m >= max(curvature) of m radius2 + sum_i linear_i^2 / (m - curvature_i): the trust-region problem
    has no duality gap, and every m >= max(curvature) is an upper bound. At the minimum sum_i z_i^2 = radius2 with
    z_i = linear_i / (m - curvature_i); where no such m exists (the "hard case") m = max(curvature), and the top
    coordinate fills the sphere. digits: the relative error of m less max(curvature); the value is a bound with any.
    """
    top = float(curvature.max())
    gaps, squares = top - curvature, linear**2
    used = squares > 0
    excess = _excess(gaps[used], squares[used], radius2, digits)
    value = (top + excess) * radius2
    point = np.zeros_like(linear)
    # a square below the underflow threshold over a zero gap stands for zero
    live = used & (gaps + excess > 0)
    value += float((squares[live] / (gaps[live] + excess)).sum())
    point[live] = linear[live] / (gaps[live] + excess)
    first = int(np.argmax(curvature))
    rest = float((point**2).sum() - point[first] ** 2)
    point[first] = math.copysign(math.sqrt(max(radius2 - rest, 0.0)), linear[first])
    return SphereMaximum(value, top + excess, point)


def _excess(gaps: np.ndarray, squares: np.ndarray, radius2: float, digits: float) -> float:
    """The root of sum squares / (gaps + excess)^2 = radius2, or 0 in the hard case."""
    if not len(gaps):
        return 0.0
    high = math.sqrt(float(squares.sum()) / radius2)
    low = math.sqrt(float(squares[gaps == 0].sum()) / radius2)

    def short(excess: float) -> float:
        # 1/norm is nearly linear in the excess, so that the root finder needs few steps
        norm2 = float((squares / (gaps + excess) ** 2).sum())
        return (1 / math.sqrt(norm2) if norm2 else math.inf) - 1 / math.sqrt(radius2)

    with np.errstate(over="ignore", divide="ignore"):
        if high == 0 or (low == 0 and short(0.0) >= 0):
            return 0.0
        if short(low) >= 0 or short(high) <= 0:  # the root is an end of its bracket, up to rounding
            return low if short(low) >= 0 else high
        # The root may lie 300 powers of ten below high, and each two steps are sure to halve the bracket only.
        return brentq(short, low, high, xtol=1e-300, rtol=digits, maxiter=4000)
