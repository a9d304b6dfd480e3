"""The small decoder: sizes, seeds, and outputs and gradients that were recorded when attention was written three times.

`recorded.json` was written before the passes became one; a change of it is a change of what models compute. Drawn
weights are rounded to multiples of 2^-16: a logarithm or a factorisation in float32 ends otherwise elsewhere.
"""

import json
from pathlib import Path

import pytest
import torch

from dynamics.model.config import PRESETS, ModelConfig
from dynamics.model.decoder import InductionModel, build

SMALL = {"vocab": 40, "width": 16, "n_heads": 4}


def rows_of(seed):
    return torch.randint(0, 40, (3, 9), generator=torch.Generator().manual_seed(seed))


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


RECORDED = Path(__file__).with_name("recorded.json")
TOLERANCE = 1e-12
CONFIGS = {
    "one layer": {},
    "two layers": {"n_layers": 2, "mlp_width": 12, "shift": "none"},
    "gate": {"shift": "qkv", "parameters": "gate", "position": "alibi", "n_kv_heads": 1},
    "three tokens": {"window": 3, "shift": "qkv", "position": "none"},
    "common": {"place": "common"},
    "half": {"place": "half", "shift": "none"},
    "fused": {"place": "fused", "shift": "none"},
    "apart": {"place": "apart", "shift": "none", "n_layers": 2},
}


@torch.no_grad()
def rounded(model):
    """The model in double precision, what it has drawn rounded."""
    for tensor in (*model.double().parameters(), *model.buffers()):
        tensor.copy_((tensor * 2**16).round() / 2**16)
    return model


def numbers(out, parameters):
    """A few numbers that move with every entry of an output and its gradients."""
    weighted = (out.flatten() * torch.arange(out.numel(), dtype=out.dtype).sin()).sum()
    gradients = torch.autograd.grad(weighted, parameters, allow_unused=True)
    seen = [out.detach(), *(g for g in gradients if g is not None)]
    return [float((t.flatten() * torch.arange(t.numel(), dtype=t.dtype).cos()).sum()) for t in seen]


@pytest.mark.parametrize("name", CONFIGS)
def test_outputs_and_gradients_are_those_recorded(name):
    config = ModelConfig(vocab=11, width=8, n_heads=2, **CONFIGS[name])
    model = rounded(build(config, torch.Generator().manual_seed(1)))
    tokens, rows = torch.randint(0, 11, (4, 7), generator=torch.Generator().manual_seed(5)), torch.tensor([0, 6, 3, 5])
    parameters = list(model.parameters())
    found = numbers(model(tokens, rows), parameters) + numbers(model(tokens), parameters)
    recorded = json.loads(RECORDED.read_text("utf-8"))[name]
    assert found == pytest.approx(recorded, rel=0, abs=TOLERANCE * max(1.0, *map(abs, recorded)))
