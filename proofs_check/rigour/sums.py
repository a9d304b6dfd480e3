"""Tactics for sums: closed forms by telescoping, termwise comparison, terms split off, induction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from proofs_check.core.domain import Sequent, facts, taken
from proofs_check.core.normal import (
    Monomial,
    Rational,
    back,
    canonical,
    constant,
    difference,
    inverse,
    minus,
    normal,
    plus,
    times,
)
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, free, fresh, substitute
from proofs_check.core.work import TooLarge
from proofs_check.language.notation import each
from proofs_check.rigour import arithmetic
from proofs_check.rigour.places import put_value
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

if TYPE_CHECKING:
    from proofs_check.rigour.auto import Search

_FAULTS = (TooLarge, ZeroDivisionError, Malformed)


def tactics(search: Search, depth: int) -> list[Tactic]:
    """What to try on a goal with sums, in order."""
    ways = (_one_side, _member, _paired, _merged, _induction)
    return [partial(way, search=search, depth=depth) for way in ways]


def _folds(s: Sequent) -> list[Term]:
    names = {v.name for v in s.variables}
    goal = back(arithmetic.margin_of(s))
    return [node for node in arithmetic.fold_atoms(goal) if free(node) <= names]


def used(then: Tactic) -> Tactic:
    """Rewrites the goal with the last hypothesis, an equality, and drops it."""
    return partial(use_last_equality, then=then, drop=True)


def use_last_equality(s: Sequent, then: Tactic, *, drop: bool = False) -> Proof:
    """The last hypothesis m atom = value rewrites that atom in the goal, and may then be dropped."""
    if drop:
        then = by("forget", [], [len(s.given) - 1], then)
    if s.goal.kind != "rel":
        raise Failed("no comparison")
    left, right = s.given[-1].parts[1:]
    with arithmetic.failing():
        margin = difference(s.goal.parts[2], s.goal.parts[1])
        # m atom = right, with the atom as normal form sees it.
        form = normal(left)
    if form.over or len(form.top) != 1:
        raise Failed("no atom to rewrite")
    ((mono, coefficient),) = form.top.items()
    atoms = [base for base, _ in mono if base.kind in ("fold", "if", "max", "min") or base.parts[0] == "abs"]
    atoms = [left] if left.kind == "var" else atoms
    if len(atoms) != 1:
        raise Failed("no atom to rewrite")
    target = atoms[0]
    if any(dict(m).get(target, 1) != 1 for m in margin.top):
        raise Failed("the atom stands in a power")
    if any(target in dict(m) for factor, _ in margin.over for m, _ in factor):
        raise Failed("the atom stands in a denominator")
    slope = Rational({_without(m, target): c for m, c in margin.top.items() if target in dict(m)}, margin.over)
    if slope.is_zero:
        raise Failed("the atom does not occur")
    # margin - weight (left - right), where `linear` reads an equality a = b as b - a.
    weight = times(slope, inverse(Rational({_without(mono, target): coefficient})))
    changed = minus(margin, times(weight, difference(left, right)))
    zero = [back(times(constant(-1), weight)), facts(s).index(s.given[-1])]
    goal = Term("rel", s.goal.parts[0], ZERO, back(changed))
    return by("scale", ONE, goal, [zero], arithmetic.small, arithmetic.small, then)(s)


def _without(mono: Monomial, atom: Term) -> Monomial:
    return tuple(pair for pair in mono if pair[0] is not atom)


def primitives(node: Term) -> Iterator[tuple[Term, Term]]:
    """Pairs G, m with m body(i) = G(i + 1) - G(i), for powers of i, and r^i."""
    _, index, _, _, body = node.parts
    i = Term("var", index)
    if index not in free(body):
        yield each(i, body * i), ONE
        return
    try:
        ratio = times(normal(substitute(body, {index: i + 1})), inverse(normal(body)))
    except _FAULTS:
        return
    if index not in free(back(ratio)):
        yield each(i, body), canonical(back(ratio) - 1)
        return
    form = normal(body)
    if not form.over and all(set(m) <= {(i, p) for _, p in m if p > 0} for m in form.top):
        yield each(i, _faulhaber(form, i)), ONE


def _faulhaber(form: Rational, i: Term) -> Term:
    """The polynomial G with G(i + 1) - G(i) = form and G(0) = 0: of x^k it is Bernoulli's over k + 1."""
    import sympy

    from proofs_check.language.converted import term

    x, found = sympy.Symbol("x"), sympy.Integer(0)
    for mono, coefficient in form.top.items():
        k = sum(int(power) for _, power in mono)
        of_power = sympy.bernoulli(k + 1, x) / (k + 1)
        found += sympy.Rational(coefficient.numerator, coefficient.denominator) * (of_power - of_power.subs(x, 0))
    return canonical(term(sympy.expand(found), {x: i}))


