"""Comparisons of trained models: one horizon, one family, layers as units, and no more said than was found."""

import re
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest

from proofs_check.kv.trained import comparisons, coupling_checks
from proofs_check.kv.trained.comparisons import TOLD, UNTOLD
from proofs_check.ledger.registry import load
from tests.scripts.commands import text_of

FAMILY = list(comparisons.comparisons())
PAGE = text_of("docs/experiments.md")
CLAIMS = load(("kv",))
RUNS = {"early": (10,) * 4 + (80,) * 4, "late": (None,) * 8, "never": (None,) * 8, "first": tuple(range(1, 9))}


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setattr(comparisons, "times", RUNS.__getitem__)
    monkeypatch.setattr(comparisons, "budget", lambda name: 100)


def test_runs_beyond_the_horizon_of_a_share_of_the_steps_are_not_said_to_be_sooner(planted):
    # Half of more than 100 steps is more than 50: of the runs that take 80 nobody knows.
    assert comparisons.sooner("early", "late", Fraction(1, 2)).share == Fraction(4 * 8 * 2 + 4 * 8, 128)
    assert comparisons.sooner("early", "late").share == 1
    assert comparisons.sooner("late", "never") == (Fraction(1, 2), 1, "0.50 [0.23, 0.77]")


def test_a_comparison_comes_out_at_the_level_of_the_family_and_to_the_named_side(planted, monkeypatch):
    # All of eight before all of eight: two of the 12870 ways to split sixteen ranks are as far apart.
    assert comparisons.sooner("first", "early").p == Fraction(2, 12870)
    for level, out in ((Fraction(2, 12870), True), (Fraction(1, 12870), False)):
        monkeypatch.setattr(comparisons, "level", lambda level=level: level)
        assert (TOLD(first="first", second="early").value >= 0) == out
        assert (UNTOLD(first="first", second="early").value >= 0) == (not out)
        assert TOLD(first="early", second="first").value < 0
    assert UNTOLD("1.00 [0.71, 1.00]", first="first", second="early").value > 0
    assert UNTOLD("1.00 [0.72, 1.00]", first="first", second="early").value < 0


@pytest.mark.parametrize("claim", ["fig1a.four_layers.here", "fig8.bias.trained", "fig1b.kv_shift.trained"])
def test_what_was_shown_at_one_in_twenty_alone_is_left_open_among_all(claim):
    left = [margin.test(**point) for name, margin, point in FAMILY if name == f"kv.{claim}" and not margin.told]
    assert any(found.p < Fraction(1, 20) for found in left)
    assert "does not survive the correction" in CLAIMS[f"kv.{claim}"].statement


def test_the_page_names_every_claim_of_the_family():
    parts = [re.split(r"[{}]", name) for name in re.findall(r"`(kv\.[^`]+)`", PAGE)]
    names = ["".join(one) for part in parts for one in product(*(piece.split(",") for piece in part))]
    assert not {claim for claim, *_ in FAMILY if not any(fnmatchcase(claim, name) for name in names)}


def test_intervals_on_the_page_are_those_of_the_claims():
    known = {margin.test(**point).said for _, margin, point in FAMILY}
    found = re.findall(r"(?<!\d)\.\d\d \[\.\d\d, \.\d\d\]", PAGE)
    assert len(found) >= 12 and {said.replace(".", "0.") for said in found} <= known


def test_every_interval_of_the_family_is_said_in_its_claim():
    for name, claim in CLAIMS.items():
        points = [point for evidence in claim.evidence if evidence.margin == UNTOLD for point in evidence.points]
        assert all(point["said"] in claim.statement for point in points), name


def test_no_outcome_takes_what_was_not_found_for_nothing():
    words = re.compile(r"no gain|not told apart|tell\w* .*apart|neither helps|no difference|beyond chance")
    names = {name for name, *_ in FAMILY}
    assert not [name for name in names if words.search(CLAIMS[name].statement + CLAIMS[name].note)]


def test_heads_of_one_layer_are_one_unit(monkeypatch):
    heads = [SimpleNamespace(seed=seed, side=1) for seed in (0, 1) for _ in range(8)]
    monkeypatch.setattr(coupling_checks, "heads", lambda seed: heads)
    found = coupling_checks.by_layer(lambda layer: sum(head.side for head in layer))
    assert found == (1, Fraction(1, 2), "2 of 2")  # sixteen fair coins would have 1/32768
