"""Points: does one lie in the domain and meet every hypothesis, and does the goal certainly fail there?"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from proofs_check.core.domain import Sequent, Variable, check_formed, put
from proofs_check.core.enclose import Evaluator, Undefined, Unknown, Value, compare
from proofs_check.core.enclose import truth as certain
from proofs_check.core.normal import difference, is_number
from proofs_check.core.terms import (
    FORMULAS,
    ONE,
    ZERO,
    Malformed,
    Term,
    both,
    free,
    joined,
    num,
    rational,
    rebuild,
    substitute,
)
from proofs_check.core.terms import from_json as term_from_json
from proofs_check.core.work import TooLarge, limited
from theory.lowering.precision import working

# A Fraction for each number, or a term without variables for a real one; nested tuples of fractions for each sequence.
Point = Mapping[str, Any]
_PRECISIONS = (64, 256, 1024)
_MOST_ITEMS = 20_000
_WRITTEN = 30  # terms of a fold that is written out
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
            if not _inside(sequent, point):
                return False
            placed, numbers = with_terms_put(sequent, point)
            return all(truth(formula, numbers) for formula in hypotheses(placed))
    except (Undefined, Unknown, Malformed, TooLarge):
        return False


def refutes(sequent: Sequent, point: Point) -> bool:
    """Does the point lie in the domain while the sequent is certainly not true there: false, or without a value?"""
    return failure(sequent, point) is not None


class Failure(NamedTuple):
    """A sequent is not true at a point: its goal is false, or a term has no value; then which one, and why."""

    term: Term | None = None
    reason: str = ""


def failure(sequent: Sequent, point: Point) -> Failure | None:
    """How the sequent certainly fails at a point of its domain, None where it holds or nothing is certain.

    It holds where a hypothesis is false, and where all hypotheses and the goal are true; it fails where no hypothesis
    is false and something has no value.
    """
    try:
        with limited(_WORK):
            if not _inside(sequent, point):
                return None
            placed, numbers = with_terms_put(sequent, point)
            if not truth(both(*placed.given), numbers):
                return None
        with limited(_WORK):
            return Failure() if truth(placed.goal, numbers) is False else None
    except Undefined as reason:
        return Failure(reason.term, str(reason))
    except (Unknown, Malformed, TooLarge):
        return None


def with_terms_put(sequent: Sequent, point: Point) -> tuple[Sequent, Point]:
    """The sequent with the coordinates that are terms put for their variables, and the other coordinates."""
    terms = {name: value for name, value in point.items() if isinstance(value, Term)}
    for name, term in terms.items():
        sequent = put(sequent, name, term)
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
                found = compare(relation, a, b)
        except Unknown:
            if precision == _PRECISIONS[-1]:
                raise
            continue
        if found is not None:
            return found
    try:
        with limited(_WORK // 10):
            margin = is_number(difference(*(closed(side, point) for side in sides)))
    except (TooLarge, ZeroDivisionError, Malformed, Unknown, Undefined):  # as in a branch that is not taken
        return None
    return None if margin is None else compare(relation, margin, Fraction(0))


def closed(term: Term, point: Point) -> Term:
    """The term with the point's numbers in it, its folds written out. Raises TooLarge for long ones."""

    def put(node: Term) -> Term:
        if node.kind == "var" and isinstance(point.get(node.parts[0]), Fraction):
            return num(point[node.parts[0]])
        if node.kind == "fold":
            if free(node) - point.keys():
                raise Malformed("a fold of names that have no number here")
            operation, index, low, high, body = node.parts
            first, last = (Evaluator(point).value(end) for end in (low, high))
            if not isinstance(first, Fraction) or not isinstance(last, Fraction) or last - first > _WRITTEN:
                raise TooLarge("a fold that is too long to write out")
            places = range(int(first), int(last) + 1)
            kind, none = {"sum": ("add", ZERO), "prod": ("mul", ONE)}.get(operation, (operation, ZERO))
            return joined(kind, [put(substitute(body, {index: num(k)})) for k in places], none)
        if node.kind == "item" and not free(node) - point.keys():
            item = Evaluator(point).value(node)
            return num(item) if isinstance(item, Fraction) else node
        return rebuild(node, put)

    return put(term)


def _inside(sequent: Sequent, point: Point) -> bool:
    """Does the point certainly lie in the domain? Variable after variable, so that an end is asked for its value where
    those before lie inside. Raises Undefined for an end without one, Malformed for a point of another shape.
    """
    if point.keys() != {v.name for v in sequent.variables}:
        raise Malformed("the point has other variables")
    terms = {name: value for name, value in point.items() if isinstance(value, Term)}
    numbers = {name: value for name, value in point.items() if name not in terms}
    for declared in sequent.variables:
        v = declared.substituted(terms)
        if not all(truth(end <= end, numbers) for end in v.ends()):
            return False
        items = [_real(v, terms[v.name])] if v.name in terms else _coordinates(v, numbers)
        bounds = [bound for item in dict.fromkeys(items) for bound in v.bounds(item)]
        if v.radius is not None:
            square = sum((item.parts[0] ** 2 for item in items), Fraction(0))
            bounds += [num(square) <= v.radius**2, num(0) <= v.radius]
        if not all(truth(bound, numbers) for bound in bounds):
            return False
    return True


def _real(v: Variable, term: Term) -> Term:
    """A term without variables as the value of a real number; it certainly has a value."""
    if v.whole or v.sizes or v.values or term.kind in FORMULAS or free(term):
        raise Malformed(f"{v.name} is no real number, or {term} is none")
    check_formed(Sequent((), (), term <= term))
    try:
        Evaluator({}).value(term)
    except Undefined as reason:
        raise Malformed(f"the coordinate {v.name} has no value") from reason
    return term


def _coordinates(v: Variable, numbers: Point) -> list[Term]:
    """The numbers of a variable's value. Raises Undefined where it would have a negative size."""
    sizes = [Evaluator(numbers).value(size) for size in v.sizes]
    if any(isinstance(size, Fraction) and size < 0 for size in sizes):
        raise Undefined(f"{v.name} has a negative size")
    if not all(isinstance(size, Fraction) and size <= _MOST_ITEMS for size in sizes):
        raise Malformed(f"a size of {v.name} is not certain")
    items = _items(numbers[v.name], sizes)
    if v.whole and any(item.denominator != 1 for item in items):
        raise Malformed(f"{v.name} is no whole number")
    return list(map(num, items))


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
