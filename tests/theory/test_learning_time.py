"""The enclosed learning time against the limit flow, the flow at finite T, and the flow with scaled scores."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from dynamics.flow import gradient_flow
from theory.landscape import learning_time
from theory.landscape_slice import full_leading_excess
from theory.landscape_time import blow_up_time, velocity
from theory.symbols import alpha2, beta1

STARTS = [(0.5, 0.5), (1.0, 1.0), (0.0, 0.2), (0.5, 0.0), (1.0, -0.5), (-0.5, 1.0), (0.01, 0.0), (2.0, -1.4)]


def limit_time(a2, b1, sigma=1.0, far=25.0):
    """Time at which the limit flow has alpha2 = far, integrated by scipy with e^{-alpha2 / sigma} as the variable."""

    def rhs(_, z):
        growth = np.exp(z[0] / sigma)
        return [z[1] * growth / sigma, growth - 1]

    def event(_, z):
        return z[0] / sigma - far

    event.terminal = True
    path = solve_ivp(rhs, (0, 1e3), [a2, b1], events=event, method="DOP853", rtol=1e-11, atol=1e-12)
    return path.t_events[0][0]


@pytest.mark.parametrize("start", STARTS)
def test_learning_time_is_that_of_the_limit_flow(start):
    found = learning_time(*start)
    assert found.value == pytest.approx(limit_time(*start), abs=1e-8)
    assert 0 < found.error_bound < 1e-14 * (1 + found.value)


@pytest.mark.parametrize("sigma", [0.5, 2.0, 8.0])
def test_learning_time_with_scaled_scores_is_that_of_the_scaled_flow(sigma):
    assert learning_time(0.5, 0.5, sigma).value == pytest.approx(limit_time(0.5, 0.5, sigma), rel=1e-8)


@pytest.mark.parametrize("start", [(0.5, 1e-9), (0.3, -1e-9), (1e-9, 0.3)])
def test_learning_time_is_continuous_across_its_cases(start):
    a2, b1 = start
    base = learning_time(0.0 if a2 < 1e-6 else a2, 0.0 if abs(b1) < 1e-6 else b1).value
    assert learning_time(a2, b1).value == pytest.approx(base, abs=1e-7)


def test_learning_time_falls_along_the_flow_as_time_passes():
    """s* at a later point of a path is s* at the start less the time between."""

    def rhs(_, z):
        return [z[1] * np.exp(z[0]), np.exp(z[0]) - 1]

    for start in STARTS[:6]:
        span = 0.5 * learning_time(*start).value
        later = solve_ivp(rhs, (0, span), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        assert learning_time(*later).value == pytest.approx(span, abs=1e-9)


def test_learning_time_is_the_limit_of_the_flow_at_large_n_tokens():
    rows = np.array([[0.5, 0.5, 0.5, 0.5], [0.0, 1.0, 1.0, 0.0]])
    for mode in ("free", "slice"):
        found = gradient_flow(rows, 1e6, 1e6, times=[1e6], levels=[0.1], mode=mode).level_times[0] / 1e6
        times = [learning_time(row[1], row[2]).value for row in rows]
        assert (found > times).all()
        np.testing.assert_allclose(found, times, atol=5e-5)


def test_velocity_is_descent_on_the_leading_excess():
    excess = full_leading_excess()
    for found, symbol in zip(velocity(), (alpha2, beta1), strict=True):
        assert sp.simplify(found + sp.diff(excess, symbol)) == 0
    assert excess.free_symbols == {alpha2, beta1}


@pytest.mark.parametrize("start", [("0", "0"), ("1", "-1"), ("-1/2", "1/2"), ("0", "-1"), ("-1", "-1")])
def test_blow_up_time_refuses_starts_that_do_not_learn(start):
    with pytest.raises(ValueError, match="side of induction"):
        blow_up_time(*start)


@pytest.mark.parametrize("given", [(0.5, 0.5, 0.0), (0.5, 0.5, -1.0), (np.nan, 0.5, 1.0)])
def test_learning_time_refuses_bad_numbers(given):
    with pytest.raises(ValueError, match="sigma"):
        learning_time(*given)
