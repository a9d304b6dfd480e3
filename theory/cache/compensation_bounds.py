"""How far a compensation token can be off, from the range of the dropped logits alone; the sharp constants.

For a query q let r = max - min of the tilt (q - q_0).k over the dropped keys, q_0 the centre of the token (0 for Eq. 4
of RazorAttention). Then, with Z_D the dropped mass, Zhat the token's, T and That their shares,

    0 <= log(Z_D / Zhat) <= Lambda(r) <= r^2 / 8,     Lambda(r) = log((e^r - 1) / r) - 1 + r / (e^r - 1),
    0 <= T - That <= tanh(Lambda(r) / 4),             ||vbar - vhat|| <= tanh(r / 4) diam(V_D),
    ||o - o_comp|| <= tanh(r / 4) diam(V).

The first three are reached, or approached, by dropped logits of two values; r <= ||q - q_0|| diam(K_D).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from theory.cache.dropped import Array
from theory.checked import NONNEGATIVE, POSITIVE, UNIT, elementwise, real, reals, sized
from theory.lowering.box import outward
from theory.lowering.digits import product
from theory.lowering.numeric import numeric
from theory.lowering.precision import working

span = sp.Symbol("span", positive=True)
share = sp.Symbol("share", positive=True)

LOG_MASS_BOUND = sp.log((sp.exp(span) - 1) / span) - 1 + span / (sp.exp(span) - 1)
TWO_POINT_GAP = sp.log(1 - share + share * sp.exp(span)) - share * span  # a share of the keys lies r above the rest
WORST_SHARE = 1 / span - 1 / (sp.exp(span) - 1)  # where TWO_POINT_GAP is largest

_TERMS = 14  # (r / 2 pi)^28 < 1e-22 at r = 1
_SERIES = [float((1 + sp.Rational(1, 2 * n)) * sp.bernoulli(2 * n) / sp.factorial(2 * n)) for n in range(1, _TERMS + 1)]


def log_mass_bound(logit_range: ArrayLike) -> Array:
    """Lambda(r), the sharp bound on log(Z_D / Zhat): about r^2 / 8 for small r and r - ln r - 1 for large.

    Args: logit_range r >= 0, any shape. Reached by the two-point law of `worst_share`.
    Valid when: r is the range of (q - q_0).k over the dropped keys, whatever their number and prior weights.
    Raises ValueError for a negative or infinite range.
    """
    r = reals("logit_range", logit_range, NONNEGATIVE)
    small = np.minimum(r, 1.0)
    series = np.polynomial.polynomial.polyval(small * small, [0.0, *_SERIES])
    large = np.maximum(r, 1.0)
    rest = -np.expm1(-large)  # 1 - e^{-r}
    return np.where(r < 1.0, series, large + np.log(rest) - np.log(large) - 1.0 + large * np.exp(-large) / rest)


@elementwise("logit_range")
def certified_log_mass_bound(logit_range: float) -> tuple[float, float]:
    """Floats (lower, upper) around Lambda(r), by Arb, at the exact binary value of r > 0.

    Raises ValueError unless r is finite and > 0.
    """
    r = real("logit_range", logit_range, POSITIVE)
    digits = max(0, -np.frexp(r)[1])  # e^r - 1 loses this many bits, the quadratic remainder as many again
    with working(128 + 4 * int(digits)):
        if r < 1e3:
            return outward(numeric(LOG_MASS_BOUND, (span,), "arb")(Fraction(r)))
        low, high = outward(numeric(span - sp.log(span) - 1, (span,), "arb")(Fraction(r)))
        return low, float(np.nextafter(high, np.inf))  # what is left out lies in [0, r e^{-r}], and e^r may overflow


def worst_share(logit_range: ArrayLike) -> Array:
    """Share 1/r - 1/(e^r - 1) of the dropped keys that, r above the others, reach Lambda(r); below 1/2.

    Raises ValueError unless 0 < r < infinity.
    """
    r = reals("logit_range", logit_range, POSITIVE)
    small = np.minimum(r, 1.0)
    odd = [float(sp.bernoulli(2 * n) / sp.factorial(2 * n)) for n in range(1, _TERMS + 1)]
    series = 0.5 - small * np.polynomial.polynomial.polyval(small * small, odd)
    large = np.maximum(r, 1.0)
    return np.where(r < 1.0, series, 1.0 / large + np.exp(-large) / np.expm1(-large))


def mass_gap_bound(logit_range: ArrayLike) -> Array:
    """T - That <= tanh(Lambda(r) / 4), reached where also Z_K = sqrt(Z_D Zhat). Raises as `log_mass_bound`."""
    return np.tanh(log_mass_bound(logit_range) / 4.0)


def mean_gap_bound(logit_range: ArrayLike) -> Array:
    """||vbar - vhat|| <= tanh(r / 4) diam(V_D): the total variation of two softmaxes whose logits differ by range r.

    Reached by two values, with the share 1 / (1 + e^{r/2}) of the keys r above the others. Raises ValueError for a
    negative or infinite range.
    """
    return np.tanh(reals("logit_range", logit_range, NONNEGATIVE) / 4.0)


@sized()
def error_bound(
    logit_range: ArrayLike, token_mass: ArrayLike, kept_distance: ArrayLike, dropped_diameter: ArrayLike
) -> Array:
    """||o - o_comp|| <= tanh(Lambda(r)/4) ||vbar - o_K|| + That tanh(r/4) diam(V_D).

    Args broadcast: logit_range r; token_mass That in [0, 1]; kept_distance, ||vbar - o_K|| or a bound on it;
    dropped_diameter of the dropped values. Raises ValueError for negative or infinite arguments and a mass above 1.
    """
    mass, r = reals("token_mass", token_mass, UNIT), reals("logit_range", logit_range, NONNEGATIVE)
    distance = reals("kept_distance", kept_distance, NONNEGATIVE)
    spread = reals("dropped_diameter", dropped_diameter, NONNEGATIVE)
    # Lambda(r) is r^2 / 8 for small r, and vanishes long before its product with a distance does
    small = np.minimum(r, 1e-100)
    first = np.where(r < 1e-100, product(small, small, distance, 1 / 32), mass_gap_bound(r) * distance)
    return first + mass * total_error_bound(r, spread)


@sized()
def total_error_bound(logit_range: ArrayLike, diameter: ArrayLike) -> Array:
    """||o - o_comp|| <= tanh(r / 4) diam(V), V all values of the head.

    The token spreads its mass over the dropped keys by prior weights: up to a constant the log ratio to the true
    weights is 0 on kept tokens and of range r about a mean of 0 on dropped ones. Approached as the kept mass vanishes.
    Raises ValueError for negative or infinite arguments.
    """
    r, size = reals("logit_range", logit_range, NONNEGATIVE), reals("diameter", diameter, NONNEGATIVE)
    # a quarter of the least numbers has no digits left
    return np.where(r < 1e-290, product(np.minimum(r, 1.0), size, 1 / 4), mean_gap_bound(r) * size)[()]


def second_order_bound(logit_range: ArrayLike) -> Array:
    """|log Z_D - second-order log mass| <= r^3 / (36 sqrt 3): a third central moment is at most r^3 / (6 sqrt 3).

    Infinite where it overflows. Raises ValueError for a negative or infinite range.
    """
    r = reals("logit_range", logit_range, NONNEGATIVE)
    with np.errstate(over="ignore"):  # an infinite bound is still one
        return r**3 / (36.0 * np.sqrt(3.0))
