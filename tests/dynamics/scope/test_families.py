"""Every family that is read: no context, random or searched, has logits further apart than its range says."""

import pytest
import torch

from dynamics.scope.heads import checkpoint_scopes
from dynamics.weights.reader import open_checkpoint
from tests.dynamics.weights.checkpoint_files import attention
from tests.dynamics.weights.test_reader import CASES, eps_of, hf, random_model  # noqa: F401 (hf is a fixture)

LENGTH, STEPS = 12, 40


def spreads(checkpoint, layer, hidden, eps):
    """By head, how far apart the logits of one query are, from its weights: no family here but ALiBi's adds to them."""
    weights, _ = attention(checkpoint, layer, hidden, eps)
    sizes = checkpoint.layer_architecture(layer)
    distance = torch.arange(len(hidden))[:, None] - torch.arange(len(hidden))
    logits = torch.log(weights.clamp_min(1e-300))
    if sizes.slopes is not None:  # twice, as transformers' eager Falcon; of so few tokens nothing is rounded
        slopes = (1 + sizes.rounded_biases) * torch.tensor(sizes.slopes, dtype=logits.dtype)
        logits = logits + slopes[:, None, None] * distance
    seen = (distance >= 0) & (weights > 1e-290)
    top, low = (logits.masked_fill(~seen, end).amax(2) if end < 0 else logits.masked_fill(~seen, end).amin(2)
                for end in (-torch.inf, torch.inf))  # fmt: skip
    return (top - low).amax(1)


@pytest.mark.parametrize("case", CASES)
def test_no_context_exceeds_the_range(case, hf, tmp_path):  # noqa: F811
    name, config = CASES[case]
    model = random_model(hf, name, config)
    model.save_pretrained(tmp_path)
    checkpoint, eps = open_checkpoint(tmp_path), eps_of(model)
    most = {(head.layer, head.head): head.logit_range for head in checkpoint_scopes(tmp_path, eps=0.1, context=64)}
    reached = 0.0
    for layer in range(2):
        bounds = torch.tensor([most[layer, head] for head in range(6)], dtype=torch.float64)
        hidden = torch.randn(LENGTH, 24, generator=torch.Generator().manual_seed(layer), dtype=torch.float64)
        for _ in range(STEPS):
            hidden = hidden.detach().requires_grad_()
            found = spreads(checkpoint, layer, hidden, eps)
            assert (found <= bounds * (1 + 1e-9)).all()
            reached = max(reached, float((found.detach() / bounds).max()))
            (slope,) = torch.autograd.grad(found.sum(), hidden)
            hidden = hidden + 0.3 * slope / slope.norm().clamp_min(1e-12) * hidden.norm()
    assert reached > 0.1  # the search is worth its name
