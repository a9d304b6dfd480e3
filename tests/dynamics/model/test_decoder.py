"""The small decoder: one scored position equals all positions, sizes, attention weights, seeds."""

import pytest
import torch

from dynamics.model.config import PRESETS, ModelConfig
from dynamics.model.decoder import InductionModel, build

SMALL = {"vocab": 40, "width": 16, "n_heads": 4}


def rows_of(seed: int, rows: int = 3, length: int = 9) -> torch.Tensor:
    return torch.randint(0, 40, (rows, length), generator=torch.Generator().manual_seed(seed))


def test_presets_differ_only_by_four_scalars_a_head_and_by_depth():
    counts = {name: sum(p.numel() for p in InductionModel(config).parameters()) for name, config in PRESETS.items()}
    embedding = 8000 * 64
    assert counts["kv-shift"] - counts["vanilla-1"] == 4 * 4
    assert counts["vanilla-2"] - counts["vanilla-1"] == counts["vanilla-1"] - embedding - 64


@pytest.mark.parametrize("config", [*PRESETS.values(), ModelConfig(n_kv_heads=2, mlp_width=100, n_layers=3)])
def test_least_parameters_is_a_lower_bound(config):
    assert config.least_parameters() <= sum(p.numel() for p in InductionModel(config).parameters())


def test_one_generator_seed_is_one_model_and_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    for options in ({"shift": "qkv"}, {"window": 4, "initial": "matched"}, {"weights": "gate", "position": "none"},
                    {"weights": "differential"}, {"latent": {"size": 4, "rope": 2}}, {"tied": False},
                    {"place": "fused", "shift": "none"}):  # fmt: skip
        config = ModelConfig.checked(SMALL | options)
        first, second = (build(config, torch.Generator().manual_seed(4)).state_dict() for _ in range(2))
        assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(before, torch.get_rng_state())
