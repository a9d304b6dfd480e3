"""Lemmas on exponentials, logarithms and roots for a goal: tangents, order, signs. Floats choose among them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from proofs_check.core.domain import Sequent
from proofs_check.core.normal import Rational, back, canonical, constant, is_number, normal, times
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, exp, log, num
from proofs_check.core.work import TooLarge
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import argument, small
from proofs_check.rigour.lemmas import EMPTY, Column, Lemma, alone, combine, extended, known, lemma
from proofs_check.rigour.lines import exp_tangent, log_tangent
from proofs_check.rigour.look import Look
from proofs_check.rigour.nodes import is_exp
from proofs_check.rigour.points.floats import function
from proofs_check.rigour.points.sample import least_point
from proofs_check.rigour.tactics import Failed, Proof, by

if TYPE_CHECKING:
    from proofs_check.rigour.auto import Search

_FAULTS = (TooLarge, ZeroDivisionError, Malformed)
_MOST = 7  # exponents, or logarithms, that are paired


def divided(s: Sequent, one: Lemma, search: Search) -> Column | None:
    """The lemma times the denominators of its difference, so that it is a polynomial."""
    factor, image = arithmetic.cleared(one.form)
    if factor is ONE:
        return alone(one)
    positive = Lemma(ZERO < factor, search.tactic(2), normal(factor))
    return Column((one, positive), image)


def exponents(margin: Rational) -> list[Term]:
    """The arguments of the exponentials that the monomials are multiples of, and 0."""
    found = [ZERO]
    for mono in margin.top:
        here = tuple((b, p) for b, p in mono if is_exp(b))
        found.append(argument(here) if here else ZERO)
    return list(dict.fromkeys(found))


def logarithms(margin: Rational) -> list[Term]:
    """The arguments of the logarithms in the monomials, exponents included, and 1."""
    found: list[Term] = [ONE]
    pending = sorted({b for mono in margin.top for b, _ in mono}, key=lambda b: b.serial)
    while pending:
        node = pending.pop(0)
        if node.kind == "apply" and node.parts[0] == "log":
            found += [] if node.parts[1] in found else [node.parts[1]]
        elif node.kind not in ("fold", "if"):
            pending += [part for part in node.parts if isinstance(part, Term) and part.kind != "rel"]
    return found


def lemmas(look: Look, search: Search) -> Iterator[Column | None]:
    """Tangents and comparisons for the functions of the goal."""
    s, strict = look.s, look.s.goal.parts[0] == "<"
    apart = search.tactic(2)
    exps, logs = exponents(look.margin), logarithms(look.margin)
    own = exps[:5]
    if len(exps) > 1:
        ratios = [log(a) - log(b) for a, b in itertools.permutations(logs[1:], 2)] if len(logs) == 3 else []
        exps = list(dict.fromkeys([*own, *(log(t) for t in logs[1:4]), *map(canonical, ratios)]))
        logs = list(dict.fromkeys([*logs[:5], *(exp(b) for b in exps[1:3] if not arithmetic.has(b, "log"))]))
    for a, b in itertools.permutations(exps[: _MOST + 2], 2) if len(exps) > 1 else ():
        if a not in own and b not in own:
            continue
        for way in (apart, None) if strict else (None,):
            one = exp_tangent(a, b, way)
            yield alone(one)
        if arithmetic.has(a, "log") or arithmetic.has(b, "log"):
            continue
        if look.sign(canonical(a - b)):
            yield alone(lemma(exp(b) <= exp(a), by("logarithm", search.tactic(2))))
    places = _places(look, logs) if len(logs) > 1 else []
    for a, b in itertools.permutations(list(dict.fromkeys([*logs[:_MOST], *places])), 2):
        for way in (apart, None) if strict else (None,):
            if is_number(normal(a)) is None or is_number(normal(b)) is None:
                yield divided(s, log_tangent(a, b, way), search)
    for a, b in itertools.permutations(logs[:_MOST], 2):
        sign = look.sign(canonical(a - b))
        if sign:
            formula = log(b) < log(a) if strict and sign == "<" else log(b) <= log(a)
            yield alone(lemma(formula, by("exponentiate", search.tactic(2))))


def _places(look: Look, logs: list[Term]) -> list[Term]:
    """The values of the arguments where the goal comes closest to an equality."""
    point = least_point(look.s)
    found = []
    for argument_ in logs[1:] if point is not None else ():
        value = function(argument_)(point or {})
        if not math.isnan(value) and 1e-3 < value < 1e3:
            at = Fraction(value).limit_denominator(24)
            if abs(float(at) - value) < 1e-4:
                found.append(num(at))
    return list(dict.fromkeys(found))


def tangents(s: Sequent, search: Search) -> Proof:
    """The same for the goal, or for the goal times what the arguments of its functions are divided by."""
    try:
        return _tangents(s, search)
    except Failed:
        under = {factor for t in logarithms(arithmetic.margin_of(s)) for factor, _ in normal(t).over}
        if not under:
            raise
    factor = back(reduce(times, (normal(back(Rational(dict(f)))) for f in sorted(under, key=str)), constant(1)))
    return arithmetic.scaled(s, factor, small, lambda q: _tangents(q, search))


def _tangents(s: Sequent, search: Search) -> Proof:
    """The goal from tangents times facts and positive quantities."""
    margin = arithmetic.margin_of(s)
    if margin.over:
        raise Failed("tangents: clear the denominators first")
    look = Look(s, margin)
    given = known(s)[:10]
    short = [one for one in given if len(one.form.top) <= 3][:6]
    columns: list[Column | None] = [extended(EMPTY, *chosen) for count in (1, 2) for chosen in
                                    itertools.combinations_with_replacement(given, count)]  # fmt: skip
    with arithmetic.failing():
        listed = list(dict.fromkeys(c for c in lemmas(look, search) if c is not None))
    from proofs_check.rigour import termwise

    summed = [column for column in termwise.columns(look, search) if column is not None]
    for column in (*summed, *listed, *filter(None, map(alone, given))):
        columns += [column, *(extended(column, one) for one in look.quotients(column.form, search))]
        if column not in map(alone, given):
            columns += [extended(column, one) for one in given]
        if column not in summed:
            columns += [extended(column, *pair) for pair in itertools.combinations_with_replacement(short, 2)]
    # What floats say of a sign is the last resort: it may be as hard to prove as the goal.
    columns += [alone(look.positive(mono, search)) for mono in margin.top if mono and len(margin.top) > 1]
    columns += list(signed(look, search))
    return combine(s, [*columns, *termwise.counted(s, margin, columns)])


def signed(look: Look, search: Search) -> Iterator[Column | None]:
    """Signs of what is no variable, alone and times the monomials that it stands with."""
    atoms = {b for mono in look.margin.top for b, _ in mono if b.kind != "var"}
    for atom in sorted(atoms, key=lambda b: b.serial)[:8]:
        for term in (atom, -atom):
            if is_exp(atom) or not look.sign(term):
                continue
            one = lemma(ZERO <= term, search.tactic(2))
            if one is None:
                continue
            yield alone(one)
            for other in (*known(look.s)[:10], *look.quotients(one.form, search)):
                yield extended(EMPTY, one, other)
            break
