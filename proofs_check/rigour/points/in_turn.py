"""Points at which several equalities hold together: each is solved in turn for a number in which it is linear."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.enclose import Undefined, Unknown
from proofs_check.core.normal import Rational, back, difference
from proofs_check.core.terms import ZERO, Malformed, Term, conjuncts, free, negation, num, substitute
from proofs_check.core.witness import truth
from proofs_check.core.work import TooLarge, limited
from proofs_check.rigour.points.sample import conclusion
from proofs_check.rigour.points.solved import number

_FEW, _WORK = 30, 20_000  # terms of a sum that is written out; work for one attempt


def solved_in_turn(sequent: Sequent, point: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The point with numbers moved so that the stated equalities hold, and those that the conclusion denies."""
    wanted = conjuncts([*sequent.given, negation(conclusion(sequent).goal)])
    equalities = [formula for formula in wanted if formula.kind == "rel" and formula.parts[0] == "="]
    names = sorted(v.name for v in sequent.variables if not (v.whole or v.sizes or v.values))
    if not 2 <= len(equalities) <= 3:
        return
    for order in itertools.permutations(names, len(equalities)):
        if all(name in free(formula) for name, formula in zip(order, equalities, strict=True)):
            fixed = {name: num(x) for name, x in point.items() if isinstance(x, Fraction) and name not in order}
            try:
                with limited(_WORK):
                    found = _solved(equalities, order, fixed)
            except (TooLarge, ZeroDivisionError, Malformed):
                continue
            if found is not None:
                yield {**point, **found}


def _solved(equalities: Sequence[Term], order: Sequence[str], fixed: Mapping[str, Term]) -> dict[str, Term] | None:
    """Each equality gives one number in terms of the later ones."""
    found: dict[str, Term] = {}
    for formula, name in zip(equalities, order, strict=True):
        sides = (_written_out(substitute(substitute(side, found), fixed)) for side in formula.parts[1:])
        value = _root(difference(*sides), name)
        if value is None:
            return None
        found = {**{other: substitute(term, {name: value}) for other, term in found.items()}, name: value}
    return None if any(map(free, found.values())) else found


def _written_out(term: Term) -> Term:
    """Short sums between numbers are written out, and an `if` whose condition is plain is one of its parts."""
    if term.kind == "fold" and term.parts[0] == "sum":
        _, index, low, high, body = term.parts
        first, last = number(low), number(high)
        if first is not None and last is not None and last - first < _FEW:
            places = range(int(first), int(last) + 1)
            return Term("add", ZERO, *(_written_out(substitute(body, {index: num(k)})) for k in places))
    if term.kind == "if":
        try:
            return _written_out(term.parts[1 if truth(term.parts[0], {}) else 2])
        except (Undefined, Unknown, KeyError):
            return term
    return Term(term.kind, *(_written_out(part) if isinstance(part, Term) else part for part in term.parts))


def _root(margin: Rational, name: str) -> Term | None:
    """Where the margin is 0, as far as it is linear in that number."""
    x = Term("var", name)
    slope: dict[Any, Fraction] = {}
    rest: dict[Any, Fraction] = {}
    for mono, coefficient in margin.top.items():
        powers = dict(mono)
        power = powers.pop(x, Fraction(0))
        if power not in (0, 1) or any(name in free(base) for base in powers):
            return None
        (slope if power else rest)[tuple(pair for pair in mono if pair[0] is not x)] = coefficient
    return -back(Rational(rest)) / back(Rational(slope)) if slope else None
