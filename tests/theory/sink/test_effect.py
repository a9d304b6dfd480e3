"""Exact effects of one token against the head computed without it; which values of a waiver are the best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.sink.draws import SEEDS, head, refuses, softmax
from theory import cache, sink


def parts(seed, keys=4, width=3):
    """Weight and value of token 0, the output, and the output over the others."""
    x, v = head(np.random.default_rng(seed), keys, width)
    a = softmax(x)
    return a[0], v[0], a @ v, softmax(x[1:]) @ v[1:], x, v


@given(SEEDS)
def test_presence_and_removal_are_exact(seed):
    weight, value, output, rest, _, _ = parts(seed)
    assert sink.present_effect(weight, value, rest) == pytest.approx(output - rest, abs=1e-12)
    scale = 1 / (1 - weight)
    assert sink.removed_effect(weight, value, output) == pytest.approx(rest - output, abs=1e-12 * scale)
    # the direct term alone, and a removal that forgets to renormalise
    assert np.abs(weight * value - (output - rest)).max() > 1e-12
    assert np.abs(weight * (output - value) - (rest - output)).max() > 1e-12


@given(SEEDS)
def test_eviction_score_is_the_error_that_the_cache_room_computes(seed):
    _, _, output, _, x, v = parts(seed)
    score = sink.eviction_score(softmax(x), v, np.broadcast_to(output, v.shape))
    assert score == pytest.approx(cache.eviction_errors(x, v), rel=1e-9, abs=1e-12)


@given(SEEDS)
def test_norm_score_is_what_zeroing_the_value_costs(seed):
    weight, value, output, _, x, v = parts(seed)
    v = v.copy()
    v[0] = 0.0
    moved = np.linalg.norm(softmax(x) @ v - output)
    assert sink.norm_score(weight, value) == pytest.approx(moved, abs=1e-12)


def test_the_printed_counterexample():
    found = sink.eviction_counterexample(0.9)
    assert found.weights == pytest.approx([0.9, 0.05, 0.05]) and found.values == pytest.approx([0, 1, -0.5])
    assert found.norm_scores == pytest.approx([0, 0.05, 0.025])
    assert found.errors == pytest.approx([9 / 40, 39 / 760, 21 / 760], abs=1e-15)
    assert found.norm_scores.argmin() == found.errors.argmax() == 0


@given(st.floats(0.01, 0.99))
def test_the_sink_is_the_worst_to_evict_from_its_threshold_on(weight):
    found = sink.eviction_counterexample(weight)
    x, v = np.log(found.weights), found.values[:, None]
    assert found.errors == pytest.approx(cache.eviction_errors(x, v), rel=1e-9)
    assert found.norm_scores.argmin() == 0
    threshold = (np.sqrt(33) - 3) / 4
    if abs(weight - threshold) > 1e-9:
        assert (found.errors.argmax() == 0) == (weight > threshold)


def squared(weights, rests, value, target):
    outputs = weights[:, None] * value + (1 - weights)[:, None] * rests
    return ((outputs - target) ** 2).sum(-1).mean()


@given(SEEDS, st.integers(2, 6))
def test_the_best_values_leave_less_than_every_other(seed, count):
    rng = np.random.default_rng(seed)
    weights, rests = rng.uniform(0.1, 0.9, count), rng.normal(size=(count, 2))
    for best, target in ((sink.no_effect_value(weights, rests), rests), (sink.no_op_value(weights, rests), 0.0)):
        least = squared(weights, rests, best, target)
        # exact: a quadratic in v with Hessian 2 E a^2
        step = rng.normal(size=2)
        for size in (-1.0, 1e-3, 2.0):
            more = (weights**2).mean() * (size * step) @ (size * step)
            assert squared(weights, rests, best + size * step, target) == pytest.approx(least + more, abs=1e-11)


@given(SEEDS, st.floats(0.05, 0.95))
def test_at_one_weight_the_best_values_are_means(seed, weight):
    rests = np.random.default_rng(seed).normal(size=(5, 2))
    weights = np.full(5, weight)
    mean = rests.mean(0)
    assert sink.no_effect_value(weights, rests) == pytest.approx(mean, abs=1e-12)
    assert sink.no_op_value(weights, rests) == pytest.approx(-(1 - weight) / weight * mean, abs=1e-11)
    assert sink.no_op_value(weights, rests - mean) == pytest.approx([0, 0], abs=1e-12)


def test_where_the_weight_varies_the_plain_means_are_not_the_best():
    # centred outputs, and yet the waiver's value 0 is not the best: weight and output go together
    weights, rests = np.array([0.2, 0.9]), np.array([[1.0], [-1.0]])
    for best, plain, target in (
        (sink.no_effect_value(weights, rests), rests.mean(0), rests),
        (sink.no_op_value(weights, rests), np.zeros(1), 0.0),
    ):
        assert squared(weights, rests, best, target) < squared(weights, rests, plain, target) - 1e-3
    assert sink.no_op_value(weights, rests) == pytest.approx([-0.07 / 0.85], abs=1e-14)


@given(SEEDS)
def test_removing_a_token_without_a_value_rescales_the_output(seed):
    _, _, _, rest, x, v = parts(seed)
    v = v.copy()
    v[0] = 0.0
    weight = softmax(x)[0]
    assert sink.removal_scale(weight) * (softmax(x) @ v) == pytest.approx(rest, rel=1e-9)
    assert sink.removal_scale([0.9, 0.99]) == pytest.approx([10, 100])
    # not 1/tau
    assert abs(sink.removal_scale(weight) * weight - 1) > 1e-9 or weight == pytest.approx(0.5)


def test_effect_broadcasts_over_weights_and_rows():
    found = sink.present_effect(np.full((3, 1), 0.5), np.ones((4, 2)), np.zeros(2))
    assert found.shape == (3, 4, 2) and (found == 0.5).all()
    assert sink.norm_score(np.full((3, 1), 0.5), np.ones((4, 1))).shape == (3, 4)


def test_rows_that_do_not_broadcast_are_named():
    rows, one = np.ones((4, 5, 2)), np.ones(2)
    told = r"^the shapes do not broadcast: weight \(3,\), value \(4, 5\)"
    refuses(lambda: sink.present_effect([0.5] * 3, rows, one), told + r", rest \(\)$")
    refuses(lambda: sink.removed_effect([0.5] * 3, rows, one), told + r", output \(\)$")
    refuses(lambda: sink.norm_score([0.5] * 3, rows), told + "$")
    told = r"^the shapes do not broadcast: weight \(\), value \(4, 5\)"
    refuses(lambda: sink.present_effect(0.5, rows, np.ones((3, 2))), told + r", rest \(3,\)$")
    refuses(lambda: sink.removed_effect(0.5, rows, np.ones((3, 2))), told + r", output \(3,\)$")


def test_effect_refuses_in_one_line():
    refuses(lambda: sink.eviction_score([0.5] * 2, np.ones((3, 1)), np.ones((3, 1))), "the shapes do not broadcast")
