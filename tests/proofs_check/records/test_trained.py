"""Outcomes of training: planted faults are seen, all comparisons are corrected together, open ones are said to be."""

import re
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest

from dynamics.files.hashed import write_hashed
from dynamics.sweep import shipped as bundles
from proofs_check.kv.trained import coupling_checks
from proofs_check.kv.trained.sweeps import ONE, TWO
from proofs_check.ledger.claim import Status, Verdict
from proofs_check.ledger.harness import run_claim
from proofs_check.records import shipped, trained
from proofs_check.records.trained import Trained, pair, reaches, stays_below
from tests.scripts.commands import text_of

PAGE = text_of("docs/experiments.md")
RECORDS = {record.id: record for record in trained.records("kv")}
FASTER, OPEN = RECORDS["kv.fig1a.faster.trained"], RECORDS["kv.fig1a.four_layers.here"]
KV = FASTER.ahead[0].given[0]
RUNS = {"early": [10] * 4 + [80] * 4, "late": [None] * 8, "never": [None] * 8, "first": list(range(1, 9))}


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setattr(shipped, "times", RUNS.__getitem__)
    monkeypatch.setattr(shipped, "budget", lambda name: 100)
    yield
    shipped.sooner.cache_clear()


def test_runs_beyond_the_horizon_of_a_share_of_the_steps_are_not_said_to_be_sooner(planted):
    # Half of more than 100 steps is more than 50: of the runs that take 80 nobody knows.
    assert shipped.sooner("early", "late", Fraction(1, 2)).share == Fraction(4 * 8 * 2 + 4 * 8, 128)
    assert shipped.sooner("early", "late").share == 1
    assert shipped.sooner("late", "never") == (Fraction(1, 2), 1, "0.50 [0.23, 0.77]")


def test_a_comparison_comes_out_at_the_level_of_the_family_and_to_the_named_side(planted, monkeypatch):
    # All of eight before all of eight: two of the 12870 ways to split sixteen ranks are as far apart.
    one = pair("first", "early")
    assert one.found().p == Fraction(2, 12870)
    for level, out in ((Fraction(2, 12870), True), (Fraction(1, 12870), False)):
        monkeypatch.setattr(trained, "level", lambda paper, level=level: level)
        assert (trained.stands(one, "kv").value >= 0) == out
        assert (trained.is_open(one, "kv").value >= 0) == (not out)
        assert trained.stands(pair("early", "first"), "kv").value < 0


PLANTS = {
    "the pair exchanged": replace(FASTER, ahead=[pair(TWO, KV, Fraction(1, 2))]),
    "another factor": replace(FASTER, ahead=[pair(KV, TWO, Fraction(1, 8))]),
    "what stands left open": replace(FASTER, ahead=[], left=FASTER.ahead),
    "what is open said to stand": replace(OPEN, ahead=OPEN.left[:1], left=[]),
    "another level": replace(FASTER, bounds=[reaches(100, TWO, unlike=[ONE])]),
    "a level below the scores": replace(FASTER, bounds=[stays_below(45, ONE, unlike=[TWO])]),
    "a level that tells nothing apart": replace(FASTER, bounds=[reaches(30, TWO, unlike=[ONE])]),
    "a sentence of the paper": replace(FASTER, at="Section 3.2, Figure 1a"),
    "a variant that was not trained": replace(FASTER, ahead=[pair(KV, ("figure-1a", "vanilla-3"))]),
}


@pytest.mark.parametrize("record", PLANTS.values(), ids=PLANTS)
def test_planted_fault_is_seen(record):
    assert run_claim(record.claim(None)).status in (Status.CONTRADICTED, Status.ERROR)


@pytest.mark.parametrize("hashed", [False, True])
def test_a_run_or_a_count_that_is_changed_in_what_ships_is_seen(hashed, monkeypatch, tmp_path):
    text = (bundles.SHIPPED / "figure-1a.json").read_text("utf-8")
    missing = re.sub(r'\{"name":"kv-shift.seed-7".*?\}\},', "", re.sub(r'"kv-shift.seed-7":\{.*?\},\n', "", text))
    later = re.sub(r'(?<="kv-shift.seed-)(\d":\{"accuracy":\[)', r"\g<1>0.1,0.1,", text)
    monkeypatch.setattr(bundles, "SHIPPED", tmp_path)
    for changed in (missing, later):
        write_hashed(tmp_path / "figure-1a.json", changed if hashed else text)
        (tmp_path / "figure-1a.json").write_text(changed)
        for read in (shipped._sweep, shipped.sooner):
            read.cache_clear()
        claim = FASTER.claim(None)
        assert claim.statement.startswith("What ships cannot be read: ") and changed != text
        assert run_claim(claim).status is Status.ERROR
    shipped._sweep.cache_clear()


def test_words_and_numbers_are_those_of_the_runs_and_no_field_gives_a_verdict():
    assert {"verdict", "severity", "statement", "strength"}.isdisjoint(field.name for field in fields(Trained))
    claim, left = FASTER.claim(None), OPEN.claim(None)
    said = "KV shifting (one layer) reached 95 % in less than 1/2 of the steps of vanilla attention (2 layers)"
    assert claim.statement == f"{said} (240 steps against 1470 steps)."
    assert (claim.verdict, claim.record, claim.is_correction) == (Verdict.HOLDS, "trained", True)
    assert claim.hypotheses[0].endswith("at most 3000 steps, AdamW at 0.001, 8 seeds")
    assert left.statement.startswith(f"Open, as {trained.LEFT}") and "probability 0.82 [0.50, 0.95]" in left.statement
    assert run_claim(claim).status is run_claim(left).status is Status.CONFIRMED


def test_what_was_shown_at_one_in_twenty_alone_is_left_open_among_all():
    for name in ("fig1a.four_layers.here", "fig8.bias.trained", "fig1b.kv_shift.trained"):
        record = RECORDS[f"kv.{name}"]
        assert any(trained.level("kv") < one.found().p < Fraction(1, 20) for one in record.left)


def test_the_page_names_every_claim_and_its_intervals_are_theirs():
    parts = [re.split(r"[{}]", name) for name in re.findall(r"`(kv\.[^`]+)`", PAGE)]
    names = ["".join(one) for part in parts for one in product(*(piece.split(",") for piece in part))]
    compared = {name: record for name, record in RECORDS.items() if record.ahead or record.left}
    assert len(compared) > 25 and not [n for n in compared if not any(fnmatchcase(n, name) for name in names)]
    known = {one.found().said for one in trained.family("kv")}
    found = re.findall(r"(?<!\d)\.\d\d \[\.\d\d, \.\d\d\]", PAGE)
    assert len(found) >= 12 and {said.replace(".", "0.") for said in found} <= known
    nothing = re.compile(r"no gain|not told apart|tell\w* .*apart|neither helps|no difference|beyond chance")
    assert not [name for name, record in compared.items() if nothing.search(record.why)]


def test_heads_of_one_layer_are_one_unit(monkeypatch):
    heads = [SimpleNamespace(seed=seed, side=1) for seed in (0, 1) for _ in range(8)]
    monkeypatch.setattr(coupling_checks, "heads", lambda seed: heads)
    found = coupling_checks.by_layer(lambda layer: sum(head.side for head in layer))
    assert found == (1, Fraction(1, 2), "2 of 2")  # sixteen fair coins would have 1/32768
