"""The harness: true claims pass, planted wrong ones never do, broken checks are errors."""

from dataclasses import replace

import pytest

from proofs_check.ledger.claim import Effort, Interval, Sampled, Severity, Status, Verdict, Witness, points_of
from proofs_check.ledger.harness import run_claim
from proofs_check.ledger.rows import record
from tests.proofs_check.ledger import planted


def test_a_true_claim_with_rejected_controls_is_confirmed():
    result = run_claim(planted.GOOD)
    assert result.status is Status.CONFIRMED
    assert [(e.points, e.controls_rejected, e.margin) for e in result.evidence] == [(1, 1, 0.0)]


@pytest.mark.parametrize("claim", planted.WITH_COUNTEREXAMPLE, ids=lambda claim: claim.statement)
def test_a_planted_wrong_claim_is_contradicted_with_a_witness(claim):
    result = run_claim(claim)
    assert result.status is Status.CONTRADICTED
    assert result.witness is not None
    again = claim.evidence[0].margin(**result.witness.point)
    assert again.value < 0
    assert str(again.printed) == str(result.witness.printed)


@pytest.mark.parametrize("name", planted.BROKEN)
def test_a_broken_check_is_never_confirmed(name):
    result = run_claim(planted.BROKEN[name])
    expected = Status.UNDECIDED if name == "undecided evidence" else Status.ERROR
    assert result.status is expected, result.message
    assert result.message


def test_an_unsettled_claim_that_is_only_read_is_not_checked():
    claim = replace(planted.BROKEN["unsettled without a reason"], note="needs the private data")
    assert run_claim(claim).status is Status.NOT_CHECKED


def test_a_false_claim_with_witness_is_confirmed_and_shows_both_sides():
    claim = planted._false(witness=Witness({}))
    result = run_claim(claim)
    assert result.status is Status.CONFIRMED
    assert (result.witness.printed, result.witness.true) == (0, 1)


@pytest.mark.parametrize(("verdict", "message"), [(None, "does not exist"), (Verdict.TYPO, "recorded as typo")])
@pytest.mark.parametrize("link", ["correction", "outcome_of", "defect"])
def test_a_claim_that_leans_on_what_is_not_there_or_is_unfit_is_an_error(link, verdict, message):
    claim = replace(planted.GOOD, id="planted.leans", is_correction=True, **{link: "planted.other"})
    other = {} if verdict is None else {"planted.other": replace(planted.GOOD, id="planted.other", verdict=verdict)}
    found = record(claim, {claim.id: claim, **other})
    assert found.status == "error" and message in found.message


@pytest.mark.parametrize("changes", [{"severity": Severity.CODE}, {"defect": "planted.first"}])
def test_a_defect_is_repeated_of_one_claim_of_its_own_severity(changes):
    first = planted._false(id="planted.first", witness=Witness({}))
    head = replace(first, id="planted.head")
    again = replace(first, id="planted.again", defect="planted.head")
    registry = {claim.id: claim for claim in (first, head, again, planted.GOOD)}
    assert record(again, registry).status is None
    found = record(again, registry | {"planted.head": replace(head, **changes)})
    assert found.status == "error" and "another severity or repeats one too" in found.message


def test_a_claim_with_a_correction_that_holds_has_a_sound_record():
    claim = planted._false(id="planted.false", witness=Witness({}))
    assert record(claim, {c.id: c for c in (claim, planted.GOOD)}).status is None


def test_sampled_points_hold_every_corner_stay_inside_and_repeat():
    box = (Interval("x", 5.0, 6.0), Interval("n", 3, 5, whole=True))
    claim = replace(planted.GOOD, hypotheses=box)
    points = list(points_of(claim, Sampled(50, 100), Effort.QUICK))
    assert points == list(points_of(claim, Sampled(50, 100), Effort.QUICK))
    assert [tuple(p.values()) for p in points[:4]] == [(5.0, 3), (5.0, 5), (6.0, 3), (6.0, 5)]
    assert all(5 <= p["x"] <= 6 for p in points) and len({p["x"] for p in points}) == 52
    assert {p["n"] for p in points} == {3, 4, 5}
    assert len(points) == 54
    assert len(list(points_of(claim, Sampled(50, 100), Effort.FULL))) == 104
