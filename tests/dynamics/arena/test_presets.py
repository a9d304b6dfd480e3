"""Plans as they are fixed beforehand: equal parameters, one joint level, the power that is stated."""

from functools import cache

import pytest

from dynamics.arena.budget import matched
from dynamics.arena.presets import CENTRAL, POWER, PRESETS, SPREAD, WIDTHS, at
from dynamics.arena.variants import BASELINE, VARIANTS
from dynamics.model.config import ModelConfig
from dynamics.model.sizes import parameters
from dynamics.statistics.power import power
from dynamics.statistics.rule import Verdict
from tests.dynamics.refusal import refused

HASH = "0" * 64

@cache
def league():
    """Building its models counts their parameters, which takes seconds."""
    return PRESETS["league"](HASH)


@pytest.mark.parametrize("name", PRESETS)
def test_every_entry_has_the_parameters_of_its_baseline(name):
    """To half of one MLP unit a layer, which is the finest step there is."""
    plan = PRESETS[name](HASH)
    counted = {entry: parameters(one.config) for entry, one in plan.entries.items()}
    for one in plan.comparisons.values():
        config = plan.entries[one.variant].config
        assert abs(counted[one.variant] - counted[one.baseline]) <= 3 * config.width * config.n_layers
        assert abs(counted[one.variant] / counted[one.baseline] - 1) < 0.01


def test_a_budget_that_cannot_be_met_is_refused():
    config = ModelConfig(vocab=8, width=8, n_heads=2, n_layers=1, mlp_width=4)
    refused(r"10 parameters leave no MLP: without one there are \d+", matched, config, 10)
    refused("there is none", matched, config.but(mlp_width=None), 10_000)


def test_the_league_is_as_large_as_it_says_and_shares_out_its_error():
    compared = league().comparisons
    assert sum(one.rule.share for one in compared.values()) == pytest.approx(1)
    assert {one.rule.error for one in compared.values()} == {0.05}
    for width in WIDTHS:
        for variant in CENTRAL:
            assert compared[f"{at(variant, width)} / {at(BASELINE, width)}"].rule.least >= 20
    further = [name for name in VARIANTS if name not in (*CENTRAL, BASELINE)]
    assert len(further) >= 14
    assert all(compared[f"{name} / {BASELINE}"].rule.least >= 8 for name in further)
    for pack in ("documents", "cut"):
        zero = "kv-shift" if pack == "documents" else "kv-shift.zero.cut"
        for start in ("carried", "learnt"):
            assert compared[f"kv-shift.{start}.{pack} / {zero}"].rule.least >= 10


CASES = {"central": "kv-shift / vanilla", "league": "smear / vanilla", "leak": "kv-shift.carried.documents / kv-shift"}


@pytest.mark.parametrize("kind", POWER)
@pytest.mark.parametrize("effect", POWER["central"])
def test_the_power_that_is_stated_is_what_is_simulated(kind, effect):
    found = power(league().comparisons[CASES[kind]].rule, effect, SPREAD, draws=2000).at_end
    better, ahead, same = POWER[kind][effect]
    assert found[Verdict.BETTER] == pytest.approx(better, abs=0.006)
    assert found[Verdict.BETTER] + found[Verdict.AHEAD] == pytest.approx(ahead, abs=0.006)
    assert found[Verdict.SAME] == pytest.approx(same, abs=0.006)
    assert found[Verdict.WORSE] + found[Verdict.BEHIND] + found[Verdict.APART] <= 0.006


@pytest.mark.parametrize(("size", "wanted", "embeddings"), [("82m", 82, 2 * 512), ("180m", 180, 2 * 768)])
def test_a_papers_shape_has_its_parameters_with_its_vocabulary(size, wanted, embeddings):
    """Vocabulary 50,277, not tied (Appendix A.5)."""
    plan = PRESETS[f"paper-{size}"](HASH)
    config = plan.entries[BASELINE].config
    inside = parameters(config) - config.vocab * config.width
    assert round((inside + 50_277 * embeddings) / 1e6) == pytest.approx(wanted, abs=2)
