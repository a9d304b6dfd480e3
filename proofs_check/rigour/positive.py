"""What is positive by its shape: sums, products, quotients, roots and larger ones of what is positive."""

from __future__ import annotations

from proofs_check.core.domain import Sequent, Variable, facts, taken
from proofs_check.core.normal import back, difference
from proofs_check.core.terms import ZERO, Malformed, Term, free, fresh, walk
from proofs_check.core.work import TooLarge
from proofs_check.rigour import arithmetic
from proofs_check.rigour.nodes import exchanged
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

_FAULTS = (TooLarge, ZeroDivisionError, Malformed)
_MOST = 6


def positive(s: Sequent) -> Proof:
    """0 < term, 0 <= term or term != 0: each sum in it that is positive becomes a variable that is, then signs tell."""
    if s.goal.kind != "rel" or s.goal.parts[0] == "=":
        raise Failed("no sign")
    relation, a, b = s.goal.parts
    if relation == "!=":
        return first(by("apart", False, positive), by("apart", True, positive))(s)
    plain = by("signs", [], {})
    try:
        return plain(s)
    except Failed:
        pass
    try:
        goal = Term("rel", relation, ZERO, back(difference(b, a)))
    except _FAULTS as fault:
        raise Failed(str(fault)) from fault
    sums = [node for node in arithmetic.fold_atoms(goal) if node.parts[0] == "sum"]
    names = {v.name for v in s.variables}
    sums = [node for node in [*sums, *_roots(goal), *_extremes(goal)] if free(node) <= names][:_MOST]
    if not sums:
        raise Failed("no sum")
    if any(node.kind == "apply" and node.parts[0] == "log" for node in walk(goal)):
        raise Failed("a logarithm")
    return _named(goal, sums, first(plain, arithmetic.signs))(s)


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


def _roots(term: Term) -> list[Term]:
    """The roots of a term that stand in no fold."""
    if term.kind == "apply" and term.parts[0] == "sqrt":
        return [term]
    parts = [part for part in term.parts if isinstance(part, Term)] if term.kind != "fold" else []
    return list(dict.fromkeys(root for part in parts for root in _roots(part)))


def _extremes(term: Term) -> list[Term]:
    """Largest and least ones of two that stand in no fold."""
    if term.kind in ("max", "min") and len(term.parts) == 2:
        return [term]
    parts = [part for part in term.parts if isinstance(part, Term)] if term.kind != "fold" else []
    return list(dict.fromkeys(node for part in parts for node in _extremes(part)))


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
