"""Margins on the comparison at equal memory: signs on planted results, either side of each threshold."""

import pytest

from dynamics.comparison.by_distance import HeadScope, MeasuredScopes
from dynamics.comparison.plan import POLICIES
from dynamics.comparison.presets import preset
from dynamics.comparison.record import Cell, Comparison, Heads
from proofs_check.evidence.margin import Undecided
from proofs_check.razor.measured import trained_attention as attention
from proofs_check.razor.measured import trained_checks as c

QUESTIONS = 256  # of a seed: 32 windows of 8


def planted(**changes):
    """A comparison in which every policy answers everything at 2 bits but those named: (answered of 256, bits)."""
    settings = preset("x", 3, False)
    named = {name.replace("_", " "): value for name, value in changes.items()}

    def cell(policy, budget, seed):
        hits, bits = named.get(policy, (QUESTIONS, 2.0))
        spread = [hits // 32 + (row < hits % 32) for row in range(32)]
        return Cell(seed=seed, policy=policy, budget=budget, entries=1, bits=(bits,) * 32, hits=tuple(spread))

    cells = [cell("full", "1", seed) for seed in c.SEEDS]
    cells += [cell(p, b, seed) for p in POLICIES[1:] for b in settings.budgets for seed in c.SEEDS]
    heads = tuple(Heads(seed=s, echo=(), induction=(), ranking=(), protected=6) for s in c.SEEDS)
    return Comparison.model_construct(settings=settings, heads=heads, cells=tuple(cells))


@pytest.fixture
def results(monkeypatch):
    def install(comparison=None, **changes):
        c._measured.cache_clear()
        monkeypatch.setattr(c, "_comparison", lambda: comparison or planted(**changes))

    yield install
    c._measured.cache_clear()


AT = {"budget": "8/25", "seed": 1}


@pytest.mark.parametrize(("hits", "bits", "holds"), [(256, 2.0, True), (244, 2.0, True), (243, 2.0, False),
                                                      (256, 2.019, True), (256, 2.021, False)])  # fmt: skip
def test_nearly_lossless_has_both_thresholds(results, hits, bits, holds):
    results(razor=(hits, bits))
    assert (c.nearly_lossless(**AT).value >= 0) == holds


@pytest.mark.parametrize(("hits", "none", "most"), [(250, 16, True), (200, 16, False), (249, 246, False)])
def test_recovery_is_a_share_of_what_is_lost_without_heads(results, hits, none, most):
    results(razor=(hits, 2.0), **{"razor,_no_heads": (none, 2.0)})
    assert (c.chosen_recover(**AT).value >= 0) == most


def test_random_sets_are_judged_one_by_one(results):
    """Of three draws the rows of the second alone answer everything."""
    comparison = planted(**{"razor,_no_heads": (16, 2.0)})
    rows = (0,) * 32 + (8,) * 32 + (4,) * 32
    cells = [cell.model_copy(update={"hits": rows}) if "random" in cell.policy else cell for cell in comparison.cells]
    results(comparison.model_copy(update={"cells": tuple(cells)}))
    assert [c.set_recovers(**AT, draw=draw).value >= 0 for draw in range(3)] == [False, True, False]
    assert [c.set_does_not(**AT, draw=draw).value >= 0 for draw in range(3)] == [True, False, True]


def test_every_random_set_either_holds_the_finder_or_not():
    held, missed = c.random_sets(found=True), c.random_sets(found=False)
    assert len(held) + len(missed) == 27
    assert {"budget": "1/8", "seed": 0, "draw": 1} in held
    assert not [point for point in held if point["seed"] == 2]


def test_a_comparison_where_nothing_is_lost_without_heads_is_no_evidence(results):
    results()
    with pytest.raises(ZeroDivisionError):
        c.chosen_recover(**AT)
    with pytest.raises(ZeroDivisionError):
        c.set_recovers(**AT, draw=0)


@pytest.mark.parametrize(("hits", "bits", "critical"), [(200, 2.0, True), (250, 2.0, False), (256, 2.03, True),
                                                         (250, 2.01, False), (256, 1.9, False)])  # fmt: skip
def test_a_token_is_critical_by_retrieval_or_by_text(results, hits, bits, critical):
    results(**{"razor,_no_token": (hits, bits)})
    assert (c.token_does_not(**AT).value >= 0) != critical


@pytest.mark.parametrize(("hits", "holds"), [(127, True), (129, False)])
def test_failing_is_less_than_half(results, hits, holds):
    results(window=(hits, 2.0))
    assert (c.fails(**AT, policy="window").value >= 0) == holds
    assert (c.learnt(1, policy="window", budget="1/4").value >= 0) is False


def test_better_is_five_points_or_fewer_bits(results):
    results(window=(243, 2.1))
    assert c.better_retrieval(**AT, worse="window").value >= 0 > c.better_retrieval(**AT, worse="heavy hitters").value
    assert c.better_text(**AT, worse="window").value > 0
    with pytest.raises(Undecided):
        c.better_text(**AT, worse="heavy hitters")


def test_bounds_and_scopes_are_compared_with_what_was_measured(monkeypatch):
    """Distances 0 to 2 are measured: a scope of 2 ends there, one of 2.5 beyond."""
    head = HeadScope(seed=0, layer=0, head=0, slope=0.5, logit_range=2.0, self_gap=2.0, printed=2.5, spectral=9.0,
                     sharp=2.0, reach=3, largest=(1.0, 0.5, 0.1))  # fmt: skip
    scopes = MeasuredScopes(eps=1e-3, corpus="x", windows=1, context=3, heads=(head,))
    monkeypatch.setattr(attention, "_scopes", lambda task="text": scopes)
    assert attention.within_bound(0).value > 0 > attention.within_bound(0, factor=0.1).value
    assert attention.within_scope(0).value == 0 > attention.within_scope(0, factor=0.9).value
    assert attention.printed_covers(0).value > 0 > attention.printed_covers(0, factor=0.4).value
    assert attention.printed_drops_nothing(0).value > 0 > attention.printed_drops_nothing(0, factor=0.5).value
    assert attention.printed_drops_nothing(0, scope="sharp").value < 0
