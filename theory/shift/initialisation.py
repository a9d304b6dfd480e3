"""Exact moments of the coefficients' initial law (KV shifting, section 2.2 and footnote 10).

Window w: c_1 .. c_{w-1} are independent U(0, 1) and the oldest one is c_w = 1 - (c_1 + .. + c_{w-1}). Window 2 is the
paper's own; windows 3 and 4 are its "KV shifting 2" and "KV shifting 3".
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial

import sympy as sp

from theory.checked import whole
from theory.lowering.box import exact


def expectation(polynomial: sp.Expr, uniforms: Sequence[sp.Symbol]) -> Fraction:
    """Mean of a rational polynomial in independent U(0, 1) variables: each power x^n becomes 1 / (n + 1)."""
    total = Fraction(0)
    for powers, coefficient in sp.Poly(polynomial, *uniforms, domain="QQ").terms():
        term = Fraction(int(coefficient.p), int(coefficient.q))
        for power in powers:
            term /= power + 1
        total += term
    return total


def coefficients(window: int, name: str = "u") -> tuple[tuple[sp.Symbol, ...], tuple[sp.Expr, ...]]:
    """The uniforms (w - 1) and the w coefficients they give, the token's own first, the oldest last.

    Raises ValueError for a window below 2.
    """
    window = whole("window", window, 2)
    uniforms = sp.symbols(f"{name}1:{window}", nonnegative=True)
    return uniforms, (*uniforms, 1 - sum(uniforms))


def lagged_moment(window: int, lag: int = 0) -> Fraction:
    """E sum_j c_j c_{j + lag}, the covariance of mixed tokens `lag` places apart when the tokens are white noise.

    Lag 0 is the mean factor on the variance of keys and values: 2/3, 5/6, 3/2 for windows 2, 3, 4.
    """
    uniforms, row = coefficients(window)
    window, lag = len(row), whole("lag", lag, 0)
    products = [row[j] * row[j + lag] for j in range(window - lag)]
    return expectation(sp.expand(sum(products, sp.Integer(0))), uniforms)


def second_moment(window: int) -> Fraction:
    """E sum_j c_j^2 = n^2/4 - 7 n/12 + 1 with n = window - 1."""
    drawn = coefficients(window)[0]
    n = len(drawn)
    return Fraction(n * n, 4) - Fraction(7 * n, 12) + 1


def oldest_mean(window: int) -> Fraction:
    """E c_w = 1 - (w - 1)/2."""
    return 1 - Fraction(len(coefficients(window)[0]), 2)


def uniform_sum_cdf(count: int, level: Fraction | int) -> Fraction:
    """P(sum of `count` independent U(0, 1) <= level), the Irwin-Hall law; level is clipped to [0, count].

    Raises ValueError for a count that is not whole and >= 0, and for a level that is not exact, as a float is not.
    """
    count = whole("count", count, 0)
    level = min(max(exact(level), Fraction(0)), Fraction(count))
    terms = ((-1) ** k * comb(count, k) * (level - k) ** count for k in range(int(level) + 1))
    return sum(terms, Fraction(0)) / factorial(count)


def oldest_negative(window: int) -> Fraction:
    """P(c_w < 0) = 1 - 1/(w - 1)!: 0, 1/2, 5/6 for windows 2, 3, 4."""
    return 1 - uniform_sum_cdf(len(coefficients(window)[0]), 1)


def mixed_norm(own: sp.Expr, previous: sp.Expr, inner: sp.Expr) -> sp.Expr:
    """|own x + previous y|^2 for unit vectors x, y; on the slice it is 1 - 2 own previous (1 - inner)."""
    return own**2 + previous**2 + 2 * own * previous * inner
