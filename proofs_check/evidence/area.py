"""Certified area of the part of the unit square where a smooth expression is positive.

A cell is settled when the ball of the expression over it, or its mean-value form, has a sign; a cell that is not is cut
into four, down to a given depth. What is left belongs to neither bound.
"""

from fractions import Fraction

import sympy as sp
from flint import arb

from theory.lowering.alone import alone
from theory.lowering.ball import BallFunction, to_ball
from theory.lowering.box import ROUGH, Box, symbols_in


@alone
def positive_area(expr: sp.Expr, x: sp.Symbol, y: sp.Symbol, depth: int) -> tuple[Fraction, Fraction]:
    """Bounds (low, high) of the area of {expr > 0} in 0 <= x, y <= 1, from cells of side >= 2^-depth.

    Raises ValueError for a negative depth and for what `BallFunction` refuses.
    """
    if depth < 0:
        raise ValueError(f"depth must be >= 0, got {depth}")
    if expr.has(*ROUGH):
        raise ValueError("the expression must be differentiable: no Abs, Max, Min or Piecewise")
    symbols_in([expr], Box({x: (0, 1), y: (0, 1)}))
    names = (x.name, y.name)
    value = BallFunction([expr], names)
    slopes = BallFunction([sp.diff(expr, x), sp.diff(expr, y)], names)
    low, high, cells = Fraction(0), Fraction(1), [(0, 0)]
    for level in range(depth + 1):
        rest = []
        for i, j in cells:
            sign = _sign(value, slopes, i, j, 2**level)
            if sign > 0:
                low += Fraction(1, 4**level)
            elif sign < 0:
                high -= Fraction(1, 4**level)
            else:
                rest += [(2 * i, 2 * j), (2 * i + 1, 2 * j), (2 * i, 2 * j + 1), (2 * i + 1, 2 * j + 1)]
        cells = rest
    return low, high


def _sign(value: BallFunction, slopes: BallFunction, i: int, j: int, cells: int) -> int:
    """1 or -1 where the expression certainly is positive, or at most 0, on the cell; 0 where that is not settled."""
    sides = [to_ball(Fraction(k, cells), Fraction(k + 1, cells)) for k in (i, j)]
    found = _of(value(*sides)[0])
    if found:
        return found
    middle = [to_ball(Fraction(2 * k + 1, 2 * cells)) for k in (i, j)]
    change = sum((slope * (side - at) for slope, side, at in zip(slopes(*sides), sides, middle, strict=True)), arb(0))
    return _of(value(*middle)[0] + change)


def _of(ball: arb) -> int:
    return 1 if ball > 0 else -1 if ball <= 0 else 0
