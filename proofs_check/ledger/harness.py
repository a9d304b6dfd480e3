"""Run a claim: smallest margin over all points, every control rejected, the witness re-evaluated.

Nothing passes by default: an empty set of points, a NaN, an undecided or a control that passes is never `confirmed`.
"""

import math
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from proofs_check.evidence.margin import Margin, Slack, Undecided, least_slack
from proofs_check.ledger.claim import Claim, Control, Effort, Evidence, Kind, MarginFunction, Point, Points, Status
from proofs_check.ledger.record import BrokenCheck, check_record


@dataclass(frozen=True)
class EvidenceResult:
    kind: str
    margin: float | None
    points: int
    seconds: float
    controls_rejected: int
    tolerance: float | None = None  # of the comparison whose error came closest to it
    error: float | None = None


@dataclass(frozen=True)
class WitnessResult:
    point: dict[str, Any]
    printed: Any
    true: Any


@dataclass(frozen=True)
class ClaimResult:
    status: Status
    evidence: tuple[EvidenceResult, ...] = ()
    witness: WitnessResult | None = None
    message: str = ""


@dataclass(frozen=True)
class _Scan:
    """The worst margin, where it was found, and a few points with their values to look at again."""

    worst: Margin
    where: Point
    points: int
    slack: Slack | None
    kept: tuple[tuple[Point, float], ...]


# Points at either end of a scan that are evaluated a second time, in reverse, once the controls have run.
_LOOKED_AT_AGAIN = 8


class _Contradicted(Exception):
    def __init__(self, witness: WitnessResult, result: EvidenceResult) -> None:
        super().__init__("the evidence goes against the recorded verdict")
        self.witness = witness
        self.result = result


def run_claim(claim: Claim, effort: Effort = Effort.QUICK) -> ClaimResult:
    """Status of one claim. Undecided evidence gives `undecided`, a broken check `error`; neither counts as passed."""
    results: list[EvidenceResult] = []
    try:
        check_record(claim)
        for evidence in claim.evidence:
            results.append(_run_evidence(evidence, effort))
        witness = evaluate_witness(claim)
    except _Contradicted as found:
        return ClaimResult(Status.CONTRADICTED, (*results, found.result), found.witness, str(found))
    except Undecided as reason:
        return ClaimResult(Status.UNDECIDED, tuple(results), None, str(reason))
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # whatever a check raises, an exit too, is its own fault: an error, never a pass
        return ClaimResult(Status.ERROR, tuple(results), None, f"{type(fault).__name__}: {fault}")
    # What only a statement speaks for is not checked here: the core decides it, where no claim was imported.
    only_read = all(evidence.kind is Kind.READ for evidence in claim.evidence)
    return ClaimResult(Status.NOT_CHECKED if only_read else Status.CONFIRMED, tuple(results), witness)


def _run_evidence(evidence: Evidence, effort: Effort) -> EvidenceResult:
    start = time.perf_counter()
    if evidence.kind is Kind.READ:
        return EvidenceResult(evidence.kind.value, None, 0, 0.0, 0)
    if evidence.margin is None:
        raise BrokenCheck("evidence without a margin")
    if not evidence.controls:
        raise BrokenCheck("evidence without a control: nothing shows that it can fail")
    scan = _scan(evidence.margin, _listed(evidence.points, effort))
    rejected = 0
    if scan.worst.value >= 0:
        rejected = sum(_rejects(evidence, control, effort) for control in evidence.controls)
        _look_again(evidence.margin, scan.kept)
    seconds = time.perf_counter() - start
    result = EvidenceResult(evidence.kind.value, scan.worst.value, scan.points, seconds, rejected, *scan.slack or ())
    if scan.worst.value < 0:
        raise _Contradicted(_evaluate(evidence.margin, scan.where, expect_negative=True), result)
    return result


def _listed(points: Points, effort: Effort) -> Iterable[Point]:
    return points(effort) if callable(points) else points


def _scan(margin: MarginFunction, points: Iterable[Point], stop_below_zero: bool = False) -> _Scan:
    worst: tuple[Margin, Point] | None = None
    first: list[tuple[Point, float]] = []
    last: deque[tuple[Point, float]] = deque(maxlen=_LOOKED_AT_AGAIN)
    slack: Slack | None = None
    count = 0
    for point in points:
        found = _value(margin, point)
        count += 1
        slack = least_slack((slack, found.slack))
        (first if count <= _LOOKED_AT_AGAIN else last).append((point, found.value))
        if worst is None or found.value < worst[0].value:
            worst = found, point
        if stop_below_zero and found.value < 0:
            break
    if worst is None:
        raise BrokenCheck("no points")
    return _Scan(*worst, count, slack, (*first, *last))


def _value(margin: MarginFunction, point: Point) -> Margin:
    found = margin(**point)
    if not isinstance(found, Margin):
        raise BrokenCheck(f"a margin function returned {type(found).__name__}, not a Margin")
    if not isinstance(found.value, float):
        raise BrokenCheck(f"the value of a margin is a {type(found.value).__name__}, not a float, at {dict(point)}")
    if not math.isfinite(found.value):
        raise BrokenCheck(f"the margin is {found.value} at {dict(point)}")
    return found


def _look_again(margin: MarginFunction, kept: Iterable[tuple[Point, float]]) -> None:
    """A margin is a function of its point: evaluated later and in another order it gives the same value.

    One that is cached is so by construction, and is spared the second search.
    """
    for point, value in reversed(tuple(kept)):
        again = _value(margin, point).value
        if again != value:
            raise BrokenCheck(f"the margin at {dict(point)} was {value} and is now {again}: it keeps a state")


def _rejects(evidence: Evidence, control: Control, effort: Effort) -> int:
    """1 where the control has a negative margin somewhere; a control that passes is a fault of the check."""
    margin = control.margin or evidence.margin
    points = evidence.points if control.points is None else control.points
    if margin is None or (control.margin is None and control.points is None):
        raise BrokenCheck(f"the control {control.name!r} changes nothing")
    try:
        scan = _scan(margin, _listed(points, effort), stop_below_zero=True)
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
    margin = claim.evidence[0].margin
    if margin is None:
        raise BrokenCheck("a witness without a margin to evaluate it")
    return _evaluate(margin, claim.witness, expect_negative=False)
