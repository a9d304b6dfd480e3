"""Dropping tokens: identities and bounds against loops over tokens at 40 digits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx
from scipy.optimize import minimize

from tests.theory.cache.loops import mass, mean
from tests.theory.cases import SEEDS, refuses
from theory import alibi
from theory.cache.dropped import attend, eviction_errors, output_error_bound, truncate, value_diameter


def random_head(seed, scale=3.0):
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    dropped = rng.permutation(np.arange(n) < rng.integers(1, n))
    return scale * rng.normal(size=n), rng.normal(size=(n, width)), dropped


@given(SEEDS)
def test_truncation_parts_equal_loops_over_tokens(seed):
    logits, values, dropped = random_head(seed)
    found = truncate(logits, values, dropped)
    assert found.mass == approx(mass(logits, dropped), rel=1e-12)
    assert_allclose(found.full, mean(logits, values), atol=1e-12)
    assert_allclose(found.truncated, mean(logits[~dropped], values[~dropped]), atol=1e-12)
    part = found.mass * (found.dropped_mean - found.truncated)
    assert_allclose(found.full - found.truncated, part, atol=1e-12)


@given(SEEDS, st.floats(0, 2000))
def test_truncation_survives_logits_of_thousands(seed, shift):
    logits, values, dropped = random_head(seed)
    moved = truncate(logits + shift, values, dropped)
    assert_allclose(moved.full, attend(logits, values), rtol=1e-9, atol=1e-9)
    apart = truncate(logits - shift * dropped, values, dropped)
    assert apart.mass == approx(mass(logits - shift * dropped, dropped), rel=1e-9)


@pytest.mark.parametrize("norm", ["rms", "layer"])
@given(SEEDS)
def test_value_diameter_holds_and_is_reached_by_normalised_states(norm, seed):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(2, 6))
    w_v, gamma = rng.normal(size=(int(rng.integers(1, 4)), width)), rng.lognormal(size=width)

    def state(raw):
        raw = raw - raw.mean() if norm == "layer" else raw
        return gamma * raw / math.sqrt((raw**2).mean())

    bound = value_diameter(w_v, gamma, norm)
    starts = [*np.linalg.svd(w_v * gamma)[2], *rng.normal(size=(2, width))]
    reached = max(-2 * minimize(lambda raw: -np.linalg.norm(w_v @ state(raw)), raw).fun for raw in starts)
    assert bound * (1 - 1e-5) <= reached <= bound * (1 + 1e-9)


@given(st.floats(0.01, 3), st.floats(0.01, 1), st.integers(1, 30), st.integers(31, 200))
def test_output_bound_from_weights_is_reached_by_a_negative_head_of_width_one(product, slope, window, length):
    states = np.where(np.arange(length) < length - window, -1.0, 1.0)
    logits = -product * states - slope * np.arange(length)[::-1]
    found = truncate(logits, 1.5 * states[:, None], states < 0)
    share = alibi.dropped_mass_bound(window, slope, alibi.logit_range([[-product]], [[1.0]], [1.0]), length)
    bound = output_error_bound(share, value_diameter([[1.5]], [1.0]))
    assert np.linalg.norm(found.full - found.truncated) == approx(bound, rel=1e-9)


@given(SEEDS, st.floats(0, 60))
def test_eviction_errors_equal_leaving_each_token_out(seed, lead):
    logits, values, _ = random_head(seed)
    logits[0] += lead
    full = mean(logits, values)
    for j, error in enumerate(eviction_errors(logits, values)):
        left = np.arange(len(logits)) != j
        true = np.linalg.norm(mean(logits[left], values[left]) - full)
        assert error == approx(true, rel=1e-6, abs=1e-12)


def test_one_token_has_no_others_and_one_dimension_no_layer_norm():
    refuses(lambda: value_diameter(np.ones((2, 1)), np.ones(1), "layer"), "d must be >= 2")
    refuses(lambda: eviction_errors([0.0], [[1.0]]), "n must be >= 2")
