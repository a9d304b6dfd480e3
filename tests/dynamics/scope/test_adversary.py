"""The adversary itself: its states are post-norm states, its softmax a softmax."""

import math

import numpy as np
import pytest
import torch

from dynamics.scope import adversary
from dynamics.scope.adversary_ascent import ascend
from dynamics.scope.adversary_context import Context, heads, random_contexts
from tests.dynamics.scope.adversary_cases import KINDS, ULPS, Batch
from tests.theory.alibi.drawn_heads import weights_of
from theory import alibi


def batch_of(norm, biased):
    return Batch(np.random.default_rng([0, biased, norm == "rms"]), norm, biased, 4, (5, 3))


def test_ascent_finds_the_top_of_every_row_whatever_its_curvature():
    target = torch.randn(6, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    steep = torch.logspace(-3, 3, 24, dtype=torch.float64).reshape(6, 4, 1) * torch.linspace(1, 30, 5).double()
    found = ascend(lambda x: -(steep * (x - target) ** 2).sum(-1), torch.zeros_like(target))
    assert (found - target).abs().max() < 1e-6


@pytest.mark.parametrize(("norm", "biased"), KINDS)
def test_contexts_are_admissible_and_their_weights_a_plain_softmax(norm, biased):
    batch = batch_of(norm, biased)
    stack = batch.stack
    found = [
        *adversary.heaviest_weights(stack, [3, 1, 8, 2]),
        *adversary.heaviest_masses(stack, [3, 1, 8, 2], [20, 9, 11, 4]),
        *random_contexts(stack, 9),
    ]
    for i, context in zip([0, 1, 2, 3] * 3, found, strict=True):
        one = batch.arguments[i]
        x = context.states.numpy()
        z = (x - (one["norm_bias"] if biased else 0.0)) / one["gamma"]
        np.testing.assert_allclose((z**2).sum(axis=1), z.shape[1], rtol=1e-9)
        assert norm == "rms" or np.abs(z.sum(axis=1)).max() < 1e-9
        np.testing.assert_array_equal(context.distances, np.arange(len(x))[::-1])
        np.testing.assert_allclose(context.weights, weights_of(one, batch.slopes[i], x[-1], x), rtol=1e-9, atol=1e-300)
        assert context.weight(1) == context.weights[-2] and context.mass(0) == pytest.approx(1)
        assert context.mass(1) == pytest.approx(1 - float(context.weights[-1]), abs=1e-12)


def test_a_norm_with_an_epsilon_keeps_the_range_and_enlarges_the_gap():
    """N = c I: the own logit is the best on the sphere, and half way to its centre lies c d / 4 below the best."""
    eye = np.eye(4)
    for ball, gap in ((False, 0.0), (True, 2 * 4 / 4)):
        stack = heads(eye, 4.0 * eye, np.ones(4), norm="rms", slope=0.3, ball=ball)
        assert float(adversary.largest_gaps(stack)) == pytest.approx(gap, abs=1e-9)
        assert float(adversary.largest_ranges(stack)) == pytest.approx(alibi.logit_range(eye, 4 * eye, np.ones(4)))
        found = adversary.heaviest_weights(stack, [2], masked=True)[0]
        assert found.weight(2) == pytest.approx(alibi.masked_weight_bound(2, 0.3, gap), rel=1e-9)
        found = adversary.heaviest_weights(stack, [1])[0]
        wide = alibi.logit_range(eye, 4 * eye, np.ones(4))
        assert found.weight(1) <= alibi.weight_bound(1, 0.3, wide)
        with_gap = alibi.weight_bound(1, 0.3, wide, alibi.self_gap(eye, 4 * eye, np.ones(4)))
        assert (found.weight(1) > ULPS * with_gap) == ball


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_a_norm_with_an_epsilon_keeps_the_gap_where_a_direction_is_not_seen(norm):
    """d_model > 2 d_head + 1: a state inside the ball has the logits of one on the sphere. At 2 d_head it need not."""
    rng = np.random.default_rng(4)
    w_q, w_k = rng.standard_normal((2, 2, 6))
    for key in (w_k, w_q):  # the second: the own logit is the best on the sphere but for its unseen part
        stack = heads(w_q, key, np.ones(6), norm=norm, slope=0.3, ball=True)
        found = float(adversary.largest_gaps(stack))
        assert found == pytest.approx(alibi.self_gap(w_q, key, np.ones(6), norm=norm), rel=1e-7)


def test_a_context_of_any_length_is_long_enough():
    stack = batch_of("layer", True).stack
    found = adversary.heaviest_masses(stack, [3] * 4)
    for context, slope in zip(found, stack.slope, strict=True):
        assert float(slope) * (len(context.weights) - 3) >= 40


def test_weights_of_a_thousand_logits_stay_finite():
    stack = heads(1000 * np.eye(2), -np.eye(2), np.ones(2), slope=0.5)
    found = adversary.heaviest_weights(stack, [7])[0]
    assert found.weight(7) == pytest.approx(1.0) and math.isfinite(found.mass(1))


def test_a_mass_is_at_most_one_however_its_shares_round():
    shares = torch.full((7,), 1 / 7, dtype=torch.float64) * (1 + 2**-50)
    context = Context(torch.zeros(1, 2), torch.zeros(7, dtype=torch.long), torch.arange(7).flip(0), shares)
    assert shares.sum() > 1 and context.mass(0) == 1.0 and context.mass(1) < 1