def _one_side(s: Sequent, search: Search, depth: int) -> Proof:
    """0 <= sum (or <), by its terms."""
    goal = back(arithmetic.margin_of(s))
    if goal.kind != "fold" or goal.parts[0] != "sum" or s.goal.parts[0] not in ("<", "<="):
        raise Failed("not one sum")
    relation = ">" if s.goal.parts[0] == "<" else ">="
    each_one, some, done = search.tactic(depth - 1), search.tactic(2), partial(arithmetic.linear, degree=1)
    return by("termwise", goal, relation, ZERO, arithmetic.small, each_one, some, done)(s)


def _merged(s: Sequent, search: Search, depth: int) -> Proof:
    """A combination of sums over one range is one sum: compared term by term with 0."""
    margin = arithmetic.margin_of(s)
    if margin.over:
        raise Failed("clear the denominators first")
    atoms = _folds(s)
    ranges = {(node.parts[2], node.parts[3]) for node in atoms}
    if len(atoms) < 1 or len(ranges) != 1 or any(node.parts[0] != "sum" for node in atoms):
        raise Failed("not sums over one range")
    ((low, high),) = ranges
    k = Term("var", fresh("j", taken(s)))
    parts = (_in_one_sum(Rational({m: c}), atoms, k, canonical(high - low + 1)) for m, c in margin.top.items())
    merged = Term("fold", "sum", k.parts[0], low, high, back(reduce(plus, parts, constant(0))))
    relation = {"<": ">", "<=": ">=", "=": "="}[s.goal.parts[0]]
    some = search.tactic(2)
    done: Tactic = partial(arithmetic.linear, degree=1)
    if any(not _sums_of(mono, atoms) for mono in margin.top):
        i = Term("var", "i")
        ones = Term("fold", "sum", "k", low, high, ONE)
        done = by("telescope", ones, each(i, i), ONE, arithmetic.small, search.tactic(1), _with_count)
    return by("termwise", merged, relation, ZERO, arithmetic.small, search.tactic(depth - 1), some, done)(s)


def _sums_of(mono: Monomial, atoms: Sequence[Term]) -> list[Term]:
    """The factors of a monomial that are among these sums."""
    return [base for base, _ in mono if base in atoms]


def _in_one_sum(part: Rational, atoms: Sequence[Term], k: Term, count: Term) -> Rational:
    """A monomial as the term of a sum: one of its sums is taken apart, or, if it has none, it is a part of each."""
    ((mono, coefficient),) = part.top.items()
    folds = _sums_of(mono, atoms)
    if not folds:
        if count is ZERO:
            raise Failed("an empty range")
        return times(part, inverse(normal(count)))
    node = max(folds, key=lambda base: base.serial)
    powers = {base: power - (base is node) for base, power in mono}
    rest = tuple((base, power) for base, power in powers.items() if power)
    return times(Rational({rest: coefficient}), normal(substitute(node.parts[4], {node.parts[1]: k})))


def _with_count(s: Sequent) -> Proof:
    """The difference is the merged sum (the last fact but one) and a multiple of the last fact, the number of terms."""
    known = facts(s)
    summed, equality = s.given[-2:]
    margin, form, count = (difference(q.parts[2], q.parts[1]) for q in (s.goal, summed, equality))
    weight = _divided(minus(margin, form), count)
    return by("linear", [["1", [known.index(summed)]], [weight, [known.index(equality)]]])(s)


def _divided(one: Rational, other: Rational) -> Term:
    """one/other where one is a multiple with a factor that does not hold the sum of ones."""
    counts = [m for m in other.top if any(base.kind == "fold" for base, _ in m)]
    if len(counts) != 1:
        raise Failed("no count")
    ((atom, _),) = counts[0]
    linear = {_without(m, atom): c / other.top[counts[0]] for m, c in one.top.items() if dict(m).get(atom) == 1}
    return back(Rational(linear, one.over))


def _member(s: Sequent, search: Search, depth: int) -> Proof:
    """A term whose index the goal names elsewhere is split off its sum."""
    goal = back(arithmetic.margin_of(s))
    elsewhere = frozenset().union(*map(free, _outside(goal)))
    places = [v.name for v in s.variables if v.whole and not v.sizes and v.name in elsewhere]
    sums = [node for node in _folds(s) if node.parts[0] == "sum"]
    ways = [(node, Term("var", name)) for node in sums for name in places if name not in free(node)]
    return first(*(_taken_out(*way, search, depth) for way in ways))(s)


