"""Exact points near float ones, the simplest first; the core says what they are worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from proofs_check.core import witness
from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, walk
from proofs_check.rigour.points.drawing import FloatPoint
from proofs_check.rigour.points.moves import coordinates, number_at, put_at

_EXACT = (1, 2, 3, 4, 6, 10, 12, 100, 1000, 10**4, 10**6, 10**9, 10**12, 10**16)


def rationals(sequent: Sequent, point: FloatPoint) -> Iterator[dict[str, Any]]:
    """Exact points near a float point, the simplest first, the float itself last."""
    seen = set()
    told = {float(c): c for f in (sequent.goal, *sequent.given) for node in walk(f) if node.kind == "num"
            for c in (node.parts[0], -node.parts[0]) if abs(c) < 10**300}  # fmt: skip
    for limit in (-1, *_EXACT[3::3], 0):
        if not finite(point):
            return
        found = {name: _exactly(value, limit, told) for name, value in point.items()}
        if str(found) not in seen:
            seen.add(str(found))
            yield found


def _exactly(value: Any, limit: int, told: Mapping[float, Fraction]) -> Any:
    """Fractions near floats: with denominators up to a limit (0: any), or, below 0, numbers of the statement first."""
    if isinstance(value, tuple):
        return tuple(_exactly(part, limit, told) for part in value)
    number = Fraction(value)
    if limit < 0:
        return told.get(float(value), number.limit_denominator(12))
    return number.limit_denominator(limit) if limit else number


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, tuple):
        for part in value:
            yield from _numbers(part)
    else:
        yield value


def finite(point: FloatPoint) -> bool:
    return all(math.isfinite(x) for x in _numbers(tuple(point.values())))


def as_fractions(value: Any) -> Any:
    """Every number as a fraction; what is written as a term stays one."""
    if isinstance(value, dict):
        return {name: as_fractions(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(as_fractions, value))
    return value if isinstance(value, Term) else Fraction(value)


def refuting(sequent: Sequent, point: FloatPoint) -> dict[str, Any] | None:
    for exact in rationals(sequent, point):
        if witness.refutes(sequent, exact):
            return exact
    return None


def shrink(sequent: Sequent, point: dict[str, Any]) -> dict[str, Any]:
    """Simpler numbers, one coordinate after another, as long as the core still sees the failure."""
    for name, place in coordinates(point, sequent)[:24]:
        for simple in _simpler(number_at(point[name], place)):
            moved = put_at(point, name, place, simple)
            if witness.refutes(sequent, moved):
                point = moved
                break
    return point


def _simpler(value: Fraction) -> Iterator[Fraction]:
    candidates = [Fraction(0), Fraction(1), Fraction(-1)]
    if value >= 1000:
        candidates += [Fraction(value // part) for part in (16, 8, 4, 2)]
    candidates += [value.limit_denominator(limit) for limit in _EXACT]
    for candidate in candidates:
        if candidate == value:
            return
        yield candidate
