"""A stack of models is each of them: scored, at every position, and in packed documents, for every variant."""

import pytest
import torch

from dynamics.model import stacked
from dynamics.model.config import Past
from dynamics.model.decoder import InductionModel
from tests.dynamics.model.variants import PASTS, VALUES, VOCAB, WEIGHTS, model, named

CASES = {name: {"values": name} for name in VALUES}
CASES |= {name: {"past": past} for name, past in PASTS.items()}
CASES |= {weights: {"weights": weights, "n_kv_heads": 2} for weights in WEIGHTS}
CASES |= {f"{shift} shift": {"shift": shift, "window": 3} for shift in ("none", "k", "v", "kv", "qkv")}
CASES |= {position: {"position": position} for position in ("alibi", "learned", "none")}
CASES |= {
    f"{start} start, {name}": {"start": start, "past": PASTS[name], "shift": "qkv"}
    for start in ("carried", "learnt")
    for name in ("smear", "canon", "key offset")
}
CASES["untied"] = {"tied": False}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request):
    """Three models, their stack, and a batch for each."""
    config = named(**request.param)
    models = [model(config, seed) for seed in range(3)]
    draw = torch.Generator().manual_seed(1)
    tokens = torch.randint(VOCAB, (3, 4, 9), generator=draw)
    segments = (torch.rand(3, 4, 9, generator=draw) < 0.3).long().cumsum(-1)
    return config, models, stacked.stack(models), tokens, segments


def close(found, wanted):
    torch.testing.assert_close(found, torch.stack(wanted), rtol=0, atol=1e-10)


@torch.no_grad()
def test_each_model_of_a_stack_gives_its_own_logits(case):
    config, models, parameters, tokens, segments = case
    rows = torch.randint(9, (3, 4), generator=torch.Generator().manual_seed(2))
    close(stacked.logits(config, parameters, tokens), [one(x) for one, x in zip(models, tokens, strict=True)])
    each = zip(models, tokens, rows, strict=True)
    close(stacked.logits(config, parameters, tokens, rows), [one(x, row) for one, x, row in each])
    each = zip(models, tokens, segments, strict=True)
    packed = [one(x, segment_ids=ids) for one, x, ids in each]
    close(stacked.logits(config, parameters, tokens, segment_ids=segments), packed)


@torch.no_grad()
def test_a_coefficient_of_another_model_is_noticed(case):
    config, models, parameters, tokens, _ = case
    swapped = {name: p.flip(0) if p.shape[1:] == () or "past" in name else p for name, p in parameters.items()}
    if all(torch.equal(swapped[name], p) for name, p in parameters.items()):
        swapped = {name: p.flip(0) for name, p in parameters.items()}
    wrong = stacked.logits(config, swapped, tokens)[0]
    assert (wrong - models[0](tokens[0])).abs().max() > 1e-6


def test_gradients_reach_the_coefficients_of_every_model():
    config = named(past=(Past(at="embedding", per="one"), Past(at="hidden", window=3)))
    models = [InductionModel(config, torch.Generator().manual_seed(seed)) for seed in range(2)]
    parameters = stacked.stack(models)
    stacked.logits(config, parameters, torch.randint(VOCAB, (2, 3, 5))).square().mean().backward()
    for name in ("smear", "blocks.0.past.hidden"):
        assert (parameters[name].grad.flatten(1).abs().sum(1) > 0).all()
