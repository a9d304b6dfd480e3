"""Exact moments of the coefficients' initial law (KV shifting, section 2.2 and footnote 10).

Window w: c_1 .. c_{w-1} are independent U(0, 1) and the oldest one is c_w = 1 - (c_1 + .. + c_{w-1}). Window 2 is the
paper's own; windows 3 and 4 are its "KV shifting 2" and "KV shifting 3".
"""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from theory.checked import whole


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


def mixed_norm(own: sp.Expr, previous: sp.Expr, inner: sp.Expr) -> sp.Expr:
    """|own x + previous y|^2 for unit vectors x, y; on the slice it is 1 - 2 own previous (1 - inner)."""
    return own**2 + previous**2 + 2 * own * previous * inner
