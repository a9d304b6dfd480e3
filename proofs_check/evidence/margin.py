"""Margins: what a check returns instead of a bool. A margin is >= 0 exactly where the statement holds.

Every constructor keeps both sides of its comparison, so that a failure can be shown as printed against true. Each takes
one kind of number and refuses the others (see `sides`): exact numbers are compared exactly, floats up to a named
tolerance or not at all within their rounding, balls certainly. A comparison that cannot be settled raises `Undecided`,
which is never a pass.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.sides import Undecided, as_sympy, check_exact, exactly_equal, is_exact, reals, sign
from proofs_check.evidence.tolerances import NOISE, Tolerance, named
from theory.lowering.ball import BallFunction, to_ball
from theory.lowering.precision import working

__all__ = ["Margin", "Undecided"]

BARELY_NOT = -5e-324  # the largest negative float: a strict inequality that is an equality


class Slack(NamedTuple):
    """A tolerance, and the error that it had to cover: 0 where the sides were equal or in the order that is claimed."""

    tolerance: float
    error: float

    @property
    def ratio(self) -> float:
        """How many times the tolerance covers the error."""
        return self.tolerance / self.error if self.error > 0 else math.inf


class Margin(NamedTuple):
    """`value` >= 0 where the statement holds; `printed` and `true` are the two sides that were compared."""

    value: float
    printed: Any
    true: Any
    slack: Slack | None = None  # of a comparison with a tolerance


def signed_float(number: Any) -> float:
    """A float of the sign of an exact number, even where rounding would lose the sign. Raises Undecided."""
    direction = sign(number)
    return direction * max(abs(float(number)), 5e-324) if direction else 0.0


def _pair(left: Any, right: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both sides as floats of one shape: a scalar beside an array would be compared with entries nobody named."""
    sides = reals(left), reals(right)
    if sides[0].shape != sides[1].shape:
        raise ValueError(f"the sides have the shapes {sides[0].shape} and {sides[1].shape}")
    return sides


def _checked(tolerance: Tolerance) -> float:
    if not named(tolerance):
        raise TypeError(f"the tolerance {tolerance!r} has no name: take one of proofs_check.evidence.tolerances")
    return float(tolerance)


def close(printed: Any, true: Any, tolerance: Tolerance) -> Margin:
    """|printed - true| <= tolerance for floats and arrays of one shape (largest entry)."""
    found, wanted = _pair(printed, true)
    error = float(np.max(np.abs(found - wanted)))
    return Margin(_checked(tolerance) - error, printed, true, Slack(float(tolerance), error))


def apart(printed: Any, true: Any, tolerance: Tolerance) -> Margin:
    """|printed - true| > tolerance: the numbers differ by more than rounding could explain."""
    found, wanted = _pair(printed, true)
    value = float(np.max(np.abs(found - wanted)) - _checked(tolerance))
    return Margin(BARELY_NOT if value == 0 else value, printed, true)


def at_most(left: Any, right: Any, slack: Tolerance | None = None) -> Margin:
    """left <= right (+ slack) for exact numbers, or floats and arrays of one shape (smallest entry of the difference).

    Without a slack, floats that are closer than their rounding (`tolerances.NOISE`) are Undecided.
    """
    if slack is not None:
        low, high = _pair(left, right)
        gap = float(np.min(high - low))
        return Margin(gap + _checked(slack), left, right, Slack(float(slack), max(0.0, -gap)))
    if is_exact(left) and is_exact(right):
        return Margin(signed_float(as_sympy(right) - as_sympy(left)), left, right)
    return Margin(_float_gap(left, right), left, right)


def less(left: Any, right: Any) -> Margin:
    """left < right, strictly, for exact numbers or for floats that differ by more than their rounding."""
    margin = at_most(left, right)
    return margin if margin.value != 0 else Margin(BARELY_NOT, left, right)


