"""Presets of the other tasks: sizes as the papers give them, models that differ in one thing only."""

import pytest

from dynamics.experiments.tasks import PRESETS
from dynamics.model.decoder import InductionModel
from dynamics.tasks.hop import Hop


@pytest.mark.parametrize(("size", "least", "most"), [("0.8K", 750, 850), ("0.4M", 0.38e6, 0.42e6), ("50M", 49e6, 52e6)])
@pytest.mark.parametrize("kind", ["kv-shift", "vanilla"])
def test_trigram_models_have_the_parameters_of_figure_9(size, least, most, kind):
    config = PRESETS["figure-9-paper"].variants[f"{kind}.{size}"].config
    attention, mlp = 4 * config.width**2, 3 * config.width * config.mlp_width
    assert least <= config.vocab * config.width + config.n_layers * (attention + mlp) <= most
    assert config.n_layers == {"0.8K": 1, "0.4M": 2, "50M": 4}[size]


def test_trigram_parameter_count_is_that_of_the_model():
    config = PRESETS["figure-9"].variants["vanilla.0.8K"].config
    total = sum(parameter.numel() for parameter in InductionModel(config).parameters())
    norms = (2 * config.n_layers + 1) * config.width
    assert total - norms == 31 * 8 + 4 * 8**2 + 3 * 8 * 12 == 792


@pytest.mark.parametrize("name", PRESETS)
def test_every_variant_fits_its_task_and_has_the_shift_of_its_name(name):
    for label, (config, training) in PRESETS[name].variants.items():
        training.task.check(config.vocab)
        assert config.shift == ("kv" if label.startswith("kv-shift") else "none")


def test_hop_preset_of_the_papers_size_has_the_cited_settings():
    for config, training in PRESETS["hop-k-paper"].variants.values():
        assert training.task == Hop(symbols=4, hops=16, least_hops=0, length=99)
        assert (config.width, config.n_heads, training.learning_rate, training.warmup) == (128, 4, 1e-4, 1000)
    assert [config.n_layers for config, _ in PRESETS["hop-k-paper"].variants.values()] == [2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
