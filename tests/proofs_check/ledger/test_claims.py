"""Every claim of the ledger, by id; and the ledger's own records."""

import re
import sys
import xml.etree.ElementTree as ET
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest
from latex2mathml.converter import convert

from proofs_check.core.printing import formula, hypotheses, sentence
from proofs_check.evidence import certified
from proofs_check.evidence.tolerances import ASCENT, KERNEL
from proofs_check.ledger import harness, judged
from proofs_check.ledger.claim import Kind, Nature, Status, Verdict
from proofs_check.ledger.harness import run_claim
from proofs_check.ledger.registry import load
from proofs_check.ledger.rows import STRONG, decided, plain, record
from proofs_check.ledger.store import judge
from tests.shares import one_in

REGISTRY = load()
SOURCES = {
    "kv": ("KV shifting (final", "KV shifting (both"),
    "kv1": ("KV shifting (first",),
    "razor": ("RazorAttention, ",),
    "resformer": ("ResFormer, ",),
    "waiver": ("Waiver paper, ",),
}
# Links whose ends have other names: from a claim to what holds instead, from an outcome to its sentence.
CORRECTED_ELSEWHERE = {
    "razor.appA.positive": "razor.appA.gap",
    "razor.eq7.gain": "razor.eq7.corrected",
    "resformer.eq11.higher": "resformer.eq11.lower",
}
OUTCOMES_ELSEWHERE = {
    "kv.fn10.confounded.trained": "kv.sec4.5.longer_window",
    "kv.fig9.text": "kv.appE.fusion",
    "razor.trained.protected": "razor.abstract.lossless",
    "razor.trained.random": "razor.sec3.2.fifteen",
    "razor.trained.chosen": "razor.sec3.2.fifteen",
    "razor.trained.window": "razor.sec1.few",
    "razor.trained.recovered": "razor.sec4.3.most",
    "razor.trained.printed_scope": "razor.sec5.alibi",
    "razor.reading.local": "razor.sec1.local",
    "razor.reading.diffuse": "razor.sec1.rest_local",
    "razor.reading.few": "razor.sec1.few",
    "razor.reading.protected": "razor.sec3.2.fifteen",
    "razor.reading.concentrates": "razor.sec1.concentrates",
    "razor.reading.probability": "razor.sec1.probability",
    "razor.reading.others": "razor.sec1.cannot_use",
    "razor.reading.layer": "razor.sec1.retrieve_process",
    "razor.reading.known": "razor.fig2.snapkv",
    "razor.reading.evicted": "razor.fig2.importance",
}
# The claim that shows a defect first, and those that repeat it.
DEFECTS = {
    "kv.sec3.1.any_context": "kv.sec3.1.finite_length",
    "kv.appA.matrices": "kv.appA.output_matrix",
    "kv.thm3.3": "kv.appA.first_layer kv.appA.masks kv.sec3.1.equal_sign kv.sec3.1.less_depth kv.sec3.1.less_width "
    "kv.thm3.2",
    "kv.eq8.domain": "kv.appA.step1 kv.appA.step4 kv.appA.step5",
    "kv.tab3": "kv.eq10 kv.listing_l.no1",
    "kv.thm3.4": "kv.thm3.4.limit kv.thm3.4.sigma",
    "kv.appC.error_term": "kv.appC.logit_error",
    "kv.sec3.3.key_pairs": "kv.eq11.normaliser kv.sec3.3.value_pairs",
    "kv.appF1.gate": "kv1.sec4.6.gate",
    "kv.sec5.gssm": "kv.sec5.explain",
    "razor.thm1": "razor.appA.last_step razor.appA.positive",
    "razor.eq7.gain": "razor.eq7 razor.eq8",
    "razor.eq5.cache": "razor.sec1.flash",
    "razor.sec3.1.discard": "razor.sec3.1.larger_scope razor.sec3.1.minimal",
}
OWN = [claim for claim in REGISTRY.values() if not claim.is_correction]


def certificates_checked(monkeypatch):
    """How many certificates the core goes through for the points of each piece, controls apart."""
    for name in [name for name in sys.modules if name.startswith("proofs_check.")]:
        for function in vars(sys.modules[name]).values():
            if isinstance(function, _lru_cache_wrapper):
                function.cache_clear()  # a certificate that another test had checked would not be counted here
    calls, counts = [], []
    inner, scan = certified.check_certificate, harness._scan

    def checked(*args):
        calls.append(None)
        return inner(*args)

    def scanned(margin, points, stop_below_zero=False):
        before = len(calls)
        found = scan(margin, points, stop_below_zero)
        if not stop_below_zero:
            counts.append(len(calls) - before)
        return found

    monkeypatch.setattr(certified, "check_certificate", checked)
    monkeypatch.setattr(harness, "_scan", scanned)
    return counts


@pytest.mark.parametrize("claim", REGISTRY.values(), ids=REGISTRY)
def test_claim(claim):
    result = run_claim(claim)
    only_read = all(evidence.kind is Kind.READ for evidence in claim.evidence)
    assert result.status is (Status.NOT_CHECKED if only_read else Status.CONFIRMED), result.message
    for evidence in result.evidence:
        if evidence.kind != Kind.READ.value:
            assert evidence.points > 0
            assert evidence.controls_rejected > 0
        if evidence.tolerance is not None:
            assert evidence.tolerance <= ASCENT or claim.id == "kv.beyond.width.terms"  # of statistics
            # at most 100 times the largest error; `ASCENT` says why the one ascent has more room
            assert evidence.tolerance <= max(100 * evidence.error, KERNEL) or claim.id == "razor.thm1.supremum"


