"""The scope is about exact arithmetic: slope times position rounded to bfloat16 exceeds it, in float32 it does not."""

import numpy as np
import pytest
import torch

from theory import alibi

TOKENS, EPS = 4096, 1e-3


def biases(dtype, slopes, tokens=TOKENS):
    """Slope times position as transformers' BLOOM forms it: a product in float32, kept in `dtype`."""
    return (torch.tensor(slopes, dtype=torch.float32)[:, None] * torch.arange(tokens)).to(dtype)


def excess(rows, slopes):
    """The largest attention to a token at its head's scope or beyond, over eps, all logits alike (D = 0), by head."""
    weights = torch.softmax(rows.double(), dim=-1).numpy()
    distances = np.arange(rows.shape[1])[::-1]
    scopes = [alibi.scope(slope, 0.0, EPS) for slope in slopes]
    return np.array([w[distances >= far].max(initial=0.0) / EPS for w, far in zip(weights, scopes, strict=True)])


SLOPES = alibi.slopes(32)


def test_rounding_positions_to_bfloat16_as_transformers_does_lets_weights_exceed_the_scope_ninety_times():
    """Positions near 4,096 times 2^-1/2 are 16 apart in bfloat16: eleven tokens share the weight of one."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    rows = build_alibi_tensor(torch.ones(1, TOKENS, dtype=torch.long), 32, torch.bfloat16)[:, 0]
    found = excess(rows, SLOPES)
    assert found.max() == pytest.approx(90.9, abs=0.1)
    assert SLOPES[int(found.argmax())] == 2**-0.5
    assert (found > 2).sum() == 4


def test_half_precision_exceeds_it_by_little_and_float32_not_at_all():
    assert 1.2 < excess(biases(torch.float16, SLOPES), SLOPES).max() < 2
    assert excess(biases(torch.float32, SLOPES), SLOPES).max() <= 1 + 1e-3


def test_slopes_whose_positions_are_numbers_of_bfloat16_keep_to_the_scope():
    slopes = [2.0**-k for k in range(9)]
    assert excess(biases(torch.bfloat16, slopes, 256), slopes).max() <= 1 + 1e-12
