"""Equalities among hypotheses, solved for the numbers that they give: no point that is drawn meets one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent, Variable, solvable, solved
from proofs_check.core.enclose import Evaluator, Undefined, Unknown
from proofs_check.core.normal import back, normal
from proofs_check.core.terms import Malformed, Term, eq, free, substitute
from proofs_check.core.witness import closed
from proofs_check.core.work import TooLarge, limited

ExactPoint = dict[str, Any]
_WORK = 20_000  # for one number


def without_equalities(sequent: Sequent) -> tuple[Sequent, Callable[[ExactPoint], Iterator[ExactPoint]]]:
    """The sequent over the other numbers, and what gives the points of the first one for a point of the second."""
    steps: list[tuple[Variable, Term]] = []
    sequent = replace(sequent, given=(*sequent.given, *_pinned(sequent)))
    while (found := solvable(sequent)) is not None:
        which, name = found
        one, other = sequent.given[which].parts[1:]
        steps.append((sequent.variable(name), other if one is Term("var", name) else one))
        sequent = solved(sequent, which, name)

    def points(point: ExactPoint, left: int = len(steps)) -> Iterator[ExactPoint]:
        if not left:
            yield point
            return
        v, value = steps[left - 1]
        for image in _values(v, value, point):
            yield from points({**point, v.name: image}, left - 1)

    return sequent, points


def _pinned(sequent: Sequent) -> list[Term]:
    """a = b where a <= b and b <= a are given."""
    pairs = [g.parts[1:] for g in sequent.given if g.kind == "rel" and g.parts[0] == "<="]
    return [eq(a, b) for number, (a, b) in enumerate(pairs) if (b, a) in pairs[:number]]


def _values(v: Variable, value: Term, point: ExactPoint) -> Iterator[Any]:
    """The value of a term at a point, as a fraction or a term; where it has none, some numbers of the domain."""
    numbers = {name: number for name, number in point.items() if not isinstance(number, Term)}
    try:
        value = substitute(value, {name: term for name, term in point.items() if isinstance(term, Term)})
        found = Evaluator(numbers).value(value)
        yield from [found] if isinstance(found, Fraction) else _plain(value, numbers)
    except Undefined:
        yield from (Fraction(0), Fraction(1))
        yield from (end.parts[0] for end in (v.low, v.high) if end is not None and end.kind == "num")
    except (Unknown, Malformed, KeyError):
        return


def _plain(term: Term, point: ExactPoint) -> Iterator[Term]:
    """The term as a number without variables, in normal form where that is shorter."""
    try:
        with limited(_WORK):
            made = closed(term, point)
            short = back(normal(made))
    except (TooLarge, ZeroDivisionError):
        return
    if not free(made):
        yield short if short.size < made.size else made
