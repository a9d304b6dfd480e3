"""Decide a statement: a witness, proofs of its parts, or proofs of instances. Only the certificate counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_check.core import witness
from proofs_check.core.certificate import Checked, Outcome, check_certificate, instance, premise
from proofs_check.core.domain import Sequent, needed, needs
from proofs_check.core.enclose import Undefined, Unknown
from proofs_check.core.mutants import mutants
from proofs_check.core.rules import Rejected, known_in
from proofs_check.core.statement import FORMAT, Statement, obligations
from proofs_check.core.terms import Malformed
from proofs_check.core.work import TooLarge, limited
from proofs_check.rigour.auto import Search
from proofs_check.rigour.refute import refute, satisfy
from proofs_check.rigour.tactics import Failed, Tactic, by

Scripts = Mapping[str, Tactic]
_INSTANCES = 3


@dataclass(frozen=True)
class Effort:
    """Budgets in steps."""

    refuter: int = 2500
    prover: int = 200
    looks: int = 1200
    depth: int = 6
    work: int = 3_000_000


FULL = Effort()
UNAIDED = Effort(refuter=800, prover=80, looks=600, work=1_000_000)  # a statement of the ledger without a script
BRIEF = Effort(refuter=600, prover=25, looks=200, depth=3, work=200_000)


class Empty(Exception):
    """No point was found that lies in the domain and meets the hypotheses: nothing is stated."""


@dataclass(frozen=True)
class Decision:
    """The certificate with what the core says of it, or why there is none."""

    certificate: dict[str, Any] | None
    checked: Checked | None
    reason: str = ""


def decide(statement: Statement, effort: Effort = FULL, scripts: Scripts | None = None) -> Decision:
    """Search for a certificate. Raises Empty where the hypotheses cannot be met as far as the search goes."""
    base = premise(statement)
    point = satisfy(base)
    if point is None:
        raise Empty(f"{statement.name}: no point is found that lies in the domain and meets every hypothesis")
    body = {"format": FORMAT, "statement": statement.digest}
    parts = obligations(statement)
    if scripts:  # who wrote them thinks that it holds
        try:
            return _checked(statement, {**body, "point": witness.to_json(point), **_whole(parts, effort, scripts)})
        except Failed:
            pass
    for label, sequent in parts:
        found = refute(sequent, steps=effort.refuter)
        if found is not None:
            return _checked(statement, {**body, "witness": [label, witness.to_json(found)]})
    body["point"] = witness.to_json(point)
    try:
        return _checked(statement, {**body, **_whole(parts, effort, {})})
    except Failed as fault:
        reason = str(fault)
    listed = _instances(statement, base, effort)
    if listed:
        return _checked(statement, {**body, "instances": listed}, reason)
    return Decision(None, None, reason)


def _whole(parts: Sequence[tuple[str, Sequent]], effort: Effort, scripts: Scripts) -> dict[str, Any]:
    return {"proofs": {k: _proofs(q, effort, scripts.get(k), scripts.get("defined")) for k, q in parts}}


def _checked(statement: Statement, certificate: dict[str, Any], reason: str = "") -> Decision:
    try:
        return Decision(certificate, check_certificate(statement, certificate), reason)
    except Rejected as fault:
        return Decision(None, None, f"the search found what the core rejects: {fault}")


def _proofs(
    sequent: Sequent, effort: Effort, script: Tactic | None = None, conditions: Tactic | None = None
) -> list[Any]:
    """Proofs of the conditions of definedness, and of the sequent."""
    defined = []
    for condition in needed(sequent):
        try:
            defined.append(_prove(condition, effort, conditions))
        except Failed:
            if conditions is None:
                raise
            defined.append(_prove(condition, effort, None))
    return [defined, _prove(sequent, effort, script)]


def _prove(sequent: Sequent, effort: Effort, script: Tactic | None) -> Any:
    try:
        with limited(effort.work), known_in(sequent):
            if script is not None:
                return script(sequent)
            return Search(effort.prover, effort.looks).prove(sequent, effort.depth)
    except (TooLarge, ZeroDivisionError, Malformed, Unknown, Undefined, RecursionError) as fault:
        raise Failed(str(fault)) from fault


def _instances(statement: Statement, base: Sequent, effort: Effort) -> list[dict[str, Any]]:
    """Proofs at the least values of whole numbers that have no upper end."""
    free_sizes = [v for v in base.variables if v.whole and v.high is None and not v.sizes and not v.values]
    if not free_sizes or any(v.low is None or v.low.kind != "num" for v in free_sizes):
        return []
    brief = Effort(effort.refuter, min(80, effort.prover), min(400, effort.looks), 4)
    listed = []
    for step in range(_INSTANCES):
        values = {v.name: Fraction(v.low.parts[0] + step) for v in free_sizes if v.low is not None}
        point = satisfy(instance(base, values))
        if point is None:
            continue
        try:
            proofs = {label: _proofs(instance(part, values), brief) for label, part in obligations(statement)}
        except Failed:
            break
        at = {name: str(value) for name, value in values.items()}
        listed.append({"at": at, "point": witness.to_json(point), "proofs": proofs})
    return listed


def try_mutants(
    statement: Statement, certificate: Mapping[str, Any] | None = None, scripts: Scripts | None = None,
    effort: Effort = BRIEF,
) -> list[dict[str, Any]]:  # fmt: skip
    """Each mutant with its kind, its digest, and a certificate where one was found.

    A mutant that only weakens the conclusion is proved from the statement itself, if that has a proof.
    """
    whole = {} if certificate is None else _from_the_whole(statement, certificate)
    results: list[dict[str, Any]] = []
    for mutant in mutants(statement):
        try:
            found = decide(mutant.statement, effort, whole)
            if scripts and found.checked is None:
                found = decide(mutant.statement, effort, scripts)
        except Empty:
            continue
        shown = found.checked is not None and found.checked.outcome is not Outcome.INSTANCES
        row = {"kind": mutant.kind, "digest": mutant.statement.digest}
        results.append({**row, "certificate": found.certificate if shown else None})
    return results


def _from_the_whole(statement: Statement, certificate: Mapping[str, Any]) -> dict[str, Tactic]:
    """For each part a tactic that takes the proved part for a lemma, and goes on from there."""
    return {
        label: _lemma(sequent, certificate["proofs"][label])
        for label, sequent in obligations(statement)
        if label in certificate.get("proofs", {})
    }


def _lemma(known: Sequent, proofs: Any) -> Tactic:
    conditions = dict(zip(needed(known), proofs[0], strict=True))

    def tactic(sequent: Sequent) -> Any:
        search = Search(BRIEF.prover, BRIEF.looks)
        if (sequent.variables, sequent.given) == (known.variables, known.given):
            defined = [conditions[c] for c in dict.fromkeys(needs(known, known.goal))]
            after: Tactic = lambda s: search.prove(s, 2)  # noqa: E731
            try:
                return by("have", known.goal, defined, proofs[1], after)(sequent)
            except Failed:
                pass
        return search.prove(sequent, BRIEF.depth)

    return tactic