def _taken_out(node: Term, place: Term, search: Search, depth: int) -> Tactic:
    """The sum before a place, the term there, and the sum behind it."""

    def cut(part: Term, at: Term, then: Tactic) -> Tactic:
        return by("split_sum", part, at, arithmetic.small, search.tactic(1), used(then))

    upto = _part(node, node.parts[2], place)
    return cut(node, place, cut(upto, place - 1, search.tactic(depth - 1)))


def _part(node: Term, low: Term, high: Term) -> Term:
    return Term("fold", node.parts[0], node.parts[1], low, high, node.parts[4])


def _outside(goal: Term) -> Iterator[Term]:
    """The atoms of a goal that stand outside its sums."""
    pending = [goal]
    while pending:
        node = pending.pop()
        if node.kind in ("var", "item"):
            yield node
        elif node.kind != "fold":
            pending += [part for part in node.parts if isinstance(part, Term)]


def _paired(s: Sequent, search: Search, depth: int) -> Proof:
    """A form of degree two in sums over one range is a double sum of its symmetric part: Cauchy, Chebyshev."""
    margin = arithmetic.margin_of(s)
    atoms = _folds(s)
    ranges = {(node.parts[2], node.parts[3]) for node in atoms}
    if margin.over or len(ranges) != 1 or s.goal.parts[0] != "<=":
        raise Failed("not sums over one range")
    ((low, high),) = ranges
    taken_ = taken(s)
    i, j = (Term("var", fresh(name, taken_)) for name in ("i", "j"))
    body = constant(0)
    for mono, coefficient in margin.top.items():
        pair = [base for base, p in mono if base in atoms for _ in range(int(p))]
        if len(pair) != 2 or any(base.parts[0] != "sum" for base in pair):
            raise Failed("not of degree two")
        rest = Rational({tuple((b, p) for b, p in mono if b not in atoms): coefficient / 2})
        for one, other in (pair, pair[::-1]):
            of_i = normal(substitute(one.parts[4], {one.parts[1]: i}))
            of_j = normal(substitute(other.parts[4], {other.parts[1]: j}))
            body = plus(body, times(rest, times(of_i, of_j)))
    inner = Term("fold", "sum", j.parts[0], low, high, back(body))
    outer = Term("fold", "sum", i.parts[0], low, high, inner)
    go = search.tactic(depth - 1)

    def row(q: Sequent) -> Proof:
        """The goal is 0 <= sum."""
        return by("termwise", q.goal.parts[2], ">=", ZERO, arithmetic.small, go, go, arithmetic.of_facts)(q)

    return by("termwise", outer, ">=", ZERO, arithmetic.small, row, go, arithmetic.of_facts)(s)


def _induction(s: Sequent, search: Search, depth: int) -> Proof:
    """Induction on the length, the last term split off."""
    if depth <= 1:
        raise Failed("too deep")
    sizes = {n for node in _folds(s) for n in free(node.parts[3])}
    step = partial(_split_last, search=search, depth=depth - 1)
    names = [v.name for v in s.variables if v.name in sizes and v.whole and v.low is not None and v.low.kind == "num"]
    return first(*(by("induct", name, search.tactic(1), search.tactic(depth - 1), step) for name in names))(s)


def _split_last(s: Sequent, search: Search, depth: int) -> Proof:
    """Every sum up to n + 1 loses its last term; then the step is arithmetic."""

    def go(q: Sequent) -> Proof:
        for node in _folds(q):
            operation, _, _, high, _ = node.parts
            shorter = canonical(high - 1)
            known = [f for f in q.given if f.kind == "rel" and f.parts[0] == "=" and f.parts[1] is node]
            if known or operation not in ("sum", "prod") or not any(_ends_at(f, shorter) for f in q.given):
                continue
            then = partial(use_last_equality, then=go)
            plainly = by("split_sum", node, shorter, arithmetic.small, search.tactic(1), then)
            return first(plainly, partial(inside, shorter=shorter))(q)
        return search.prove(q, depth)

    def inside(q: Sequent, shorter: Term) -> Proof:
        """The same for one that stands inside a function."""
        for node in (n for side in q.goal.parts[1:] for n in arithmetic.fold_atoms(side)):
            operation, index, _, high, body = node.parts
            if operation in ("sum", "prod") and canonical(high - 1) is shorter:
                last = substitute(body, {index: high})
                value = Term("add" if operation == "sum" else "mul", Term("fold", *node.parts[:3], shorter, body), last)
                why = by("split_sum", node, shorter, arithmetic.small, search.tactic(1), arithmetic.of_facts)
                return put_value(node, value, why, go)(q)
        raise Failed("no last term")

    return go(s)


def _ends_at(formula: Term, high: Term) -> bool:
    try:
        return any(canonical(node.parts[3]) is high for node in arithmetic.fold_atoms(formula))
    except _FAULTS:
        return False


