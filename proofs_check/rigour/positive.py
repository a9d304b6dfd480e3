"""What is positive by its shape: sums, products, quotients, roots and larger ones of what is positive."""

from __future__ import annotations

from proofs_check.core.domain import Sequent, Variable, facts, taken
from proofs_check.core.terms import ZERO, Term, children, free, fresh
from proofs_check.rigour import arithmetic
from proofs_check.rigour.nodes import exchanged
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

_MOST = 6


def positive(s: Sequent) -> Proof:
    """0 < term, 0 <= term or term != 0: each sum in it that is positive becomes a variable that is, then signs tell."""
    if s.goal.kind != "rel" or s.goal.parts[0] == "=":
        raise Failed("no sign")
    if s.goal.parts[0] == "!=":
        return first(by("apart", False, positive), by("apart", True, positive))(s)
    return first(by("signs", [], {}), _by_parts)(s)


def _by_parts(s: Sequent) -> Proof:
    goal = arithmetic.plain_goal(s)
    nodes = sorted(_nodes(goal), key=lambda node: (-node.size, node.serial))
    nodes = [node for node in nodes if free(node) <= {v.name for v in s.variables}][:_MOST]
    if not nodes or arithmetic.has(goal, "log"):
        raise Failed("no sum, or a logarithm")
    return _named(goal, nodes, arithmetic.signs)(s)


def _nodes(term: Term) -> set[Term]:
    """The sums, roots, and largest and least ones of two that stand in no other."""
    root = term.kind == "apply" and term.parts[0] == "sqrt"
    if root or term.kind == "fold" or (term.kind in ("max", "min") and len(term.parts) == 2):
        return {term} if term.kind != "fold" or term.parts[0] == "sum" else set()
    return set().union(*map(_nodes, children(term)))


def _named(goal: Term, sums: list[Term], then: Tactic) -> Tactic:
    """A positive variable for each sum."""

    def tactic(s: Sequent) -> Proof:
        if not sums:
            return then(s)
        node = sums[0]
        new = Variable(fresh("a", taken(s)), ZERO, None, low_open=True)
        wider = exchanged(goal, node, Term("var", new.name))
        if wider is goal:
            raise Failed("the sum is gone")

        def range_(q: Sequent) -> Proof:
            if q.goal is not (ZERO < node):
                return arithmetic.small(q)
            return {"fold": positive_sum, "apply": positive_root}.get(node.kind, positive_extreme)(q)

        rest = _named(wider, sums[1:], then)
        return by("generalise", node, new.to_json(), wider, [], range_, arithmetic.small, rest)(s)

    return tactic


def positive_sum(s: Sequent) -> Proof:
    """0 < sum of positive terms, of which there is one."""
    node = s.goal.parts[2]
    inner = first(positive, arithmetic.small)
    return by("termwise", node, ">", ZERO, arithmetic.small, inner, arithmetic.small, arithmetic.of_facts)(s)


def positive_extreme(s: Sequent) -> Proof:
    """0 < the larger or the smaller of two, which both are."""
    node = s.goal.parts[2]
    one, other = node.parts

    def is_(which: int) -> Tactic:
        part, why = node.parts[which], first(positive, arithmetic.small)
        rest = by("have", ZERO < part, arithmetic.small, why, arithmetic.of_facts)
        return by("resolve", node, which, arithmetic.small, arithmetic.small, rest)

    smaller, larger = (is_(0), is_(1)) if node.kind == "min" else (is_(1), is_(0))
    return by("cases", one <= other, arithmetic.small, smaller, larger)(s)


def positive_root(s: Sequent) -> Proof:
    """0 < root of what is positive: were it not, its square would not be."""
    root = s.goal.parts[2]
    inside = root.parts[1]

    def square(q: Sequent) -> Proof:
        known = facts(q)
        return by("linear", [["1", [known.index(root <= ZERO), known.index(ZERO <= root)]]])(q)

    clash = by("absurd", by("scale", inside, inside <= ZERO, [], arithmetic.small, by("known"), square))
    not_so = by("have", ZERO <= root, arithmetic.small, by("signs", [], {}), clash)
    cases = by("cases", s.goal, arithmetic.small, by("known"), not_so)
    return by("have", ZERO < inside, arithmetic.small, first(positive, arithmetic.small), cases)(s)
