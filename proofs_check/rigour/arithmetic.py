"""Tactics for one inequality: signs of coefficients, combinations of facts found by linear programming, scaling."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from proofs_check.core.domain import Sequent, facts
from proofs_check.core.normal import (
    Monomial,
    Rational,
    back,
    constant,
    difference,
    inverse,
    is_number,
    minus,
    normal,
    plus,
    times,
)
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, exp, free, num, to_json, walk
from proofs_check.core.work import TooLarge
from proofs_check.rigour.branch import boxes
from proofs_check.rigour.nodes import is_exp
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

_FACTS = 30  # that are combined


@contextmanager
def failing() -> Iterator[None]:
    """What normal forms refuse is Failed."""
    try:
        yield
    except (TooLarge, ZeroDivisionError, Malformed) as fault:
        raise Failed(str(fault)) from fault


def margin_of(sequent: Sequent) -> Rational:
    """b - a of the goal a < b or a <= b. Raises Failed where there is none."""
    goal = sequent.goal
    if goal.kind != "rel" or goal.parts[0] == "!=":
        raise Failed("no inequality")
    with failing():
        return difference(goal.parts[2], goal.parts[1])


def plain_goal(sequent: Sequent) -> Term:
    """The goal as 0 relation (normal form)."""
    return Term("rel", sequent.goal.parts[0], ZERO, back(margin_of(sequent)))


def _forms(sequent: Sequent) -> Iterator[tuple[int, str, Rational]]:
    """The facts 0 < form, 0 <= form and 0 = form by their numbers, of those that have a form."""
    for number, fact in enumerate(facts(sequent)):
        if fact.kind == "rel" and fact.parts[0] != "!=":
            with suppress(TooLarge, ZeroDivisionError, Malformed):
                yield number, fact.parts[0], difference(fact.parts[2], fact.parts[1])


def _linear_forms(sequent: Sequent, names: Collection[str]) -> list[tuple[int, dict[str, Fraction], Fraction]]:
    """The facts 0 (<) c + sum of c_v v, linear in these variables with constant coefficients: number, c_v, c."""
    found = []
    for number, relation, form in _forms(sequent):
        single = [(mono[0][0], c) for mono, c in form.top.items() if len(mono) == 1 and mono[0][1] == 1]
        slopes = {base.parts[0]: c for base, c in single if base.kind == "var"}
        linear_ = len(slopes) == len(form.top.keys() - {()}) and slopes.keys() <= set(names)
        if relation != "=" and slopes and linear_ and not form.over:
            found.append((number, slopes, form.top.get((), Fraction(0))))
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
            matrix = fmpq_mat(count, count, [_exact(slopes.get(name, 0)) for _, slopes, _ in chosen for name in used])
            try:
                rows = matrix.inv().tolist()
            except ZeroDivisionError:
                continue
            shifted = [Term("var", f"w{k}") - num(c) for k, (_, _, c) in enumerate(chosen)]
            images = {
                name: back(normal(sum((num(_fraction(x)) * part for x, part in zip(row, shifted, strict=True)), ZERO)))
                for name, row in zip(used, rows, strict=True)
            }
            yield [[f"w{k}", [number], []] for k, (number, _, _) in enumerate(chosen)], images


def _exact(value: Fraction | int) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Some x with sum_j row[j] x[j] = row[-1] for each row, free unknowns 0; None if there is none. Exact."""
    width = len(rows[0])
    table, rank = fmpq_mat(len(rows), width, [_exact(value) for row in rows for value in row]).rref()
    solution = [Fraction(0)] * (width - 1)
    for row in table.tolist()[:rank]:
        pivot = next(place for place, value in enumerate(row) if value)
        if pivot == width - 1:
            return None
        solution[pivot] = _fraction(row[-1])
    return solution


def _moebius(sequent: Sequent, names: list[str]) -> tuple[list[Any], dict[str, Term]] | None:
    """Each variable between two constants as (low + high w)/(1 + w), the others from their constant end."""
    known = facts(sequent)
    parts: list[Any] = []
    images: dict[str, Term] = {}
    for k, name in enumerate(names):
        v, w = sequent.variable(name), Term("var", f"w{k}")
        low, high = (end if end is not None and end.kind == "num" else None for end in (v.low, v.high))
        ends = [[known.index(f)] for f in v.bounds(v.as_term()) if any(side in (low, high) for side in f.parts[1:])]
        if low is not None and high is not None and (v.low_open or v.high_open):
            from_, to = (low, high) if v.high_open else (high, low)
            images[name], above = (from_ + to * w) / (1 + w), ends if v.high_open else ends[::-1]
        elif low is not None:
            images[name], above = low + w, [ends[0], []]
        elif high is not None:
            images[name], above = high - w, [ends[0], []]
        else:
            return None
        parts.append([f"w{k}", *above])
    return parts, images


def signs(sequent: Sequent) -> Proof:
    """Coefficient signs in shifted or Moebius variables."""
    margin = back(margin_of(sequent))
    names = scalars(sequent, margin)
    ways: list[tuple[list[Any], dict[str, Term]]] = [([], {})]
    if len(names) <= 5:
        ways += _substitutions(sequent, names)
    if len(names) <= 7 and (moebius := _moebius(sequent, names)) is not None:
        ways.append(moebius)
    return first(*(by("signs", *way) for way in ways))(sequent)


def fact_forms(sequent: Sequent) -> Iterator[tuple[int, str, Rational]]:
    """What compares with 0 by the facts: number, relation, form; no denominators, and nothing that is plain."""
    for number, relation, form in _forms(sequent):
        value = is_number(form)
        if not form.over and (value is None or value < 0):  # a number below 0 contradicts itself
            yield number, relation, form


