"""Margins: what a check returns instead of a bool. A margin is >= 0 exactly where the statement holds.

Every constructor keeps both sides of its comparison, so that a failure can be shown as printed against true.
Sides may be floats, numpy arrays, exact numbers (int, Fraction, sympy) or Arb balls; a comparison that balls or symbols
cannot settle raises `Undecided`, which is never a pass.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

_BARELY_NOT = -5e-324  # the largest negative float: a strict inequality that is an equality


class Undecided(Exception):
    """The check could not tell; the message says what was tried."""


class Margin(NamedTuple):
    """`value` >= 0 where the statement holds; `printed` and `true` are the two sides that were compared."""

    value: float
    printed: Any
    true: Any


def signed_float(number: Any) -> float:
    """A float of the sign of an exact number, even where rounding would lose the sign."""
    value = float(number)
    if value == 0 and number != 0:
        return 5e-324 if number > 0 else _BARELY_NOT
    return value


def _floats(side: Any) -> np.ndarray:
    return np.asarray(side, dtype=np.float64)


def _gap(left: Any, right: Any) -> float:
    """Largest |left - right| over all entries; NaN stays NaN."""
    difference = _floats(left) - _floats(right)
    if difference.size == 0:
        raise ValueError("nothing to compare: both sides are empty")
    return float(np.max(np.abs(difference)))


def close(printed: Any, true: Any, tolerance: float) -> Margin:
    """|printed - true| <= tolerance for floats and arrays (largest entry)."""
    return Margin(float(tolerance - _gap(printed, true)), printed, true)


def apart(printed: Any, true: Any, tolerance: float) -> Margin:
    """|printed - true| > tolerance: the numbers differ by more than rounding could explain."""
    value = float(_gap(printed, true) - tolerance)
    return Margin(_BARELY_NOT if value == 0 else value, printed, true)


def at_most(left: Any, right: Any, slack: float = 0.0) -> Margin:
    """left <= right + slack for floats (smallest entry of the difference) or exact numbers."""
    if _is_exact(left) and _is_exact(right) and slack == 0:
        return Margin(signed_float(right - left), left, right)
    return Margin(float(np.min(_floats(right) - _floats(left))) + slack, left, right)


def less(left: Any, right: Any) -> Margin:
    """left < right, strictly, for floats or exact numbers."""
    margin = at_most(left, right)
    return margin if margin.value != 0 else Margin(_BARELY_NOT, left, right)


def same(printed: Any, true: Any) -> Margin:
    """printed == true for exact numbers, texts, tuples of them: 0 where equal, negative elsewhere."""
    if isinstance(printed, float) or isinstance(true, float):
        raise TypeError("same() compares exact objects; use close() for floats")
    if printed == true:
        return Margin(0.0, printed, true)
    return Margin(-abs(signed_float(printed - true)) if _both_numbers(printed, true) else -1.0, printed, true)


def different(printed: Any, true: Any) -> Margin:
    """printed != true for exact numbers, texts, tuples of them."""
    equal = same(printed, true)
    return Margin(_BARELY_NOT if equal.value == 0 else -equal.value, printed, true)


def identity(printed: Any, true: Any) -> Margin:
    """printed = true as sympy expressions, for all values of their symbols.

    0 once the difference simplifies to zero; -|difference| at a random rational point that tells them apart.
    Raises Undecided where it neither simplifies nor differs at any of eight points.
    """
    import sympy as sp

    difference = sp.sympify(printed) - sp.sympify(true)
    for attempt in (sp.expand, sp.simplify, lambda e: sp.simplify(sp.expand(e.rewrite(sp.exp)))):
        if attempt(difference) == 0:
            return Margin(0.0, printed, true)
        separated = _separated(difference)
        if separated:
            return Margin(-separated, printed, true)
    raise Undecided("the difference neither simplifies to zero nor shows at eight rational points")


def _separated(difference: Any) -> float:
    """Size of the expression at the first of eight random points where 50 digits certainly tell it from zero, or 0."""
    import sympy as sp

    rng = np.random.default_rng(0)
    symbols = sorted(difference.free_symbols, key=str)
    for _ in range(8):
        point = {s: _random_value(s, rng) for s in symbols}
        size = abs(sp.N(difference.subs(point), 50))
        if size.is_number and size > sp.Rational(1, 10**30):
            return float(size)
    return 0.0


def _random_value(symbol: Any, rng: np.random.Generator) -> Any:
    import sympy as sp

    if symbol.is_integer:
        return sp.Integer(int(rng.integers(5, 30)))
    value = sp.Rational(int(rng.integers(1, 200)), 97)
    return value if symbol.is_nonnegative or rng.random() < 0.5 else -value


def ball_at_least(ball: Any, bound: int | Fraction = 0, strict: bool = False) -> Margin:
    """The Arb ball lies at or above `bound`; the margin is the lower (or, refuted, the upper) end of ball - bound."""
    from flint import arb, fmpq

    exact = Fraction(bound)
    shifted = arb(ball) - arb(fmpq(exact.numerator, exact.denominator))
    if shifted > 0 or (not strict and shifted >= 0):
        return Margin(max(float(shifted.lower()), 0.0), str(ball), str(bound))
    if shifted < 0 or (strict and shifted <= 0):
        return Margin(min(float(shifted.upper()), _BARELY_NOT), str(ball), str(bound))
    raise Undecided(f"the ball {ball} does not settle its comparison with {bound}")


def balls_apart(printed: Any, true: Any, resolution: Fraction = Fraction(1, 10**9)) -> Margin:
    """Two Arb balls certainly more than `resolution` apart; refuted where they are certainly closer."""
    from flint import arb, fmpq

    excess = abs(arb(printed) - arb(true)) - arb(fmpq(resolution.numerator, resolution.denominator))
    if excess > 0:
        return Margin(float(excess.lower()), str(printed), str(true))
    if excess <= 0:
        return Margin(min(float(excess.upper()), _BARELY_NOT), str(printed), str(true))
    raise Undecided(f"the balls {printed} and {true} do not settle whether they are {float(resolution)} apart")


def worst(margins: Sequence[Margin]) -> Margin:
    """The smallest of several margins that must all hold; NaN wins."""
    if not margins:
        raise ValueError("no margins to combine")
    for margin in margins:
        if math.isnan(margin.value):
            return margin
    return min(margins, key=lambda margin: margin.value)


def _is_exact(number: Any) -> bool:
    return isinstance(number, int | Fraction) or hasattr(number, "is_Rational")


def _both_numbers(left: Any, right: Any) -> bool:
    return _is_exact(left) and _is_exact(right) and not isinstance(left, bool) and not isinstance(right, bool)
