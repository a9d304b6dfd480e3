"""The ledger: a registry run as a whole, its JSON document, and the registry's own refusals."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

from proofs_check import ledger, registry
from proofs_check.claim import Effort, Evidence, Interval, Kind, Nature, Status, Verdict, Witness
from proofs_check.harness import EvidenceResult, run_claim
from proofs_check.margin import at_most, same
from tests.proofs_check import planted

GOOD = replace(planted.GOOD, id="planted.good", formula="a = b", hypotheses=(Interval("x", 0.0, 2.5), "x is even"))
FALSE = planted._false(id="planted.false", witness=Witness({}), source="p. 1", statement="no")
OPEN = replace(
    planted.GOOD, id="planted.open", verdict=Verdict.UNSETTLED, evidence=(Evidence(Kind.READ, "q"),), note="lost"
)
SAMPLED = replace(GOOD.evidence[0], kind=Kind.SAMPLED)
EMPIRICAL = replace(planted.GOOD, id="planted.empirical", nature=Nature.EMPIRICAL)
WEAK = replace(planted.GOOD, id="planted.weak", evidence=(SAMPLED,))
OURS = replace(planted.GOOD, id="planted.ours", is_correction=True)
WRONG = replace(planted.GOOD, id="planted.wrong", evidence=(replace(SAMPLED, margin=lambda: same(2, 1)),))
REGISTRY = {claim.id: claim for claim in (GOOD, FALSE, OPEN, EMPIRICAL, WEAK, OURS, WRONG)}


class Progress:
    def __init__(self):
        self.steps, self.closed = [], False

    def update(self, n, /):
        self.steps.append(n)

    def close(self):
        self.closed = True


def test_results_come_in_the_order_asked_for_with_one_step_each():
    progress = Progress()
    chosen = ["planted.open", "planted.good", "planted.wrong"]
    results = ledger.run_all(REGISTRY, chosen, Effort.QUICK, 1, progress)
    assert list(results) == chosen
    assert [r.status for r in results.values()] == [Status.NOT_CHECKED, Status.CONFIRMED, Status.CONTRADICTED]
    assert progress.steps == [1, 1, 1] and progress.closed


def test_progress_is_closed_when_a_run_is_interrupted():
    def interrupt():
        raise KeyboardInterrupt

    claim = replace(GOOD, evidence=(replace(GOOD.evidence[0], margin=interrupt),))
    progress = Progress()
    with pytest.raises(KeyboardInterrupt):
        ledger.run_all({"c": claim}, ["c"], Effort.QUICK, 1, progress)
    assert progress.closed and progress.steps == []


def test_a_missing_correction_is_found_over_the_whole_ledger():
    lone = replace(FALSE, correction="planted.nowhere")
    results = ledger.run_all({FALSE.id: lone}, [FALSE.id], Effort.QUICK, 1)
    assert results[FALSE.id].status is Status.ERROR


def test_the_effort_reaches_the_claims():
    seen = []

    def points(effort):
        seen.append(effort)
        return ({},)

    claim = replace(GOOD, evidence=(replace(GOOD.evidence[0], points=points),))
    ledger.run_all({"c": claim}, ["c"], Effort.FULL, 1)
    assert set(seen) == {Effort.FULL}


def test_workers_load_their_registry_once_and_agree_with_one_process(monkeypatch):
    calls = []

    def load(papers):
        calls.append(papers)
        return REGISTRY

    monkeypatch.setattr(ledger, "load", load)
    chosen = ["planted.wrong", "planted.good", "planted.false"]
    alone = ledger.run_all(REGISTRY, chosen, Effort.QUICK, 1)
    assert calls == []
    with joblib.parallel_config("threading", n_jobs=7):
        together = ledger.run_all(REGISTRY, chosen, Effort.QUICK, 2)
        assert set(calls) == {("planted",)}
        calls.clear()
        ledger.run_all(REGISTRY, chosen, Effort.QUICK, 2)
    assert calls == [] and ledger._LOADED.pop(("planted",)) is REGISTRY
    assert list(together) == chosen
    for name in chosen:
        assert together[name].claim is REGISTRY[name]
        assert replace(together[name], evidence=()) == replace(alone[name], evidence=())
        assert [replace(e, seconds=0) for e in together[name].evidence] == [
            replace(e, seconds=0) for e in alone[name].evidence
        ]


def test_a_worker_spends_the_effort_it_is_told(monkeypatch):
    seen = []

    def points(effort):
        seen.append(effort)
        return ({},)

    claim = replace(GOOD, evidence=(replace(GOOD.evidence[0], points=points),))
    monkeypatch.setattr(ledger, "_LOADED", {("planted",): {GOOD.id: claim, OPEN.id: OPEN}})
    with joblib.parallel_config("threading"):
        ledger.run_all({GOOD.id: claim, OPEN.id: OPEN}, [GOOD.id, OPEN.id], Effort.FULL, 2)
    assert set(seen) == {Effort.FULL}


def test_a_row_holds_all_of_a_claim():
    result = run_claim(replace(GOOD, note="a note", correction="planted.other"))
    result = replace(result, evidence=(replace(result.evidence[0], seconds=0.123456),), message="said")
    row = ledger.document({GOOD.id: result}, Effort.QUICK)["claims"][0]
    assert row == {
        "id": "planted.good",
        "paper": "planted",
        "source": "planted",
        "statement": "good",
        "formula": "a = b",
        "hypotheses": ["0 <= x <= 2.5", "x is even"],
        "nature": "mathematical",
        "verdict": "holds",
        "status": "confirmed",
        "is_correction": False,
        "note": "a note",
        "evidence": [
            {
                "kind": "exact",
                "margin": 0.0,
                "points": 1,
                "seconds": 0.1235,
                "controls_rejected": 1,
                "controls": ["two"],
                "scope": "planted",
            }
        ],
        "witness": None,
        "correction": "planted.other",
        "message": "said",
    }


def test_a_row_shows_each_evidence_with_its_own_controls_and_the_witness():
    def margin(x):
        return at_most(Fraction(0), x)

    second = replace(SAMPLED, controls=(planted.Control("three", lambda: same(3, 1)),))
    evidence = (planted._REFUTES, second)
    claim = replace(FALSE, evidence=evidence, witness=Witness({"x": Fraction(1, 3)}, margin))
    row = ledger.document({claim.id: run_claim(claim)}, Effort.QUICK)["claims"][0]
    assert [e["controls"] for e in row["evidence"]] == [["equal"], ["three"]]
    assert row["witness"] == {"point": {"x": "1/3"}, "printed": "0", "true": "1/3"}
    assert json.loads(json.dumps(row)) == row


def test_the_summary_counts_the_papers_own_claims():
    results = ledger.run_all(REGISTRY, list(REGISTRY), Effort.QUICK, 1)
    timed = (EvidenceResult("exact", 0.0, 1, 1.2345, 1, ""),)
    results = {name: replace(result, evidence=timed) for name, result in results.items()}
    summary = ledger.document(results, Effort.QUICK)["summary"]
    assert summary == {
        "claims": 7,
        "status": {"confirmed": 5, "contradicted": 1, "undecided": 0, "error": 0, "not_checked": 1},
        "confirmed_without_corrections": 4,
        "verdicts": {"holds": 4, "false": 1, "unsettled": 1},
        "mathematical": 3,
        "mathematical_strong": 2,
        "effort": f"quick: {Effort.QUICK.value}",
        "seconds": 8.64,
        "supported": False,
    }
    del results["planted.wrong"]
    assert ledger.document(results, Effort.FULL)["summary"]["supported"] is True


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (3, 3),
        ("text", "text"),
        (None, None),
        (Fraction(1, 3), "1/3"),
        (0.5, 0.5),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.array([[1, 2]]), [[1, 2]]),
        ((1, Fraction(1, 2)), [1, "1/2"]),
        ([np.float64(2.0)], [2.0]),
        ({1: (2,)}, {"1": [2]}),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_values_become_plain_json(value, expected):
    found = ledger.plain(value)
    assert found == expected
    assert type(found) is type(expected)
    json.dumps(found, allow_nan=False)


def test_strong_kinds_are_those_that_prove():
    assert {kind.value for kind in ledger.STRONG} == {"kernel", "symbolic", "certified", "exact"}


def _sections(monkeypatch, **sections):
    modules = {"package": SimpleNamespace(SECTIONS=tuple(sections))}
    modules |= {f"package.{name}": SimpleNamespace(CLAIMS=claims) for name, claims in sections.items()}
    monkeypatch.setattr(registry, "PAPERS", {"a": ("package",), "b": ("package",)})
    monkeypatch.setattr(registry, "import_module", modules.__getitem__)


def test_the_registry_takes_the_named_papers_from_every_section(monkeypatch):
    claims = {name: replace(GOOD, id=name) for name in ("a.1", "b.1", "a.2")}
    _sections(monkeypatch, one=(claims["a.1"], claims["b.1"]), two=(claims["a.2"],))
    assert registry.load(("a",)) == {name: claims[name] for name in ("a.1", "a.2")}
    assert list(registry.load(("a", "b"))) == ["a.1", "b.1", "a.2"]


def test_the_registry_refuses_doubles_and_unknown_papers(monkeypatch):
    _sections(monkeypatch, one=(replace(GOOD, id="a.1"), replace(GOOD, id="a.1")))
    with pytest.raises(ValueError, match=r"two claims are called a\.1"):
        registry.load(("a",))
    with pytest.raises(ValueError, match="unknown paper 'c'"):
        registry.load(("a", "c"))
