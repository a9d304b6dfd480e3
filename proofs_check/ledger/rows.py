"""The ledger as data: each claim's result as a row, the rows as the JSON document of `verify`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_check.ledger.claim import Claim, Effort, Extent, Interval, Kind, Nature, Status
from proofs_check.ledger.harness import ClaimResult, WitnessResult, run_claim

Row = dict[str, Any]
_SOLID = {Kind.SYMBOLIC, Kind.CERTIFIED, Kind.EXACT}
STRONG = {Kind.SYMBOLIC.value, Kind.CERTIFIED.value, Kind.EXACT.value}


def row(claim: Claim, registry: Mapping[str, Claim], effort: Effort) -> Row:
    """Run one claim and lay its result out; a link that leads nowhere is an error of the claim that has it."""
    return _row(run_claim(claim, effort, registry), registry)


def settled(rows: Iterable[Row]) -> list[Row]:
    """The rows, those whose correction was run beside them and not confirmed as errors."""
    found = {entry["id"]: entry for entry in rows}
    return [_settled(entry, found.get(entry["correction"])) for entry in found.values()]


def _settled(entry: Row, correction: Row | None) -> Row:
    if correction is None or correction["status"] == "confirmed" or entry["status"] != "confirmed":
        return entry
    fault = f"its correction {correction['id']} is {correction['status']}"
    return {**entry, "status": Status.ERROR.value, "message": fault}


def document(rows: Sequence[Row], effort: Effort) -> Row:
    """The JSON object of `verify`: {"claims": [...], "summary": {...}}."""
    return {"claims": list(rows), "summary": _summary(rows, effort)}


def failed(claim: Claim, registry: Mapping[str, Claim], message: str) -> Row:
    """The row of a claim whose evidence never came back."""
    return _row(ClaimResult(claim, Status.ERROR, message=message), registry)


def record(claim: Claim, registry: Mapping[str, Claim]) -> Row:
    """The row of a claim whose evidence is not run: its words, without a status."""
    return {**_row(ClaimResult(claim, Status.NOT_CHECKED), registry), "status": None}


def _row(result: ClaimResult, registry: Mapping[str, Claim]) -> Row:
    claim = result.claim
    instead = None if claim.correction is None else registry.get(claim.correction)
    return {
        "id": claim.id,
        "paper": claim.paper,
        "source": claim.source,
        "statement": claim.statement,
        "formula": claim.formula,
        "hypotheses": [h if isinstance(h, str) else _between(h) for h in claim.hypotheses],
        "nature": claim.nature.value,
        "verdict": claim.verdict.value,
        "severity": None if claim.severity is None else claim.severity.value,
        "reading": claim.reading,
        "coverage": None if claim.coverage is None else claim.coverage.extent.value,
        "coverage_why": "" if claim.coverage is None else claim.coverage.why,
        "status": result.status.value,
        "is_correction": claim.is_correction,
        "note": claim.note,
        "evidence": [
            {
                "kind": e.kind,
                "margin": e.margin,
                "points": e.points,
                "seconds": round(e.seconds, 4),
                "controls_rejected": e.controls_rejected,
                "controls": [control.name for control in claim.evidence[index].controls],
                "scope": e.scope,
            }
            for index, e in enumerate(result.evidence)
        ],
        "witness": _plain_witness(result.witness),
        "correction": claim.correction,
        "holds_instead": "" if instead is None else instead.statement,
        "outcome_of": claim.outcome_of,
        "message": result.message,
        "strength": _strength(claim, result),
        "mutants": None,
        "formal": None if claim.formal is None else claim.formal.to_json(),
    }


def _strength(claim: Claim, result: ClaimResult) -> str | None:
    """What hand-written evidence amounts to, computed: `argued` at best, since its assembly is prose."""
    kinds = {evidence.kind for evidence in claim.evidence}
    if Kind.TRAINED in kinds:
        return "trained"
    if kinds <= {Kind.READ}:
        return "read" if kinds else None
    if Kind.SAMPLED in kinds and not kinds & _SOLID:
        return "sampled"
    if claim.coverage is None:
        return "sampled"
    return {Extent.ALL: "argued", Extent.INSTANCES: "instances"}.get(claim.coverage.extent, "sampled")


def decided(entry: Row, found: Row) -> Row:
    """The row of a claim with a statement, once the core has decided that; `found` is of `verdicts.summary`.

    The statement of a claim ruled false is what is printed: there a refutation confirms the ruling, unless only the
    witness (family, rate, box) fails that the statement names: others may do, and the ruling rests on other evidence.
    """
    wanted = "refuted" if entry["verdict"] in ("false", "typo") else "proved"
    against = {"refuted": "proved", "proved": "refuted"}[wanted]
    settles = found["outcome"] == wanted and not found["choice_only"]
    status, message = entry["status"], entry["message"]
    if found["outcome"] == against:
        status, message = Status.CONTRADICTED.value, f"the core finds the statement {against}"
    elif settles:
        if status == Status.NOT_CHECKED.value:
            status = Status.CONFIRMED.value
    elif found["outcome"] == "error":
        status, message = Status.ERROR.value, found["message"]
    elif not entry["evidence"]:
        status, message = Status.UNDECIDED.value, f"the core decides only: {found['outcome']}"
    unless = entry["strength"] is not None or found["choice_only"]
    reached = entry if unless and not settles else found
    return {
        **entry, "status": status, "message": message, "strength": reached["strength"],
        "coverage": reached["coverage"], "mutants": found.get("mutants"), "core": found,
    }  # fmt: skip


def _between(interval: Interval) -> str:
    text = f"{interval.low:g} <= {interval.name} <= {interval.high:g}"
    return text + ", whole" if interval.whole else text


def _plain_witness(witness: WitnessResult | None) -> Row | None:
    """The witness in JSON values: balls and symbols travel neither to a file nor between processes."""
    return None if witness is None else {name: plain(value) for name, value in vars(witness).items()}


def _summary(rows: Sequence[Row], effort: Effort) -> Row:
    status = Counter(entry["status"] for entry in rows)
    own = [entry for entry in rows if not entry["is_correction"]]
    confirmed = [entry for entry in own if entry["status"] == Status.CONFIRMED.value]
    mathematical = [entry for entry in confirmed if entry["nature"] == Nature.MATHEMATICAL.value]
    return {
        "claims": len(rows),
        "status": {s.value: status[s.value] for s in Status},
        "confirmed_without_corrections": len(confirmed),
        "verdicts": dict(Counter(entry["verdict"] for entry in own)),
        "severities": dict(Counter(entry["severity"] for entry in own if entry["severity"])),
        "strengths": dict(Counter(entry["strength"] for entry in rows if entry["strength"])),
        "decided_by_the_core": sum(bool(entry.get("core")) for entry in rows),
        "coverages": dict(Counter(entry["coverage"] for entry in own if entry["coverage"])),
        "mathematical": len(mathematical),
        "mathematical_strong": sum(_strong(entry) for entry in mathematical),
        "effort": f"{effort.name.lower()}: {effort.value}",
        "seconds": round(sum(e["seconds"] for entry in rows for e in entry["evidence"]), 2),
        "supported": all(entry["status"] in (Status.CONFIRMED.value, Status.NOT_CHECKED.value) for entry in rows),
    }


def _strong(entry: Row) -> bool:
    """The core decides it, or a piece of evidence neither samples nor trains."""
    return entry["strength"] == "proved" or any(evidence["kind"] in STRONG for evidence in entry["evidence"])


def plain(value: Any) -> Any:
    """A JSON value: numbers and texts as they are, exact fractions as p/q, arrays as lists, all else as text."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value)
