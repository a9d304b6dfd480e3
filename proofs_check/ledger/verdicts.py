"""From what the core has checked to the words that are read: outcome, strength, coverage, mutants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from proofs_check.core.certificate import Checked, Outcome, check_certificate, citable
from proofs_check.core.finite import evaluated
from proofs_check.core.mutants import mutants
from proofs_check.core.printing import point_to_json, text
from proofs_check.core.rules import Rejected
from proofs_check.core.statement import Statement
from proofs_check.core.witness import Failure

Row = dict[str, Any]
# Strength and coverage of what the core decides; of other evidence see `ledger`.
_STRENGTH = {Outcome.PROVED: ("proved", "all"), Outcome.REFUTED: ("proved", "all"),
             Outcome.INSTANCES: ("instances", "instances"), Outcome.POOR: ("sampled", "samples")}  # fmt: skip


_POOR = "The statement fails for the point, family, rate or box that it names. Whether it holds for another is open."


def summary(checked: Checked | None, reason: str = "") -> Row:
    """Outcome, strength, coverage and where: of a certificate that the core has checked, or of none.

    choice_only: it is open, since all that fails is the witness, family, rate or box that the statement names.
    """
    if checked is None:
        return {"outcome": "open", "strength": "sampled", "coverage": "samples", "at": None, "message": reason,
                "choice_only": False}  # fmt: skip
    outcome, poor = checked.outcome, checked.outcome is Outcome.POOR
    strength, coverage = _STRENGTH[outcome]
    at: Any = None
    if checked.failure is not None:
        at = {"part": checked.detail, "point": point_to_json(checked.at), "lacks": _lacks(checked.failure)}
    if outcome is Outcome.INSTANCES:
        at = [{name: str(value) for name, value in entry.items()} for entry in checked.at["instances"]]
    return {"outcome": "open" if poor else outcome.value, "strength": strength, "coverage": coverage, "at": at,
            "message": _POOR if poor else reason, "choice_only": poor}  # fmt: skip


def _lacks(failure: Failure) -> str:
    """The term that has no value at the witness, and why; "" where the conclusion is false there."""
    return f"{text(failure.term)} has no value: {failure.reason}" if failure.term is not None else failure.reason


def counted(statement: Statement, certificate: Any, tried: Sequence[Row]) -> Row:
    """{made, refuted, true, open}, each certificate checked here; and the kinds refuted, and what stays open.

    The statement is one that its certificate proves: a weaker mutant may build on it. Every mutant that the core makes
    counts: one that nobody tried, or that was left out, is open.
    """
    offered = {entry["digest"]: entry["certificate"] for entry in tried}
    counts: Counter[str] = Counter()
    kinds: set[str] = set()
    left: list[str] = []
    known = citable(statement, certificate)
    for mutant in mutants(statement):
        outcome = mutant_outcome(mutant.statement, offered.get(mutant.statement.digest), known)
        counts[outcome] += 1
        if outcome == "refuted":
            kinds.add(mutant.kind)
        if outcome == "open":
            left.append(mutant.kind)
    return {
        "made": sum(counts.values()), "refuted": counts["refuted"], "true": counts["true"], "open": counts["open"],
        "kinds": sorted(kinds), "left": sorted(left),
    }  # fmt: skip


def mutant_outcome(statement: Statement, certificate: Any, known: Statement | None) -> str:
    """What a certificate, checked here, shows of a mutant of the known statement. One whose rate fails fails as stated:
    the evidence has told it from the statement.
    """
    try:
        certificate = evaluated(statement) if certificate is None else certificate
        if certificate is None:
            return "open"
        found = check_certificate(statement, certificate, known).outcome
    except Rejected:
        return "open"
    return {Outcome.PROVED: "true", Outcome.REFUTED: "refuted", Outcome.POOR: "refuted"}.get(found, "open")


def score(counts: Row) -> float | None:
    """refuted / (made - proved true); None where nothing could be told apart."""
    told = counts["made"] - counts["true"]
    return counts["refuted"] / told if told else None
