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

from proofs_check.core import finite, krawczyk, witness
from proofs_check.core.domain import Sequent, check_formed, needed, needs, put
from proofs_check.core.rules import FAULTS, Rejected, check
from proofs_check.core.statement import CHOSEN, FORMAT, Form, Statement, obligations, premise
from proofs_check.core.terms import Term, both, conjuncts, free, from_json, implies, negation, num

_MOST_INSTANCES = 1000


class Outcome(Enum):
    """What a certificate shows of a statement."""

    PROVED = "proved"
    REFUTED = "refuted"
    POOR = "poor"  # what fails is a point, family, rate or box that the statement names: another may do
    INSTANCES = "instances"


@dataclass(frozen=True)
class Checked:
    """What was shown. at: the witness, with the part of the statement that fails, and how; or the instances."""

    outcome: Outcome
    detail: str
    at: Mapping[str, Any]
    failure: witness.Failure | None = None


def check_certificate(statement: Statement, data: Any, known: Statement | None = None) -> Checked:
    """What the certificate shows. Raises Rejected for one that shows nothing, or is about another statement.

    known: a statement that was proved as it stands (see `citable`); a part may build on its part of the same name.
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
        how = witness.failure(parts[label], point)
        if how is None:
            raise Rejected("the statement does not certainly fail at the witness")
        return Checked(Outcome.POOR if label in CHOSEN else Outcome.REFUTED, label, point, how)
    base = premise(statement)
    if not witness.meets(base, witness.from_json(data["point"])):
        raise Rejected("no point is shown that lies in the domain and meets the hypotheses")
    says = statement.plain[2]
    zero = isinstance(says, Form) and says.kind == "zero"
    if "everywhere" in data:
        if zero or not all(finite.holds(part) for part in parts.values()):
            raise Rejected("it is not certainly true at every point")
        return Checked(Outcome.PROVED, "", {})
    if "instances" in data:
        if zero:
            raise Rejected("a zero has no instances")
        return _instances(base, parts, data["instances"])
    _check_parts(parts, data["proofs"], known)
    if isinstance(says, Form) and zero:
        krawczyk.check(says.terms, {name: (a.parts[0], b.parts[0]) for name, a, b in says.box})
    return Checked(Outcome.PROVED, "", {})


def _check_parts(
    parts: Mapping[str, Sequent], proofs: Mapping[str, Any], known: Mapping[str, Sequent] | None = None
) -> None:
    """Each part is true at each point of its domain."""
    if proofs.keys() != parts.keys():
        raise Rejected("the proofs are of other parts")
    for label, sequent in parts.items():
        _check_part(sequent, proofs[label], (known or {}).get(label))


def _check_part(sequent: Sequent, proof: Any, known: Sequent | None = None) -> None:
    """At each point of the domain a hypothesis is false, or all of them and the goal are true, whatever their order.

    Rules read from left to right: a hypothesis is asked for its value where those before it hold. In an order in which
    all have one, the first that does not hold is false, and where all hold the goal does. That order is the statement's
    or an offered one ("ordered"); it may be another one on either side of a formula that has a value everywhere
    ("cases").
    """
    if proof[0] == "cases":
        _, formula, defined, yes, no = proof
        condition = from_json(formula)
        bare = Sequent(sequent.variables, (), condition)
        check_formed(bare)
        _check_each(needed(bare), defined)
        for side, way in ((condition, yes), (negation(condition), no)):
            _check_part(replace(sequent, given=(side, *sequent.given)), way)
    elif proof[0] == "ordered":
        _, given, goal, *rest = proof
        _check_part(arranged(sequent, tuple(map(from_json, given)), from_json(goal)), rest)
    else:
        defined, why, *cited = proof
        _check_each(needed(sequent), defined, known)
        check(building_on(_required(known), sequent) if cited else sequent, why)


def _check_each(conditions: list[Sequent], proofs: Any, known: Sequent | None = None) -> None:
    """Conditions of definedness. A cited one follows from one of the known part, which was proved before that held."""
    if len(conditions) != len(proofs):
        raise Rejected(f"{len(conditions)} conditions of definedness, {len(proofs)} proofs")
    for condition, proof in zip(conditions, proofs, strict=True):
        if proof[0] == "cited":
            _, place, proof = proof
            condition = building_on(needed(_required(known))[place], condition)
        check(condition, proof)


def _required(known: Sequent | None) -> Sequent:
    if known is None:
        raise Rejected("nothing is known to build on")
    return known


def arranged(sequent: Sequent, given: tuple[Term, ...], goal: Term) -> Sequent:
    """The sequent with its hypotheses, and the parts of each `and` and `or`, in another order.

    What holds then holds of the sequent: a conjunction, and an alternative, mean the same in any order. Raises Rejected
    for other formulas.
    """
    same = set(map(_unordered, given)) == set(map(_unordered, sequent.given))
    if not same or _unordered(goal) != _unordered(sequent.goal):
        raise Rejected("that is another statement, not the same in another order")
    return replace(sequent, given=given, goal=goal)


def _unordered(formula: Term) -> Any:
    """The same for formulas that differ by the order of their parts, or by `P implies Q` for `not P or Q`."""
    kind, parts = formula.kind, formula.parts
    if kind == "implies":
        kind, parts = "or", (negation(parts[0]), parts[1])
    same = [_unordered(part) if isinstance(part, Term) else part for part in parts]
    return (kind, frozenset(same)) if kind in ("and", "or") else (kind, *same)


def citable(statement: Statement, certificate: Mapping[str, Any]) -> Statement | None:
    """The statement, if each of its parts was proved in the order in which it stands: others may then build on it."""
    proofs = certificate.get("proofs", {}).values()
    return statement if all(isinstance(proof[0], list) for proof in proofs) else None


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