def linear(sequent: Sequent, degree: int = 2, squares: bool = True) -> Proof:
    """A combination of products of facts and squares, found by linear programming and made exact."""
    margin = margin_of(sequent)
    if margin.over:
        raise Failed("linear: a denominator")
    if len(margin.top) > 60:
        raise Failed("linear: too many monomials")
    known = itertools.takewhile(lambda one: one[0] < _FACTS, fact_forms(sequent))
    forms: list[tuple[Any, str, Rational]] = list(known)
    atoms = dict.fromkeys(base for mono in margin.top for base, _ in mono if base.kind == "apply")
    signed = [(name, relation, atom.parts[1], bound) for atom in atoms for name, relation, bound in _signs_of(atom)]
    forms += [([name, to_json(x), small], relation, normal(bound)) for name, relation, x, bound in signed]
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
    found = combination(margin, sequent.goal.parts[0], [(len(refs), r, form) for refs, r, form in products])
    rows = [(value, *products[k][:2]) for k, value in found.items()]
    return by("linear", [[num(value) if r == "=" else str(value), refs] for value, refs, r in rows])(sequent)


def _signs_of(atom: Term) -> list[tuple[str, str, Term]]:
    """What is never negative about a function's value: the name of the reference, the relation, the difference."""
    name, x = atom.parts
    if name == "exp":
        return [(name, "<", atom)]
    if name in ("sin", "cos"):
        return [(name + "-", "<=", 1 - atom), (name + "+", "<=", 1 + atom)]
    if name == "abs":
        return [(name, "<=", atom), (name + "-", "<=", atom - x), (name + "+", "<=", atom + x)]
    return []


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


def combination(
    margin: Rational, relation: str, columns: Sequence[tuple[int, str, Rational]]
) -> dict[int, Fraction]:
    """Which columns (how many factors, relation, form) add up to the margin, and with which weights: linear programming
    chooses, preferring what is strict for a strict goal, and the weights are made exact.
    """
    usable = _usable(margin, [form for _, _, form in columns])
    sizes, relations, forms = zip(*(columns[k] for k in usable), strict=True)
    cheap = {"=": 0.0, "<": 0.1 if relation == "<" else 1.0}
    costs = [cheap.get(kind, 1.0) * (1 + 2 * size + 0.1 * len(form.top))
             for size, kind, form in zip(sizes, relations, forms, strict=True)]  # fmt: skip
    found = weights(margin.top, relation, list(zip(costs, relations, (form.top for form in forms), strict=True)))
    return {usable[k]: value for k, value in found.items()}


def weights(
    goal: Mapping[Any, Fraction], relation: str, columns: Sequence[tuple[float, str, Mapping[Any, Fraction]]],
    most: float | None = None,
) -> dict[int, Fraction]:
    """The cheapest weights by which columns (cost, relation, coefficients) add up to the goal, made exact: those of
    equalities of either sign, of a strict one at least one for a strict goal; most: none is larger.
    """  # fmt: skip
    costs, relations, forms = zip(*columns, strict=True)
    rows = {mono: place for place, mono in enumerate(dict.fromkeys(itertools.chain(goal, *forms)))}
    entries = [(float(value), rows[mono], k) for k, form in enumerate(forms) for mono, value in form.items()]
    values, places, numbers = zip(*entries, strict=True)
    matrix = csr_matrix((values, (places, numbers)), shape=(len(rows), len(forms)))
    free, strict = (np.array([one == wanted for one in relations]) for wanted in "=<")
    bounds = [((None if most is None else -most) if one else 0, most) for one in free]
    target = [float(goal.get(mono, 0)) for mono in rows]
    solve = partial(linprog, A_eq=matrix, b_eq=target, bounds=bounds, method="highs")
    found = solve(costs)
    if relation == "<" and found.status == 0 and not np.any(found.x[strict] > 1e-9):
        found = solve(np.array(costs) / 100 - strict)
    if found.status != 0:
        raise Failed("no combination")
    chosen = [k for k, value in enumerate(found.x) if abs(value) > 1e-9]
    used = [*(forms[k] for k in chosen), goal]
    exact = solved([[form.get(mono, Fraction(0)) for form in used] for mono in rows])
    if exact is None or any(value < 0 and not free[k] for k, value in zip(chosen, exact, strict=True)):
        raise Failed("no exact combination")
    if relation == "<" and not any(value and strict[k] for k, value in zip(chosen, exact, strict=True)):
        raise Failed("not strict")
    return {k: value for k, value in zip(chosen, exact, strict=True) if value}


def _usable(margin: Rational, forms: Sequence[Rational]) -> list[int]:
    """The columns without a monomial that neither another one nor the margin has."""
    left = list(range(len(forms)))
    while left:
        count = Counter([*margin.top, *(mono for k in left for mono in forms[k].top)])
        kept = [k for k in left if all(count[mono] > 1 for mono in forms[k].top)]
        if len(kept) == len(left):
            return kept
        left = kept
    raise Failed("no column fits")


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


def either_sign(sequent: Sequent, factor: Term, positive: Tactic, then: Tactic, image: Rational) -> Proof:
    """The goal times a factor, or times its opposite, whichever is positive."""
    try:
        return scaled(sequent, factor, positive, then, image)
    except Failed:
        return scaled(sequent, -factor, positive, then, times(constant(-1), image))


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
    with suppress(Failed):
        return first(by("identity"), by("known"), signs, _constants, lambda s: boxes(s, budget=60))(sequent)
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
    """The goal in normal form."""
    return by("scale", ONE, plain_goal(sequent), [], small, small, then)(sequent)


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
    return found if found is not None and minus(x, times(constant(found), y)).is_zero else None
