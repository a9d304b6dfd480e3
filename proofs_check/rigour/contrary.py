"""Two ways to use hypotheses: replace a variable by a term it equals, and prove the contrapositive."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from proofs_check.core.domain import Sequent, solvable
from proofs_check.core.normal import difference
from proofs_check.core.terms import Malformed, Term, free, negation
from proofs_check.core.work import TooLarge
from proofs_check.rigour.arithmetic import of_facts, small
from proofs_check.rigour.monotone import impossible
from proofs_check.rigour.points.sample import least_margin
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by

if TYPE_CHECKING:
    from proofs_check.rigour.auto import Search


def substituted(s: Sequent, then: Tactic) -> Proof:
    """A hypothesis `v = term` puts the term for v."""
    found = solvable(s)
    if found is None:
        raise Failed("no equality that gives a number")
    return by("solve", *found, then)(s)


def by_order(s: Sequent, then: Tactic) -> Proof:
    """A hypothesis a < b between two variables becomes an end of the one that stands later, if that has no other."""
    names = [v.name for v in s.variables]
    for formula in s.given:
        pair = _pair(formula)
        if pair is None:
            continue
        a, b = pair
        later, other, upper = (a, b, True) if names.index(a) > names.index(b) else (b, a, False)
        v = s.variable(later)
        end = v.high if upper else v.low
        near = s.variable(other).high if upper else s.variable(other).low
        if v.values or v.whole or s.mentioning(later) or (end is not None and (end is not near or end.kind != "num")):
            continue
        order = Term("rel", formula.parts[0], Term("var", a), Term("var", b))

        def rest(q: Sequent, formula: Term = formula, order: Term = order) -> Proof:
            return by("forget", [], [k for k, g in enumerate(q.given) if g in (formula, order)], then)(q)

        def tight(q: Sequent, later: str = later, rest: Tactic = rest) -> Proof:
            return by("tighten", later, len(q.given) - 1, rest)(q)

        return by("have", order, [], of_facts, tight)(s)
    raise Failed("no order")


def _pair(formula: Term) -> tuple[str, str] | None:
    """a, b for a hypothesis that says a < b, or a <= b, of two variables."""
    if formula.kind != "rel" or formula.parts[0] not in ("<", "<="):
        return None
    try:
        form = difference(formula.parts[2], formula.parts[1])
    except (TooLarge, ZeroDivisionError, Malformed):
        return None
    found = {c: m[0][0].parts[0] for m, c in form.top.items() if len(m) == 1 and m[0][1] == 1 and m[0][0].kind == "var"}
    plain = not form.over and len(form.top) == 2 and found.keys() == {Fraction(1), Fraction(-1)}
    return (found[Fraction(-1)], found[Fraction(1)]) if plain else None


def contrary(s: Sequent, search: Search, depth: int) -> Proof:
    """The goal, or else a hypothesis fails: shown for the last hypotheses first."""
    if depth <= 2 or s.goal.kind != "rel" or s.goal.parts[0] == "!=":
        raise Failed("nothing is contrary")
    for number in reversed(range(len(s.given))):
        known = s.given[number]
        if known.kind != "rel" or known.parts[0] == "!=" or negation(known) is s.goal:
            continue
        if free(known) & free(s.goal) and any(part.kind not in ("var", "num") for part in known.parts[1:]):
            denied = _denied(known, search.tactic(depth - 1))
            return by("cases", s.goal, small, by("known"), denied)(s)
    raise Failed("no hypothesis to deny")


def _denied(known: Term, why: Tactic) -> Tactic:
    """From the last hypothesis, that the goal fails: the known one fails as well."""
    _, left, right = known.parts

    def each_way(q: Sequent) -> Proof:
        last = q.given[-1]
        half = _without(last, opposite)
        return opposite(q) if last.parts[0] != "!=" else by("alternatives", len(q.given) - 1, half, half)(q)

    def opposite(q: Sequent) -> Proof:
        others = tuple(g for g in q.given if g is not known)
        for way in [left < right, right < left] if known.parts[0] == "=" else [negation(known)]:
            if least_margin(replace(q, given=others, goal=way)) >= 0:
                clash = impossible(way if way.parts[0] == "<" else known)
                return by("have", way, small, _without(known, why), clash)(q)
        raise Failed("the hypothesis is not denied")

    return each_way


def _without(formula: Term, then: Tactic) -> Tactic:
    return lambda q: by("forget", [], [k for k, g in enumerate(q.given) if g is formula], then)(q)
