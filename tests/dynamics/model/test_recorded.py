"""Outputs and gradients are those recorded when attention was written three times: for one, for a stack, for a row.

`recorded.json` was written before the passes became one; a change of it is a change of what models compute. Drawn
weights are rounded to multiples of 2^-16: a logarithm or a factorisation in float32 ends otherwise elsewhere.
"""

import json
from pathlib import Path

import pytest
import torch

from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel, build
from dynamics.model.stacked import logits, stack
from tests.dynamics.model.kv_cases import attention
from tests.dynamics.model.kv_cases import tokens as random_tokens

RECORDED = Path(__file__).with_name("recorded.json")
TOLERANCE = 1e-12

ROWS = torch.tensor([0, 5, 3])
EXTRAS = {
    "every token": {},
    "one row": {"query_index": ROWS},
    "documents": {"segment_ids": torch.tensor([[0, 0, 1, 1, 1, 1], [2, 2, 2, 2, 0, 0], [0, 1, 0, 1, 1, 1]])},
    "pads": {"padding": torch.tensor([0, 2, 6])},
    "pads, one row": {"padding": torch.tensor([0, 2, 1]), "query_index": ROWS},
}
CHOICES = {
    "rope": {},
    "alibi, gate, grouped": {"position": "alibi", "parameters": "gate", "n_heads": 4, "n_kv_heads": 2},
    "qkv, four tokens": {"shift": "qkv", "window": 4, "head_dim": 2, "scale": 0.3},
    "clip, values": {"shift": "v", "parameters": "clip", "position": "none"},
    "no shift": {"shift": "none"},
}
CONFIGS = {
    "one layer": {},
    "two layers": {"n_layers": 2, "mlp_width": 12, "shift": "none"},
    "gate": {"shift": "qkv", "parameters": "gate", "position": "alibi", "n_kv_heads": 1},
    "three tokens": {"window": 3, "shift": "qkv", "position": "none"},
}
PLACES = {
    "common": {"place": "common"},
    "half": {"place": "half", "shift": "none"},
    "fused": {"place": "fused", "shift": "none"},
    "apart": {"place": "apart", "shift": "none", "n_layers": 2},
}


def seen_from(*tensors):
    """A few numbers that move with every entry."""
    return [float((t.flatten() * torch.arange(t.numel(), dtype=t.dtype).cos()).sum()) for t in tensors]


def with_gradients(out, parameters):
    weighted = (out.flatten() * torch.arange(out.numel(), dtype=out.dtype).sin()).sum()
    gradients = torch.autograd.grad(weighted, parameters, allow_unused=True)
    return seen_from(out.detach(), *(g for g in gradients if g is not None))


def of_attention(choices, extra):
    module, x = attention(3, **CHOICES[choices]), random_tokens(3, 6, 4).requires_grad_()
    numbers = with_gradients(module(x, **EXTRAS[extra]), [x, *module.parameters()])
    return numbers + seen_from(module.weights(x, **EXTRAS[extra]).detach())


def batch(models):
    generator = torch.Generator().manual_seed(5)
    return torch.randint(0, 11, (models, 4, 7), generator=generator), torch.tensor([0, 6, 3, 5])


@torch.no_grad()
def rounded(model):
    """The model in double precision, what it has drawn rounded."""
    for tensor in (*model.double().parameters(), *model.buffers()):
        tensor.copy_((tensor * 2**16).round() / 2**16)
    return model


def of_model(changes):
    model = rounded(build(ModelConfig(vocab=11, width=8, n_heads=2, **changes), torch.Generator().manual_seed(1)))
    (tokens,), rows = batch(1)
    parameters = list(model.parameters())
    return with_gradients(model(tokens, rows), parameters) + with_gradients(model(tokens), parameters)


def of_stack(changes):
    config = ModelConfig(vocab=11, width=8, n_heads=2, **changes)
    parameters = stack([rounded(InductionModel(config, torch.Generator().manual_seed(n))) for n in range(3)])
    tokens, rows = batch(3)
    return with_gradients(logits(config, parameters, tokens, rows.expand(3, -1)), list(parameters.values()))


CASES = {f"attention: {c}: {e}": (of_attention, c, e) for c in CHOICES for e in EXTRAS}
CASES |= {f"model: {name}": (of_model, changes) for name, changes in (CONFIGS | PLACES).items()}
CASES |= {f"stack: {name}": (of_stack, changes) for name, changes in CONFIGS.items()}


@pytest.mark.parametrize("name", CASES)
def test_outputs_and_gradients_are_those_recorded(name):
    made, *arguments = CASES[name]
    recorded = json.loads(RECORDED.read_text("utf-8"))[name]
    found = made(*arguments)
    size = max(1.0, *map(abs, recorded))
    assert len(found) == len(recorded)
    assert max(abs(a - b) for a, b in zip(found, recorded, strict=True)) <= TOLERANCE * size
