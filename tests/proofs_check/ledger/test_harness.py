"""The harness: true claims pass, planted wrong ones never do, broken checks are errors."""

from dataclasses import replace

import pytest

from proofs_check.ledger.claim import Severity, Status, Verdict
from proofs_check.ledger.harness import run_claim
from proofs_check.ledger.rows import record
from tests.proofs_check.ledger import planted
from tests.proofs_check.ledger.plants import STOPPED


@pytest.mark.parametrize("claim", STOPPED["honest, and wrong"].values(), ids=STOPPED["honest, and wrong"])
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


@pytest.mark.parametrize(("verdict", "message"), [(None, "does not exist"), (Verdict.TYPO, "recorded as typo")])
@pytest.mark.parametrize("link", ["correction", "outcome_of", "defect"])
def test_a_claim_that_leans_on_what_is_not_there_or_is_unfit_is_an_error(link, verdict, message):
    claim = replace(planted.GOOD, id="planted.leans", is_correction=True, **{link: "planted.other"})
    other = {} if verdict is None else {"planted.other": replace(planted.GOOD, id="planted.other", verdict=verdict)}
    found = record(claim, {claim.id: claim, **other})
    assert found.status == "error" and message in found.message


@pytest.mark.parametrize("changes", [{"severity": Severity.CODE}, {"defect": "planted.first"}])
def test_a_defect_is_repeated_of_one_claim_of_its_own_severity(changes):
    first = planted._false(id="planted.first", witness={})
    head = replace(first, id="planted.head")
    again = replace(first, id="planted.again", defect="planted.head")
    registry = {claim.id: claim for claim in (first, head, again, planted.GOOD)}
    assert record(again, registry).status is None
    found = record(again, registry | {"planted.head": replace(head, **changes)})
    assert found.status == "error" and "another severity or repeats one too" in found.message
