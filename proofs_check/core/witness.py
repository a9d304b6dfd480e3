"""Points: does one lie in the domain and meet every hypothesis, and does the goal certainly fail there?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent, check_formed, put
from proofs_check.core.enclose import Evaluator, Undefined, Unknown, Value, compare
from proofs_check.core.enclose import truth as certain
from proofs_check.core.normal import difference, is_number
from proofs_check.core.terms import FORMULAS, Malformed, Term, free, num, rational, substitute
from proofs_check.core.terms import from_json as term_from_json
from proofs_check.core.work import TooLarge, limited
from theory.lowering.precision import working

# A Fraction for each number, or a term without variables for a real one; nested tuples of fractions for each sequence.
Point = Mapping[str, Any]
_PRECISIONS = (64, 256, 1024)
_MOST_ITEMS = 20_000
_WORK = 200_000


def hypotheses(sequent: Sequent) -> tuple[Term, ...]:
    """The given formulas and those that the goal itself assumes."""
    given, goal = list(sequent.given), sequent.goal
    while goal.kind == "implies":
        given.append(goal.parts[0])
        goal = goal.parts[1]
    return tuple(given)


def meets(sequent: Sequent, point: Point) -> bool:
    """Does the point certainly lie in the domain and meet every hypothesis, all of them defined there?"""
    try:
        with limited(_WORK):
            sequent, point = _with_terms_put(sequent, point)
            return all(truth(formula, point) for formula in (*_domain(sequent, point), *hypotheses(sequent)))
    except (Undefined, Unknown, Malformed, TooLarge):
        return False


def refutes(sequent: Sequent, point: Point) -> bool:
    """Does the point lie in the domain while the statement is certainly false there, or certainly undefined?

    The hypotheses hold in turn until one has no value; where all hold the goal is false or has no value.
    """
    try:
        with limited(_WORK):
            placed, point = _with_terms_put(sequent, point)
            bounds = placed.given[: len(placed.given) - len(sequent.given)]
            inside = all(truth(bound, point) for bound in (*_domain(placed, point), *bounds))
    except (Undefined, Unknown, Malformed, TooLarge):
        return False
    try:
        with limited(_WORK):
            met = inside and all(truth(formula, point) for formula in hypotheses(placed))
            return met and truth(placed.goal, point) is False
    except Undefined:
        return True
    except (Unknown, TooLarge):
        return False


def _with_terms_put(sequent: Sequent, point: Point) -> tuple[Sequent, Point]:
    """The coordinates that are terms put for their variables, whose domains become hypotheses on them."""
    terms = {name: value for name, value in point.items() if isinstance(value, Term)}
    for name, term in terms.items():
        known = sequent.variable(name)
        if known.whole or known.sizes or known.values or term.kind in FORMULAS or free(term):
            raise Malformed(f"{name} is no real number, or {term} is none")
        check_formed(Sequent((), (), term <= term))
        Evaluator({}).value(term)  # it certainly has a value
        sequent = put(replace(sequent, given=(*known.bounds(term), *sequent.given)), name, term)
    return sequent, {name: value for name, value in point.items() if name not in terms}


def truth(formula: Term, point: Point) -> bool | None:
    """The truth of a formula at a point, None where it is defined and not decided. Raises Undefined or Unknown."""
    return certain(formula, lambda *comparison: _compared(point, *comparison))


def _compared(point: Point, relation: str, *sides: Term) -> bool | None:
    """By enclosures ever finer, and then by normal form: sides that are certainly equal differ by a constant, 0."""
    for precision in _PRECISIONS:
        try:
            with working(precision):
                a, b = map(Evaluator(point).value, sides)  # both sides are defined
        except Unknown:
            if precision == _PRECISIONS[-1]:
                raise
            continue
        found = compare(relation, a, b)
        if found is not None:
            return found
    numbers = {name: num(value) for name, value in point.items() if isinstance(value, Fraction)}
    try:
        with limited(_WORK // 10):
            margin = is_number(difference(*(substitute(side, numbers) for side in sides)))
    except (TooLarge, ZeroDivisionError, Malformed):
        return None
    return None if margin is None else compare(relation, margin, Fraction(0))


def _domain(sequent: Sequent, point: Point) -> list[Term]:
    """The formulas that say that the point lies in the domain. Raises Malformed for one of another shape."""
    if point.keys() != {v.name for v in sequent.variables}:
        raise Malformed("the point has other variables")
    found: list[Term] = []
    for v in sequent.variables:
        sizes = [Evaluator(point).value(size) for size in v.sizes]
        if not all(isinstance(size, Fraction) and 0 <= size <= _MOST_ITEMS for size in sizes):
            raise Malformed(f"a size of {v.name} is not certain")
        items = list(_items(point[v.name], sizes))
        if v.whole and any(item.denominator != 1 for item in items):
            raise Malformed(f"{v.name} is no whole number")
        found += [bound for item in set(items) for bound in v.bounds(num(item))]
        if v.radius is not None:
            square = sum((item * item for item in items), Fraction(0))
            found += [num(square) <= v.radius**2, num(0) <= v.radius]
    return found


def _items(value: Any, sizes: list[Value]) -> list[Fraction]:
    """The numbers of a nested tuple of just these sizes."""
    if not sizes:
        if not isinstance(value, Fraction):
            raise Malformed("a coordinate is no fraction")
        return [value]
    if not isinstance(value, tuple) or len(value) != sizes[0]:
        raise Malformed("a sequence of another size")
    return [item for part in value for item in _items(part, sizes[1:])]


def from_json(data: Any) -> Point:
    """The point that plain data writes. Raises Malformed for whatever is none."""
    if not isinstance(data, dict):
        raise Malformed("a point is written as names with values")
    return {str(name): _read(value) for name, value in data.items()}


def _read(value: Any, depth: int = 5) -> Any:
    if isinstance(value, dict):
        return term_from_json(value["term"])
    if isinstance(value, list) and depth:
        return tuple(_read(part, depth - 1) for part in value)
    return rational(value)
