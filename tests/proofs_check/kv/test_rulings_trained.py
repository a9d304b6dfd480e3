"""Trained models rule on no sentence of the paper: what stands beside which, with its sizes and its numbers."""

import importlib
import re

import pytest

from proofs_check.kv.trained import coupling_checks as coupling
from proofs_check.kv.trained import decoupling, variants
from proofs_check.kv.trained import tasks_checks as tasks
from proofs_check.kv.trained.sweep_margins import arrivals, medians
from proofs_check.ledger.claim import Extent, Kind, Verdict
from proofs_check.ledger.registry import load

CLAIMS = load(("kv", "kv1"))
MODULES = ("figure1a", "sweeps", "coupling", "variants", "tasks", "hops", "decoupling", "scalar")
MINE = [claim for name in MODULES for claim in importlib.import_module(f"proofs_check.kv.trained.{name}").CLAIMS]
TRAINED = [claim for claim in MINE if any(evidence.kind is Kind.TRAINED for evidence in claim.evidence)]

# Sentences of the paper that training here once ruled on, and the outcome that now stands beside each.
UNSETTLED = {
    "kv.fig1a.kv_shift": "kv.fig1a.kv_shift.trained",
    "kv.fig1a.one_layer": "kv.fig1a.one_layer.trained",
    "kv.fig1a.faster": "kv.fig1a.faster.trained",
    "kv.fig1a.two_layers": "kv.fig1a.two_layers.trained",
    "kv.fig1a.four_layers": "kv.fig1a.four_layers.here",
    "kv.fig1b.width": "kv.fig1b.width.trained",
    "kv.fig1b.poor": "kv.fig1b.poor.trained",
    "kv.fig1b.answers": "kv.fig1b.answers.trained",
    "kv.fig1b.kv_shift": "kv.fig1b.kv_shift.trained",
    "kv.fig4b": "kv.fig4b.trained",
    "kv.fig4c": "kv.fig4c.trained",
    "kv.fn7": "kv.fig4c.robust.trained",
    "kv.fig8.bias": "kv.fig8.bias.trained",
    "kv.fig8.five_layers": "kv.fig8.five_layers.origin",
    "kv.fig9": "kv.fig9.no_gain",
    "kv.fig9.unlike_fig1a": "kv.fig9.unlike_fig1a.trained",
    "kv.appE.one_layer": "kv.appE.one_layer.trained",
    "kv.appE.bottleneck": "kv.appE.bottleneck.trained",
    "kv.appE.fusion": "kv.fig9.text",
    "kv.appE.positions": "kv.appE.positions.trained",
    "kv.appF.sums": "kv.appF.sums.trained",
    "kv.appF1.more_controls": "kv.appF1.more_controls.trained",
    "kv.sec4.5.longer_window": "kv.sec4.5.longer_window.trained",
    **{f"kv.sec3.3.{name}": f"kv.sec3.3.{name}.trained" for name in ("fusion", "decoupling", "slower")},
    **{f"kv.sec5.{name}": f"kv.sec5.{name}.trained" for name in ("adjacent", "not_fusion", "decoupling")},
    "kv.appG.placement": "kv.appG.placement.trained",
}


@pytest.mark.parametrize(("paper", "ours"), UNSETTLED.items())
def test_the_sentence_is_unsettled_and_the_outcome_stands_beside_it(paper, ours):
    quoted, found = CLAIMS[paper], CLAIMS[ours]
    assert quoted.verdict is Verdict.UNSETTLED and not quoted.is_correction
    assert {evidence.kind for evidence in quoted.evidence} == {Kind.READ} and quoted.coverage is None
    assert found.is_correction and found.verdict is Verdict.HOLDS and found.outcome_of == paper


