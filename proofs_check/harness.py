"""Run a claim: smallest margin over all points, every control rejected, the witness re-evaluated.

Nothing passes by default: an empty set of points, a NaN, an undecided or a control that passes is never `confirmed`.
"""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from proofs_check.claim import (
    Claim,
    Effort,
    Evidence,
    Kind,
    MarginFunction,
    Nature,
    Point,
    Status,
    Verdict,
    points_of,
)
from proofs_check.margin import Margin, Undecided


class BrokenCheck(Exception):
    """The check itself is at fault: no points, a NaN, a control that passed. Never a verdict on the claim."""


@dataclass(frozen=True)
class EvidenceResult:
    kind: str
    margin: float | None
    points: int
    seconds: float
    controls_rejected: int
    scope: str


@dataclass(frozen=True)
class WitnessResult:
    point: dict[str, Any]
    printed: Any
    true: Any


@dataclass(frozen=True)
class ClaimResult:
    claim: Claim
    status: Status
    evidence: tuple[EvidenceResult, ...] = ()
    witness: WitnessResult | None = None
    message: str = ""


@dataclass(frozen=True)
class _Scan:
    worst: Margin
    where: Point
    points: int


class _Contradicted(Exception):
    def __init__(self, witness: WitnessResult, result: EvidenceResult) -> None:
        super().__init__("the evidence goes against the recorded verdict")
        self.witness = witness
        self.result = result


def run_claim(claim: Claim, effort: Effort = Effort.QUICK) -> ClaimResult:
    """Status of one claim. Undecided evidence gives `undecided`, a broken check `error`; neither counts as passed."""
    results: list[EvidenceResult] = []
    try:
        _check_record(claim)
        for evidence in claim.evidence:
            results.append(_run_evidence(claim, evidence, effort))
        witness = evaluate_witness(claim)
    except _Contradicted as found:
        return ClaimResult(claim, Status.CONTRADICTED, (*results, found.result), found.witness, str(found))
    except Undecided as reason:
        return ClaimResult(claim, Status.UNDECIDED, tuple(results), None, str(reason))
    except Exception as fault:  # whatever a check raises is its own fault: an error, never a pass
        return ClaimResult(claim, Status.ERROR, tuple(results), None, f"{type(fault).__name__}: {fault}")
    only_read = all(evidence.kind is Kind.READ for evidence in claim.evidence)
    return ClaimResult(claim, Status.NOT_CHECKED if only_read else Status.CONFIRMED, tuple(results), witness)


def settle_corrections(results: Mapping[str, ClaimResult], registry: Mapping[str, Claim]) -> dict[str, ClaimResult]:
    """A claim whose correction is missing, is not recorded as holding, or was run and not confirmed, is an error."""
    settled = dict(results)
    for name, result in results.items():
        link = result.claim.correction
        if link is None or result.status is not Status.CONFIRMED:
            continue
        if link not in registry:
            fault = f"its correction {link} does not exist"
        elif registry[link].verdict is not Verdict.HOLDS:
            fault = f"its correction {link} is not recorded as holding"
        elif link in results and results[link].status is not Status.CONFIRMED:
            fault = f"its correction {link} is {results[link].status.value}"
        else:
            continue
        settled[name] = replace(result, status=Status.ERROR, message=fault)
    return settled


def _check_record(claim: Claim) -> None:
    if not claim.evidence:
        raise BrokenCheck("no evidence")
    for interval in claim.intervals:
        if interval.empty:
            raise BrokenCheck(f"the hypothesis on {interval.name} is empty: {interval.low} > {interval.high}")
    if all(evidence.kind is Kind.READ for evidence in claim.evidence) and claim.verdict is not Verdict.UNSETTLED:
        raise BrokenCheck("a quotation alone settles nothing: the verdict must be unsettled")
    if claim.verdict is not Verdict.HOLDS and not claim.note:
        raise BrokenCheck(f"the verdict {claim.verdict.value} needs a note")
    if claim.verdict is Verdict.FALSE and claim.witness is None:
        raise BrokenCheck("a false claim needs a witness")
    needs_correction = claim.verdict is Verdict.FALSE and claim.nature is Nature.MATHEMATICAL
    if needs_correction and claim.correction is None:
        raise BrokenCheck("a false mathematical claim needs a correction")


def _run_evidence(claim: Claim, evidence: Evidence, effort: Effort) -> EvidenceResult:
    start = time.perf_counter()
    if evidence.kind is Kind.READ:
        return EvidenceResult(evidence.kind.value, None, 0, 0.0, 0, evidence.scope)
    if evidence.margin is None:
        raise BrokenCheck("evidence without a margin")
    if not evidence.controls:
        raise BrokenCheck("evidence without a control: nothing shows that it can fail")
    scan = _scan(evidence.margin, points_of(claim, evidence.points, effort))
    rejected = 0
    if scan.worst.value >= 0:
        rejected = sum(_rejects(claim, evidence, index, effort) for index in range(len(evidence.controls)))
    seconds = time.perf_counter() - start
    result = EvidenceResult(evidence.kind.value, scan.worst.value, scan.points, seconds, rejected, evidence.scope)
    if scan.worst.value < 0:
        raise _Contradicted(_evaluate(evidence.margin, scan.where, expect_negative=True), result)
    return result


def _scan(margin: MarginFunction, points: Iterable[Point], stop_below_zero: bool = False) -> _Scan:
    worst: tuple[Margin, Point] | None = None
    count = 0
    for point in points:
        found = margin(**point)
        if not isinstance(found, Margin):
            raise BrokenCheck(f"a margin function returned {type(found).__name__}, not a Margin")
        if not math.isfinite(found.value):
            raise BrokenCheck(f"the margin is {found.value} at {dict(point)}")
        count += 1
        if worst is None or found.value < worst[0].value:
            worst = found, point
        if stop_below_zero and found.value < 0:
            break
    if worst is None:
        raise BrokenCheck("no points")
    return _Scan(*worst, count)


def _rejects(claim: Claim, evidence: Evidence, index: int, effort: Effort) -> int:
    """1 where the control has a negative margin somewhere; a control that passes is a fault of the check."""
    control = evidence.controls[index]
    margin = control.margin or evidence.margin
    points = evidence.points if control.points is None else control.points
    if margin is None or (control.margin is None and control.points is None):
        raise BrokenCheck(f"the control {control.name!r} changes nothing")
    try:
        scan = _scan(margin, points_of(claim, points, effort), stop_below_zero=True)
    except Undecided as reason:
        raise BrokenCheck(f"the control {control.name!r} is undecided, not rejected: {reason}") from reason
    if scan.worst.value >= 0:
        raise BrokenCheck(f"the control {control.name!r} was not rejected")
    return 1


def _evaluate(margin: MarginFunction, point: Point, expect_negative: bool) -> WitnessResult:
    """Evaluate a witness afresh, twice; it must come out the same way both times."""
    first, second = margin(**point), margin(**point)
    if not math.isfinite(first.value) or first.value != second.value or (first.value < 0) != expect_negative:
        raise BrokenCheck(f"the witness {dict(point)} does not re-evaluate to the same side")
    return WitnessResult(dict(point), first.printed, first.true)


def evaluate_witness(claim: Claim) -> WitnessResult | None:
    """Printed against true at the stored counterexample, evaluated afresh; None for a claim without one."""
    if claim.witness is None:
        return None
    margin = claim.witness.margin or claim.evidence[0].margin
    if margin is None:
        raise BrokenCheck("a witness without a margin to evaluate it")
    return _evaluate(margin, claim.witness.point, expect_negative=False)
