"""Lemmas on sums for a goal: each term is not negative by a tangent, an end, a member; then so is their sum."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from proofs_check.core.domain import Sequent, Variable, taken
from proofs_check.core.normal import Monomial, Rational, back, constant, normal, plus
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, eq, exp, free, fresh, log, substitute
from proofs_check.core.work import TooLarge
from proofs_check.language.notation import each, total
from proofs_check.rigour import tangent
from proofs_check.rigour.arithmetic import fold_atoms, of_facts, small
from proofs_check.rigour.lemmas import EMPTY, Column, Lemma, alone, combine, extended, known, lemma, multiples
from proofs_check.rigour.lines import exp_tangent, log_tangent
from proofs_check.rigour.look import Look
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by

if TYPE_CHECKING:
    from proofs_check.rigour.auto import Search

_FAULTS = (TooLarge, ZeroDivisionError, Malformed)
_MOST = 60


def sums(s: Sequent, margin: Rational) -> dict[tuple[Term, Term], list[Term]]:
    """The sums of the monomials, by range."""
    names = {v.name for v in s.variables}
    found: dict[tuple[Term, Term], list[Term]] = {}
    for base in {b: None for mono in margin.top for b, _ in mono}:
        for node in fold_atoms(base):
            if node.parts[0] == "sum" and free(node) <= names:
                listed = found.setdefault((node.parts[2], node.parts[3]), [])
                listed += [] if node in listed else [node]
    return found


def count(low: Term, high: Term) -> Lemma | None:
    """The sum of 1 is the number of terms."""
    i = Term("var", "k")
    ones = total(i, low, high, ONE)
    why = by("telescope", ones, each(i, i), ONE, small, small, of_facts)
    return lemma(eq(ones, high - low + 1), why)


def counted(s: Sequent, margin: Rational, columns: list[Column | None]) -> list[Column]:
    """The equalities for sums of 1, times what these are multiplied by somewhere."""
    found = []
    forms = [margin, *(c.form for c in columns if c is not None)]
    for low, high in sums(s, margin):
        one = count(low, high)
        if one is not None:
            (lead,) = {b for b, _ in next(iter(normal(total(Term("var", "k"), low, high, ONE)).top))}
            found += multiples(one, lead, forms)
    return found


def columns(look: Look, search: Search) -> Iterator[Column | None]:
    """Sums of terms that are not negative, for each range of the goal."""
    for (low, high), nodes in sums(look.s, look.margin).items():
        name = fresh("j", taken(look.s))
        inner = replace(look.s, variables=(*look.s.variables, Variable(name, low, high, whole=True)))
        bodies = constant(0)
        for node in nodes:
            form = normal(substitute(node.parts[4], {node.parts[1]: Term("var", name)}))
            for mono in form.top if not form.over else ():
                bodies = plus(bodies, Rational({mono: Fraction(1)}))
        inner_look = Look(replace(inner, goal=back(bodies) <= back(bodies)), bodies)
        seen: set[tuple[tuple[Monomial, object], ...]] = set()
        for column in itertools.islice(_terms(look, inner_look, name), _MOST):
            for body in (column, *(extended(column, one) for one in inner_look.quotients(column.form, search, 5))):
                key = () if body is None else tuple(sorted(body.form.top.items(), key=str))
                if body is not None and key not in seen:
                    seen.add(key)
                    yield _summed(low, high, name, body)


def _summed(low: Term, high: Term, name: str, body: Column) -> Column | None:
    node = Term("fold", "sum", name, low, high, back(body.form))

    def term(q: Sequent) -> Proof:
        by_ = {name: Term("var", q.variables[-1].name)}
        parts = tuple(_moved(part, by_) for part in body.parts)
        return combine(q, [Column(parts, normal(substitute(back(body.form), by_)))])

    try:
        return alone(lemma(ZERO <= node, by("termwise", node, ">=", ZERO, small, term, [], of_facts)))
    except _FAULTS:
        return None


def _moved(one: Lemma, by_: dict[str, Term]) -> Lemma:
    """The lemma on an index of another name."""
    formula = substitute(one.formula, by_)
    if one.why is None:
        return Lemma(formula, None, one.form)
    return Lemma(formula, one.why if one.again is None else one.again(by_), one.form)


def _terms(look: Look, inner: Look, name: str) -> Iterator[Column]:
    """What is not negative for each index: polynomials, negative powers allowed."""
    ends = [one for one in known(inner.s) if name in free(one.formula) and one.relation != "="
            and any(node.kind == "item" for node in one.formula.parts[1:])]  # fmt: skip
    alone = [(one,) for one in (*ends, *_members(look, name), *_tangents(look, inner, name))]
    columns = (extended(EMPTY, *lemmas) for lemmas in ((), *alone, *itertools.combinations(ends, 2)))
    yield from (column for column in columns if column is not None)


def _tangents(look: Look, inner: Look, name: str) -> Iterator[Lemma | None]:
    exps, logs = tangent.exponents(inner.margin), tangent.logarithms(inner.margin)
    outer_exps, outer_logs = tangent.exponents(look.margin), tangent.logarithms(look.margin)
    moving = [a for a in exps if name in free(a)][:3]
    points = [*exps[:3], *(log(t) for t in logs[1:3])]
    shifts = [*outer_exps[:4], *(log(t) for t in outer_logs[1:3])]
    shifts += [log(a) - log(b) for a, b in itertools.permutations(outer_logs[1:3], 2)]
    for a in moving:
        for b, c in itertools.product(points, shifts):
            at = back(normal(b + c))
            if at is not a:
                yield _renaming(exp_tangent, a, at)
    arguments = [t for t in logs if name in free(t)][:3]
    places = [*logs[:3], *outer_logs[:4], *(exp(b) for b in outer_exps[1:3])]
    for t, at in itertools.product(arguments, dict.fromkeys(places)):
        if t is not at:
            yield _renaming(log_tangent, t, at)
            yield _renaming(log_tangent, at, t)
    for t, at in itertools.product(arguments, outer_logs[1:4]):
        for p in (1, -1):
            yield _renaming(partial(log_tangent, p=p, q=p), t, at)


def _renaming(make: Callable[[Term, Term], Lemma | None], a: Term, b: Term) -> Lemma | None:
    """A lemma that can be made again for another index."""
    one = make(a, b)

    def again(by_: dict[str, Term]) -> Tactic | None:
        other = make(substitute(a, by_), substitute(b, by_))
        return None if other is None else other.why

    return None if one is None else replace(one, again=again)


def _members(look: Look, name: str) -> Iterator[Lemma | None]:
    """Each term against the largest, or least, of all."""
    bases = {b for mono in look.margin.top for b, _ in mono}
    for node in dict.fromkeys(n for b in bases for n in fold_atoms(b)):
        if node.parts[0] in ("max", "min") and name not in free(node):
            one = substitute(node.parts[4], {node.parts[1]: Term("var", name)})
            yield lemma(one <= node if node.parts[0] == "max" else node <= one, member)


def member(s: Sequent) -> Proof:
    """A term against a largest or least: the goal `term <= largest` names both."""
    for side, other in ((2, 1), (1, 2)):
        node, one = s.goal.parts[side], s.goal.parts[other]
        if node.kind != "fold" or node.parts[0] != ("max" if side == 2 else "min"):
            continue
        for v in s.variables:
            place = Term("var", v.name)
            if v.whole and not v.sizes and substitute(node.parts[4], {node.parts[1]: place}) is one:
                return by("member", node, place, small, small, by("known"))(s)
    raise Failed("no member")
