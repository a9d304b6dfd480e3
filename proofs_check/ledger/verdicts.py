"""From what the core has checked to the words that are read: outcome, strength, coverage, mutants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from proofs_check.core.certificate import Checked, Outcome, check_certificate
from proofs_check.core.mutants import mutants
from proofs_check.core.printing import point_to_json
from proofs_check.core.rules import Rejected
from proofs_check.core.statement import Statement

Row = dict[str, Any]
# Strength and coverage of what the core decides; of other evidence see `ledger`.
_STRENGTH = {Outcome.PROVED: ("proved", "all"), Outcome.REFUTED: ("proved", "all"),
             Outcome.INSTANCES: ("instances", "instances")}  # fmt: skip


# Parts that speak of the point, family, rate or box that a statement names: where one fails, that one fails, and of
# every other choice nothing is known.
_CHOSEN = ("attained", "approached", "gap", "witness", "elsewhere", "box in the domain")
_ONLY_CHOSEN = "what fails is the point, family, rate or box that the statement names; another choice may do"


def summary(checked: Checked | None, reason: str = "") -> Row:
    """Outcome, strength, coverage and where: of a certificate that the core has checked, or of none.

    choice_only: what is refuted leaves open whether the statement holds with another witness, family, rate or box.
    """
    if checked is None:
        return {"outcome": "open", "strength": "sampled", "coverage": "samples", "at": None, "message": reason,
                "choice_only": False}  # fmt: skip
    strength, coverage = _STRENGTH[checked.outcome]
    at: Any = None
    if checked.outcome is Outcome.REFUTED:
        at = {"part": checked.detail, "point": point_to_json(checked.at)}
    choice_only = checked.outcome is Outcome.REFUTED and checked.detail in _CHOSEN
    if choice_only:
        coverage = "instances"
    if checked.outcome is Outcome.INSTANCES:
        at = [{name: str(value) for name, value in entry.items()} for entry in checked.at["instances"]]
    return {"outcome": checked.outcome.value, "strength": strength, "coverage": coverage, "at": at,
            "message": _ONLY_CHOSEN if choice_only else reason, "choice_only": choice_only}  # fmt: skip


def counted(statement: Statement, tried: Sequence[Row]) -> Row:
    """{made, refuted, true, open}, each certificate checked here; and the kinds refuted, and what stays open.

    The statement is one that was proved: a weaker mutant may build on it. Every mutant that the core makes counts: one
    that nobody tried, or that was left out, is open.
    """
    offered = {entry["digest"]: entry["certificate"] for entry in tried}
    counts: Counter[str] = Counter()
    kinds: set[str] = set()
    left: list[str] = []
    for mutant in mutants(statement):
        outcome = mutant_outcome(mutant.statement, offered.get(mutant.statement.digest), statement)
        counts[outcome] += 1
        if outcome == "refuted":
            kinds.add(mutant.kind)
        if outcome == "open":
            left.append(mutant.kind)
    return {
        "made": sum(counts.values()), "refuted": counts["refuted"], "true": counts["true"], "open": counts["open"],
        "kinds": sorted(kinds), "left": sorted(left),
    }  # fmt: skip


def mutant_outcome(statement: Statement, certificate: Any, known: Statement) -> str:
    """What a certificate, checked here, shows of a mutant of the known statement."""
    if certificate is None:
        return "open"
    try:
        found = check_certificate(statement, certificate, known).outcome
    except Rejected:
        return "open"
    return {Outcome.PROVED: "true", Outcome.REFUTED: "refuted"}.get(found, "open")


def score(counts: Row) -> float | None:
    """refuted / (made - proved true); None where nothing could be told apart."""
    told = counts["made"] - counts["true"]
    return counts["refuted"] / told if told else None
