"""Sizes in words name what models share, and only that."""

import pytest

from dynamics.experiments.presets import SWEEPS
from dynamics.model.config import ModelConfig
from dynamics.tasks.hop import Hop
from dynamics.training.describe import sizes
from dynamics.training.settings import TrainConfig

DATA = "vocabulary 32, rows of 4.9 different tokens on average, then one of them again"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("figure-1a", f"{DATA}, width 32, 4 heads, MLP 64, 64 rows a step, at most 3000 steps, AdamW at 0.001"),
        ("vanilla-rates", f"{DATA}, 2 layers, width 32, 4 heads, MLP 64, 64 rows a step, at most 1500 steps"),
        ("figure-9", "vocabulary 31, 200 pairs, rows of 2 tokens, 64 rows a step"),
    ],
)
def test_sizes_of_a_sweep_are_those_that_its_models_share(name, text):
    assert sizes(SWEEPS[name].variants.values()) == text


def test_one_model_is_described_whole():
    text = sizes([(ModelConfig(n_heads=1, width=8), TrainConfig(task=Hop(hops=3)))])
    assert "4 letters, k = 3, rows of 17 tokens, one layer, width 8, one head, no MLP, 256 rows a step" in text
    assert "at most 500 steps" in text
    assert "256 rows a step, 500 steps, AdamW at 0.003" in sizes([(ModelConfig(), TrainConfig())], stops=False)


def test_every_sweep_says_something_of_its_data():
    assert all(sizes(preset.variants.values()).startswith("vocabulary") for preset in SWEEPS.values())
