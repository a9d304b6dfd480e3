"""Exact numbers, boxes with exact end points, answers with three outcomes: the vocabulary of a rigorous proof."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import sympy
from flint import arb, fmpq

from theory.checked import shown
from theory.lowering.alone import alone

Exact: TypeAlias = int | Fraction | str | sympy.Rational
# Bits of an exponent, so that every number that is written down has fewer digits than Python reads back.
_LONGEST = 6000


class Outcome(Enum):
    """What a rigorous computation may say; never a bool, because "not proved" is not "false"."""

    PROVED = "proved at every point of the domain"
    REFUTED = "refuted: it certainly fails at a point of the domain"
    UNDECIDED = "undecided: raise the budget or the precision, or shrink the domain"


def exact(value: Exact) -> Fraction:
    """The rational number `value`; "0.1" is one tenth. Raises ValueError for a float, whose meaning is ambiguous."""
    if isinstance(value, sympy.Rational):
        return Fraction(int(value.p), int(value.q))
    number = value if type(value) is Fraction else _fraction(value)  # most are, and a copy takes long
    if max(abs(number.numerator), number.denominator).bit_length() > 2 * _LONGEST:
        raise ValueError(f"a constant of over {2 * _LONGEST} bits is too long to write down")
    return number


def _fraction(value: Exact) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, str)):
        kind = type(value).__name__
        raise ValueError(f"constant {shown(value)} is a {kind}: give an int, a Fraction or a string such as '1/10'")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"constant {shown(value)} is not a finite rational such as '1/10' or '0.25'") from None


def rational(value: arb) -> Fraction:
    """The number that an exact ball is. Raises ValueError for a ball with a radius, and beyond 2^(+-6000)."""
    if not (value.is_finite() and value.is_exact()):
        raise ValueError(f"{value.str(10)} is not one finite number")
    mantissa, exponent = value.man_exp()
    if abs(int(exponent)) > _LONGEST:
        raise ValueError(f"a number of 2^{exponent} in size is too long to write down")
    return int(mantissa) * Fraction(2) ** int(exponent)


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


@dataclass(frozen=True, init=False)
class Box:
    """A product of closed intervals with rational end points, one for each symbol name, in a fixed order."""

    sides: tuple[tuple[str, Fraction, Fraction], ...]

    def __init__(self, sides: Mapping[str | sympy.Symbol, tuple[Exact, Exact]]) -> None:
        """A side named by its symbol must lie where the symbol is assumed to live.

        Raises ValueError for an empty box, a float end point, low > high, and such a side.
        """
        rows = tuple((str(name), exact(low), exact(high)) for name, (low, high) in sides.items())
        for symbol, (_, low, high) in zip(sides, rows, strict=True):
            if isinstance(symbol, sympy.Symbol):
                check_side(symbol, low, high)
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


# What sympy may assume of a symbol whose side is an interval of real numbers; anything else (even, prime, irrational,
# infinite, ...) is refused. Signs are held against the side.
_HARMLESS = {
    "commutative", "complex", "hermitian", "real", "extended_real", "finite", "integer", "rational", "algebraic",
}  # fmt: skip
_SIGNS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "positive": lambda low, high: low > 0,
    "nonnegative": lambda low, high: low >= 0,
    "negative": lambda low, high: high < 0,
    "nonpositive": lambda low, high: high <= 0,
    "nonzero": lambda low, high: low > 0 or high < 0,
}


def check_side(symbol: sympy.Symbol, low: Fraction, high: Fraction) -> None:
    """Raises ValueError where the side leaves the domain that sympy has simplified by."""
    known = symbol.assumptions0
    if known.get("real") is False or known.get("extended_real") is False:
        raise ValueError(f"symbol {symbol.name} is assumed not real, but its side is [{low}, {high}]")
    for name, holds in _SIGNS.items():
        assumed = known.get(name) or known.get(f"extended_{name}") or (name == "nonzero" and known.get("zero") is False)
        if assumed and not holds(low, high):
            raise ValueError(f"symbol {symbol.name} is assumed {name}, but its side is [{low}, {high}]")
    signs = {f"{prefix}{name}" for name in _SIGNS for prefix in ("", "extended_")}
    for name in sorted(known):
        if known[name] and name not in _HARMLESS | signs:
            raise ValueError(f"symbol {symbol.name} is assumed {name}, which no interval [{low}, {high}] grants")
    if known.get("integer") is False or known.get("rational") is False:
        raise ValueError(f"symbol {symbol.name} is assumed not whole, which no interval [{low}, {high}] grants")


def symbols_in(exprs: Sequence[sympy.Basic], box: Box) -> dict[str, sympy.Symbol]:
    """The free symbols by name, after checking that they belong to the box.

    Raises ValueError when two symbols share a name, a symbol has no side, or a side leaves the domain that its symbol
    is assumed to have (sympy has simplified by that assumption, so the expression means nothing outside).
    """
    found: dict[str, sympy.Symbol] = {}
    for symbol in sorted(set().union(*(expr.free_symbols for expr in exprs)), key=str):
        if symbol.name in found:
            raise ValueError(f"two symbols named {symbol.name!r} have different assumptions: import, do not recreate")
        check_side(symbol, *box[symbol.name])
        found[symbol.name] = symbol
    return found
