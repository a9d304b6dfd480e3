"""One inequality as a positive combination of facts and lemmas; linear programming chooses, what it uses is proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from proofs_check.core.domain import Sequent, facts
from proofs_check.core.normal import Monomial, Rational, back, constant, difference, plus, times
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, num
from proofs_check.core.work import TooLarge
from proofs_check.rigour import arithmetic
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by

_FAULTS = (TooLarge, ZeroDivisionError, Malformed)
_ROUNDS = 5
_MOST_COLUMNS = 1500


@dataclass(frozen=True)
class Lemma:
    """A formula, why it holds (None for a fact that is known), and its difference as a polynomial.

    again: why it holds with other terms for its variables, where `why` has these built in.
    """

    formula: Term
    why: Tactic | None
    form: Rational
    again: Callable[[dict[str, Term]], Tactic | None] | None = field(default=None, compare=False)

    @property
    def relation(self) -> str:
        return str(self.formula.parts[0])


@dataclass(frozen=True)
class Column:
    """A product of lemmas, by which the difference of the goal may be written."""

    parts: tuple[Lemma, ...]
    form: Rational
    weight: Term = ONE  # a further factor, for an equality

    @property
    def relation(self) -> str:
        return arithmetic.of_product([part.relation for part in self.parts])


EMPTY = Column((), constant(1))


def lemma(formula: Term, why: Tactic | None) -> Lemma | None:
    """None where the difference is no polynomial (negative powers are allowed) or a constant."""
    try:
        form = difference(formula.parts[2], formula.parts[1])
    except _FAULTS:
        return None
    return None if form.over or not set(form.top) - {()} else Lemma(formula, why, form)


def known(s: Sequent) -> list[Lemma]:
    """The facts of a sequent."""
    found = []
    for fact in facts(s):
        if fact.kind == "rel" and fact.parts[0] != "!=":
            found.append(lemma(fact, None))
    return [one for one in found if one is not None]


def alone(one: Lemma | None) -> Column | None:
    return None if one is None else Column((one,), one.form)


def extended(column: Column | None, *more: Lemma | None) -> Column | None:
    """The column times lemmas, unless one is missing or it is too long."""
    if column is None or None in more:
        return None
    lemmas = [one for one in more if one is not None]
    try:
        form = reduce(times, (one.form for one in lemmas), column.form)
    except _FAULTS:
        return None
    return None if form.over or len(form.top) > 120 else Column((*column.parts, *lemmas), form)


def combine(s: Sequent, columns: Iterable[Column | None]) -> Proof:
    """The goal from a combination of columns; a lemma that has no proof is left out, and the rest tried again."""
    margin = arithmetic.margin_of(s)
    if margin.over or len(margin.top) > 120:
        raise Failed("lemmas: no short polynomial")
    distinct = {(c.relation, tuple(sorted(c.form.top.items(), key=str))): c for c in reversed(list(columns)) if c}
    listed = [EMPTY, *reversed(distinct.values())][:_MOST_COLUMNS]
    proved: dict[Term, Proof] = {}
    for _ in range(_ROUNDS):
        weights = arithmetic.combination(margin, s.goal.parts[0], [(len(c.parts), c.relation, c.form) for c in listed])
        chosen = [(listed[k], value) for k, value in weights.items()]
        failed = None
        for part in {part for column, _ in chosen for part in column.parts if part.why is not None}:
            if part.formula in proved or part.why is None:
                continue
            try:
                proved[part.formula] = part.why(replace(s, goal=part.formula))
            except (Failed, *_FAULTS):
                failed = part.formula
                break
        if failed is None:
            return _with_lemmas(chosen, proved)(s)
        listed = [c for c in listed if all(part.formula is not failed for part in c.parts)]
    raise Failed("lemmas: no proof of them")


def _with_lemmas(chosen: Sequence[tuple[Column, Fraction]], proved: dict[Term, Proof]) -> Tactic:
    """`have` for each lemma, proved beside the goal and its hypotheses only, then the combination."""

    def last(q: Sequent) -> Proof:
        numbers = {fact: k for k, fact in reversed(list(enumerate(facts(q))))}
        rows = [[str(value), [numbers[part.formula] for part in column.parts]]
                for column, value in chosen if column.relation != "="]  # fmt: skip
        zeros: list[Any] = []
        rest = arithmetic.margin_of(q)
        for column, value in chosen:
            if column.relation == "=":
                ((equality,), factor) = column.parts, num(value) * column.weight
                zeros.append([factor, numbers[equality.formula]])
                rest = plus(rest, times(constant(-value), column.form))
        combined = by("linear", rows)
        if not zeros:
            return combined(q)
        # A factor that divides has to be defined, which `scale` asks for.
        goal = Term("rel", q.goal.parts[0], ZERO, back(rest))
        return by("scale", ONE, goal, zeros, arithmetic.small, [], combined)(q)

    formulas = list(dict.fromkeys(p.formula for c, _ in chosen for p in c.parts if p.why is not None))

    def add(number: int) -> Tactic:
        if number == len(formulas):
            return last
        formula = formulas[number]

        def why(q: Sequent) -> Proof:
            # Lemmas were proved without those before them.
            extra = list(range(len(q.given) - number, len(q.given)))
            return by("forget", [], extra, proved[formula])(q) if extra else proved[formula]

        return by("have", formula, arithmetic.small, why, add(number + 1))

    return add(0)


def quotient(theirs: Monomial, mine: Monomial) -> Rational:
    """The product of powers by which one monomial becomes the other; of one monomial, unless that is no normal form."""
    return times(Rational({theirs: Fraction(1)}), Rational({tuple((b, -p) for b, p in mine): Fraction(1)}))


def multiples(equality: Lemma, lead: Term, forms: Iterable[Rational]) -> list[Column]:
    """An equality times what the lead atom is multiplied by in the forms: columns of either sign."""
    found: dict[Monomial, Column] = {}
    own = ((lead, Fraction(1)),)
    if own not in equality.form.top:
        return []
    for mono in (mono for form in forms for mono in form.top):
        if dict(mono).get(lead, 0) >= 1:
            rest = quotient(mono, own)
            ((left, _),) = rest.top.items()
            if left not in found and len(found) < 60:
                with suppress(*_FAULTS):
                    found[left] = Column((equality,), times(equality.form, rest), back(rest))
    return list(found.values())


def from_equalities(s: Sequent) -> Proof:
    """An equality as a combination of known ones, each times what makes one of its monomials one of the goal."""
    if s.goal.kind != "rel" or s.goal.parts[0] != "=":
        raise Failed("lemmas: no equality")
    margin = arithmetic.margin_of(s)
    equalities = [one for one in known(s) if one.relation == "="]
    found: dict[tuple[int, Monomial], Column] = {}
    forms = [margin]
    for _ in range(2):
        for number, one in enumerate(equalities):
            for mine, theirs in ((m, t) for form in forms for t in form.top for m in one.form.top):
                if len(found) > 300:
                    break
                rest = quotient(theirs, mine)
                left = next(iter(rest.top))
                plain = len(rest.top) == 1 and not rest.over and all(p > 0 for _, p in left)
                if plain and (number, left) not in found:
                    found[number, left] = Column((one,), times(one.form, rest), back(rest))
        forms = [margin, *(column.form for column in found.values())]
    return combine(s, found.values())
