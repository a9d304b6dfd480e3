"""The ledger as data: a claim's row, and the rows as the JSON document of `verify`.

A row is put together where no evidence ran: its words are of the record, margins, points and sides of the run
(`measured`), and that something is proved is said by the core alone (`decided`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_check.core.printing import definitions, sentence
from proofs_check.core.statement import Statement
from proofs_check.ledger.claim import Claim, Effort, Extent, Kind, Nature, Status
from proofs_check.ledger.harness import ClaimResult
from proofs_check.ledger.record import BrokenCheck, check_links, check_record
from proofs_check.ledger.row import Piece, Row

_SOLID = {Kind.SYMBOLIC, Kind.CERTIFIED, Kind.EXACT}
MEASURED = ("margin", "points", "seconds", "controls_rejected", "tolerance", "error")
STRONG = {Kind.SYMBOLIC.value, Kind.CERTIFIED.value, Kind.EXACT.value}


def settled(rows: Iterable[Row]) -> list[Row]:
    """The rows, those whose correction was run beside them and not confirmed as errors."""
    found = {row.id: row for row in rows}
    return [_settled(row, found.get(row.correction or "")) for row in found.values()]


def _settled(row: Row, correction: Row | None) -> Row:
    if correction is None or correction.status == "confirmed" or row.status != "confirmed":
        return row
    fault = f"its correction {correction.id} is {correction.status}"
    return replace(row, status=Status.ERROR.value, message=fault)


def document(rows: Sequence[Row], effort: Effort) -> dict[str, Any]:
    """The JSON object of `verify`: {"claims": [...], "summary": {...}}."""
    return {"claims": [row.to_json() for row in rows], "summary": _summary(rows, effort)}


def record(claim: Claim, registry: Mapping[str, Claim]) -> Row:
    """The row of a claim before its evidence runs: all its words. Its status is an error where the record breaks a rule
    or a link leads nowhere, and open otherwise.
    """
    instead = None if claim.correction is None else registry.get(claim.correction)
    fault = _fault(claim, registry)
    severity, coverage = claim.severity, claim.coverage
    return Row(
        id=claim.id, paper=claim.paper, source=claim.source, statement=claim.statement, formula=claim.formula,
        hypotheses=claim.hypotheses, nature=claim.nature.value, verdict=claim.verdict.value,
        severity=None if severity is None else severity.value,
        reading=claim.reading, coverage=None if coverage is None else coverage.extent.value,
        coverage_why="" if coverage is None else coverage.why, status=Status.ERROR.value if fault else None,
        is_correction=claim.is_correction, note=claim.note, why=claim.why, record=claim.record,
        evidence=tuple(Piece(e.kind.value, e.scope, tuple(c.name for c in e.controls)) for e in claim.evidence),
        correction=claim.correction, holds_instead=claim.holds_instead if instead is None else instead.statement,
        outcome_of=claim.outcome_of, defect=claim.defect, message=fault, strength=_strength(claim),
        formal=None if claim.formal is None else claim.formal.to_json(), as_data=printed(claim.formal),
        case=None if claim.case is None else claim.case.to_json(),
    )  # fmt: skip


def printed(formal: Statement | None) -> str:
    """What the core decides, printed from its tree: what it says of a claim stands beside this, not the words alone."""
    return "" if formal is None else "; where ".join([sentence(formal).removesuffix("."), *definitions(formal)])


def beside(row: Row) -> str:
    """What the core decides, beside the statement of the row; where that is printed, the definitions alone."""
    said, where, rest = row.as_data.partition("; where ")
    if said == row.statement.removesuffix("."):
        return f"Where {rest}" if where else ""
    return f"As data: {row.as_data}" if said else ""


def _fault(claim: Claim, registry: Mapping[str, Claim]) -> str:
    try:
        check_record(claim)
        check_links(claim, registry)
    except BrokenCheck as fault:
        return f"{type(fault).__name__}: {fault}"
    return ""


def measurements(result: ClaimResult) -> dict[str, Any]:
    """What a run of the evidence found, in JSON values: all that a process that runs evidence says of a claim."""
    return {
        "status": result.status.value,
        "message": result.message,
        "evidence": [{**vars(e), "seconds": round(e.seconds, 4)} for e in result.evidence],
        "witness": None if result.witness is None else plain(vars(result.witness)),
    }


def unmeasured(message: str) -> dict[str, Any]:
    """The measurements of a claim whose evidence never came back."""
    return measurements(ClaimResult(Status.ERROR, message=message))


def measured(row: Row, found: Mapping[str, Any]) -> Row:
    """The row of a record, with what the run of its evidence found.

    That all is well is not taken from the run: it follows from the margins, where they are those of all the evidence
    that the record names, each with all of its controls rejected.
    """
    pieces = tuple(
        replace(piece, **{name: told[name] for name in MEASURED})
        for piece, told in zip(row.evidence, found["evidence"], strict=False)
    )
    status, message = found["status"], found["message"]
    if row.status is not None:
        status, message = row.status, row.message
    elif status in (Status.CONFIRMED.value, Status.NOT_CHECKED.value):
        only_read = all(piece.kind == Kind.READ.value for piece in row.evidence)
        status = Status.NOT_CHECKED.value if only_read else Status.CONFIRMED.value
        if len(found["evidence"]) != len(row.evidence) or not all(map(_supports, pieces)):
            status, message = Status.ERROR.value, "its evidence came back other than its record names it"
    return replace(row, evidence=pieces, witness=found["witness"], status=status, message=message)


def _supports(piece: Piece) -> bool:
    if piece.kind == Kind.READ.value:
        return True
    rejected = piece.controls_rejected == len(piece.controls) > 0
    return rejected and piece.points > 0 and piece.margin is not None and piece.margin >= 0


def _strength(claim: Claim) -> str | None:
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


def decided(row: Row, found: Mapping[str, Any]) -> Row:
    """The row of a claim with a statement, once the core has decided that; `found` is of `verdicts.summary`.

    The statement of a claim ruled false is what is printed: there a refutation confirms the ruling. Where only the
    witness, family or rate fails that the statement names it is open, and the ruling rests on other evidence.
    """
    denied = (row.formal or {}).get("name") == f"{row.id}.denied"
    wanted = "refuted" if row.verdict in ("false", "typo", "refuted") and not denied else "proved"
    against = {"refuted": "proved", "proved": "refuted"}[wanted]
    settles = found["outcome"] == wanted
    status, message = row.status, row.message
    if found["outcome"] == against:
        status, message = Status.CONTRADICTED.value, f"the core finds the statement {against}"
    elif settles:
        if status == Status.NOT_CHECKED.value:
            status = Status.CONFIRMED.value
    elif found["outcome"] == "error":
        status, message = Status.ERROR.value, found["message"]
    elif not row.evidence:
        status, message = Status.UNDECIDED.value, f"the core decides only: {found['outcome']}"
    if found.get("ruling", [row.verdict, row.severity]) != [row.verdict, row.severity]:
        status, message = Status.ERROR.value, f"the core's word gives the ruling {found['ruling']}: run `make docs`"
    strength, coverage = found["strength"], found["coverage"]
    if (row.strength is not None or found["choice_only"]) and not settles:
        strength, coverage = row.strength, row.coverage
    return replace(row, status=status, message=message, strength=strength, coverage=coverage,
                   mutants=found.get("mutants"), core=found)  # fmt: skip


def _summary(rows: Sequence[Row], effort: Effort) -> dict[str, Any]:
    status = Counter(row.status for row in rows)
    own = [row for row in rows if not row.is_correction]
    confirmed = [row for row in own if row.status == Status.CONFIRMED.value]
    mathematical = [row for row in confirmed if row.nature == Nature.MATHEMATICAL.value]
    return {
        "claims": len(rows),
        "status": {s.value: status[s.value] for s in Status},
        "confirmed_without_corrections": len(confirmed),
        "verdicts": dict(Counter(row.verdict for row in own)),
        "severities": dict(Counter(row.severity for row in own if row.severity)),
        "strengths": dict(Counter(row.strength for row in rows if row.strength)),
        "decided_by_the_core": sum(bool(row.core) for row in rows),
        "coverages": dict(Counter(row.coverage for row in own if row.coverage)),
        "mathematical": len(mathematical),
        "mathematical_strong": sum(_strong(row) for row in mathematical),
        "effort": f"{effort.name.lower()}: {effort.value}",
        "seconds": round(sum(piece.seconds for row in rows for piece in row.evidence), 2),
        "supported": all(row.status in (Status.CONFIRMED.value, Status.NOT_CHECKED.value) for row in rows),
    }


def _strong(row: Row) -> bool:
    """The core decides it, or a piece of evidence neither samples nor trains."""
    return row.strength == "proved" or any(evidence.kind in STRONG for evidence in row.evidence)


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
