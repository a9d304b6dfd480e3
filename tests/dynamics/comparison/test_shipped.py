"""The shipped comparison and its shipped model: of the preset, at equal memory, and re-measured with the model."""

from fractions import Fraction

import numpy as np
import pytest

from dynamics.comparison import plan
from dynamics.comparison.by_distance import head_scopes, read_scopes
from dynamics.comparison.plan import cells
from dynamics.comparison.policies import held_out, mean_queries, measure
from dynamics.comparison.presets import preset
from dynamics.comparison.record import read_comparison
from dynamics.tasks.corpus import standard_library
from dynamics.training.checkpoint import SHIPPED, shipped

NAME = "alibi-text"


@pytest.fixture(scope="module")
def comparison():
    return read_comparison()


def test_it_is_the_preset_s_and_complete(comparison):
    settings = comparison.settings
    assert settings == preset(settings.training.corpus, 3, False)
    budgets = tuple(Fraction(budget) for budget in settings.budgets)
    wanted = [(seed, policy, str(budget)) for seed in range(3) for policy, budget in cells(budgets)]
    assert [(cell.seed, cell.policy, cell.budget) for cell in comparison.cells] == wanted
    for cell in comparison.cells:
        draws = settings.draws if cell.policy == plan.RANDOM else 1
        assert len(cell.bits) == draws * settings.text_rows and len(cell.hits) == draws * settings.needle_rows


def test_model_and_attention_belong_to_the_comparison(comparison):
    found, scopes = shipped(NAME), read_scopes()
    assert found.model.config == comparison.settings.config
    assert found.manifest.training["corpus"] == scopes.corpus == comparison.settings.training.corpus
    heads = [head for head in scopes.heads if head.seed == found.manifest.seed]
    again = list(head_scopes(found.model, 0, np.array([h.largest for h in heads]).reshape(4, 8, -1)))
    assert [h.sharp for h in again] == pytest.approx([h.sharp for h in heads], rel=1e-2)  # its weights are rounded
    assert sum(path.stat().st_size for path in (SHIPPED / NAME).iterdir()) < 2_000_000


def test_a_shipped_cell_is_measured_again_with_the_shipped_model(comparison):
    settings, corpus = comparison.settings, standard_library()
    if corpus.sha256 != settings.training.corpus:
        pytest.skip("another standard library has other held-out text")
    model, heads = shipped(NAME).model, comparison.heads[0]
    few = settings.but(centre_rows=1)
    windows, centres = held_out(settings, corpus), mean_queries(model, few, corpus)
    cell = measure(model, few, heads, plan.RAZOR, Fraction(1, 4), windows, centres)
    kept = next(c for c in comparison.cells if (c.seed, c.policy, c.budget) == (0, plan.RAZOR, "1/4"))
    assert cell.entries == kept.entries
    np.testing.assert_allclose(cell.bits, kept.bits, atol=0.03)
    assert abs(sum(cell.hits) - sum(kept.hits)) <= 4
