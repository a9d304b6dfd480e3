"""The rule `boxes`: a box in parts, on each of which enclosures show the goal, or that no point of it is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb

from proofs_check.core.derive import derivative
from proofs_check.core.domain import Sequent, Variable, facts
from proofs_check.core.enclose import Evaluator, Value, compare, interval, times
from proofs_check.core.terms import Malformed, Term, free, rational
from theory.lowering.precision import working

Region = dict[str, tuple[Fraction, Fraction]]
_MOST_NODES = 200_000
PRECISION = (64, 128, 256, 512, 1024)


def check(sequent: Sequent, precision: int, root: Mapping[str, Any], nodes: list[Any]) -> None:
    """Raises Malformed, Unknown or Undefined unless the nodes (in preorder) are a proof of the sequent.

    root: a box of fractions, shown here to hold the whole domain. A node is ["cut", name, at] (halves of halves cover
    the root), or a leaf: ["natural" | "monotone" | "mean", k] shows alternative k of the goal, ["none", k] that fact k
    fails. Points of a leaf outside the domain do no harm: the goal is shown for them too, or they are excluded.
    """
    if precision not in PRECISION or not isinstance(nodes, list) or len(nodes) > _MOST_NODES:
        raise Malformed("boxes are read at a listed precision, and not more than the limit")
    region = {name: (rational(low), rational(high)) for name, (low, high) in root.items()}
    with working(precision):
        check_root(sequent, region)
        look = Look(sequent)
        for leaf, (kind, which) in _leaves(nodes, region, {v.name for v in sequent.variables if v.whole}):
            if type(which) is not int or which < 0 or not look.shows(leaf, kind, which):
                raise Malformed(f"the leaf {kind} {which} is not confirmed on {leaf}")


def check_root(sequent: Sequent, region: Region) -> None:
    """The region holds the domain: each end, at its largest over the region of earlier variables, lies inside."""
    if region.keys() != {v.name for v in sequent.variables}:
        raise Malformed("the root has other sides than the domain")
    known: Region = {}
    for v in sequent.variables:
        low, high = region[v.name]
        if v.sizes or low > high:
            raise Malformed(f"{v.name} has no side in a box")
        env = evaluator(known)
        first, last = _first_and_last(v, env)
        if not (compare("<=", low, first) and compare("<=", last, high)):
            raise Malformed(f"the root leaves out values of {v.name}")
        known[v.name] = (low, high)


def _first_and_last(v: Variable, env: Evaluator) -> tuple[Value, Value]:
    """Between which values the variable lies."""
    if v.values:
        return min(v.values), max(v.values)
    if v.low is None or v.high is None:
        raise Malformed(f"{v.name} is unbounded")
    return env.value(v.low), env.value(v.high)


def evaluator(region: Region) -> Evaluator:
    """The values of terms on the whole region."""
    ends = {name: low if low == high else (interval(low)[0], interval(high)[1]) for name, (low, high) in region.items()}
    return Evaluator(ends)


class Look:
    """What enclosures show on a region."""

    def __init__(self, sequent: Sequent) -> None:
        self.goals = alternatives(sequent.goal)
        self.facts = facts(sequent)
        # A monotone or mean value leaf speaks of segments; whole numbers and choices lie on them too.
        self.slopes: Callable[[int], dict[str, Term]] = cache(self._slopes)
        self._last: tuple[Region, Evaluator] = ({}, evaluator({}))

    def _slopes(self, which: int) -> dict[str, Term]:
        margin = self.goals[which][1]
        return {name: derivative(margin, name) for name in sorted(free(margin))}

    def on(self, region: Region) -> Evaluator:
        """The evaluator of a region, the same one as long as the same region is asked for."""
        if region is not self._last[0]:
            self._last = region, evaluator(region)
        return self._last[1]

    def shows(self, region: Region, kind: str, which: int) -> bool:
        if kind == "none":
            return self.on(region).truth(self.facts[which]) is False
        return self.clears(which, self.bound(region, kind, which, self.goals[which][1]))

    def clears(self, which: int, low: arb) -> bool:
        """Does a lower bound of its margin show this alternative?"""
        return bool(low > 0) if self.goals[which][0] else bool(low >= 0)

    def bound(self, region: Region, kind: str, which: int, margin: Term) -> arb:
        """A lower bound of the margin on the region, by the argument that the leaf names."""
        env = self.on(region)
        low = interval(env.value(margin))[0]
        if kind == "natural":
            return low
        if kind not in ("monotone", "mean"):
            raise Malformed(f"there is no leaf {kind!r}")
        slopes = {name: interval(env.value(slope)) for name, slope in self.slopes(which).items()}
        face = dict(region)  # where a function with these slopes is least
        for name, (least, largest) in slopes.items():
            if least >= 0 or largest <= 0:
                face[name] = (region[name][0 if least >= 0 else 1],) * 2
        if kind == "monotone":
            return interval(evaluator(face).value(margin))[0]
        # f(x) >= f(c) + sum over the sides of slope times offset, c the centre of the face.
        centre: Region = {name: ((low + high) / 2,) * 2 for name, (low, high) in face.items()}
        total = interval(evaluator(centre).value(margin))[0]
        for name, slope in slopes.items():
            reach = interval((face[name][1] - face[name][0]) / 2)[1]
            total = (total + times(slope, (-reach, reach))[0]).lower()
        return total


def alternatives(goal: Term) -> list[tuple[bool, Term]]:
    """(strict, margin) for each way to show the goal: margin > 0, or >= 0."""
    if goal.kind == "or":
        return [way for part in goal.parts for way in alternatives(part)]
    if goal.kind != "rel":
        raise Malformed(f"boxes show no {goal.kind}")
    relation, a, b = goal.parts
    if relation == "=":
        raise Malformed("boxes show no equality")
    up = b if a.kind == "num" and a.parts[0] == 0 else b - a
    return [(True, up), (True, a - b)] if relation == "!=" else [(relation == "<", up)]


def _leaves(nodes: list[Any], root: Region, wholes: set[str]) -> Iterator[tuple[Region, tuple[str, Any]]]:
    """The leaf regions in preorder: they cover the root, but for the gap between two whole numbers."""
    pending = [root]
    for node in nodes:
        if not pending:
            raise Malformed("nodes are left over after the root is covered")
        region = pending.pop()
        if node[0] != "cut":
            yield region, (node[0], node[1])
            continue
        _, name, text = node
        low, high = region[name]
        at = rational(text)
        if not low < at < high and not (name in wholes and low <= at < high and at.denominator == 1):
            raise Malformed(f"a cut of {name} at {at} outside ({low}, {high})")
        above = at + 1 if name in wholes and at.denominator == 1 else at
        pending += [{**region, name: (above, high)}, {**region, name: (low, at)}]
    if pending:
        raise Malformed("the leaves do not cover the root")
