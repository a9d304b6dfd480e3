"""What a comparison takes for a number: exact ones, floats, or neither; and the certain sign of an exact one.

Nothing is converted in silence. A ball has no value, a bool is no count, a complex number has no order, and a float is
never exact: each is refused where it enters, so that a check cannot pass by what a conversion dropped.
"""

from collections.abc import Iterator, Sized
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np
import sympy as sp
from flint import acb, arb

from theory.lowering.ball import BallFunction
from theory.lowering.precision import working

# Bits at which the sign of an exact number is looked for; beyond the last one it is undecided, unless proved to be 0.
_BITS = (64, 256, 1024, 4096)


class Undecided(Exception):
    """The check could not tell; the message says what was tried."""


def is_exact(value: Any) -> bool:
    """An int, a Fraction, or a real sympy number without floats: never a bool, never a float."""
    if type(value) is int or type(value) is Fraction:  # most are, and the abstract types below are slow to ask
        return True
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, sp.Expr):
        unfit = value.is_real is False or value.has(sp.Float, sp.nan, sp.zoo, sp.oo)
        return bool(value.is_number and not unfit)
    return isinstance(value, Integral | Rational)


def sign(number: Any) -> int:
    """-1, 0 or 1 for an exact real number, decided by Arb balls or by proof that it is 0; else Undecided."""
    if not isinstance(number, sp.Expr):
        return int(number > 0) - int(number < 0)
    if number.is_Rational:
        return int(sp.sign(number))
    found = _sign_in_balls(number)
    if found == 0 and not _is_zero(number):
        raise Undecided(f"{_BITS[-1]} bits do not settle the sign of {number}")
    return found


def _sign_in_balls(number: sp.Expr) -> int:
    try:
        value = BallFunction([number], ())
    except ValueError as reason:
        raise Undecided(str(reason)) from reason
    for bits in _BITS:
        with working(bits):
            (ball,) = value()
        if ball > 0 or ball < 0:
            return 1 if ball > 0 else -1
    return 0


def _is_zero(number: sp.Expr) -> bool:
    """Proved zero: by its minimal polynomial if algebraic, else by expansion and simplification."""
    if number.is_algebraic:
        x = sp.Symbol("x")
        return bool(sp.minimal_polynomial(number, x) == x)
    return bool(sp.expand(number) == 0 or sp.simplify(number) == 0)


def reals(side: Any) -> np.ndarray:
    """The side of a float comparison as a float64 array. Raises TypeError for what is no real number, and for nothing
    at all."""
    if isinstance(side, np.ma.MaskedArray):
        raise TypeError("a masked array hides entries: compare the entries that count")
    array = np.asarray(side) if not isinstance(side, sp.Basic | arb | acb) else np.asarray(_real(side))
    if array.size == 0:
        raise ValueError("nothing to compare: a side is empty")
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind != "O":
        raise TypeError(f"a {array.dtype} is not a real number: {side!r}")
    return np.array([_real(entry) for entry in array.ravel()]).reshape(array.shape)


def _real(entry: Any) -> float:
    if isinstance(entry, arb | acb):
        raise TypeError(f"{entry} is a ball, not a number: use ball_at_least or balls_apart")
    if isinstance(entry, sp.Expr) and entry.is_number and entry.is_real:
        return float(entry)
    if isinstance(entry, bool | np.bool_) or not isinstance(entry, Integral | Rational | float | np.floating):
        raise TypeError(f"a {type(entry).__name__} is not a real number: {entry!r}")
    return float(entry)


def check_exact(*sides: Any) -> None:
    """Refuses, at any depth, what exact equality cannot be asked of: floats, balls, arrays, nothing on both sides."""
    if all(isinstance(side, Sized) and not len(side) for side in sides):
        raise ValueError("nothing to compare: both sides are empty")
    for leaf in _leaves(sides):
        if type(leaf) in _PLAIN:
            continue
        if isinstance(leaf, float | complex | np.generic | np.ndarray | arb | acb):
            raise TypeError(f"same() compares exact objects, not a {type(leaf).__name__}: {leaf!r}")
        if isinstance(leaf, sp.Basic) and leaf.has(sp.Float):
            raise TypeError(f"same() compares exact objects, and {leaf} holds a float")


_PLAIN = {int, bool, str, Fraction, type(None)}


def _leaves(side: Any) -> Iterator[Any]:
    pending = [side]
    while pending:
        entry = pending.pop()
        if isinstance(entry, tuple | list | set | frozenset | dict):
            pending += reversed(tuple(entry.items() if isinstance(entry, dict) else entry))
        else:
            yield entry


def exactly_equal(left: Any, right: Any) -> bool:
    """Equality of exact objects of one kind: True is not 1, a list is not a tuple, and numbers equal by value."""
    if is_exact(left) and is_exact(right):
        return left == right or sign(sp.sympify(as_sympy(left)) - as_sympy(right)) == 0
    if isinstance(left, tuple | list) and type(left) is type(right):
        return len(left) == len(right) and all(map(exactly_equal, left, right))
    if isinstance(left, bool) != isinstance(right, bool):
        raise TypeError(f"{left!r} and {right!r}: a bool is not a number")
    return bool(left == right)


def as_sympy(number: Any) -> sp.Expr:
    """An exact number as sympy has it."""
    return sp.Rational(number.numerator, number.denominator) if isinstance(number, Fraction) else sp.sympify(number)
