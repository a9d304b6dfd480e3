"""What a run reports beside its status: the evidence so far, the message, which points were taken, and how often."""

import time
from dataclasses import replace

import pytest

from proofs_check.evidence.margin import Undecided, at_most, same
from proofs_check.ledger.claim import Control, Effort, Evidence, Kind, Status
from proofs_check.ledger.harness import EvidenceResult, run_claim
from tests.proofs_check.ledger import planted

GOOD = planted.GOOD
ONE = GOOD.evidence[0]
FIRST = EvidenceResult("exact", 0.0, 1, 0.0, 1)


def untimed(results):
    return tuple(replace(result, seconds=0.0) for result in results)


def undecided():
    raise Undecided("cannot tell")


@pytest.mark.parametrize(
    ("margin", "status", "message", "rest"),
    [
        (
            lambda: same(2, 4),
            Status.CONTRADICTED,
            "goes against",
            (EvidenceResult("exact", -2.0, 1, 0.0, 0),),
        ),
        (undecided, Status.UNDECIDED, "cannot tell", ()),
        (lambda: same(1 // 0, 1), Status.ERROR, "ZeroDivisionError: ", ()),
        (lambda: True, Status.ERROR, "BrokenCheck: ", ()),
    ],
    ids=["contradicted", "undecided", "raises", "broken"],
)
def test_a_failing_second_evidence_leaves_the_first_and_says_why(margin, status, message, rest):
    claim = replace(GOOD, evidence=(ONE, replace(ONE, margin=margin, scope="second")))
    result = run_claim(claim)
    assert result.status is status
    assert message in result.message
    assert untimed(result.evidence) == (FIRST, *rest)


def test_seconds_are_those_of_the_run():
    start = time.perf_counter()
    result = run_claim(GOOD)
    assert 0 <= result.evidence[0].seconds <= time.perf_counter() - start


def test_a_quotation_has_no_margin_no_points_and_no_control():
    claim = replace(GOOD, evidence=(ONE, Evidence(Kind.READ, "quoted")))
    result = run_claim(claim)
    assert result.status is Status.CONFIRMED
    assert result.evidence[1] == EvidenceResult("read", None, 0, 0.0, 0)


def test_the_effort_reaches_the_points_of_evidence_and_controls():
    for effort, count in ((Effort.QUICK, 5), (Effort.FULL, 9)):
        seen = []

        def points(effort, seen=seen):
            seen.append(effort)
            return ({"x": 2.0},)

        def listed(effort):
            return [{"x": x / 9} for x in range(5 if effort is Effort.QUICK else 9)]

        controls = (Control("outside", None, points), Control("false", lambda x: same(1, 2)))
        evidence = Evidence(Kind.EXACT, "planted", lambda x: at_most(x, 1.5), listed, controls)
        result = run_claim(replace(GOOD, evidence=(evidence,)), effort)
        assert result.status is Status.CONFIRMED, result.message
        assert (result.evidence[0].points, result.evidence[0].controls_rejected) == (count, 2)
        assert seen == [effort]


def test_the_worst_of_all_points_is_the_witness_and_the_first_of_equals():
    points = tuple({"x": x, "name": name} for x, name in ((1, "a"), (3, "b"), (3, "c"), (0, "d")))
    evidence = Evidence(Kind.EXACT, "planted", lambda x, name: at_most(x, 0), points, ONE.controls)
    result = run_claim(replace(GOOD, evidence=(evidence,)))
    assert result.status is Status.CONTRADICTED
    assert (result.evidence[0].margin, result.evidence[0].points) == (-3.0, 4)
    assert result.witness.point == {"x": 3, "name": "b"}


def test_a_control_stops_at_its_first_negative_margin_and_not_at_zero():
    taken = []

    def control(x):
        taken.append(x)
        return at_most(x, 2)

    points = tuple({"x": x} for x in (2, 3, 4))
    evidence = Evidence(Kind.EXACT, "planted", lambda x: same(x, x), points, (Control("above 2", control),))
    assert run_claim(replace(GOOD, evidence=(evidence,))).status is Status.CONFIRMED
    assert taken == [2, 3]


def test_a_control_that_changes_nothing_is_named():
    claim = replace(GOOD, evidence=(replace(ONE, controls=(Control("idle"),)),))
    assert "'idle' changes nothing" in run_claim(claim).message


def test_a_witness_may_lie_on_the_boundary():
    evidence = replace(planted._REFUTES, margin=lambda: same(1, 1))
    assert run_claim(planted._false(evidence=(evidence,), witness={})).status is Status.CONFIRMED


def test_points_at_both_ends_are_looked_at_again_in_reverse_and_after_the_controls():
    taken = []

    def margin(x):
        taken.append(x)
        return at_most(0, x)

    points = tuple({"x": x} for x in range(1, 21))
    control = Control("negative", lambda x: at_most(0, taken.append("control") or -x))
    evidence = Evidence(Kind.EXACT, "planted", margin, points, (control,))
    assert run_claim(replace(GOOD, evidence=(evidence,))).status is Status.CONFIRMED
    assert taken == [*range(1, 21), "control", *reversed([*range(1, 9), *range(13, 21)])]


def test_a_margin_that_keeps_a_state_is_an_error_that_says_so():
    values = iter([1, 2, 3, 4])
    evidence = replace(ONE, margin=lambda: at_most(0, next(values)))
    result = run_claim(replace(GOOD, evidence=(evidence,)))
    assert result.status is Status.ERROR and "keeps a state" in result.message


def test_an_interruption_is_not_a_result():
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_claim(replace(GOOD, evidence=(replace(ONE, margin=interrupt),)))
