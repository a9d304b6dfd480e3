"""Sums with a closed form are replaced by it wherever they stand, in denominators and under roots too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofs_check.core.domain import Sequent, facts
from proofs_check.core.normal import canonical
from proofs_check.core.terms import ONE, ZERO, Term, eq, exp, free, num, rebuild, substitute, walk
from proofs_check.rigour import places
from proofs_check.rigour.arithmetic import plain_goal, small
from proofs_check.rigour.nodes import is_exp
from proofs_check.rigour.sums import primitives
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

if TYPE_CHECKING:
    from proofs_check.rigour.auto import Search


def closed(s: Sequent, search: Search, depth: int) -> Proof:
    """The goal in normal form, with one closed sum less."""
    if depth <= 0:
        raise Failed("too deep")
    goal = plain_goal(s)
    names = {v.name for v in s.variables}
    if len({node.parts[4] for node in walk(goal) if node.kind == "fold"}) > 1 and goal.parts[0] != "=":
        raise Failed("sums that are better compared")
    sums = [node for node in walk(goal) if node.kind == "fold" and node.parts[0] == "sum" and free(node) <= names]

    def put(node: Term, primitive: Term, factor: Term) -> Tactic:
        value = places.put_value(node, *_value(node, _plain(primitive), _plain(factor)), search.tactic(depth))
        return by("scale", ONE, goal, [], small, [], value)

    return first(*(put(node, *found) for node in sums for found in primitives(node)))(s)


def _plain(term: Term) -> Term:
    """e^(-a) for 1/e^a, which needs no proof that it is defined."""
    if term.kind == "pow" and is_exp(term.parts[0]):
        return exp(num(term.parts[1]) * term.parts[0].parts[1])
    return rebuild(term, _plain)


def _value(node: Term, primitive: Term, factor: Term) -> tuple[Term, Tactic]:
    """The value of the sum, and why it is that: m sum = G(high + 1) - G(low)."""
    _, _, low, high, _ = node.parts

    def at(place: Term) -> Term:
        return substitute(primitive.parts[1], {primitive.parts[0]: place})

    value = canonical((at(high + 1) - at(low)) / factor)

    def last(q: Sequent) -> Proof:
        zero = [ONE / factor, facts(q).index(q.given[-1])]
        return by("scale", ONE, eq(ZERO, ZERO), [zero], small, [], by("identity"))(q)

    return value, by("telescope", node, primitive, factor, small, small, last)
