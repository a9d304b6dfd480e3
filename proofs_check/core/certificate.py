"""Certificates of statements: what is handed over, and what the core makes of it.

A certificate is plain data: the digest of the statement, a point that meets its hypotheses, and a witness, or the
proofs of its obligations, or those of some instances. Whatever is wrong with it, the answer is Rejected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from proofs_check.core import krawczyk, witness
from proofs_check.core.domain import Sequent, needed, needs, put
from proofs_check.core.rules import FAULTS, Rejected, check
from proofs_check.core.statement import FORMAT, Form, Statement, obligations
from proofs_check.core.terms import TRUE, Term, both, conjuncts, free, implies, num

_MOST_INSTANCES = 1000


class Outcome(Enum):
    """What a certificate shows of a statement."""

    PROVED = "proved"
    REFUTED = "refuted"
    INSTANCES = "instances"


@dataclass(frozen=True)
class Checked:
    """What was shown. at: the witness, with the part of the statement that fails; or the instances."""

    outcome: Outcome
    detail: str
    at: Mapping[str, Any]


def check_certificate(statement: Statement, data: Any, known: Statement | None = None) -> Checked:
    """What the certificate shows. Raises Rejected for one that shows nothing, or is about another statement.

    known: a statement that was proved; a part may build on its part of the same name (see `building_on`).
    """
    try:
        return _checked(statement, data, {} if known is None else dict(obligations(known)))
    except FAULTS as fault:
        raise Rejected(f"{type(fault).__name__}: {fault}"[:200]) from fault


def _checked(statement: Statement, data: Any, known: Mapping[str, Sequent]) -> Checked:
    if data["format"] != FORMAT or data["statement"] != statement.digest:
        raise Rejected("the certificate is about another statement")
    parts = dict(obligations(statement))
    if "witness" in data:
        label, place = data["witness"]
        point = witness.from_json(place)
        if not witness.refutes(parts[label], point):
            raise Rejected("the statement does not certainly fail at the witness")
        return Checked(Outcome.REFUTED, label, point)
    base = premise(statement)
    if not witness.meets(base, witness.from_json(data["point"])):
        raise Rejected("no point is shown that lies in the domain and meets the hypotheses")
    says = statement.plain[2]
    zero = isinstance(says, Form) and says.kind == "zero"
    if "instances" in data:
        if zero:
            raise Rejected("a zero has no instances")
        return _instances(base, parts, data["instances"])
    _check_parts(parts, data["proofs"], known)
    if isinstance(says, Form) and zero:
        krawczyk.check(says.terms, {name: (a.parts[0], b.parts[0]) for name, a, b in says.box})
    return Checked(Outcome.PROVED, "", {})


def premise(statement: Statement) -> Sequent:
    """The domain and hypotheses, those that the conclusion assumes included."""
    variables, given, says = statement.plain
    return Sequent(variables, given, says if isinstance(says, Term) else TRUE)


def _check_parts(
    parts: Mapping[str, Sequent], proofs: Mapping[str, Any], known: Mapping[str, Sequent] | None = None
) -> None:
    """Each part is defined at each point of its domain, and then valid."""
    if proofs.keys() != parts.keys():
        raise Rejected("the proofs are of other parts")
    for label, sequent in parts.items():
        defined, goal, *cited = proofs[label]
        conditions = needed(sequent)
        if len(conditions) != len(defined):
            raise Rejected(f"{len(conditions)} conditions of definedness, {len(defined)} proofs")
        for condition, proof in zip(conditions, defined, strict=True):
            if proof[0] == "cited":  # a condition of the known part, which was proved to be defined before it held
                _, place, proof = proof
                condition = building_on(needed((known or {})[label])[place], condition)
            check(condition, proof)
        check(building_on((known or {})[label], sequent) if cited else sequent, goal)


def building_on(known: Sequent, sequent: Sequent) -> Sequent:
    """The sequent with what is known to hold, and to be defined, over the same domain as one more hypothesis.

    Where the ends of a number differ it is known between the old ends alone. These are to be defined everywhere, for
    a hypothesis without a value would say nothing of the points beyond.
    """
    before = [replace(old, low=None, high=None, low_open=False, high_open=False) for old in known.variables]
    now = [replace(new, low=None, high=None, low_open=False, high_open=False) for new in sequent.variables]
    if before != now or sequent.given != known.given:
        raise Rejected("what is known is about another domain")
    between: list[Term] = []
    for old, new in zip(known.variables, sequent.variables, strict=True):
        if old.sizes and old != new:
            raise Rejected("what is known is about other sequences")
        between += [end for end in old.bounds(old.as_term()) if end not in new.bounds(new.as_term())]
    if not between:
        return replace(sequent, given=(*sequent.given, *conjuncts([known.goal])))
    if any(True for end in between for _ in needs(sequent, end)):
        raise Rejected("an end is not defined everywhere")
    return replace(sequent, given=(*sequent.given, implies(both(*between), known.goal)))


def _instances(base: Sequent, parts: Mapping[str, Sequent], listed: Any) -> Checked:
    """The statement with some whole numbers fixed: finitely many cases of infinitely many, none of them empty."""
    shown: list[dict[str, Fraction]] = []
    for entry in listed[:_MOST_INSTANCES]:
        values = {str(name): Fraction(value) for name, value in witness.from_json(entry["at"]).items()}
        if not witness.meets(instance(base, values), witness.from_json(entry["point"])):
            raise Rejected(f"no point is shown that meets the hypotheses at {entry['at']}")
        _check_parts({label: instance(part, values) for label, part in parts.items()}, entry["proofs"])
        shown.append(values)
    if not shown:
        raise Rejected("no instances")
    return Checked(Outcome.INSTANCES, f"{len(shown)} instances", {"instances": shown})


def instance(sequent: Sequent, values: Mapping[str, Fraction]) -> Sequent:
    """The sequent with numbers put for some of its whole numbers, whose ends become hypotheses."""
    for name, value in values.items():
        if any(v.name == name for v in sequent.variables):
            known = sequent.variable(name)
            if known.sizes or not known.whole or value.denominator != 1:
                raise Rejected(f"{name} cannot be {value}")
            ends = tuple(bound for bound in known.bounds(num(value)) if free(bound) or not witness.truth(bound, {}))
            sequent = put(Sequent(sequent.variables, (*ends, *sequent.given), sequent.goal), name, num(value))
    return sequent