def _float_gap(left: Any, right: Any) -> float:
    """The least right - left, if no entry leaves its sign to rounding (or one is certainly negative, or NaN)."""
    low, high = _pair(left, right)
    with np.errstate(invalid="ignore"):  # the gap of two infinities is NaN, and stays it
        gap, noise = high - low, NOISE * np.minimum(np.maximum(np.abs(low), np.abs(high)), sys.float_info.max)
    worst_gap = float(np.min(gap))
    if np.any(gap < -noise) or math.isnan(worst_gap) or not np.any(np.abs(gap) <= noise):
        return worst_gap
    raise Undecided(f"{left!r} and {right!r} are as close as rounding: name a tolerance or compare exact numbers")


def same(printed: Any, true: Any) -> Margin:
    """printed == true for exact objects (numbers, texts, tuples of them): 0 where equal, negative elsewhere."""
    check_exact(printed, true)
    if exactly_equal(printed, true):
        return Margin(0.0, printed, true)
    if is_exact(printed) and is_exact(true):
        return Margin(-abs(signed_float(as_sympy(printed) - as_sympy(true))), printed, true)
    return Margin(-1.0, printed, true)


def different(printed: Any, true: Any) -> Margin:
    """printed != true for exact objects: numbers, texts, tuples of them."""
    equal = same(printed, true)
    return Margin(BARELY_NOT if equal.value == 0 else -equal.value, printed, true)


def identity(printed: Any, true: Any) -> Margin:
    """printed = true as sympy expressions, for all values of their symbols.

    0 once the difference simplifies to zero; -|difference| at a random rational point that tells them apart.
    Raises Undecided where it neither simplifies nor differs at any of eight points, TypeError for floats and texts.
    """
    sides = [as_sympy(side) if is_exact(side) else sp.sympify(side, strict=True) for side in (printed, true)]
    if any(isinstance(side, str) for side in (printed, true)) or any(side.has(sp.Float) for side in sides):
        raise TypeError(f"identity() compares exact expressions, not {printed!r} and {true!r}")
    difference = sides[0] - sides[1]
    if sp.expand(difference) == 0:
        return Margin(0.0, printed, true)
    separated = _separated(difference)
    if separated:
        return Margin(-separated, printed, true)
    attempts = (  # the cheap ones first: most identities are of quotients, or of sums of angles
        lambda e: sp.expand(sp.fraction(sp.together(e))[0]),
        lambda e: sp.expand(e.rewrite(sp.exp)),
        sp.simplify,
        lambda e: sp.simplify(sp.expand(e.rewrite(sp.exp))),
    )
    if any(attempt(difference) == 0 for attempt in attempts):
        return Margin(0.0, printed, true)
    raise Undecided("the difference neither simplifies to zero nor shows at eight rational points")


def _separated(difference: Any) -> float:
    """Size of the expression at the first of eight random points where 50 digits certainly tell it from zero, or 0."""
    rng = np.random.default_rng(0)
    symbols = sorted(difference.free_symbols, key=sp.default_sort_key)  # by text, Dummies change places at 99 and 100
    vanishes = _vanishing(difference, symbols)
    for _ in range(8):
        point = {s: _random_value(s, rng) for s in symbols}
        if vanishes(point):
            continue
        size = abs(sp.N(difference.subs(point), 50))
        if size.is_number and size > sp.Rational(1, 10**30):
            return float(size)
    return 0.0


def _vanishing(difference: Any, symbols: Sequence[Any]) -> Callable[[dict[Any, Any]], bool]:
    """Is the expression certainly below `_separated`'s threshold at a point? By balls, which take a hundredth of the
    time in which sympy looks for 50 digits of what is zero; False where they do not say so, or do not know a function.
    """
    names = [s.name for s in symbols]
    if len(set(names)) < len(names):
        return lambda point: False  # a name would stand for two values
    try:
        value = BallFunction([difference], names)
    except ValueError:
        return lambda point: False

    def vanishes(point: dict[Any, Any]) -> bool:
        with working(256):
            (ball,) = value(*(to_ball(point[s]) for s in symbols))
            return bool(abs(ball) < to_ball("1e-40"))

    return vanishes


