"""Induction heads: named by attention alone, coefficients only up to their gauge."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.heads.named import THRESHOLD, fix_gauge, inspect, successor_attention
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.training.evaluation import as_tensors, heldout_batch

CONFIG = ModelConfig(vocab=64, width=16, n_heads=4, n_kv_heads=2, n_layers=2)
BATCH = heldout_batch(0, 40, 64, 20)
COEFFICIENT = st.floats(-10, 10).filter(lambda value: value == 0 or abs(value) > 1e-3)
SCALE = st.sampled_from([-100.0, -1.0, -0.25, 0.5, 1.0, 8.0])


def model_of(config=CONFIG, seed=0):
    return InductionModel(config, torch.Generator().manual_seed(seed)).double()


def regauge(model, layer, kv_head, key_scale, value_scale):
    """(alpha, W_K) -> (c alpha, W_K / c) and (beta, W_V) -> (c' beta, W_V / c') for one key-value head."""
    attention = model.blocks[layer].attention
    rows = slice(kv_head * attention.head_dim, (kv_head + 1) * attention.head_dim)
    with torch.no_grad():
        attention.alpha[kv_head] *= key_scale
        attention.k_proj.weight[rows] /= key_scale
        attention.beta[kv_head] *= value_scale
        attention.v_proj.weight[rows] /= value_scale


@given(st.integers(0, 1), st.integers(0, 1), SCALE, SCALE, st.sampled_from(["rope", "alibi", "none"]))
def test_gauge_changes_neither_the_logits_nor_the_report(layer, kv_head, key_scale, value_scale, position):
    config = CONFIG.model_copy(update={"position": position})
    model, other = model_of(config), model_of(config)
    regauge(other, layer, kv_head, key_scale, value_scale)
    tokens, query, _ = as_tensors(BATCH, "cpu")
    torch.testing.assert_close(model(tokens, query), other(tokens, query), rtol=0, atol=1e-11)
    for left, right in zip(inspect(model, BATCH), inspect(other, BATCH), strict=True):
        assert left.successor == pytest.approx(right.successor, abs=1e-12)
        for one, other in ((left.alpha, right.alpha), (left.beta, right.beta)):
            np.testing.assert_allclose(fix_gauge(one), fix_gauge(other), atol=1e-6)
        assert left[6:] == right[6:]


@given(st.tuples(COEFFICIENT, COEFFICIENT), SCALE)
def test_fixed_gauge_is_one_point_an_orbit(pair, scale):
    fixed = fix_gauge(pair)
    if not any(pair):
        assert fixed == pair
        return
    assert sum(map(abs, fixed)) == pytest.approx(1)
    assert max(fixed, key=abs) > 0
    assert pair[0] * fixed[1] == pytest.approx(pair[1] * fixed[0])
    assert fix_gauge(tuple(scale * c for c in pair)) == pytest.approx(fixed)


def test_successor_attention_is_a_plain_loop_over_the_rows():
    model = model_of()
    expected = np.zeros((2, 4))
    for row in range(len(BATCH.lengths)):
        tokens = torch.from_numpy(BATCH.tokens[row : row + 1, : BATCH.lengths[row]])
        query = torch.from_numpy(BATCH.query_index[row : row + 1])
        successors = np.flatnonzero(BATCH.tokens[row] == BATCH.target[row])
        assert len(successors) == 1 or BATCH.position[row] == BATCH.query_index[row]
        for layer, weights in enumerate(model.attention_weights(tokens, query)):
            expected[layer] += weights[0, :, BATCH.tokens[row].tolist().index(BATCH.target[row])].detach().numpy()
    found = torch.stack(successor_attention(model, BATCH, chunk=7)).numpy()
    np.testing.assert_allclose(found, expected / len(BATCH.lengths), atol=1e-12)


def constructed(alpha, beta, scale=80.0):
    """One layer that matches x_{T+1} with the shifted keys: width = vocab, identity matrices, no positions."""
    config = ModelConfig(vocab=32, width=32, n_heads=1, position="none")
    model = model_of(config)
    attention = model.blocks[0].attention
    with torch.no_grad():
        model.embedding.copy_(torch.eye(32))
        for projection in (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj):
            projection.weight.copy_(torch.eye(32))
        attention.q_proj.weight.mul_(scale)
        attention.alpha.copy_(torch.tensor([alpha]))
        attention.beta.copy_(torch.tensor([beta]))
    return model


def test_heads_are_named_by_attention_even_where_the_coefficients_say_otherwise():
    batch = heldout_batch(1, 60, 32, 12)
    looks_like_one = inspect(constructed((0.0, 1.0), (1.0, 0.0), scale=0.0), batch)[0]
    assert looks_like_one.key_looks_back
    assert looks_like_one.value_stays
    assert not looks_like_one.attends
    for value_stays in (True, False):
        is_one = inspect(constructed((0.0, 1.0), (1.0 * value_stays, 1.0 * (not value_stays))), batch)[0]
        assert is_one.attends and is_one.successor > 0.99 > THRESHOLD == 0.5
        assert is_one.value_stays == value_stays


def test_plain_attention_reports_the_coefficients_one_and_zero():
    config = ModelConfig(vocab=64, width=16, n_heads=4, shift="none")
    for report in inspect(model_of(config), BATCH):
        assert report.alpha == report.beta == (1.0, 0.0)
        assert not report.key_looks_back
