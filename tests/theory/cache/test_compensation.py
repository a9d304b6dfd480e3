"""The compensation token against loops over tokens at 50 digits, and the sharp constants of its errors."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cache.loops import dropped_tokens, log_sum
from tests.theory.cases import refuses
from theory.cache import compensation as comp
from theory.cache import compensation_bounds as bounds

seeds = st.integers(0, 10**6)


@given(seeds, st.floats(0.1, 20))
def test_token_never_counts_more_than_the_dropped_mass_and_at_least_the_bound(seed, scale):
    rng, keys, values = dropped_tokens(seed)
    query, centre = scale * rng.normal(size=(2, keys.shape[1]))
    for start in (None, centre):
        stand_in = comp.token(keys, values, centre=start)
        tilt = keys @ (query - (0 if start is None else start))
        gap = log_sum(keys @ query) - comp.log_weight(query, stand_in)
        assert -1e-9 <= gap <= bounds.log_mass_bound(np.ptp(tilt)) + 1e-9


@given(seeds)
def test_centred_token_is_exact_at_its_centre_with_its_gradient(seed):
    rng, keys, values = dropped_tokens(seed)
    query = rng.normal(size=keys.shape[1])
    stand_in = comp.token(keys, values, centre=query)
    logits, every = np.append(keys @ query, rng.normal(size=3)), np.append(values, rng.normal(size=(3, 2)), axis=0)
    weight = comp.log_weight(query, stand_in)
    found = comp.compare(logits, every, np.arange(len(logits)) < len(keys), weight, stand_in.value)
    np.testing.assert_allclose(found.compensated, found.full, atol=1e-12)
    for axis in np.eye(len(query)):
        up, down = (log_sum(keys @ (query + s * 1e-5 * axis)) for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(float(stand_in.key @ axis), abs=1e-7)


def test_smallest_head_that_compensation_makes_worse():
    logits, values = np.log([2.0, 0.5, 1.0]), np.array([[1.0], [-4.0], [0.0]])
    found = comp.compare(logits, values, [True, True, False], math.log(2), [-1.5])
    assert found.full == pytest.approx([0], abs=1e-15) and found.truncated == pytest.approx([0])
    assert found.compensated == pytest.approx([-1.0])


@given(seeds)
def test_token_of_a_batch_equals_each_head_alone(seed):
    rng = np.random.default_rng(seed)
    keys, values = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 5, 2))
    biases, centre = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3, 4))
    whole = comp.token(keys, values, biases, centre)
    alone = comp.token(keys[1, 2], values[1, 2], biases[1, 2], centre[1, 2])
    for found, expected in zip(whole, alone, strict=True):
        np.testing.assert_allclose(found[1, 2], expected, atol=1e-13)


def test_compensation_refuses_bad_input_in_one_line():
    refuses(lambda: comp.token(np.ones((0, 2)), np.ones((0, 2))), "n >= 1")
    refuses(lambda: comp.token(np.ones(3), np.ones(3)), "must agree")
    refuses(lambda: comp.log_weight(np.ones(3), comp.token(np.ones((3, 2)), np.ones((3, 2)))), "query")
    refuses(lambda: comp.compare([0.0, 1.0], np.ones((2, 1)), [True, True], 0.0, [1.0]), "at least one")


def test_log_mass_bound_of_equal_logits_is_zero():
    assert bounds.log_mass_bound(0.0) == 0.0


@given(st.floats(1e-9, 5000))
def test_log_mass_kernels_are_the_largest_gap_of_two_points_and_its_place(span):
    """The gap log(1 + s (e^r - 1)) - s r of a share s has slope 0 where 1 + s (e^r - 1) = (e^r - 1)/r."""
    with mp.workdps(80):
        growth = mp.expm1(mp.mpf(span))
        share = (growth / span - 1) / growth
        for found, truth in (
            (bounds.worst_share(span), share),
            (bounds.log_mass_bound(span), mp.log1p(share * growth) - share * span),
        ):
            assert abs(float(found) - truth) <= 2e-15 * truth


@given(st.floats(1e-200, 1e6))
def test_certified_log_mass_bound_holds_the_fast_one_in_a_narrow_enclosure(span):
    low, high = bounds.certified_log_mass_bound(span)
    assert low <= high <= low * (1 + 1e-15) or high < 1e-300
    assert bounds.log_mass_bound(span) == pytest.approx(low, rel=4e-15, abs=1e-300)
