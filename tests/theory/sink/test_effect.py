"""Exact effects of one token against the head computed without it; which values of a waiver are the best."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import SEEDS, head, refuses, softmax
from theory import cache, sink


def parts(seed, keys=4, width=3):
    """Weight and value of token 0, the output, and the output over the others."""
    x, v = head(seed, keys, width)
    a = softmax(x)
    return a[0], v[0], a @ v, softmax(x[1:]) @ v[1:], x, v


@given(SEEDS)
def test_presence_and_removal_are_exact(seed):
    weight, value, output, rest, _, _ = parts(seed)
    assert sink.present_effect(weight, value, rest) == approx(output - rest, abs=1e-12)
    assert sink.removed_effect(weight, value, output) == approx(rest - output, abs=1e-12 / (1 - weight))


@given(SEEDS)
def test_eviction_score_is_the_error_that_the_cache_room_computes(seed):
    _, _, output, _, x, v = parts(seed)
    score = sink.eviction_score(softmax(x), v, np.broadcast_to(output, v.shape))
    assert score == approx(cache.eviction_errors(x, v), rel=1e-9, abs=1e-12)


@given(SEEDS)
def test_norm_score_is_what_zeroing_the_value_costs_and_removal_then_rescales_the_output(seed):
    weight, value, output, rest, x, v = parts(seed)
    drained = softmax(x) @ np.concatenate([np.zeros_like(v[:1]), v[1:]])
    assert sink.norm_score(weight, value) == approx(np.linalg.norm(drained - output), abs=1e-12)
    assert sink.removal_scale(weight) * drained == approx(rest, rel=1e-9)


@given(st.floats(0.01, 0.99))
def test_the_sink_is_the_worst_to_evict_from_its_threshold_on(weight):
    found = sink.eviction_counterexample(weight)
    x, v = np.log(found.weights), found.values[:, None]
    assert found.errors == approx(cache.eviction_errors(x, v), rel=1e-9)
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
            assert squared(weights, rests, best + size * step, target) == approx(least + more, abs=1e-11)


def test_rows_that_do_not_broadcast_are_named():
    value, other, told = np.ones((4, 1, 2)), np.ones((1, 5, 2)), "do not broadcast: weight (3,), value (4, 1), "
    refuses(lambda: sink.present_effect([0.5] * 3, value, other), told + "rest (1, 5)")
    refuses(lambda: sink.removed_effect([0.5] * 3, value, other), told + "output (1, 5)")
    refuses(lambda: sink.norm_score([0.5] * 3, other), "do not broadcast: weight (3,), value (1, 5)")
