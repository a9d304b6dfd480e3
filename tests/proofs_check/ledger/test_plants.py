"""Fifty ways to have a false claim believed: those that are stopped, and those that still are not."""

import pytest

from proofs_check.ledger.claim import Status
from proofs_check.ledger.harness import run_claim
from scripts.commands.docs import ROOT
from tests.proofs_check.ledger.plants import _ODD, OPEN, STOPPED


def cases(plants):
    return [pytest.param(claim, id=f"{way}: {name}") for way, found in plants.items() for name, claim in found.items()]


@pytest.fixture(autouse=True)
def _no_calls_yet():
    _ODD.clear()


@pytest.mark.parametrize("claim", cases(STOPPED))
def test_a_stopped_plant_is_not_confirmed(claim):
    result = run_claim(claim)
    assert result.status in (Status.ERROR, Status.CONTRADICTED) and result.message


@pytest.mark.parametrize("claim", cases(OPEN))
def test_an_open_plant_is_still_confirmed(claim):
    assert run_claim(claim).status is Status.CONFIRMED, "it is stopped now: move it to STOPPED and off docs/audit.md"


def test_there_are_at_least_fifty_and_the_open_ones_are_told():
    assert sum(len(found) for plants in (STOPPED, OPEN) for found in plants.values()) >= 50
    told = (ROOT / "docs" / "audit.md").read_text("utf-8")
    for way, found in OPEN.items():
        assert way in told
        for name in found:
            assert name in told, name
