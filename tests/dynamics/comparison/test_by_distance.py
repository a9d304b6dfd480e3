"""Measured attention against the scopes: weights by distance as the model has them, bounds that random models keep."""

import numpy as np
import pytest
import torch

from dynamics.comparison.by_distance import (
    MeasuredScopes,
    bound_excess,
    head_scopes,
    largest_weights,
    read_scopes,
    write_scopes,
)
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.tasks.needles import VOCAB, text_windows
from tests.dynamics.comparison.test_policies import TEXT
from tests.dynamics.refusal import refused
from theory import alibi

CONFIG = ModelConfig(vocab=VOCAB, width=12, n_heads=3, n_layers=2, mlp_width=8, shift="none", position="alibi")


def trained_like(seed, factor=6.0, shift="none"):
    """A model with large weights and uneven gains, so that its heads look far; mixtures of both signs."""
    rng = torch.Generator().manual_seed(seed)
    model = InductionModel(CONFIG.but(shift=shift), rng).eval()
    for block in model.blocks:
        if shift != "none":
            block.attention.alpha.data = torch.randn(3, 2, generator=rng)
        block.attention.q_proj.weight.data *= factor
        block.attention_norm.weight.data = torch.rand(12, generator=rng) + 0.3
    return model


@pytest.fixture(scope="module")
def measured():
    model = trained_like(0)
    windows = [text_windows(np.random.default_rng(seed), TEXT, 3, 20) for seed in (0, 1)]
    return model, windows, largest_weights(model, windows)


def test_largest_weights_are_those_of_every_query(measured):
    model, windows, found = measured
    expected = np.zeros_like(found)
    with torch.no_grad():
        for batch in windows:
            tokens = torch.from_numpy(batch.tokens[:, :-1])
            for t in range(20):
                for layer, weights in enumerate(model.attention_weights(tokens, torch.full((3,), t))):
                    for distance in range(t + 1):
                        seen = weights[:, :, t - distance].amax(0).double().numpy()
                        expected[layer, :, distance] = np.maximum(expected[layer, :, distance], seen)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.shape == (2, 3, 20) and (found[..., -1] > 0).all()


def test_scopes_are_those_of_the_theory(measured):
    model, _, found = measured
    heads = list(head_scopes(model, 7, found))
    assert [(h.layer, h.head) for h in heads] == [(layer, head) for layer in range(2) for head in range(3)]
    block = model.blocks[1]
    w_q, w_k = (part.weight.detach().double().numpy()[4:8] for part in (block.attention.q_proj, block.attention.k_proj))
    gamma, head = block.attention_norm.weight.detach().double().numpy(), heads[4]
    spread = alibi.logit_range(w_q, w_k, gamma, norm="rms")
    assert head.logit_range == spread and head.slope == alibi.slopes(3)[1]
    assert head.sharp == alibi.scope(head.slope, spread, 1e-3) < head.spectral
    assert head.self_gap <= head.logit_range and head.printed > 0
    over = np.flatnonzero(found[1, 1] > 1e-3)
    assert head.reach == (over.max() + 1 if len(over) else 0)


@pytest.mark.parametrize("shift", ["none", "kv"])
@pytest.mark.parametrize("seed", range(4))
def test_no_weight_of_a_random_model_exceeds_its_bound(seed, shift):
    model = trained_like(seed, 3.0 * (seed + 1), shift)
    windows = [text_windows(np.random.default_rng(seed), TEXT, 4, 40)]
    for head in head_scopes(model, seed, largest_weights(model, windows)):
        assert bound_excess(head).log_excess < 1e-5
        assert all(weight <= 1e-3 for weight in head.largest[int(np.ceil(head.sharp)) :])


@pytest.mark.parametrize("seed", range(3))
def test_shifted_logits_spread_no_further_than_the_bounds_say(seed):
    # random states in place of a text: ranges and gaps of q.k' over pairs of neighbouring tokens
    model = trained_like(seed, 2.0, "kv")
    found = list(head_scopes(model, seed, np.zeros((2, 3, 4))))
    states = torch.randn(400, 12, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    for head in found:
        block = model.blocks[head.layer]
        with torch.no_grad():
            rows = slice(4 * head.head, 4 * head.head + 4)
            x = states / states.square().mean(1, keepdim=True).sqrt() * block.attention_norm.weight.double()
            q, k = (x @ part.weight.double()[rows].T for part in (block.attention.q_proj, block.attention.k_proj))
            a1, a2 = block.attention.alpha_mix().double()[head.head]
            scores = q @ k.T / 2.0
        least, most = scores.amin(1), scores.amax(1)
        spread = (abs(a1) + abs(a2)) * (most - least)
        own = a1 * scores.diagonal() + torch.minimum(a2 * least, a2 * most)
        best = torch.maximum(a1 * least, a1 * most) + torch.maximum(a2 * least, a2 * most)
        assert spread.max() <= head.logit_range and (best - own).max() <= head.self_gap <= head.logit_range + 1e-12
        assert spread.max() > 0.3 * head.logit_range  # not a bound by any margin whatever


def test_written_scopes_are_read_back_and_changed_ones_refused(tmp_path, measured):
    model, _, found = measured
    path = tmp_path / "scopes.json"
    scopes = MeasuredScopes(eps=1e-3, corpus="c", windows=6, context=20, heads=tuple(head_scopes(model, 0, found)))
    write_scopes(path, scopes)
    assert read_scopes(path) == scopes
    path.write_text(path.read_text().replace('"windows":6', '"windows":7'))
    refused("not the bytes whose sha256", read_scopes, path)


def test_models_with_other_bounds_are_refused():
    model = InductionModel(CONFIG.but(n_kv_heads=1))
    refused("ALiBi heads, each with its own keys", list, head_scopes(model, 0, np.zeros((2, 3, 4))))