def test_both_sides_of_every_witness_differ():
    shown = {claim.id: harness.evaluate_witness(claim) for claim in REGISTRY.values() if claim.witness is not None}
    assert len(shown) > 10
    assert [name for name, one in shown.items() if str(plain(one.printed)) == str(plain(one.true))] == []


CERTIFIED = [claim for claim in REGISTRY.values() if Kind.CERTIFIED in {evidence.kind for evidence in claim.evidence}]


@pytest.mark.parametrize("claim", one_in(12, CERTIFIED), ids=lambda claim: claim.id)
def test_what_is_called_certified_is_checked_by_certificates(claim, monkeypatch):
    checked = certificates_checked(monkeypatch)
    run_claim(claim)
    kinds = [evidence.kind for evidence in claim.evidence if evidence.kind is not Kind.READ]
    for kind, count in zip(kinds, checked, strict=True):
        assert count or kind is not Kind.CERTIFIED, "no certificate was checked: it is exact, not certified"


def test_corrections_exist_and_statements_of_our_own_hold():
    for claim in REGISTRY.values():
        if claim.correction is not None:
            assert REGISTRY[claim.correction].verdict is Verdict.HOLDS
    assert {claim.verdict for claim in REGISTRY.values() if claim.is_correction} == {Verdict.HOLDS}


def test_links_lead_where_their_names_say_or_where_a_table_does():
    """What holds instead is named after the claim."""
    corrected = {claim.id: claim.correction for claim in REGISTRY.values() if claim.correction}
    elsewhere = {name: link for name, link in corrected.items() if not link.startswith(f"{name}.")}
    assert elsewhere == CORRECTED_ELSEWHERE
    outcomes = {claim.id: claim.outcome_of for claim in REGISTRY.values() if claim.outcome_of}
    elsewhere = {name: link for name, link in outcomes.items() if not name.startswith(link.rpartition(".")[0])}
    assert elsewhere == OUTCOMES_ELSEWHERE
    repeated = {claim.id: claim.defect for claim in REGISTRY.values() if claim.defect}
    assert repeated == {name: head for head, names in DEFECTS.items() for name in names.split()}


def test_no_check_types_the_sides_that_a_witness_shows():
    """They are those that were compared; only labels, which are no numbers, may be put in their place."""
    rooms = Path(__file__).resolve().parents[3] / "proofs_check"
    files = [path for paper in ("kv", "razor", "resformer", "waiver") for path in (rooms / paper).rglob("*.py")]
    typed = re.compile(r"_replace\([^)]*\b(printed|true)=")
    assert sorted(path.name for path in files if typed.search(path.read_text("utf-8"))) == ["text.py"]


def test_what_stands_on_data_alone_is_worded_by_its_tree():
    bare = [claim for claim in REGISTRY.values() if claim.formal is not None and not claim.evidence]
    assert len(bare) > 100
    for claim in bare:
        tree = claim.formal if claim.case is None else claim.case.printed
        words = claim.statement, claim.formula, list(claim.hypotheses)
        more = " The choice must be the same for all sequences." * (claim.record == "no_choice")
        assert words == (sentence(tree) + more, formula(tree), hypotheses(tree)), claim.id


def test_ids_name_their_paper_and_statements_are_one_line():
    for claim in REGISTRY.values():
        assert claim.paper in SOURCES
        assert claim.statement.strip() and "\n" not in claim.statement
        assert claim.source.startswith(SOURCES[claim.paper]), claim.id


def test_formulas_become_mathml_and_mathematical_claims_have_one():
    wrong = []
    for claim in REGISTRY.values():
        shown = "".join(ET.fromstring(convert(claim.formula)).itertext()) if claim.formula else ""
        if "\\" in shown or (not shown.strip() and (claim.formula or claim.nature is Nature.MATHEMATICAL)):
            wrong.append((claim.id, shown))
    assert wrong == []


def _confirmed_mathematical():
    return [c for c in OWN if c.nature is Nature.MATHEMATICAL and c.verdict is not Verdict.UNSETTLED]


def _proved(claim):
    if claim.formal is None:
        return False
    kept = judged.kept().get(claim.formal.digest, {"key": None})  # that it is what the core says tests of docs hold
    fresh = kept["key"] == judged.key(claim.formal)
    found = kept["row"] if fresh else judge(claim.formal.to_json(), mutants=False)
    return decided(record(claim, REGISTRY), found).strength == "proved"


def test_a_claim_without_evidence_is_settled_by_the_core():
    bare = [claim for claim in REGISTRY.values() if not claim.evidence]
    assert len(bare) > 40 and all(claim.coverage is None and claim.witness is None for claim in bare)
    assert [claim.id for claim in bare if not _proved(claim)] == []


def test_most_mathematical_claims_rest_on_proof_or_exact_arithmetic():
    claims = _confirmed_mathematical()
    strong = [c for c in claims if any(e.kind.value in STRONG for e in c.evidence) or _proved(c)]
    assert len(strong) >= 0.6 * len(claims)


def test_the_ledger_is_as_broad_as_promised():
    assert sum(claim.verdict is not Verdict.UNSETTLED for claim in OWN) >= 110
