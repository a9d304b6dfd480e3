"""The search for proofs: structure first, then arithmetic, then calculus, then sums; subgoals that floats refute are
given up at once. A budget of steps ends it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from proofs_check.core.domain import Sequent, Variable, taken
from proofs_check.core.normal import Rational, back, canonical, constant, difference, minus, plus, times
from proofs_check.core.rules import Rejected, face_parts, known_in
from proofs_check.core.terms import ONE, ZERO, Malformed, Term, exp, free, fresh, num, substitute, walk
from proofs_check.core.work import TooLarge
from proofs_check.rigour import arithmetic, sums
from proofs_check.rigour.branch import boxes, valued
from proofs_check.rigour.closed import closed
from proofs_check.rigour.contrary import by_order, contrary, substituted
from proofs_check.rigour.lemmas import from_equalities
from proofs_check.rigour.nodes import all_exchanged, is_exp
from proofs_check.rigour.points.drawing import Domain
from proofs_check.rigour.points.sample import least_margin, least_point, refuted
from proofs_check.rigour.positive import positive
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first, no_way
from proofs_check.rigour.tangent import tangents

_LONGEST = 1500  # nodes of a goal
_MOST = 200  # monomials of its two sides
_FEW = 40  # values of a whole number that are looked at one by one
_FAR = 1000  # further out, where the margin is small it tends to 0


class Search:
    """One search with its budget."""

    def __init__(self, steps: int = 400, looks: int = 1500) -> None:
        self.steps, self.looks = steps, looks
        self.failed: set[tuple[Sequent, int]] = set()
        self.combined: set[Sequent] = set()

    def tactic(self, depth: int) -> Tactic:
        return lambda sequent: self.prove(sequent, depth)

    def prove(self, sequent: Sequent, depth: int) -> Proof:
        """A certificate, or Failed."""
        key = (sequent, depth)
        if depth < 0 or key in self.failed:
            raise Failed("too deep")
        try:
            with known_in(sequent):
                return self._prove(sequent, depth)
        except Failed:
            self.failed.add(key)
            raise

    def _prove(self, s: Sequent, depth: int) -> Proof:
        kind, parts = s.goal.kind, s.goal.parts
        go = self.tactic(depth)
        if kind == "and":
            return by("split", *(go for _ in parts))(s)
        if kind == "iff":
            return by("split", go, go)(s)
        if kind == "implies":
            return by("assume", go)(s)
        with suppress(Failed):
            return first(by("identity"), by("known"), by("signs", [], {}))(s)
        if kind == "rel" and not free(s.goal):
            with suppress(Failed):
                return valued(s)
        if refuted(s):
            raise Failed("floats refute it")
        if parts and parts[0] in ("<", "<=", "!=") and ZERO in parts:
            with suppress(Failed):
                return positive(s)
        if self.steps <= 0:
            raise Failed("the budget is spent")
        if s.goal.size > _LONGEST or (kind == "rel" and _monomials(s.goal) > _MOST):
            raise Failed("too long a goal")
        self.steps -= 1 + s.goal.size // 200  # what is plain, or plainly false, is free; what is long is dear
        if kind == "or":
            return self._any(s, [lambda q: boxes(q, budget=self.looks), *self._given(depth),
                                 *(by("either", k, self.tactic(depth - 1)) for k in range(len(parts)))])  # fmt: skip
        if parts[0] == "!=":
            return self._any(s, [*(by("apart", less, go) for less in (False, True)), *self._given(depth)])
        if parts[0] == "=":
            return self._any(s, self._equality(s, depth))
        return self._any(s, self._inequality(s, depth))

    def _any(self, s: Sequent, tactics: list[Tactic]) -> Proof:
        last = "nothing applies"
        for attempt in tactics:
            if self.steps <= 0:
                raise Failed("the budget is spent")
            try:
                return attempt(s)
            except (Failed, TooLarge, ZeroDivisionError, Malformed) as fault:
                last = str(fault)
        raise Failed(last)

    def _given(self, depth: int) -> list[Tactic]:
        """Tactics that take the hypotheses and the domain apart."""

        def alternatives(s: Sequent) -> Proof:
            for number, formula in enumerate(s.given):
                sides = set(formula.parts[1:]) if formula.kind == "rel" and formula.parts[0] == "!=" else set()
                seen = any(f.kind == "rel" and f.parts[0] == "<" and set(f.parts[1:]) == sides for f in s.given)
                if formula.kind == "or" or (sides and not seen):
                    ways = 2 if sides else len(formula.parts)
                    return by("alternatives", number, *(self.tactic(depth - 1) for _ in range(ways)))(s)
            raise Failed("no alternatives")

        def enumerate_(s: Sequent) -> Proof:
            for v in s.variables:
                count = _value_count(v)
                if count is not None and (v.values or count <= _FEW):
                    return by("enumerate", v.name, *(self.tactic(depth) for _ in range(count)))(s)
            raise Failed("nothing to enumerate")

        def tightened(s: Sequent) -> Proof:
            for number, formula in enumerate(s.given):
                if formula.kind == "rel" and formula.parts[0] in ("<", "<="):
                    for k, upper in ((1, True), (2, False)):
                        mine, end = formula.parts[k], formula.parts[3 - k]
                        plain = mine.kind == "var" and end.kind == "num"
                        if plain and _better(s, mine.parts[0], end, upper, formula):
                            return by("tighten", mine.parts[0], number, self.tactic(depth))(s)
            raise Failed("no better end")

        def ordered(s: Sequent) -> Proof:
            if not arithmetic.has(s.goal, "apply"):
                raise Failed("facts will do")
            return by_order(s, self.tactic(depth))

        return [partial(substituted, then=self.tactic(depth)), tightened, ordered, enumerate_, alternatives]

    def _equality(self, s: Sequent, depth: int) -> list[Tactic]:
        go = self.tactic(depth - 1)

        return [*self._given(depth), *self._resolved(depth), partial(arithmetic.linear, degree=1), from_equalities,
                lambda q: closed(q, self, depth - 1), by("split", arithmetic.of_facts, arithmetic.of_facts),
                by("exponentiate", go) if arithmetic.has(s.goal, "log") else no_way,
                lambda q: contrary(q, self, depth), *sums.tactics(self, depth)]  # fmt: skip

    def _inequality(self, s: Sequent, depth: int) -> list[Tactic]:
        touching = abs(least_margin(s)) < 1e-6
        looks = self.looks // 30 if touching else self.looks // 6
        return [
            arithmetic.signs,
            partial(arithmetic.linear, degree=1),
            self._resolving(depth, arithmetic.small, by_cases=False),
            lambda q: boxes(q, budget=looks),
            arithmetic.linear,
            lambda q: self._tangents(q, depth),
            lambda q: closed(q, self, depth - 1),
            lambda q: arithmetic.exponentials(q, self.tactic(depth)),
            *self._given(depth),
            *self._resolved(depth),
            lambda q: self._conjugate(q, depth - 1),
            *self._shaped(depth),
            lambda q: contrary(q, self, depth),
            *sums.tactics(self, depth),
            lambda q: self._faces(q, depth),
            lambda q: self._touching(q, depth),
            lambda q: self._changed(q, depth, not touching),
            *([] if touching else [lambda q: boxes(q, budget=self.looks)]),
            lambda q: self._cases(q, depth),
        ]

    def _touching(self, s: Sequent, depth: int) -> Proof:
        """Where floats find the least value inside the domain, the goal is proved on both sides of that point."""
        if depth <= 1:
            raise Failed("too deep")
        names = [n for n in arithmetic.scalars(s, s.goal) if not s.variable(n).values]
        go = self.tactic(depth - 1)
        with suppress(Failed):
            return self._in_order(s, depth)
        point = least_point(s)
        for name in names:
            v = s.variable(name)
            if point is None or v.whole or s.mentioning(name) or not math.isfinite(point[name]):
                continue
            at = Fraction(point[name]).limit_denominator(24)
            if abs(float(at) - point[name]) > 1e-5 or abs(at) > _FAR:
                continue
            inside = all(end is None or (_constant(end) and end.parts[0] != at) for end in (v.low, v.high))
            if inside:
                half = by("tighten", name, len(s.given), go)
                return by("cases", Term("var", name) <= num(at), arithmetic.small, half, half)(s)
        return self._near_an_end(s, point or {}, depth)

    def _near_an_end(self, s: Sequent, point: Mapping[str, Any], depth: int) -> Proof:
        """Where it is least at an end of the one variable, a short piece beside that end is proved apart."""
        name, *others = arithmetic.scalars(s, s.goal) or [""]
        if others or not name or s.variable(name).whole or s.variable(name).values:
            raise Failed("nothing touches")
        low, high = Domain(s, random.Random(0)).interval(s.variable(name), {})
        width = high - low
        if not math.isfinite(width) or name not in point:
            raise Failed("no piece")
        inside = next((low + width / 16 if end == low else high - width / 16 for end in (low, high)
                       if abs(point[name] - end) < width / 1000), None)  # fmt: skip
        if inside is None:
            raise Failed("it is not least at an end")
        half = by("tighten", name, len(s.given), self.tactic(depth - 1))
        at = Fraction(inside).limit_denominator(max(24, math.ceil(100 / width)))
        return by("cases", Term("var", name) <= num(at), arithmetic.small, half, half)(s)

    def _tangents(self, s: Sequent, depth: int) -> Proof:
        """Once for each goal, whatever the depth."""
        if depth <= 2 or s in self.combined:
            raise Failed("tangents: not here")
        self.combined.add(s)
        return tangents(s, self)

    def _in_order(self, s: Sequent, depth: int) -> Proof:
        """Two variables that may change places are put in order."""
        names = [n for n in arithmetic.scalars(s, s.goal) if not s.variable(n).values]
        go = self.tactic(depth - 1)
        for a, b in itertools.combinations(names, 2):
            ends = set().union(*(free(end) for n in (a, b) for end in s.variable(n).ends()))
            known = any(g.kind == "rel" and free(g) == {a, b} for g in s.given)
            if not ends & {a, b} and not known and _symmetric(s, a, b):
                return by("cases", Term("var", a) <= Term("var", b), arithmetic.small, go, go)(s)
        raise Failed("nothing to put in order")

    def _conjugate(self, s: Sequent, depth: int) -> Proof:
        """P + Q sqrt(R) times P - Q sqrt(R) has no root."""
        margin = arithmetic.margin_of(s)
        roots = {base for mono in margin.top for base, p in mono if base.kind == "apply" and base.parts[0] == "sqrt"}
        if margin.over or not roots:
            raise Failed("no root")
        root = min(roots, key=lambda t: t.serial)
        with_root = {m: c for m, c in margin.top.items() if dict(m).get(root, Fraction(0)) != 0}
        other = plus(margin, Rational({m: -2 * c for m, c in with_root.items()}))
        go = self.tactic(depth - 1)
        return arithmetic.either_sign(s, back(other), go, go, times(other, margin))

    def _resolved(self, depth: int) -> list[Tactic]:
        """An `if`, an absolute value or a largest of two goes away, where a proof says which way, or case by case."""

        def in_order(s: Sequent) -> Proof:
            if depth <= 2 or not arithmetic.has(s.goal, "abs", "max", "min"):
                raise Failed("nothing to put in order")
            return self._in_order(s, depth)

        return [in_order, self._resolving(depth - 1, self.tactic(depth - 1), by_cases=True)]

    def _resolving(self, depth: int, why: Tactic, by_cases: bool) -> Tactic:
        """The first node for which `why` proves a way; by_cases: the first node, both ways if it proves neither."""

        def tactic(s: Sequent) -> Proof:
            for node in _ambiguous(s):
                decided = False

                def go(q: Sequent) -> Proof:
                    nonlocal decided
                    decided = True
                    return self._rewriting(depth)(q)

                try:
                    return _one_way(node, why, go)(s)
                except Failed:
                    if decided:
                        raise
                if by_cases:
                    here = _one_way(node, arithmetic.small, go)
                    return by("cases", _condition(node), arithmetic.small, here, here)(s)
            raise Failed("nothing to resolve")

        return tactic

    def _rewriting(self, depth: int) -> Tactic:
        """Puts the last equality among the hypotheses to use, and goes on."""
        return sums.used(self.tactic(depth))

    def _shaped(self, depth: int) -> list[Tactic]:
        def cleared(s: Sequent) -> Proof:
            factor, image = arithmetic.cleared(arithmetic.margin_of(s))
            if factor is ONE:
                raise Failed("no denominator")
            return arithmetic.either_sign(s, factor, self.tactic(depth - 1), self.tactic(depth), image)

        def exponentiated(s: Sequent) -> Proof:
            margin = arithmetic.margin_of(s)
            if not _outside_exp(back(margin), "", "log"):
                raise Failed("no logarithm")
            # Whole multiples of logarithms become powers.
            under = (c.denominator for mono, c in margin.top.items() if any(_is_log(base) for base, _ in mono))
            image = Term("rel", s.goal.parts[0], ZERO, back(times(constant(math.lcm(*under)), margin)))
            with arithmetic.failing():
                if arithmetic.has(canonical(exp(image.parts[2])), "log"):
                    raise Failed("logarithms that stay")
            return arithmetic.rewritten_as(s, image, by("exponentiate", self.tactic(depth)))

        def relaxed(s: Sequent) -> Proof:
            used = {n for node in walk(s.goal) for n in _places(node)}
            used |= {n for g in s.given for node in walk(g) for n in _places(node)}
            used |= {n for v in s.variables for size in v.sizes for n in free(size)}
            names = [v.name for v in s.variables if v.whole and not v.sizes and not v.values and v.name not in used]
            kept = [v for v in s.variables if v.whole and v.name not in names]
            dependent = {n for v in kept for end in v.ends() for n in free(end)}
            names = [n for n in names if n not in dependent]
            if not names:
                raise Failed("no whole number to relax")
            return by("weaken", names, self.tactic(depth))(s)

        def generalised(s: Sequent) -> Proof:
            return self._generalised(s, depth)

        return [exponentiated, cleared, relaxed, generalised]

    def _generalised(self, s: Sequent, depth: int) -> Proof:
        """Items and positive sums become numbers of their own."""
        goal = arithmetic.plain_goal(s)
        for node in walk(goal):
            names = {v.name for v in s.variables}
            if node.kind == "item" and free(node) <= names:
                bounds = s.variable(node.parts[0])
                low, high, opened = bounds.low, bounds.high, (bounds.low_open, bounds.high_open)
            elif node.kind == "fold" and free(node) <= names and not arithmetic.has(node.parts[4], "log"):
                low, high, opened = ZERO, None, (False, False)
            else:
                continue
            new = Variable(fresh("a", taken(s)), low, high, *opened)
            image = {node: Term("var", new.name)}
            wider = all_exchanged(goal, image)
            unused = [v.name for v in s.variables if v.sizes and v.name not in free(wider)]
            kept = [all_exchanged(g, image) for g in s.given if node in set(walk(g))]
            given_out = [k for k, g in enumerate(s.given) if free(g) & set(unused)]
            rest = self.tactic(depth)
            after = by("forget", unused, given_out, rest) if unused else rest
            ranges = self.tactic(depth - 1)
            return by("generalise", node, new.to_json(), wider, kept, ranges, arithmetic.small, after)(s)
        raise Failed("nothing to generalise")

    def _faces(self, s: Sequent, depth: int) -> Proof:
        if depth <= 0:
            raise Failed("too deep")
        margin = arithmetic.margin_of(s)
        if margin.over:
            raise Failed("clear the denominators first")
        simple = back(margin)
        names = [n for n in arithmetic.scalars(s, simple) if not s.mentioning(n) and not s.variable(n).whole]
        if arithmetic.has(simple, "abs", "max", "min", "if"):
            raise Failed("no slope")
        ways: list[Tactic] = []
        for name in names:
            v, factors = s.variable(name), _factors(margin, name)
            for low in (low for low, end in ((True, v.low), (False, v.high)) if end is not None):
                face = self._face(name, low, s.goal.parts[0] == "<", depth)
                ways.append(partial(arithmetic.rewritten, then=face))
                ways += [partial(arithmetic.scaled, factor=f, positive=self.tactic(1), then=face) for f in factors]
        return first(*ways)(s)

    def _face(self, name: str, low: bool, strict: bool, depth: int) -> Tactic:
        go = self.tactic(depth - 1)

        def tactic(s: Sequent) -> Proof:
            defined: Tactic = self.tactic(1)
            try:
                _, steep, at_end = face_parts(s, name, low, False)
            except (Rejected, Malformed) as fault:
                raise Failed(str(fault)) from fault
            if refuted(steep) or refuted(at_end):
                raise Failed("no face")
            kinds = (True, False) if strict else (False,)
            return first(*(by("face", name, low, kind, defined, go, go) for kind in kinds))(s)

        return tactic

    def _changed(self, s: Sequent, depth: int, bounded: bool) -> Proof:
        """Exponentials of a variable become powers of another; an unbounded variable runs over [0, 1)."""
        margin = back(arithmetic.margin_of(s))
        go = self.tactic(depth - 1)
        inside = {n for node in walk(margin) if is_exp(node) for n in free(node)}
        numbers = [v for v in map(s.variable, arithmetic.scalars(s, margin)) if not v.whole and not v.values]
        ways = [(v, "u", "log") for v in numbers if v.name in inside and not _outside_exp(margin, v.name)]
        ways += [(v, "r", "moebius") for v in numbers if bounded and (v.low is None) != (v.high is None)]
        return first(*(by("change", v.name, fresh(stem, taken(s)), how, go) for v, stem, how in ways))(s)

    def _cases(self, s: Sequent, depth: int) -> Proof:
        margin = back(arithmetic.margin_of(s))
        go = self.tactic(depth - 1)
        for name in arithmetic.scalars(s, margin):
            v = s.variable(name)
            if v.low is None and v.high is None and not v.values:
                half = by("tighten", name, len(s.given), go)
                return by("cases", v.as_term() >= ZERO, arithmetic.small, half, half)(s)
        raise Failed("no cases")


def _monomials(goal: Term) -> int:
    try:
        form = difference(goal.parts[2], goal.parts[1])
    except (TooLarge, ZeroDivisionError, Malformed):
        return 0
    return len(form.top) + sum(len(factor) for factor, _ in form.over)


def _better(s: Sequent, name: str, end: Term, upper: bool, formula: Term) -> bool:
    """Is a constant from a hypothesis a better end of the variable's domain than the one it has?"""
    v = s.variable(name)
    old, opened = (v.high, v.high_open) if upper else (v.low, v.low_open)
    if v.values or v.sizes or (old is not None and old.kind != "num"):
        return False
    if old is None:
        return True
    closer = end.parts[0] < old.parts[0] if upper else end.parts[0] > old.parts[0]
    return closer or (end is old and formula.parts[0] == "<" and not opened)


