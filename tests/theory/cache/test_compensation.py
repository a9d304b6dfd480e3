"""The compensation token against loops over tokens at 50 digits, and the sharp constants of its errors; of second
order, under ALiBi and under RoPE."""

import cmath
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from tests.theory.cache.loops import dropped_tokens, log_sum
from tests.theory.cases import SEEDS, refuses
from theory.cache import compensation_alibi as alibi
from theory.cache import compensation_bounds as bounds
from theory.cache import compensation_second_order as second
from theory.cache.compensation import Token, attend_with_token, compare, log_weight, token
from theory.cache.compensation_rotary import log_gap_limit, rotate, unrotated_log_weight


@given(SEEDS, st.floats(0.1, 20))
def test_token_never_counts_more_than_the_dropped_mass_and_at_least_the_bound(seed, scale):
    rng, keys, values = dropped_tokens(seed)
    query, centre = scale * rng.normal(size=(2, keys.shape[1]))
    for start in (None, centre):
        stand_in = token(keys, values, centre=start)
        tilt = keys @ (query - (0 if start is None else start))
        gap = log_sum(keys @ query) - log_weight(query, stand_in)
        assert -1e-9 <= gap <= bounds.log_mass_bound(np.ptp(tilt)) + 1e-9


@given(SEEDS)
def test_centred_token_is_exact_at_its_centre_with_its_gradient(seed):
    rng, keys, values = dropped_tokens(seed)
    query = rng.normal(size=keys.shape[1])
    batch = token([2 * keys, keys], [2 * values, values], np.ones((2, len(keys))), [2 * query, query])
    stand_in = Token(*(part[1] for part in batch))._replace(log_mass=batch.log_mass[1] - 1)
    logits, every = np.append(keys @ query, rng.normal(size=3)), np.append(values, rng.normal(size=(3, 2)), axis=0)
    weight = log_weight(query, stand_in)
    found = compare(logits, every, np.arange(len(logits)) < len(keys), weight, stand_in.value)
    assert_allclose(found.compensated, found.full, atol=1e-12)
    for axis in np.eye(len(query)):
        up, down = (log_sum(keys @ (query + s * 1e-5 * axis)) for s in (1, -1))
        assert (up - down) / 2e-5 == approx(float(stand_in.key @ axis), abs=1e-7)


def test_compensation_refuses_bad_input_in_one_line():
    refuses(lambda: token(np.ones((0, 2)), np.ones((0, 2))), "n >= 1")
    refuses(lambda: log_weight(np.ones(3), token(np.ones((3, 2)), np.ones((3, 2)))), "query")


@given(st.floats(1e-200, 1e6))
def test_certified_log_mass_bound_holds_the_fast_one_in_a_narrow_enclosure(span):
    low, high = bounds.certified_log_mass_bound(span)
    assert low <= high <= low * (1 + 1e-15) or high < 1e-300
    assert bounds.log_mass_bound(span) == approx(low, rel=4e-15, abs=1e-300)


ONES = Token(np.ones(2), np.ones(2), np.zeros(()))
SECOND = second.second_order_token(np.ones((2, 2)), np.ones((2, 1)))


@given(SEEDS, st.floats(0.01, 5))
def test_second_order_log_mass_errs_by_at_most_its_cubic_bound(seed, scale):
    rng, keys, values = dropped_tokens(seed)
    centre, query = scale * rng.normal(size=(2, keys.shape[1]))
    stand_in = second.second_order_token(keys, values, centre=centre)
    error = abs(log_sum(keys @ query) - second.second_order_log_weight(query, stand_in))
    assert error <= bounds.second_order_bound(np.ptp(keys @ (query - centre))) + 1e-12


@given(SEEDS)
def test_second_order_output_has_the_gradient_of_the_full_head(seed):
    rng, keys, values = dropped_tokens(seed)
    centre, turn = rng.normal(size=(2, keys.shape[1]))
    kept_keys, kept_values = rng.normal(size=(3, keys.shape[1])), rng.normal(size=(3, 2))
    stand_in = second.second_order_token(keys, values, centre=centre)

    def miss(step):
        query = centre + step * turn
        weights = np.exp(np.concatenate([keys, kept_keys]) @ query)
        full = weights @ np.concatenate([values, kept_values]) / weights.sum()
        weight = second.second_order_log_weight(query, stand_in)
        value = second.second_order_value(query, stand_in)
        return float(np.linalg.norm(attend_with_token(kept_keys @ query, kept_values, weight, value) - full))

    assert miss(0.0) < 1e-12
    assert miss(1e-4) < 1e-6 * (1 + float(turn @ turn)) ** 2


