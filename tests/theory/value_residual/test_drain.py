"""The drain flow against its loss, its points of rest against simulated flows and against all roots of a polynomial."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx
from scipy.integrate import solve_ivp
from scipy.special import expit

from tests.theory.cases import SEEDS
from tests.theory.value_residual.draws import close, generator
from theory.value_residual import (
    drain_equilibria,
    drain_loss,
    drain_velocity,
    drained_value,
    fold_ratios,
    undecayed_norm_bound,
)
from theory.value_residual.equilibria import _folds

DECAYS = st.floats(1e-3, 3.0)
SIZES = st.floats(0.05, 20.0)


def symbolic_flow():
    """-grad F by sympy in two dimensions, v_1 = (w, 2): the expectation over a centred two-point mean of the rest."""
    v, u, w, s, rho, mu = sp.symbols("v u w s rho mu", real=True)
    a = 1 / (1 + sp.exp(-s))
    outputs = [a * (v + w) + (1 - a) * sign * rho for sign in (1, -1)] + [a * (u + 2)] * 2
    loss = sum(o**2 for o in outputs) / 4 + mu * (v**2 + u**2) / 2
    return sp.lambdify((v, u, w, s, rho, mu), [loss, *(-sp.diff(loss, x) for x in (s, v, u))], "math")


FLOW = symbolic_flow()
POINT = (st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3), st.floats(-6, 6), st.floats(0.1, 3), st.floats(0, 2))


@given(*POINT)
def test_velocity_is_minus_the_gradient_of_the_expected_loss(v, u, w, s, rho, mu):
    loss, ds, *dv = FLOW(v, u, w, s, rho, mu)
    assert drain_loss([v, u], [w, 2], s, rho**2, mu) == approx(loss, rel=1e-12)
    found = drain_velocity([v, u], [w, 2], s, rho**2, mu)
    assert close(found[0], ds) and close(found[1], dv)


@given(SEEDS, st.floats(0.01, 0.99), DECAYS)
def test_the_drained_value_is_at_rest(seed, a, mu):
    first = generator(seed).standard_normal(3)
    assert drain_loss(first, first, 0.3, 2.0) == drain_loss(first, first, 0.3, 2.0, 0.0)
    assert close(drain_velocity(first, first, 0.3, 2.0)[1], drain_velocity(first, first, 0.3, 2.0, 0.0)[1], 1e-15)
    effective = drained_value(first, a, mu)
    s = math.log(a / (1 - a))
    assert close(drain_velocity(effective - first, first, s, 1.0, mu)[1], np.zeros(3))
    assert close(drained_value(first, a, 0.0), np.zeros(3))


def run(norm, variance, mu, time, s=-4.0, v=0.0, dense=False):
    """The flow in one dimension from v and s, with v_1 = norm."""

    def velocity(_, state):
        ds, dv = drain_velocity(state[1:], [norm], state[0], variance, mu)
        return [ds, dv[0]]

    found = solve_ivp(velocity, (0, time), [s, v], method="LSODA", rtol=1e-10, atol=1e-13)
    return np.vstack([found.y, found.t]) if dense else found.y[:, -1]


def roots(ratio, mu):
    """Weights of all equilibria: (1 - a)(a^2 + mu)^2 = a mu^2 k."""
    squared = np.polymul([1.0, 0.0, mu], [1.0, 0.0, mu])
    polynomial = np.polysub(np.polymul([-1.0, 1.0], squared), [mu * mu * ratio, 0.0])
    found = np.roots(polynomial)
    return np.sort(found[(np.abs(found.imag) < 1e-7) & (found.real > 0) & (found.real < 1)].real)


@settings(max_examples=300)
@given(SIZES, SIZES, DECAYS | st.floats(0.24, 0.4))
def test_equilibria_are_the_outer_roots_and_at_rest(norm, variance, mu):
    found = drain_equilibria(norm, variance, mu)
    for s, size in (found[:2], found[2:]):
        ds, dv = drain_velocity([size - norm], [norm], s, variance, mu)
        assert abs(ds) < 1e-11 * (variance + size**2) and abs(dv[0]) < 1e-11 * norm * (1 + mu)
        assert size == approx(mu * norm / (expit(s) ** 2 + mu), rel=1e-10)
    all_roots = roots(norm**2 / variance, mu)
    low, high = expit(found.low_logit), expit(found.high_logit)
    if len(all_roots) in (1, 3) and np.diff(all_roots, prepend=0).min() > 1e-4:
        assert low == approx(all_roots[0], rel=1e-6) and high == approx(all_roots[-1], rel=1e-6)
        assert (low == high) == (len(all_roots) == 1)


@pytest.mark.parametrize(("ratio", "mu"), [(20.0, 0.02), (9.5, 0.1), (1.0, 0.05)])
def test_a_flow_from_a_low_sink_reaches_the_lowest_equilibrium(ratio, mu):
    found = drain_equilibria(math.sqrt(ratio), 1.0, mu)
    states = run(math.sqrt(ratio), 1.0, mu, 1e7, dense=True)
    assert states[0, -1] == approx(found.low_logit, abs=1e-5)
    assert math.sqrt(ratio) + states[1, -1] == approx(found.low_norm, rel=1e-5)
    assert (np.diff(states[:2]) * [[1], [-1]] >= -1e-7).all()  # the sink rises and the value falls, all the way
    if found.low_logit < found.high_logit:
        high = run(math.sqrt(ratio), 1.0, mu, 1e7, s=6.0, v=-math.sqrt(ratio))
        assert high[0] == approx(found.high_logit, abs=1e-5)


@given(st.floats(1e-4, 0.24), st.floats(0.02, 0.98))
def test_between_the_folds_there_are_three_equilibria_and_outside_one(mu, share):
    least, most = fold_ratios(mu)
    assert 0 < least < most
    inside = least ** (1 - share) * most**share
    assert len(roots(inside, mu)) == 3
    for ratio in (least * 0.9, most * 1.1):
        found = drain_equilibria(math.sqrt(ratio), 1.0, mu)
        assert found.low_logit == found.high_logit and len(roots(ratio, mu)) == 1
    between = drain_equilibria(math.sqrt(inside), 1.0, mu)
    assert between.low_logit < between.high_logit and between.low_norm > between.high_norm


@given(st.floats(1e-200, 0.2499))
def test_the_folds_are_the_roots_of_the_cubic(mu):
    for s, ratio, lost in zip(_folds(mu), fold_ratios(mu) if mu > 1e-100 else (None, None), (0, 1e-15), strict=True):
        a = expit(s)
        assert a * a * (3 - 4 * a) == approx(mu, rel=1e-11, abs=lost) and (a > 0.5) == (lost > 0)
        assert ratio is None or ratio == approx((1 + a * a / mu) ** 2 * (1 - a) / a, rel=1e-11)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.1, 4), st.floats(-4, 4), st.floats(0.1, 4), st.floats(0, 2))
def test_without_decay_the_value_drains_with_a_residual_too(norm, s, variance, share):
    """share of the effective value that is the residual's: any."""
    states = run(norm * share, variance, 0.0, 100.0, s=s, v=norm * (1 - share), dense=True)
    left = np.abs(states[1] + norm * share)  # some hundred times of each flow
    assert (left <= undecayed_norm_bound(norm, s, variance, states[2]) * (1 + 1e-6) + 1e-9).all()


def test_the_bound_without_decay_is_reached_at_a_weight_that_does_not_move():
    # a value so small beside the rest that a stays near 1
    states = run(1e-6, 1.0, 0.0, 2.0, s=20.0, dense=True)
    assert 1e-6 + states[1, -1] == approx(undecayed_norm_bound(1e-6, 20.0, 1.0, 2.0), rel=1e-5)
