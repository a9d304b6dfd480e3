"""Mutants: small wrong variants of a statement, made by rule, that evidence for the statement must not also prove.

Each is refuted with a witness, proved (it is weaker than the statement, or the statement is not sharp there), or open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Form, Statement
from proofs_check.core.terms import Malformed, Term, num

_Path = tuple[Term, int, Any] | None  # a node, which of its parts is next, and the path to the node
_Changed = tuple[Term, _Path]
_SITES = 6  # places that are changed for each kind of change
_TENTH, _THOUSANDTH = Fraction(1, 10), Fraction(1, 1000)


@dataclass(frozen=True)
class Mutant:
    """kind: what was changed; statement: what then is stated."""

    kind: str
    statement: Statement


def mutants(statement: Statement) -> list[Mutant]:
    """The mutants of the unfolded statement, in a fixed order; those that state nothing are left out."""
    variables, given, says = statement.plain
    found: list[Mutant] = []
    seen = {statement.digest}

    def add(kind: str, variables: Sequence[Variable], given: Sequence[Term], says: Term | Form) -> None:
        try:
            other = Statement(statement.name, tuple(variables), tuple(given), says)
        except Malformed:
            return
        if other.digest not in seen:
            seen.add(other.digest)
            found.append(Mutant(kind, other))

    for kind, changed in _conclusions(says):
        add(kind, variables, given, changed)
    for k, _ in enumerate(given):
        add("hypothesis dropped", variables, given[:k] + given[k + 1 :], says)
    for kind, number, v in _domains(variables):
        add(kind, (*variables[:number], v, *variables[number + 1 :]), given, says)
    return found


def _conclusions(says: Term | Form) -> Iterator[tuple[str, Term | Form]]:
    if isinstance(says, Term):
        yield from _terms(says, formula=True)
        return
    for k, term in enumerate(says.terms):
        formula = says.kind == "witness"
        for kind, changed in _terms(term, formula=formula):
            yield kind, replace(says, terms=(*says.terms[:k], changed, *says.terms[k + 1 :]))
        if not formula and says.kind in ("supremum", "limit"):
            for kind, factor in _factors():
                yield kind, replace(says, terms=(*says.terms[:k], term * num(factor), *says.terms[k + 1 :]))
    for k, (name, term) in enumerate(says.at):
        for kind, shift in (("constant by a tenth", _TENTH), ("constant by a thousandth", _THOUSANDTH)):
            yield kind, replace(says, at=(*says.at[:k], (name, term + num(shift)), *says.at[k + 1 :]))
    for k, (name, low, high) in enumerate(says.box):
        width = high - low
        moved = (name, Term("num", low.parts[0] + _value(width)), Term("num", high.parts[0] + _value(width)))
        yield "constant by a tenth", replace(says, box=(*says.box[:k], moved, *says.box[k + 1 :]))


def _value(width: Term) -> Fraction:
    total = Fraction(0)
    for part in width.parts:
        total += part.parts[0]
    return total


def _factors() -> list[tuple[str, Fraction]]:
    return [(f"constant by a {name}", 1 + sign * size) for name, size in
            (("tenth", _TENTH), ("thousandth", _THOUSANDTH)) for sign in (1, -1)]  # fmt: skip


def _terms(term: Term, formula: bool) -> Iterator[tuple[str, Term]]:
    """Changes at single places of a term; for a comparison also a factor on its second side, and its strictness."""
    for kind, change in _CHANGES:
        for changed, path in _spread(list(_at_places(term, change, False, None))):
            with suppress(Malformed):
                yield kind, _put(changed, path)
    if formula:
        yield from _relations(term)


def _spread(found: list[_Changed]) -> list[_Changed]:
    if len(found) <= _SITES:
        return found
    return [found[k * (len(found) - 1) // (_SITES - 1)] for k in range(_SITES)]


def _at_places(term: Term, change: Callable[[Term, bool], list[Term]], index: bool, path: _Path) -> Iterator[_Changed]:
    """Each change of each node, and where it stands; `index` says that the node is a whole-number place."""
    for changed in change(term, index):
        yield changed, path
    for k, part in enumerate(term.parts):
        if isinstance(part, Term):
            place = (term.kind == "item") or (term.kind == "fold" and k in (2, 3)) or (index and term.kind != "if")
            yield from _at_places(part, change, place, (term, k, path))


def _put(changed: Term, path: _Path) -> Term:
    """The whole term with the changed node in its place."""
    while path is not None:
        term, k, path = path
        changed = Term(term.kind, *term.parts[:k], changed, *term.parts[k + 1 :])
    return changed


def _constants(size: Fraction) -> Callable[[Term, bool], list[Term]]:
    def change(term: Term, index: bool) -> list[Term]:
        if term.kind != "num" or index or term.parts[0] in (-1, 0):
            return []
        return [num(term.parts[0] * (1 + size)), num(term.parts[0] * (1 - size))]

    return change


def _signs(term: Term, index: bool) -> list[Term]:
    if index or term.kind not in ("add", "mul"):
        return []
    if term.kind == "mul":
        return [Term("mul", num(1), *term.parts[1:])] if term.parts[0] is num(-1) else []
    return [Term("add", *term.parts[:k], -term.parts[k], *term.parts[k + 1 :]) for k in range(len(term.parts))]


def _indices(term: Term, index: bool) -> list[Term]:
    found: list[Term] = []
    places = range(1, len(term.parts)) if term.kind == "item" else (2, 3) if term.kind == "fold" else ()
    for k in places:
        for step in (1, -1):
            found.append(Term(term.kind, *term.parts[:k], term.parts[k] + num(step), *term.parts[k + 1 :]))
    return found


_CHANGES: tuple[tuple[str, Callable[[Term, bool], list[Term]]], ...] = (
    ("constant by a tenth", _constants(_TENTH)),
    ("constant by a thousandth", _constants(_THOUSANDTH)),
    ("sign", _signs),
    ("index", _indices),
)


def _relations(term: Term) -> Iterator[tuple[str, Term]]:
    if term.kind != "rel":
        return
    relation, a, b = term.parts
    for kind, factor in _factors():
        yield kind, Term("rel", relation, a, b * num(factor))
    if relation in ("<=", "="):
        yield "strictness", Term("rel", "<", a, b)
    if relation == "!=":
        yield "strictness", Term("rel", "=", a, b)


def _domains(variables: tuple[Variable, ...]) -> Iterator[tuple[str, int, Variable]]:
    for k, v in enumerate(variables):
        if v.values:
            for shift in (1, -1):
                end = (max if shift > 0 else min)(v.values) + shift
                yield "integer bound" if v.whole else "domain widened", k, replace(v, values=(*v.values, end))
            continue
        step, kind = (num(1), "integer bound") if v.whole else (num(_TENTH), "domain widened")
        if v.low is not None:
            yield kind, k, replace(v, low=v.low - step)
            if v.low_open:
                yield "domain widened", k, replace(v, low_open=False)
        if v.high is not None:
            yield kind, k, replace(v, high=v.high + step)
            if v.high_open:
                yield "domain widened", k, replace(v, high_open=False)
        if v.radius is not None:
            yield kind, k, replace(v, radius=v.radius + step)