@given(SEEDS, st.floats(0, 2))
def test_decayed_token_advances_to_the_token_of_all_dropped_keys(seed, slope):
    _, keys, values = dropped_tokens(seed)
    window = 3
    running = alibi.decayed_token(keys[:1], values[:1], [window], slope)
    for age in range(1, len(keys)):
        running = alibi.advance(running, keys[age], values[age], window, slope)
    distances = window + np.arange(len(keys))[::-1]
    weights = [math.exp(-slope * float(d)) for d in distances]
    assert running.log_mass == approx(math.log(math.fsum(weights)), abs=1e-12)
    for found, rows in ((running.key, keys), (running.value, values)):
        mean = sum(w * row for w, row in zip(weights, rows, strict=True)) / math.fsum(weights)
        assert_allclose(found, mean, atol=1e-12)


@given(SEEDS, st.floats(0, 3), st.floats(0.1, 10))
def test_decayed_token_errs_by_the_range_of_the_keys_alone(seed, slope, scale):
    rng, keys, values = dropped_tokens(seed)
    query = scale * rng.normal(size=keys.shape[1])
    distances = np.cumsum(rng.integers(1, 50, size=len(keys)))
    stand_in = alibi.decayed_token(keys, values, distances, slope)
    gap = log_sum(keys @ query - slope * distances) - log_weight(query, stand_in)
    assert -1e-9 <= gap <= bounds.log_mass_bound(np.ptp(keys @ query)) + 1e-9


def complex_pairs(vector):
    return [complex(a, b) for a, b in zip(vector[0::2], vector[1::2], strict=True)]


@given(SEEDS)
def test_rotation_multiplies_each_pair_by_a_complex_phase(seed):
    rng = np.random.default_rng(seed)
    vector, rates, position = rng.normal(size=6), rng.uniform(0, 1, 3), int(rng.integers(0, 1000))
    turned = complex_pairs(rotate(vector, position, rates))
    for pair, expected, rate in zip(turned, complex_pairs(vector), rates, strict=True):
        assert abs(pair - expected * cmath.exp(1j * rate * position)) < 1e-12


@given(SEEDS)
def test_unrotated_token_is_exact_for_identical_keys_and_bracketed_for_others(seed):
    rng = np.random.default_rng(seed)
    rates, n = rng.uniform(0, 1, 2), int(rng.integers(1, 9))
    distances = rng.integers(1, 1000, n)
    query, keys = rng.normal(size=4), rng.normal(size=(n, 4))

    def logit(key, distance):
        pairs = zip(complex_pairs(query), complex_pairs(key), rates, strict=True)
        return sum((q.conjugate() * k * cmath.exp(-1j * t * float(distance))).real for q, k, t in pairs)

    same = [logit(keys[0], d) for d in distances]
    assert unrotated_log_weight(query, keys[0], distances, rates) == approx(
        log_sum(same), abs=1e-11
    )
    mean = keys.mean(axis=0)
    apart = [logit(k, d) - logit(mean, d) for k, d in zip(keys, distances, strict=True)]
    true = log_sum([logit(k, d) for k, d in zip(keys, distances, strict=True)])
    gap = true - unrotated_log_weight(query, mean, distances, rates)
    assert min(apart) - 1e-11 <= gap <= max(apart) + 1e-11


def test_identical_rotated_keys_reach_the_product_of_bessel_functions():
    reach, rates = (3.0, 2.0, 1.0), 2 * math.pi * np.array([1 / 16, 1 / 17, 1 / 19])
    query, key = np.array([3.0, 0, 0, 2.0, 1.0, 0]), np.array([1.0, 0, 1.0, 0, 0, 1.0])
    positions = np.arange(16 * 17 * 19)
    turned = rotate(np.broadcast_to(key, (len(positions), 6)), positions, rates)
    assert np.abs(turned.mean(axis=0)).max() < 1e-12
    expected = math.prod(float(mp.besseli(0, a)) for a in reach)
    assert np.exp(turned @ query).mean() == approx(expected, rel=1e-9)
    assert math.exp(log_gap_limit(query, key)) == approx(expected, rel=1e-12)
    assert log_gap_limit(1e4 * query, key) < 6e4


@pytest.mark.parametrize("reach", [1e-160, 1e-8, 0.3, 0.999, 1.0, 1.001, 700.0])
def test_log_gap_limit_keeps_its_digits_for_any_key(reach):
    with mp.workdps(400):
        exact = float(mp.log(mp.besseli(0, mp.mpf(reach))))
    assert float(log_gap_limit([reach, 0.0], [1.0, 0.0])) == approx(exact, rel=2e-15, abs=0)


def test_compensation_variants_refuse_bad_input_in_one_line():
    refuses(lambda: alibi.advance(ONES, [1.0] * 2, [1.0] * 2, 0, 0.5), "window")
    refuses(lambda: alibi.advance(ONES, [1.0] * 3, [1.0] * 2, 1, 0.5), "key")
    refuses(lambda: log_gap_limit(np.ones(3), np.ones(3)), "even")
    refuses(lambda: second.second_order_log_weight(np.ones(3), SECOND), "query")
