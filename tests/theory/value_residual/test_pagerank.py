"""The residual stack three ways: recursion, sums of powers, and the limit by a solve; and NeuTRENO beside it."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import SEEDS, refuses
from tests.theory.value_residual.draws import LAMBDAS, attention, close, generator, stack
from theory.value_residual import (
    constant_stack,
    neutreno,
    neutreno_fixed_point,
    neutreno_radius,
    neutreno_threshold,
    resformer,
    residual_stack,
    spectral_map,
    stack_limit,
)
from theory.value_residual.powers import mean_power


def drawn(seed, length=4):
    rng = generator(seed)
    return attention(rng, length, causal=bool(seed % 2)), rng.standard_normal((length, 2))


@given(SEEDS, st.integers(1, 7))
def test_the_recursion_is_eq_7_layer_by_layer(seed, layers):
    matrices, first = stack(generator(seed), layers)
    found = residual_stack(matrices, first, 1.0)
    assert found.shape == (layers, 4, 2) and close(found[0], matrices[0] @ first, 1e-15)
    for n in range(1, layers):
        assert close(found[n], resformer(matrices[n], found[n - 1], first), 1e-14)


@given(SEEDS, st.integers(2, 7), st.floats(0, 5))
def test_the_stack_is_a_mean_of_products(seed, layers, lam):
    matrices, first = stack(generator(seed), layers)
    found = residual_stack(matrices, first, lam)[-1]
    product, printed, g = np.eye(4), np.zeros((4, 2)), 1 / (1 + lam)
    for k in range(1, layers):  # A_n .. A_{n-k+1}
        product = product @ matrices[layers - k]
        printed += lam * g**k * product @ first
    rest = g ** (layers - 1) * product @ matrices[0] @ first
    assert close(found, printed + rest)


@given(SEEDS, st.floats(0, 20), st.integers(1, 40))
def test_one_matrix_has_the_closed_form_at_every_depth(seed, lam, layers):
    weights, first = drawn(seed)
    assert close(constant_stack(weights, first, lam, layers), residual_stack([weights] * layers, first, lam)[-1])


@given(SEEDS, st.floats(1e-3, 1e3))
def test_the_limit_is_a_resolvent(seed, lam):
    weights, first = drawn(seed)
    found, identity = stack_limit(weights, first, lam), np.eye(4)
    solved = lam / (1 + lam) * weights @ np.linalg.solve(identity - weights / (1 + lam), first)
    assert close(found, solved, 1e-10)
    assert close(found, constant_stack(weights, first, lam, 10**7))


@pytest.mark.parametrize("lam", [1e-3, 1e-14, 1e-250])
def test_a_small_lambda_loses_no_digits(lam):
    # rows that are exact in binary, so the truth is that of a solve with 300 digits
    weights, first = [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.0, 0.5, 0.5]], [[1.0], [-1.0], [3.0]]
    with mp.workdps(600):
        exact = mp.matrix(weights) * lam
        truth = exact * mp.lu_solve((1 + mp.mpf(lam)) * mp.eye(3) - mp.matrix(weights), mp.matrix(first))
        assert close(stack_limit(weights, first, lam), np.array(truth.tolist(), dtype=float), 1e-13)


@given(SEEDS, st.one_of(st.just(0.0), LAMBDAS), st.integers(1, 20))
def test_the_mean_power_is_a_weighted_mean_of_powers(seed, lam, count):
    weights = attention(generator(seed), 4)
    powers = [np.linalg.matrix_power(weights, k) for k in range(count + 1)]
    shares = (1 + lam) ** -np.arange(count, dtype=float)
    mean, power = mean_power(weights, lam, count)
    assert close(mean, np.tensordot(shares / shares.sum(), powers[:-1], 1)) and close(power, powers[-1])


@given(SEEDS, st.floats(-1, 1), LAMBDAS, st.integers(1, 30))
def test_the_spectral_map_is_what_becomes_of_an_eigenvector(seed, mu, lam, layers):
    # (1 + mu)/2 and (1 - mu)/2 for rows: the eigenvector (1, -1) has the eigenvalue mu
    weights, vector = np.array([[1 + mu, 1 - mu], [1 - mu, 1 + mu]]) / 2, np.array([[1.0], [-1.0]])
    assert close(constant_stack(weights, vector, lam, layers), spectral_map(mu, lam, layers) * vector, 1e-13)
    assert close(stack_limit(weights, vector, lam), spectral_map(mu, lam) * vector, 1e-13)
    assert spectral_map(mu, lam) == approx(mu * lam / (1 + lam - mu), rel=1e-12)
    assert spectral_map(mu, 0.0, layers) == approx(mu**layers, rel=1e-12)


@given(SEEDS, st.floats(0, 5))
def test_neutreno_is_its_printed_form(seed, lam):
    rng = generator(seed)
    weights, values, first = attention(rng, 4), rng.standard_normal((4, 2)), rng.standard_normal((4, 2))
    found = neutreno(weights, values, first, lam)
    assert close(found, weights @ values + lam * (first - values), 1e-14)


@given(SEEDS, st.floats(1e-3, 1e3))
def test_the_fixed_point_is_fixed_and_a_step_short_of_the_stack(seed, lam):
    weights, first = drawn(seed)
    fixed = neutreno_fixed_point(weights, first, lam)
    assert np.abs(neutreno(weights, fixed, first, lam) - fixed).max() < 1e-12 * max(1, lam)
    assert close(fixed, lam * np.linalg.solve((1 + lam) * np.eye(4) - weights, first), 1e-10)
    assert close(stack_limit(weights, first, lam), weights @ fixed)


def iterated(weights, first, lam, layers, state=None):
    state = np.zeros_like(first) if state is None else state
    for _ in range(layers):
        state = neutreno(weights, state, first, lam)
    return state


@given(SEEDS, st.floats(0.02, 2.5))
def test_a_stack_converges_where_the_radius_is_below_1_and_only_there(seed, lam):
    weights, first = drawn(seed)
    radius, fixed = neutreno_radius(weights, lam), neutreno_fixed_point(weights, first, lam)
    assert (radius < 1) == (lam < neutreno_threshold(weights)) or abs(radius - 1) < 1e-12
    if radius < 0.9:
        assert np.abs(iterated(weights, first, lam, 500) - fixed).max() < 1e-9
    if radius > 1.05:
        early = iterated(weights, first, lam, 200)
        late = iterated(weights, first, lam, 200, early)
        assert np.abs(late - fixed).max() > 100 * np.abs(early - fixed).max()


@given(SEEDS, st.integers(2, 6))
def test_a_causal_stack_is_stable_below_1_plus_the_least_own_weight(seed, length):
    weights = attention(generator(seed), length, causal=True)
    own = np.diag(weights).min()
    assert neutreno_threshold(weights) == approx(1 + own, abs=1e-9)
    assert neutreno_radius(weights, 1 + 0.99 * own) < 1 < neutreno_radius(weights, 1.01 + own)


def test_the_swap_of_two_tokens_is_never_stable_and_a_cycle_up_to_a_point():
    swap = [[0.0, 1.0], [1.0, 0.0]]
    assert neutreno_threshold(swap) == 0.0 and neutreno_radius(swap, 0.4) == approx(1.4)
    weights = 0.8 * np.eye(3) + 0.2 * np.roll(np.eye(3), 1, 1)  # eigenvalues 1 and 0.7 +- i sqrt(0.03)
    assert neutreno_threshold(weights) == approx(0.7 + np.sqrt(0.97))


def test_an_endless_stack_without_a_residual_is_refused():
    refuses(lambda: spectral_map(0.5, 0.0), "lam must be a finite number > 0, got 0.0")