def _symmetric(s: Sequent, a: str, b: str) -> bool:
    """Does the goal stay what it is when two variables change places?"""
    swap = {a: Term("var", b), b: Term("var", a)}
    u, v = s.variable(a), s.variable(b)
    with suppress(Failed):
        other = arithmetic.margin_of(replace(s, goal=substitute(s.goal, swap)))
        return (u.low, u.high) == (v.low, v.high) and minus(arithmetic.margin_of(s), other).is_zero
    return False


def _constant(end: Term | None) -> bool:
    return end is not None and end.kind == "num"


def _value_count(v: Variable) -> int | None:
    """How many values a variable has, where they are a choice or lie between constants."""
    if v.values:
        return len(v.values)
    if not v.whole or v.sizes or v.low is None or v.high is None or not v.low.kind == v.high.kind == "num":
        return None
    return int(v.high.parts[0] - v.low.parts[0]) + 1


def _ambiguous(s: Sequent) -> list[Term]:
    """Each `if`, absolute value, largest and least of the goal that mentions no index, the largest first: what is
    divided inside would be written in another way by a rewriting.
    """
    names = {v.name for v in s.variables}
    nodes = [t for t in walk(s.goal) if t.kind in ("max", "min", "if") or (t.kind == "apply" and t.parts[0] == "abs")]
    return sorted((node for node in nodes if free(node) <= names), key=lambda t: -t.size)


