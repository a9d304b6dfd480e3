"""The enclosed learning time against the limit flow, the flow at finite T, and the flow with scaled scores."""

from functools import partial

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp

from dynamics.flow.trajectories import gradient_flow
from tests.theory.cases import refuses
from theory.landscape.blow_up import blow_up_time
from theory.landscape.exact import learning_time, scaled_learning_time

STARTS = [(0.5, 0.5), (0.0, 0.2), (0.5, 0.0), (1.0, -0.5), (-0.5, 1.0), (2.0, -1.4)]


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
def test_scaled_time_is_that_of_the_limit_flow(start):
    found = scaled_learning_time(*start)
    assert found.value == approx(limit_time(*start), abs=1e-8)
    assert 0 < found.quadrature_error < 1e-14 * (1 + found.value)


@pytest.mark.parametrize("sigma", [0.5, 8.0])
def test_scaled_time_with_divided_scores_is_that_of_the_scaled_flow(sigma):
    assert scaled_learning_time(0.5, 0.5, sigma).value == approx(limit_time(0.5, 0.5, sigma), rel=1e-8)


@pytest.mark.parametrize("start", [(0.5, 1e-9), (0.3, -1e-9), (1e-9, 0.3)])
def test_scaled_time_is_continuous_across_its_cases(start):
    a2, b1 = start
    base = scaled_learning_time(0.0 if a2 < 1e-6 else a2, 0.0 if abs(b1) < 1e-6 else b1).value
    assert scaled_learning_time(a2, b1).value == approx(base, abs=1e-7)


def test_a_start_next_to_the_critical_point_takes_long_but_has_a_time():
    # s* = log(1 / beta1) + a constant at alpha2 = 0, and so along alpha2 at beta1 = 0
    for small in (1e-300, 1e-20):
        times = [scaled_learning_time(*start) for start in ((0.0, small), (small, 0.0), (small, small))]
        reference = scaled_learning_time(0.0, 1e-10).value
        assert times[0].value == approx(reference + np.log(1e-10 / small), abs=1e-8)
        assert times[1].value == approx(times[0].value, abs=1e-8)
        assert times[0].value - times[2].value == approx(np.log(2), abs=1e-8)
        assert all(0 < time.quadrature_error < 1e-12 for time in times)


@pytest.mark.parametrize("start", [(100.0, 1.0), (0.5, 1e300), (700.0, 2.0)])
def test_a_short_time_keeps_its_digits(start):
    """beta1 hardly moves, or alpha2 is large: s* = e^{-alpha2} / beta1 and a little less."""
    found = scaled_learning_time(*start)
    assert 0 < found.value <= np.exp(-start[0]) / start[1] * (1 + 1e-15)
    assert found.quadrature_error < 1e-15 * found.value


def test_a_start_within_rounding_of_the_boundary_is_decided():
    """beta1^2 against 2 (phi - 1) in sixteen digits more than a double has."""
    boundary = -float(np.sqrt(2 * np.exp(-1.0)))
    inside, outside = np.nextafter(boundary, 0), np.nextafter(boundary, -1)
    found = scaled_learning_time(1.0, float(inside))
    assert 36 < found.value < 37 and found.quadrature_error < 1e-14 * found.value
    refuses(lambda: scaled_learning_time(1.0, float(outside)), "side of induction")


def test_learning_time_is_a_time_with_its_two_errors_apart():
    scaled = scaled_learning_time(0.5, 0.5)
    for tokens in (4, 32, 1e6, 1e300):
        found = learning_time(0.5, 0.5, tokens)
        assert found.value == approx(scaled.value * tokens, rel=1e-15)
        assert abs(found.value - scaled.value * tokens) <= found.quadrature_error + tokens * scaled.quadrature_error
        assert found.finite_size_error is None


MEASURED = {32: (19.8, 97), 100: (21.1, 33), 1000: (24.0, 3.8), 10**4: (26.9, 0.42), 10**5: (29.7, 0.047)}


def test_the_flow_at_finite_length_is_later_by_what_the_docstring_says():
    """No bound: the quadrature error says nothing of it."""
    rows = np.full((1, 4), 0.5)
    for tokens, (later, percent) in MEASURED.items():
        limit = learning_time(0.5, 0.5, tokens)
        found = gradient_flow(rows, tokens, 3 * limit.value + 100, times=[1.0], levels=[0.1]).level_times[0][0]
        assert found - limit.value == approx(later, abs=0.06)
        assert 100 * (found / limit.value - 1) == approx(percent, rel=0.02)
        assert found - limit.value > 1e10 * limit.quadrature_error
    said = " ".join(learning_time.__doc__.split())
    assert "19.8, 21.1, 24.0, 26.9 and 29.7 at T" in said and "97, 33, 3.8, .42 and .047 %" in said


def test_blow_up_time_refuses_starts_that_do_not_learn():
    for start in (("0", "0"), ("1", "-1"), ("-1/2", "1/2"), ("0", "-1")):
        refuses(partial(blow_up_time, *start), "side of induction")