def _random_value(symbol: Any, rng: np.random.Generator) -> Any:
    if symbol.is_integer:
        return sp.Integer(int(rng.integers(5, 30)))
    value = sp.Rational(int(rng.integers(1, 200)), 97)
    if symbol.is_extended_nonpositive:
        return -value
    return value if symbol.is_extended_nonnegative or rng.random() < 0.5 else -value


def _ball(value: Any) -> Any:
    """An Arb ball, or a whole number as one; a float is refused, for nobody knows what it rounds."""
    if isinstance(value, arb):
        return value
    if type(value) is int:
        return arb(value)
    raise TypeError(f"a {type(value).__name__} is no ball: {value!r}")


def _settled(excess: arb, strict: bool, printed: str, true: str) -> Margin:
    """Is the ball certainly at or above 0, strictly so or not? The margin is its lower (or, refuted, its upper) end."""
    if excess > 0 or (not strict and excess >= 0):
        return Margin(max(float(excess.lower()), 0.0), printed, true)
    if excess < 0 or (strict and excess <= 0):
        return Margin(min(float(excess.upper()), BARELY_NOT), printed, true)
    raise Undecided(f"the balls of {printed} and {true} do not settle their comparison")


def ball_at_least(ball: Any, bound: int | Fraction = 0, strict: bool = False) -> Margin:
    """The Arb ball lies at or above `bound`."""
    return _settled(_ball(ball) - to_ball(bound), strict, str(ball), str(bound))


def ball_above(found: Any, printed: Any) -> Margin:
    """An Arb ball lies certainly above its printed bound, a ball or an exact number; the sides shown are those two."""
    return _settled(found - _end(printed), True, f"at most {_shown(printed)}", _shown(found))


def ball_below(found: Any, printed: Any) -> Margin:
    """An Arb ball lies certainly below its printed bound, a ball or an exact number; the sides shown are those two."""
    return _settled(_end(printed) - found, True, f"at least {_shown(printed)}", _shown(found))


def ball_at_most(found: Any, printed: Any) -> Margin:
    """An Arb ball lies at or below its printed bound, a ball or an exact number; the sides shown are those two."""
    return _settled(_end(printed) - found, False, f"at most {_shown(printed)}", _shown(found))


def _end(bound: Any) -> arb:
    return to_ball(bound) if isinstance(bound, int | Fraction) else _ball(bound)


def _shown(number: Any) -> str:
    return f"{float(number):g}" if isinstance(number, int | Fraction) else str(number.str(6))


def ball_within(error: Any, tolerance: Fraction) -> Margin:
    """An Arb ball lies at or below the tolerance: the size of an error, or what one side has above the other."""
    found = ball_at_least(to_ball(tolerance) - _ball(error))
    return found._replace(slack=Slack(float(tolerance), max(0.0, float(error.upper()))))


def balls_apart(printed: Any, true: Any, resolution: Fraction = Fraction(1, 10**9)) -> Margin:
    """Two Arb balls certainly more than `resolution` apart; refuted where they are certainly closer."""
    return _settled(abs(_ball(printed) - _ball(true)) - to_ball(resolution), True, str(printed), str(true))


def worst(margins: Sequence[Margin], sides: Margin | None = None) -> Margin:
    """The smallest of several margins that must all hold, with the smallest slack of them; NaN wins.

    sides: the margin whose two sides are shown, where that is not the smallest.
    """
    if not margins:
        raise ValueError("no margins to combine")
    for margin in margins:
        if math.isnan(margin.value):
            return margin
    smallest = min(margins, key=lambda margin: margin.value)
    shown = smallest if sides is None else sides
    slack = least_slack(margin.slack for margin in margins)
    return Margin(smallest.value, shown.printed, shown.true, slack)


def least_slack(slacks: Iterable[Slack | None]) -> Slack | None:
    """The one whose tolerance covers its error the fewest times, of comparisons with and without a tolerance."""
    return min((slack for slack in slacks if slack is not None), key=lambda slack: slack.ratio, default=None)
