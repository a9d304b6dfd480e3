"""The small decoder: one scored position equals all positions, sizes, attention weights, seeds."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.config import PRESETS, ModelConfig
from dynamics.model.decoder import InductionModel, build

SMALL = {"vocab": 40, "width": 16, "n_heads": 4}
CONFIGS = st.builds(
    lambda **options: ModelConfig(**SMALL, **options),
    n_kv_heads=st.sampled_from([None, 1, 2]),
    n_layers=st.integers(1, 3),
    mlp_width=st.sampled_from([0, 24]),
    window=st.integers(1, 3),
    shift=st.sampled_from(["none", "k", "v", "kv", "qkv"]),
    position=st.sampled_from(["rope", "alibi", "none"]),
)


def model_of(config: ModelConfig, seed: int = 0) -> InductionModel:
    return InductionModel(config, torch.Generator().manual_seed(seed)).double()


def rows_of(seed: int, rows: int = 3, length: int = 9) -> torch.Tensor:
    return torch.randint(0, 40, (rows, length), generator=torch.Generator().manual_seed(seed))


@given(CONFIGS, st.integers(0, 99))
def test_scored_position_alone_gives_that_row_of_all_positions_and_its_gradients(config, seed):
    model, tokens, query = model_of(config, seed), rows_of(seed), torch.tensor([seed % 9, 8, 0])
    alone, row = model(tokens, query), model(tokens)[torch.arange(3), query]
    torch.testing.assert_close(alone, row, rtol=0, atol=1e-12)
    gradients = (
        torch.autograd.grad(logits.logsumexp(-1).sum(), list(model.parameters()), allow_unused=True)
        for logits in (alone, row)
    )
    for left, right in zip(*gradients, strict=True):
        assert (left is None) == (right is None)
        if left is not None:
            torch.testing.assert_close(left, right, rtol=0, atol=1e-11)


@given(CONFIGS)
def test_attention_weights_are_probabilities_on_the_visible_tokens(config):
    query = torch.tensor([3, 8, 0])
    found = model_of(config).attention_weights(rows_of(3), query)
    assert len(found) == config.n_layers
    for weights in found:
        assert weights.shape == (3, 4, 9)
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4, dtype=torch.double), rtol=0, atol=1e-12)
        assert all(not weights[row, :, index + 1 :].any() for row, index in enumerate(query.tolist()))


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
