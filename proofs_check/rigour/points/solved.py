"""Points with irrational numbers in them, written as terms: where the two sides of a comparison meet.

An equality fails, or a hypothesis holds, at such points alone; no float hits them, and the core takes terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.normal import difference, is_number, normal
from proofs_check.core.terms import PI, ZERO, Malformed, Term, exp, free, log, num, sqrt, substitute, walk
from proofs_check.core.work import TooLarge, limited

_MOST, _WORK = 24, 5_000
# Where sine and cosine take their simplest values.
_ANGLES = {
    "sin": {0: (PI, -PI, 2 * PI), 1: (PI / 2, -3 * PI / 2), -1: (-PI / 2, 3 * PI / 2)},
    "cos": {0: (PI / 2, -PI / 2, 3 * PI / 2), 1: (2 * PI, -2 * PI), -1: (PI, -PI)},
}


def solved(sequent: Sequent, point: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The exact point with one number moved to where two sides meet, or with all the stated equalities solved."""
    names = {v.name for v in sequent.variables if not (v.whole or v.sizes or v.values)}
    numbers = {name: num(value) for name, value in point.items() if isinstance(value, Fraction)}
    atoms = _atoms(sequent)
    yield from ({**point, **found} for found in [_at_once(atoms, names, numbers)] if found)
    ends = [(v.name, end) for v in sequent.variables if v.name in names for end in (v.low, v.high) if end is not None]
    one_by_one = itertools.chain(
        ((name, end) for name, end in ends if end.kind != "num" and not free(end)),
        (found for atom in atoms for found in _if_small(_meeting(atom, names, numbers))),
    )
    for name, term in itertools.islice(dict.fromkeys(one_by_one), _MOST):
        yield {**point, name: term}


def _if_small(found: Iterator[tuple[str, Term]]) -> Iterator[tuple[str, Term]]:
    """What is found before a term grows too large."""
    try:
        yield from found
    except Malformed:
        return


def _atoms(sequent: Sequent) -> list[Term]:
    """The comparisons of a sequent, and for what is undefined somewhere the equation that says where."""
    found: list[Term] = []
    for node in (node for formula in (sequent.goal, *sequent.given) for node in walk(formula)):
        if node.kind == "rel":
            found.append(node)
        elif node.kind == "div":
            found.append(Term("rel", "!=", node.parts[1], ZERO))
        elif node.kind == "apply" and node.parts[0] in ("log", "sqrt"):
            found.append(Term("rel", "<=", ZERO, node.parts[1]))
    return list(dict.fromkeys(found))


def _at_once(atoms: list[Term], names: set[str], numbers: Mapping[str, Term]) -> dict[str, Term]:
    """Every equality `f(x) = t` taken for the value of x, at the point's values of what is left."""
    known: dict[str, Term] = {}
    for atom in (atom for atom in atoms if atom.parts[0] == "="):
        for side, other in (atom.parts[1:], atom.parts[:0:-1]):
            mine = free(side) & names
            if len(mine) == 1 and not mine & (free(other) | known.keys()) and _count(side, *mine) == 1:
                known |= {name: value for name in mine for value in list(_inverse(side, other, name))[:1]}
                break
    rest = {name: value for name, value in numbers.items() if name not in known}
    found = {name: substitute(term, rest) for name, term in known.items()}
    return {name: term for name, term in found.items() if not free(term)}


def _meeting(atom: Term, names: set[str], numbers: Mapping[str, Term]) -> Iterator[tuple[str, Term]]:
    """For each number in the comparison, values at which its two sides are equal."""
    _, a, b = atom.parts
    for name in sorted(free(atom) & names):
        here = {other: value for other, value in numbers.items() if other != name}
        left, right = substitute(a, here), substitute(b, here)
        if free(left) | free(right) != {name}:
            continue
        for side, other in ((left, right), (right, left)):
            if _count(side, name) == 1 and name not in free(other):
                yield from ((name, value) for value in _inverse(side, other, name))
        yield from ((name, value) for value in _roots(left, right, name))


def _count(term: Term, name: str) -> int:
    if term.kind == "var":
        return int(term.parts[0] == name)
    return sum(_count(part, name) for part in term.parts if isinstance(part, Term)) * (2 if term.kind == "fold" else 1)


def _inverse(side: Term, value: Term, name: str) -> Iterator[Term]:
    """The values of the variable, which stands once in `side`, at which that has the value."""
    kind, parts = side.kind, side.parts
    if kind == "var":
        yield value
        return
    inner = next(part for part in parts if isinstance(part, Term) and name in free(part))
    others = [part for part in parts if part is not inner]
    for image in _images(kind, others, value, inner is parts[0]):
        yield from _inverse(inner, image, name)


def _images(kind: str, others: list[Any], value: Term, is_first: bool) -> list[Term]:
    """What the part has to be for the whole to have the value, `others` being its other parts."""
    if kind == "add":
        return [value - Term("add", ZERO, *others)]
    if kind == "mul":
        return [value / Term("mul", num(1), *others)]
    if kind == "div":
        return [value * others[0]] if is_first else [others[0] / value]
    if kind == "pow":
        return [sqrt(value), -sqrt(value)] if others[0] == 2 else [1 / value] if others[0] == -1 else []
    return _function_images(others[0], value) if kind == "apply" else []


def _function_images(name: str, value: Term) -> list[Term]:
    if name in _ANGLES:
        at = number(value)
        return list(_ANGLES[name].get(int(at), ())) if at is not None and at.denominator == 1 else []
    images = {"exp": log(value), "log": exp(value), "sqrt": value**2, "tanh": log((1 + value) / (1 - value)) / 2}
    return [value, -value] if name == "abs" else [images[name]] if name in images else []


def number(term: Term) -> Fraction | None:
    """The fraction that a term is, if its normal form shows it."""
    try:
        with limited(_WORK):
            return is_number(normal(term))
    except (TooLarge, ZeroDivisionError, Malformed):
        return None


def _roots(left: Term, right: Term, name: str) -> list[Term]:
    """Of a quadratic equation with rational coefficients."""
    try:
        with limited(_WORK):
            margin = difference(left, right)
    except (TooLarge, ZeroDivisionError, Malformed):
        return []
    powers: dict[int, Fraction] = {0: Fraction(0), 1: Fraction(0), 2: Fraction(0)}
    for mono, coefficient in margin.top.items():
        power = 0 if not mono else mono[0][1]
        if len(mono) > 1 or (mono and mono[0][0] is not Term("var", name)) or power not in powers:
            return []
        powers[int(power)] = coefficient
    c, b, a = (powers[k] for k in (0, 1, 2))
    under = b * b - 4 * a * c
    if a == 0 or under < 0:
        return []
    return [(num(-b) + sign * sqrt(num(under))) / num(2 * a) for sign in (1, -1)]
