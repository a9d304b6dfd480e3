"""Orders in which all that is read has a value, and cases where no single order will do."""

from __future__ import annotations

from dataclasses import replace

from proofs_check.core.domain import Sequent, needed, needs
from proofs_check.core.terms import Malformed, Term, negation, rebuild
from proofs_check.rigour.points.refute import refute

_STEPS = 200


def in_order(sequent: Sequent) -> Sequent:
    """The sequent with what always has a value before what may have none: its hypotheses, the parts of its formulas."""

    def put(node: Term) -> Term:
        node = rebuild(node, put)
        if node.kind == "implies" and lacking(node.parts[0]) and not lacking(node.parts[1]):
            return Term("or", node.parts[1], negation(node.parts[0]))
        return Term(node.kind, *sorted(node.parts, key=lacking)) if node.kind in ("and", "or") else node

    def lacking(formula: Term) -> bool:
        return any(True for _ in needs(sequent, formula))

    try:
        return replace(sequent, given=tuple(sorted(map(put, sequent.given), key=lacking)), goal=put(sequent.goal))
    except Malformed:
        return sequent


def doubtful(sequent: Sequent) -> Sequent | None:
    """A condition of definedness that fails somewhere, in the order in which the sequent stands."""
    return next((condition for condition in needed(sequent) if _fails(condition)), None)


def guarded(sequent: Sequent) -> Sequent:
    """The sequent with each hypothesis behind those that make sure of its value, as far as there are any."""
    kept, left = replace(sequent, given=()), list(sequent.given)
    while left:
        following = next((f for f in left if not any(map(_fails, needs(kept, f)))), left[0])
        left.remove(following)
        kept = replace(kept, given=(*kept.given, following))
    return kept


def _fails(condition: Sequent) -> bool:
    return refute(condition, steps=_STEPS) is not None


def sides(sequent: Sequent, condition: Sequent) -> tuple[Sequent, Sequent, Sequent] | None:
    """The condition without hypotheses, and the sequent where it holds and where it fails; None for one of an index."""
    bare = replace(condition, given=())
    if condition.variables != sequent.variables or any(True for _ in needs(bare, condition.goal)):
        return None
    yes, no = (replace(sequent, given=(side, *sequent.given)) for side in (condition.goal, negation(condition.goal)))
    return bare, yes, no
