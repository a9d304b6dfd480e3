"""What floats lose, and how to keep it: the rounding of a product, angles of many turns, the excess of an entropy."""

from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, xlogy

Array = NDArray[np.float64]


def twofold(left: Array, right: Array) -> tuple[Array, Array]:
    """The product as it is rounded and what that took: their sum is exact, by halves (Dekker 1971).

    The second is 0 where numbers near the largest cannot be halved.
    """
    product = left * right
    with np.errstate(over="ignore", invalid="ignore"):
        (a, b), (c, d) = _halves(left), _halves(right)
        rest = b * d - (((product - a * c) - b * c) - a * d)
    return product, np.where(np.isfinite(rest), rest, 0.0)


def product(*factors: ArrayLike) -> Array:
    """The product as if nothing on the way were too large or too small for its digits."""
    tops, powers = zip(*map(np.frexp, factors), strict=True)
    return np.asarray(np.ldexp(prod(tops), sum(powers)))


def turn(rate: ArrayLike, places: ArrayLike, halvings: int = 0) -> NDArray[np.complex128]:
    """e^{i rate places / 2^halvings}, off by a few roundings however many turns that is: sin and cos of a float are."""
    (x, i), (y, j) = np.frexp(rate), np.frexp(places)
    angle, rest = (np.ldexp(part, i + j - halvings) for part in twofold(x, y))
    return np.asarray((np.cos(angle) + 1j * np.sin(angle)) * (np.cos(rest) + 1j * np.sin(rest)))


def excess(x: Array) -> Array:
    """(1 + x) ln(1 + x) - x = x^2/2 - x^3/6 + .. >= 0, which sums to (1 + x) ln(1 + x) where x sums to 0."""
    small = np.clip(x, -0.1, 0.1)
    series = np.polynomial.polynomial.polyval(small, [0, 0, *((-1) ** k / (k * (k - 1)) for k in range(2, 17))])
    large = np.where(np.abs(x) < 0.1, 0.0, x)
    return np.asarray(np.where(np.abs(x) < 0.1, series, xlogy(1 + large, 1 + large) - large))


def odds_share(log_odds: ArrayLike) -> Array:
    """1 / (1 + e^{-x}), with its digits where it is as small as a double can be: `expit` is 0 below -710 or so."""
    x = np.asarray(log_odds)
    return np.asarray(np.where(x < -40, np.exp(np.minimum(x, 0.0)), expit(x)))


def _halves(x: Array) -> tuple[Array, Array]:
    """x as a sum of two of 26 digits, whose products are exact."""
    wide = (2.0**27 + 1) * x
    high = wide - (wide - x)
    return high, x - high
