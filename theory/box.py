"""Exact numbers, boxes with exact end points, comparisons with three outcomes: the vocabulary of a rigorous proof."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import sympy
from flint import arb, fmpq

from theory.checked import shown
from theory.precision import alone

Exact: TypeAlias = int | Fraction | str | sympy.Rational


class Outcome(Enum):
    """What a rigorous computation may say; never a bool, because "not proved" is not "false"."""

    PROVED = "proved at every point of the domain"
    REFUTED = "refuted: it certainly fails at a point of the domain"
    UNDECIDED = "undecided: raise the budget or the precision, or shrink the domain"


def exact(value: Exact) -> Fraction:
    """The rational number `value`; "0.1" is one tenth. Raises ValueError for a float, whose meaning is ambiguous."""
    if isinstance(value, sympy.Rational):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, str)):
        kind = type(value).__name__
        raise ValueError(f"constant {shown(value)} is a {kind}: give an int, a Fraction or a string such as '1/10'")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"constant {shown(value)} is not a finite rational number such as '1/10' or '0.25'") from None


@alone
def to_ball(low: Exact, high: Exact | None = None) -> arb:
    """A ball that contains [low, high]; a midpoint and radius computed in floats would miss an end of many of them."""
    left = exact(low)
    ball = arb(fmpq(left.numerator, left.denominator))
    if high is None or (right := exact(high)) == left:
        return ball
    return ball.union(arb(fmpq(right.numerator, right.denominator)))


@alone
def outward(ball: arb) -> tuple[float, float]:
    """Floats (low, high) with low <= every point of the ball <= high. Raises ValueError when the ball is NaN."""
    if ball.is_nan():
        raise ValueError("the ball is NaN: it has no end points")
    # The conversion to float may round either way, so each end takes one step outward.
    low, high = float(ball.lower()), float(ball.upper())
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


def less(left: arb, right: arb) -> Outcome:
    """Is every number in `left` below every number in `right`?"""
    if left < right:
        return Outcome.PROVED
    return Outcome.REFUTED if left >= right else Outcome.UNDECIDED


def less_or_equal(left: arb, right: arb) -> Outcome:
    """Is no number in `left` above a number in `right`?"""
    if left <= right:
        return Outcome.PROVED
    return Outcome.REFUTED if left > right else Outcome.UNDECIDED


def equal(left: arb, right: arb) -> Outcome:
    """Are both balls the same single number?"""
    if left.is_exact() and right.is_exact() and left == right:
        return Outcome.PROVED
    return Outcome.REFUTED if left != right else Outcome.UNDECIDED


@dataclass(frozen=True, init=False)
class Box:
    """A product of closed intervals with rational end points, one for each symbol name, in a fixed order."""

    sides: tuple[tuple[str, Fraction, Fraction], ...]

    def __init__(self, sides: Mapping[str | sympy.Symbol, tuple[Exact, Exact]]) -> None:
        """Raises ValueError for an empty box, a float end point, or low > high."""
        rows = tuple((str(name), exact(low), exact(high)) for name, (low, high) in sides.items())
        if not rows or len({name for name, _, _ in rows}) < len(rows):
            raise ValueError("a box needs at least one side, and each name once")
        for name, low, high in rows:
            if low > high:
                raise ValueError(f"side {name} of the box runs from {low} to {high}: low must not exceed high")
        object.__setattr__(self, "sides", rows)

    def __getitem__(self, name: str) -> tuple[Fraction, Fraction]:
        for side, low, high in self.sides:
            if side == name:
                return low, high
        raise ValueError(f"the box has no side {name!r}; its sides are {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.sides)

    def width(self, axis: str | None = None) -> Fraction:
        """high - low of one side, or of the widest side."""
        if axis is None:
            return max(high - low for _, low, high in self.sides)
        low, high = self[axis]
        return high - low

    def with_side(self, axis: str, low: Exact, high: Exact) -> Box:
        """The same box with one side replaced."""
        self[axis]
        return Box({name: (low, high) if name == axis else (a, b) for name, a, b in self.sides})

    def split(self, axis: str | None = None, at: Exact | None = None) -> tuple[Box, Box]:
        """The two halves of the box across `axis` (default: the widest side); they share a face and are the box."""
        name = axis if axis is not None else max(self.names, key=self.width)
        low, high = self[name]
        middle = (low + high) / 2 if at is None else exact(at)
        if not low < middle < high:
            raise ValueError(f"cannot split side {name} = [{low}, {high}] at {middle}: it must lie strictly inside")
        return self.with_side(name, low, middle), self.with_side(name, middle, high)

    def contains(self, other: Box | Mapping[str, Exact]) -> bool:
        """Does the box contain a point (name -> exact number) or another box with the same names?"""
        if isinstance(other, Box):
            inner = {name: (low, high) for name, low, high in other.sides}
        else:
            inner = {name: (exact(value), exact(value)) for name, value in other.items()}
        if set(inner) != set(self.names):
            raise ValueError(f"names {sorted(inner)} differ from the sides of the box, {sorted(self.names)}")
        return all(low <= inner[name][0] and inner[name][1] <= high for name, low, high in self.sides)

    def center(self) -> dict[str, Fraction]:
        """The exact midpoint."""
        return {name: (low + high) / 2 for name, low, high in self.sides}

    def corners(self) -> Iterator[dict[str, Fraction]]:
        """The 2^n corners, fewer where sides are degenerate."""
        for ends in itertools.product(*(sorted({low, high}) for _, low, high in self.sides)):
            yield dict(zip(self.names, ends, strict=True))

    def balls(self) -> tuple[arb, ...]:
        """One ball for each side, in order, at the current precision; each contains both end points of its side."""
        return tuple(to_ball(low, high) for _, low, high in self.sides)


def symbols_in(exprs: Sequence[sympy.Basic], box: Box) -> dict[str, sympy.Symbol]:
    """The free symbols by name, after checking that they belong to the box.

    Raises ValueError when two symbols share a name, a symbol has no side, or a side leaves the domain that its symbol
    is assumed to have (sympy has simplified by that assumption, so the expression means nothing outside).
    """
    found: dict[str, sympy.Symbol] = {}
    for symbol in sorted(set().union(*(expr.free_symbols for expr in exprs)), key=str):
        if symbol.name in found:
            raise ValueError(f"two symbols named {symbol.name!r} have different assumptions: import, do not recreate")
        low, high = box[symbol.name]
        outside = {
            "positive": symbol.is_positive and low <= 0,
            "nonnegative": symbol.is_nonnegative and low < 0,
            "negative": symbol.is_negative and high >= 0,
            "nonpositive": symbol.is_nonpositive and high > 0,
            "nonzero": symbol.is_real and symbol.is_nonzero and low <= 0 <= high,
            "real": symbol.is_real is False,
        }
        for assumption, broken in outside.items():
            if broken:
                raise ValueError(f"symbol {symbol.name} is assumed {assumption}, but its side is [{low}, {high}]")
        found[symbol.name] = symbol
    return found
