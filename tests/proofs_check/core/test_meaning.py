"""Obligations say what the sentence says: random statements in finite models, and limits whose truth calculus gives."""

from collections import Counter
from contextlib import suppress

import pytest

from proofs_check.core.certificate import Outcome
from proofs_check.core.terms import Malformed
from proofs_check.rigour.decide import BRIEF, Empty, decide
from tests.proofs_check.core import model_check
from tests.proofs_check.core.planted_limits import FALSE, TRUE, build

WHOLE = [pytest.mark.deep, pytest.mark.timeout(3600)]
RARE = (1116, 1277, 1279, 1333, 1563)  # each of them alone of the first 2000 finds some fault of the core


@pytest.mark.parametrize("count", [800, pytest.param(20_000, marks=WHOLE)])
def test_obligations_and_their_conditions_agree_with_the_meaning(count):
    counts, faults = model_check.run(count, 1)
    assert faults == []
    for mine in counts.values():
        assert 0.3 * mine["all"] < mine["true"] < 0.7 * mine["all"]
    total = sum(counts.values(), Counter())
    assert total["matter of words"] < 0.01 * total["all"]
    assert total["undefined"] > 0.2 * total["points"] and total["vacuous"] < 0.1 * total["all"]


def test_statements_that_find_rare_faults_find_none():
    assert [fault for seed in RARE for fault in model_check.run(1, seed)[1]] == []


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=WHOLE)])
def test_the_search_confirms_and_denies_only_what_enumeration_does(count):
    counts, faults = model_check.search(count, 1)
    assert faults == []
    assert counts["True, proved"] > count // 8 and counts["False, refuted"] > count // 4


@pytest.mark.parametrize(("truth", "entry"), [*((True, entry) for entry in TRUE), *((False, entry) for entry in FALSE)])
def test_a_limit_is_not_decided_against_calculus(truth, entry):
    with suppress(Malformed, Empty):
        checked = decide(build(entry), BRIEF).checked
        assert checked is None or checked.outcome is not (Outcome.REFUTED if truth else Outcome.PROVED)
