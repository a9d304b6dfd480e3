"""Tactics for one inequality: signs of coefficients, combinations of facts found by linear programming, scaling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from scipy.optimize import linprog

from proofs_check.core.domain import Sequent, facts
from proofs_check.core.normal import (
    Monomial,
    Rational,
    back,
    constant,
    difference,
    inverse,
    is_number,
    normal,
    plus,
    times,
)
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, exp, free, num, to_json, walk
from proofs_check.core.work import TooLarge
from proofs_check.rigour.branch import boxes
from proofs_check.rigour.nodes import is_exp
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

_FAULTS = (TooLarge, ZeroDivisionError, Malformed)


def margin_of(sequent: Sequent) -> Rational:
    """b - a of the goal a < b or a <= b. Raises Failed where there is none."""
    goal = sequent.goal
    if goal.kind != "rel" or goal.parts[0] == "!=":
        raise Failed("no inequality")
    try:
        return difference(goal.parts[2], goal.parts[1])
    except _FAULTS as fault:
        raise Failed(str(fault)) from fault


def _linear_forms(sequent: Sequent, names: set[str]) -> list[tuple[int, dict[str, Fraction], Fraction]]:
    """The facts 0 (<) c + sum of c_v v, linear in these variables with constant coefficients: number, c_v, c."""
    found = []
    for number, fact in enumerate(facts(sequent)):
        if fact.kind != "rel" or fact.parts[0] not in ("<", "<="):
            continue
        try:
            form = difference(fact.parts[2], fact.parts[1])
        except _FAULTS:
            continue
        slopes: dict[str, Fraction] = {}
        offset = Fraction(0)
        for mono, coefficient in form.top.items():
            if not mono:
                offset = coefficient
            elif len(mono) == 1 and mono[0][1] == 1 and mono[0][0].kind == "var" and mono[0][0].parts[0] in names:
                slopes[mono[0][0].parts[0]] = coefficient
            else:
                break
        else:
            if slopes and not form.over:
                found.append((number, slopes, offset))
    return found


def scalars(sequent: Sequent, term: Term) -> list[str]:
    return [v.name for v in sequent.variables if not v.sizes and v.name in free(term)]


def _substitutions(sequent: Sequent, names: list[str]) -> Iterator[tuple[list[Any], dict[str, Term]]]:
    """Ways to write the variables in quantities that facts say are not negative."""
    forms = _linear_forms(sequent, set(names))
    order = sorted(forms, key=lambda f: (-len(f[1]), f[0]))
    most = min(len(names), len(order))
    for count in range(most, max(-1, most - 3), -1):
        for chosen in itertools.islice(itertools.combinations(order, count), 40):
            used = sorted({name for _, slopes, _ in chosen for name in slopes})
            if len(used) != count:
                continue
            images = {}
            for name in used:
                # The combination of the forms that is this variable alone.
                rows = [[slopes.get(n, Fraction(0)) for _, slopes, _ in chosen] + [Fraction(n == name)] for n in used]
                weights = solved(rows)
                if weights is None:
                    break
                parts = [num(x) * (Term("var", f"w{k}") - num(c)) for k, (x, (_, _, c)) in
                         enumerate(zip(weights, chosen, strict=True))]  # fmt: skip
                images[name] = back(normal(reduce(lambda x, y: x + y, parts)))
            if len(images) != count:
                continue
            yield [[f"w{k}", [number], []] for k, (number, _, _) in enumerate(chosen)], images


def solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Some x with sum_j row[j] x[j] = row[-1] for each row, free unknowns 0; None if there is none. Exact."""
    table = [list(row) for row in rows]
    count = len(table[0]) - 1 if table else 0
    pivots: list[int] = []
    for column in range(count):
        here = len(pivots)
        best = next((k for k in range(here, len(table)) if table[k][column]), None)
        if best is None:
            continue
        table[here], table[best] = table[best], table[here]
        lead = table[here][column]
        table[here] = [value / lead for value in table[here]]
        for k, row in enumerate(table):
            if k != here and row[column]:
                factor = row[column]
                table[k] = [value - factor * other for value, other in zip(row, table[here], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in table[len(pivots) :]):
        return None
    solution = [Fraction(0)] * count
    for row, column in zip(table, pivots, strict=False):
        solution[column] = row[-1]
    return solution


def _moebius(sequent: Sequent, names: list[str]) -> tuple[list[Any], dict[str, Term]] | None:
    """Each variable between two constants as (low + high w)/(1 + w), the others from their constant end."""
    known = facts(sequent)
    parts: list[Any] = []
    images: dict[str, Term] = {}
    for k, name in enumerate(names):
        v = sequent.variable(name)
        w = Term("var", f"w{k}")
        numbers = {}
        for side, end in (("low", v.low), ("high", v.high)):
            fact = None
            if end is not None and end.kind == "num":
                strict = v.low_open if side == "low" else v.high_open
                pair = (end, Term("var", name)) if side == "low" else (Term("var", name), end)
                fact = Term("rel", "<" if strict else "<=", *pair)
            if fact in known:
                numbers[side] = known.index(fact)
        if len(numbers) == 2 and v.high_open:
            assert v.low is not None and v.high is not None
            parts.append([f"w{k}", [numbers["low"]], [numbers["high"]]])
            images[name] = (v.low + v.high * w) / (1 + w)
        elif len(numbers) == 2 and v.low_open:
            assert v.low is not None and v.high is not None
            parts.append([f"w{k}", [numbers["high"]], [numbers["low"]]])
            images[name] = (v.high + v.low * w) / (1 + w)
        elif "low" in numbers and v.low is not None:
            parts.append([f"w{k}", [numbers["low"]], []])
            images[name] = v.low + w
        elif "high" in numbers and v.high is not None:
            parts.append([f"w{k}", [numbers["high"]], []])
            images[name] = v.high - w
        else:
            return None
    return parts, images


def signs(sequent: Sequent) -> Proof:
    """Coefficient signs in shifted or Moebius variables."""
    margin = back(margin_of(sequent))
    names = scalars(sequent, margin)
    if len(names) > 7:
        raise Failed("signs: too many variables")
    ways = [([], {}), *_substitutions(sequent, names)] if len(names) <= 5 else [([], {})]
    moebius = _moebius(sequent, names)
    if moebius is not None:
        ways.append(moebius)
    for parts, images in ways:
        try:
            return by("signs", parts, {name: image for name, image in images.items()})(sequent)
        except Failed:
            continue
    raise Failed("signs: a coefficient may be negative")


def fact_forms(sequent: Sequent) -> Iterator[tuple[int, str, Rational]]:
    """What compares with 0 by the facts: number, relation, form; no denominators, and nothing that is plain."""
    for number, fact in enumerate(facts(sequent)):
        if fact.kind == "rel" and fact.parts[0] != "!=":
            try:
                form = difference(fact.parts[2], fact.parts[1])
            except _FAULTS:
                continue
            value = is_number(form)
            if not form.over and (value is None or value < 0):  # a number below 0 contradicts itself
                yield number, fact.parts[0], form


def linear(sequent: Sequent, degree: int = 2, squares: bool = True) -> Proof:
    """A combination of products of facts and squares, found by linear programming and made exact."""
    margin = margin_of(sequent)
    if margin.over:
        raise Failed("linear: a denominator")
    if len(margin.top) > 60:
        raise Failed("linear: too many monomials")
    forms: list[tuple[Any, str, Rational]] = [one for one in fact_forms(sequent) if one[0] < 30]
    atoms = list(dict.fromkeys(base for mono in margin.top for base, _ in mono))
    positive = [atom for atom in atoms if is_exp(atom)][:4]
    forms += [(["exp", to_json(atom.parts[1]), small], "<", normal(atom)) for atom in positive]
    for atom in atoms:
        if atom.kind == "apply" and atom.parts[0] in ("sin", "cos"):
            for sign, form in (("-", normal(1 - atom)), ("+", normal(1 + atom))):
                forms.append(([atom.parts[0] + sign, to_json(atom.parts[1]), small], "<=", form))
        elif atom.kind == "apply" and atom.parts[0] == "abs":
            for name, form in (("abs", normal(atom)), ("abs-", normal(atom - atom.parts[1])),
                               ("abs+", normal(atom + atom.parts[1]))):  # fmt: skip
                forms.append(([name, to_json(atom.parts[1]), small], "<=", form))
    forms = [one for one in forms if not one[2].over]
    products: list[tuple[list[Any], str, Rational]] = [([], "<", constant(1))]
    for size in range(1, degree + 1):
        for chosen in itertools.islice(itertools.combinations_with_replacement(forms, size), 300):
            try:
                form = reduce(times, (f for _, _, f in chosen))
            except (TooLarge, RecursionError):
                continue
            relation = of_product([relation for _, relation, _ in chosen])
            products.append(([reference for reference, _, _ in chosen], relation, form))
    if squares:
        products += list(_squares(margin, forms[:6] if degree > 1 else []))
    return _combined(sequent, margin, products)


def of_product(relations: Sequence[str]) -> str:
    """How 0 compares with a product, from how it compares with each factor."""
    return "=" if "=" in relations else "<" if all(relation == "<" for relation in relations) else "<="


def of_facts(sequent: Sequent) -> Proof:
    """A combination of the facts themselves."""
    return linear(sequent, 1, False)


def _squares(margin: Rational, forms: list[tuple[Any, str, Rational]]) -> Iterator[tuple[list[Any], str, Rational]]:
    """Squares of sums and differences of what the monomials are squares of; these times one fact as well."""
    halves = [tuple((base, power / 2) for base, power in mono) for mono in margin.top]
    halves = [mono for mono in halves if all(_may_halve(base, power) for base, power in mono)][:8]
    names = {base for mono in margin.top for base, _ in mono
             if base.kind in ("var", "item") or (base.kind == "apply" and base.parts[0] == "sqrt")}  # fmt: skip
    singles = [*halves, *(((name, Fraction(1)),) for name in sorted(names, key=lambda t: t.serial)), ()]
    singles = list(dict.fromkeys(singles))[:10]
    roots = [Rational({mono: Fraction(1)}) for mono in singles]
    pairs = [plus(x, times(constant(sign), y)) for x, y in itertools.combinations(roots, 2) for sign in (1, -1)]
    for root in (*roots[:-1], *pairs):
        square = times(root, root)
        if square.over or is_number(square) is not None:
            continue
        reference = ["square", to_json(back(root)), small]
        yield [reference], "<=", square
        for known, _, form in forms:
            if len(pairs) <= 30:
                yield [reference, known], "<=", times(square, form)


def _may_halve(base: Term, power: Fraction) -> bool:
    return power.denominator == 1 or is_exp(base)


def _combined(sequent: Sequent, margin: Rational, products: list[tuple[list[Any], str, Rational]]) -> Proof:
    relation = sequent.goal.parts[0]
    monomials = sorted({m for _, _, f in products for m in f.top} | set(margin.top), key=str)
    rows = {m: k for k, m in enumerate(monomials)}
    matrix = np.zeros((len(monomials), len(products)))
    for column, (_, _, form) in enumerate(products):
        for mono, coefficient in form.top.items():
            matrix[rows[mono], column] = float(coefficient)
    target = np.zeros(len(monomials))
    for mono, coefficient in margin.top.items():
        target[rows[mono]] = float(coefficient)
    bounds = [(None, None) if r == "=" else (0, None) for _, r, _ in products]
    cost = np.array([1.0 + len(refs) for refs, _, _ in products])
    strict = np.array([r == "<" for _, r, _ in products])
    if relation == "<":  # prefer what is strict
        cost = cost - 0.9 * strict
    cost[[r == "=" for _, r, _ in products]] = 0
    found = linprog(cost, A_eq=matrix, b_eq=target, bounds=bounds, method="highs")
    if relation == "<" and found.status == 0 and not np.any(found.x[strict] > 1e-9):
        found = linprog(cost / 100 - strict, A_eq=matrix, b_eq=target, bounds=bounds, method="highs")
    if found.status != 0:
        raise Failed("linear: no combination")
    chosen = [k for k, value in enumerate(found.x) if abs(value) > 1e-9]
    values = exact_solution(margin, [products[k][2] for k in chosen], monomials)
    combination = []
    for k, value in zip(chosen, values, strict=True):
        if value:
            refs, r, _ = products[k]
            combination.append([num(value) if r == "=" else str(value), refs])
    return by("linear", combination)(sequent)


def exact_solution(margin: Rational, forms: list[Rational], monomials: Sequence[Any]) -> list[Fraction]:
    """The exact solution on the chosen columns."""
    zero = Fraction(0)
    values = solved([[f.top.get(m, zero) for f in forms] + [margin.top.get(m, zero)] for m in monomials])
    if values is None:
        raise Failed("linear: no exact combination")
    return values


def cleared(form: Rational) -> tuple[Term, Rational]:
    """A factor that takes every denominator and negative power away, and the form times it."""
    factors = [back(Rational(dict(factor))) for factor, count in form.over for _ in range(count)]
    top = Rational(form.top)
    powers = constant(1)
    for atom in {base for mono in form.top for base, _ in mono}:
        # Each power becomes at least 0, and the least of them 0.
        least = min(dict(mono).get(atom, Fraction(0)) for mono in form.top)
        if least < 0 or (least and is_exp(atom)):
            powers = times(powers, Rational({((atom, -least),): Fraction(1)}))
    if is_number(powers) is None:
        factors.append(back(powers))
    factor = ONE if not factors else factors[0] if len(factors) == 1 else Term("mul", *factors)
    return factor, times(top, powers)


def scaled(sequent: Sequent, factor: Term, positive: Tactic, then: Tactic, image: Rational | None = None) -> Proof:
    """The goal times a factor."""
    t = back(times(normal(factor), margin_of(sequent)) if image is None else image)
    goal = Term("rel", sequent.goal.parts[0], ZERO, t)
    return by("scale", factor, goal, [], small, positive, then)(sequent)


_nested = 0


def small(sequent: Sequent) -> Proof:
    """A proof of a side condition: arithmetic, and a short search where that is not itself a side condition."""
    global _nested
    kind, parts = sequent.goal.kind, sequent.goal.parts
    if kind == "and":
        return by("split", *(small for _ in parts))(sequent)
    if kind == "rel" and parts[0] == "!=":
        plain = (by("apart", less, by("known")) for less in (True, False))
        return first(by("identity"), by("known"), *plain, by("apart", False, small), by("apart", True, small))(sequent)
    try:
        return first(by("identity"), by("known"), signs, _constants, lambda s: boxes(s, budget=60))(sequent)
    except Failed:
        pass
    from proofs_check.rigour.auto import Search
    from proofs_check.rigour.points.sample import refuted
    from proofs_check.rigour.positive import positive

    if refuted(sequent):
        raise Failed("floats refute it")
    try:
        return first(rounded, positive)(sequent)
    except Failed:
        if _nested:
            raise
    _nested += 1
    try:
        return Search(steps=25, looks=100).prove(sequent, 2)
    finally:
        _nested -= 1


def rounded(sequent: Sequent) -> Proof:
    """What follows once 9/5 <= v is read as 2 <= v, for a whole number v from a number on."""
    for fact in sequent.given:
        if fact.kind == "rel" and fact.parts[0] == "<=" and fact.parts[1].kind == "num" and fact.parts[2].kind == "var":
            (_, low, v), known = fact.parts, sequent.variable(fact.parts[2].parts[0])
            lemma = num(math.ceil(low.parts[0])) <= v
            if known.whole and low.parts[0].denominator > 1 and lemma not in sequent.given:
                why = by("cases", lemma, [], by("known"), _none_below)
                return by("have", lemma, [], why, first(of_facts, rounded))(sequent)
    raise Failed("nothing to round")


def _none_below(sequent: Sequent) -> Proof:
    """The last hypothesis ends a whole variable: at each value, another hypothesis does not hold."""
    name = sequent.given[-1].parts[1].parts[0]
    return by("tighten", name, len(sequent.given) - 1, by("enumerate", name, by("absurd", of_facts)))(sequent)


def _constants(sequent: Sequent) -> Proof:
    """A goal without variables needs no hypotheses, nor their variables, which may have no ends."""
    if free(sequent.goal) or not sequent.variables:
        raise Failed("variables")
    names, count = [v.name for v in sequent.variables], len(sequent.given)
    return by("forget", names, list(range(count)), lambda s: boxes(s, budget=60))(sequent)


def rewritten(sequent: Sequent, then: Tactic) -> Proof:
    """The goal as 0 relation (normal form)."""
    goal = Term("rel", sequent.goal.parts[0], ZERO, back(margin_of(sequent)))
    return by("scale", ONE, goal, [], small, small, then)(sequent)


def exponentials(sequent: Sequent, then: Tactic) -> Proof:
    """c e^a <= c e^b comes down to a <= b."""
    margin = margin_of(sequent)
    if margin.over or len(margin.top) != 2:
        raise Failed("not two exponentials")
    (low, p), (high, q) = sorted(margin.top.items(), key=lambda pair: pair[1])
    if p != -q or not all(is_exp(b) for mono in (low, high) for b, _ in mono):
        raise Failed("not two exponentials")
    goal = Term("rel", sequent.goal.parts[0], exp(argument(low)), exp(argument(high)))
    return rewritten_as(sequent, goal, by("logarithm", then))


def argument(mono: Monomial) -> Term:
    """a, for a product of exponentials that is e^a."""
    return back(reduce(plus, (times(constant(power), normal(base.parts[1])) for base, power in mono), constant(0)))


def fold_atoms(term: Term) -> list[Term]:
    """The folds of a term that stand in no other fold."""
    found: list[Term] = []
    pending = [term]
    while pending:
        node = pending.pop()
        if node.kind == "fold":
            if node not in found:
                found.append(node)
        else:
            pending += [part for part in node.parts if isinstance(part, Term)]
    return sorted(found, key=lambda node: node.serial)


def has(term: Term, *names: str) -> bool:
    """Does a function of one of these names, or a node of this kind, occur?"""
    return any(node.kind in names or (node.kind == "apply" and node.parts[0] in names) for node in walk(term))


def rewritten_as(sequent: Sequent, goal: Term, then: Tactic) -> Proof:
    """The goal as another comparison whose difference is a positive multiple of its own."""
    factor = ratio(difference(goal.parts[2], goal.parts[1]), margin_of(sequent))
    if factor is None or factor <= 0:
        raise Failed("another goal")
    return by("scale", num(factor), goal, [], small, by("identity"), then)(sequent)


def ratio(x: Rational, y: Rational) -> Fraction | None:
    """The number c with x = c y, if y is not zero and there is one."""
    found = None if y.is_zero else is_number(times(x, inverse(y)))
    for mono, coefficient in y.top.items():
        if found is None and mono in x.top:
            found = x.top[mono] / coefficient
    return found if found is not None and plus(x, times(constant(-found), y)).is_zero else None
