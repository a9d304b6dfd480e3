"""Statements about finitely many points, decided by their meaning: hypotheses and goal are evaluated at each point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from proofs_check.core import witness
from proofs_check.core.domain import Sequent, Variable
from proofs_check.core.enclose import Evaluator, Undefined, Unknown
from proofs_check.core.statement import FORMAT, Statement, obligations, premise
from proofs_check.core.terms import Malformed, both
from proofs_check.core.work import TooLarge

_MOST_POINTS = 5_000


class Endless(ValueError):
    """There are infinitely many points, or more than are looked at."""


def evaluated(statement: Statement) -> dict[str, Any] | None:
    """The certificate of a statement about finitely many points; None of any other.

    It names the first point at which a part fails, or says that none does, which is checked like any certificate.
    """
    body = {"format": FORMAT, "statement": statement.digest}
    parts = obligations(statement)
    try:
        base = premise(statement)
        met = next((point for point in points(base) if witness.meets(base, point)), {})
        for label, sequent in parts:
            for point in points(sequent):
                if witness.refutes(sequent, point):
                    return {**body, "witness": [label, _written(point)]}
    except Endless:
        return None
    return {**body, "point": _written(met), "everywhere": True}


def holds(sequent: Sequent) -> bool:
    """Is each point either outside the hypotheses or one where the goal is true? Raises Endless."""
    return all(_holds_at(sequent, point) for point in points(sequent))


def _holds_at(sequent: Sequent, point: Mapping[str, Fraction]) -> bool:
    try:
        given = witness.truth(both(*sequent.given), point)
        return given is False or (given is True and witness.truth(sequent.goal, point) is True)
    except (Undefined, Unknown, Malformed, TooLarge):
        return False


def points(sequent: Sequent) -> Iterator[Mapping[str, Fraction]]:
    """Every point of the domain, variable after variable. Raises Endless."""
    found: list[dict[str, Fraction]] = [{}]
    for v in sequent.variables:
        found = [{**point, v.name: value} for point in found for value in _values(v, point)]
        if len(found) > _MOST_POINTS:
            raise Endless(f"there are more than {_MOST_POINTS} points")
    return iter(found)


def _values(v: Variable, point: Mapping[str, Fraction]) -> list[Fraction]:
    """The values of a choice, or of a whole number between two ends."""
    if v.values:
        return list(v.values)
    if not v.whole or v.sizes or v.low is None or v.high is None:
        raise Endless(f"{v.name} has many values")
    try:
        low, high = (Evaluator(point).value(end) for end in (v.low, v.high))
    except (Undefined, Unknown) as fault:
        raise Endless(f"an end of {v.name} has no certain value") from fault
    if not isinstance(low, Fraction) or not isinstance(high, Fraction) or high - low > _MOST_POINTS:
        raise Endless(f"{v.name} has many values")
    first = low.__floor__() + 1 if v.low_open or low.denominator != 1 else int(low)
    last = high.__ceil__() - 1 if v.high_open or high.denominator != 1 else int(high)
    return [Fraction(value) for value in range(first, last + 1)]


def _written(point: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: str(value) for name, value in point.items()}