@pytest.mark.parametrize("claim", TRAINED, ids=lambda claim: claim.id)
def test_an_outcome_says_its_sizes(claim):
    assert claim.is_correction and claim.coverage.extent is Extent.SAMPLES
    words = " ".join([claim.statement, *map(str, claim.hypotheses), *(evidence.scope for evidence in claim.evidence)])
    for size in (
        r"width|parameters|d = ",
        r"vocabulary|tokens|letters|keys|T = ",
        r"steps|shipped results|t = ",
        r"seed|runs|tables",
    ):
        assert re.search(size, words), (size, words)


def test_no_paper_claim_of_any_section_has_trained_evidence():
    trained = [c.id for c in CLAIMS.values() if any(e.kind is Kind.TRAINED for e in c.evidence)]
    assert trained and all(CLAIMS[name].is_correction for name in trained)


def test_numbers_named_in_statements_are_checked():
    assert coupling.count("signs", (232, 256)).value == 0 > coupling.count("signs", (231, 256)).value
    assert coupling.count("cells", (12, 167, 40, 37)).value == 0 > coupling.count("cells", (12, 167, 40, 36)).value
    both = ("figure-1a", "kv-shift"), ("figure-1a", "vanilla-2")
    assert medians(both, (240, 1470)).value == 0 > medians(both[::-1], (240, 1470)).value
    vanilla = ("decoupling", "width-16.vanilla-2")
    assert medians((vanilla,), (None,)).value == 0 > medians((vanilla,), (2500,)).value
    assert arrivals(vanilla, 3).value == 0 > arrivals(vanilla, 4).value


def test_a_high_rate_keeps_vanilla_from_learning_in_time_without_divergence():
    at = {"sweep": "vanilla-rates", "variant": "vanilla-2.rate-0.01"}
    assert variants._none_arrives(**at).value == 0 and variants._loss_falls(**at).value > 0
    assert (
        "diverge" in CLAIMS["kv.fig4c.trained"].statement
        and "two vanilla layers" in CLAIMS["kv.fig4c.trained"].statement
    )


def test_a_loss_that_is_not_finite_is_no_falling_loss(monkeypatch):
    import dynamics.sweep.shipped as results

    def planted(losses):
        from types import SimpleNamespace

        run = SimpleNamespace(job=SimpleNamespace(name="a.seed-0"), loss=losses)
        monkeypatch.setattr(results, "shipped_sweep", lambda _: SimpleNamespace(results=[run]))
        return variants._loss_falls("any", "a").value

    assert planted([2.5, 1.0]) > 0
    assert planted([2.5, None]) < 0
    assert planted([2.5, 2.4]) < 0


def test_windows_start_alike_for_every_window():
    assert variants._matched_at_every_window().value == 0 > variants._matched_at_every_window(2).value


def test_a_look_up_layer_represents_tables_unless_its_weight_is_mistaken():
    from fractions import Fraction

    assert tasks.look_up(4, Fraction(2, 5)).value == 0
    assert tasks.look_up(4, Fraction(2, 5), Fraction(1, 2)).value < 0


def test_numbers_of_the_cited_authors_are_theirs():
    for name in ("kv.fig8.five_layers.origin", "kv.fig8.heads"):
        claim = CLAIMS[name]
        assert claim.is_correction and "cited authors" in claim.statement
        assert {evidence.kind for evidence in claim.evidence} == {Kind.EXACT}


def test_one_mixture_names_the_successor_at_any_temperature_but_none():
    assert all(decoupling.one_mixture(5, i, scale=scale).value > 0 for i in range(1, 5) for scale in (1, 8))
    assert decoupling.one_mixture(5, 2, scale=0).value < 0


def test_usual_circuit_needs_keys_and_values_apart():
    assert decoupling.circuit(6, "previous", "own").value == 0
    for keys, values in (("own", "own"), ("previous", "previous"), ("own", "previous")):
        assert decoupling.circuit(6, keys, values).value < 0


def test_not_is_strict_about_what_was_shown():
    shown, missing = decoupling.faster, decoupling._not
    pair = {"first": ("decoupling", "width-16.k-shift"), "second": ("decoupling", "width-16.common")}
    assert shown(**pair).value > 0 > missing(shown(**pair)).value