def _one_way(node: Term, why: Tactic, go: Tactic) -> Tactic:
    """The node is one of its parts."""
    ways = len(node.parts) if node.kind in ("max", "min") else 2
    return first(*(by("resolve", node, k, arithmetic.small, why, go) for k in range(ways)))


def _condition(node: Term) -> Term:
    if node.kind == "if":
        found: Term = node.parts[0]
        return found
    if node.kind == "apply":
        return Term("rel", "<=", ZERO, node.parts[1])
    return Term("rel", "<=", node.parts[0], node.parts[1])


def _places(node: Term) -> set[str]:
    """The names that a node uses as whole numbers."""
    if node.kind == "fold":
        return set(free(node.parts[2]) | free(node.parts[3]))
    if node.kind == "item":
        return set().union(*(free(index) for index in node.parts[1:]))
    return set()


def _is_log(term: Term) -> bool:
    return term.kind == "apply" and bool(term.parts[0] == "log")


def _outside_exp(term: Term, name: str, function: str = "") -> bool:
    """Does the name (or the function) occur outside exponentials?"""
    if is_exp(term):
        return False
    if (term.kind == "var" and term.parts[0] == name) or (term.kind == "apply" and term.parts[0] == function):
        return True
    return any(_outside_exp(part, name, function) for part in term.parts if isinstance(part, Term))


def _factors(margin: Rational, name: str) -> list[Term]:
    """Exponentials to divide by so that one derivative less has them."""
    found: list[Term] = []
    for mono in margin.top:
        here = [(base, p) for base, p in mono if is_exp(base) and name in free(base)]
        if here:
            factor = back(Rational({tuple((base, -p) for base, p in here): Fraction(1)}))
            if factor not in found:
                found.append(factor)
    return found[:3]


def auto(sequent: Sequent, *, depth: int = 5, steps: int = 400, looks: int = 1500) -> Proof:
    """Search for a certificate. Raises Failed when the budget is spent."""
    return Search(steps, looks).prove(sequent, depth)
