"""The ledger as data: rows, what they lean on, their summary, plain JSON."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.evidence.margin import at_most, same
from proofs_check.ledger import rows as ledger
from proofs_check.ledger.claim import SAMPLES, Effort, Evidence, Kind, Nature, Verdict
from proofs_check.ledger.harness import run_claim
from proofs_check.ledger.row import Piece, from_json
from tests.proofs_check.ledger import planted

HYPOTHESES = ("0 <= x <= 2.5", "x is even")
GOOD = replace(planted.GOOD, id="planted.good", formula="a = b", hypotheses=HYPOTHESES)
FALSE = planted._false(id="planted.false", witness={}, source="p. 1", statement="no")
OPEN = replace(
    planted.GOOD, id="planted.open", verdict=Verdict.UNSETTLED, evidence=(Evidence(Kind.READ, "q"),), note="lost",
    coverage=None,
)  # fmt: skip
SAMPLED = replace(GOOD.evidence[0], kind=Kind.SAMPLED)
EMPIRICAL = replace(planted.GOOD, id="planted.empirical", nature=Nature.EMPIRICAL)
WEAK = replace(planted.GOOD, id="planted.weak", evidence=(SAMPLED,), coverage=SAMPLES)
OURS = replace(planted.GOOD, id="planted.ours", is_correction=True)
WRONG = replace(
    planted.GOOD, id="planted.wrong", evidence=(replace(SAMPLED, margin=lambda: same(2, 1)),), coverage=SAMPLES
)
REGISTRY = {claim.id: claim for claim in (GOOD, FALSE, OPEN, EMPIRICAL, WEAK, OURS, WRONG)}


def rows(claims, effort=Effort.QUICK, registry=REGISTRY):
    return [
        ledger.measured(ledger.record(claim, registry), ledger.measurements(run_claim(claim, effort)))
        for claim in claims
    ]


def test_a_correction_that_is_not_confirmed_makes_an_error_of_what_leans_on_it():
    leaning = replace(FALSE, correction=WRONG.id)
    settled = ledger.settled(rows([GOOD, leaning, WRONG], registry={WRONG.id: WRONG}))
    assert [row.status for row in settled] == ["confirmed", "error", "contradicted"]
    assert settled[1].message == "its correction planted.wrong is contradicted"
    kept = rows([leaning], registry={WRONG.id: WRONG})
    assert ledger.settled(kept) == kept, "a correction that was not run says nothing"


def test_a_row_holds_all_of_a_claim():
    claim = replace(GOOD, note="a note", correction=OURS.id, severity=None, reading="as it stands", is_correction=True,
                    outcome_of=OPEN.id)  # fmt: skip
    row = rows([claim])[0].to_json()
    seconds = row["evidence"][0].pop("seconds")
    assert isinstance(seconds, float) and round(seconds, 4) == seconds
    assert row == {
        "id": "planted.good",
        "paper": "planted",
        "source": "planted",
        "statement": "good",
        "formula": "a = b",
        "hypotheses": ("0 <= x <= 2.5", "x is even"),
        "nature": "mathematical",
        "verdict": "holds",
        "severity": None,
        "reading": "as it stands",
        "coverage": "all",
        "coverage_why": planted.GOOD.coverage.why,
        "status": "confirmed",
        "is_correction": True,
        "note": "a note",
        "why": "",
        "record": "by hand",
        "evidence": (
            {
                "kind": "exact",
                "margin": 0.0,
                "points": 1,
                "controls_rejected": 1,
                "tolerance": None,
                "error": None,
                "controls": ("two",),
                "scope": "planted",
            },
        ),
        "witness": None,
        "correction": "planted.ours",
        "holds_instead": "good",
        "outcome_of": "planted.open",
        "defect": None,
        "message": "",
        "strength": "argued",
        "mutants": None,
        "core": None,
        "formal": None,
        "as_data": "",
        "case": None,
    }


def test_a_record_is_a_row_without_evidence_and_a_failure_one_with_an_error():
    registry = REGISTRY | {FALSE.correction: GOOD}
    record = ledger.record(FALSE, registry)
    failed = ledger.measured(record, ledger.unmeasured("it ended"))
    named = (Piece("exact", "planted", ("equal",)),)
    assert (record.status, record.evidence, record.severity) == (None, named, "breaks the theorem")
    assert (failed.status, failed.evidence, failed.message) == ("error", (), "it ended")
    assert record.holds_instead == GOOD.statement


def test_a_row_shows_each_evidence_with_its_own_controls_and_the_witness():
    def margin(x=Fraction(1, 2)):
        return at_most(Fraction(0), x)

    first = replace(planted._REFUTES, margin=margin)
    second = replace(SAMPLED, controls=(planted.Control("three", lambda: same(3, 1)),))
    claim = replace(FALSE, evidence=(first, second), witness={"x": Fraction(1, 3)})
    row = rows([claim])[0]
    assert [piece.controls for piece in row.evidence] == [("equal",), ("three",)]
    assert row.witness == {"point": {"x": "1/3"}, "printed": "0", "true": "1/3"}
    assert from_json(json.loads(json.dumps(row.to_json()))) == row


def test_a_contradiction_shows_its_point_and_both_sides():
    wrong = replace(GOOD.evidence[0], margin=lambda x: at_most(x, 2), points=({"x": 1}, {"x": 3}))
    row = rows([replace(GOOD, evidence=(wrong,))])[0]
    assert row.witness == {"point": {"x": 3}, "printed": 3, "true": 2}


def test_the_summary_counts_the_papers_own_claims():
    found = [replace(row, evidence=tuple(replace(piece, seconds=1.2345) for piece in row.evidence))
             for row in rows(REGISTRY.values())]  # fmt: skip
    summary = ledger.document(found, Effort.QUICK)["summary"]
    assert summary == {
        "claims": 7,
        "status": {"confirmed": 5, "contradicted": 1, "undecided": 0, "error": 0, "not_checked": 1},
        "confirmed_without_corrections": 4,
        "strengths": {"argued": 4, "read": 1, "sampled": 2},
        "decided_by_the_core": 0,
        "verdicts": {"holds": 4, "false": 1, "unsettled": 1},
        "severities": {"breaks the theorem": 1},
        "coverages": {"all": 3, "samples": 2},
        "mathematical": 3,
        "mathematical_strong": 2,
        "effort": f"quick: {Effort.QUICK.value}",
        "seconds": 8.64,
        "supported": False,
    }
    by_the_core = [replace(row, evidence=(), strength="proved") for row in found]
    assert ledger.document(by_the_core, Effort.QUICK)["summary"]["mathematical_strong"] == 3
    good = [row for row in found if row.id != WRONG.id]
    assert ledger.document(good, Effort.FULL)["summary"]["supported"] is True


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (None, None),
        (Fraction(1, 3), "1/3"),
        (0.5, 0.5),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.array([[1, 2]]), [[1, 2]]),
        ((1, Fraction(1, 2)), [1, "1/2"]),
        ({1: (2,)}, {"1": [2]}),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_values_become_plain_json(value, expected):
    found = ledger.plain(value)
    assert found == expected
    assert type(found) is type(expected)
    json.dumps(found, allow_nan=False)


def test_strong_kinds_are_those_that_do_not_sample():
    assert {"symbolic", "certified", "exact"} == ledger.STRONG
