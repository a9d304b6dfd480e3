"""The two conditions for a critical point of the slice, and the late velocities, against the gradient."""

import numpy as np
import pytest
import sympy as sp

from theory import landscape
from theory.landscape.late_rates import late_state, late_velocity
from theory.landscape.slice_critical import conditions, x
from theory.lowering.numeric import numeric
from theory.symbols import beta1, n_tokens

POINTS = np.random.default_rng(0).uniform([-1.5, -5.0, 4.0], [2.5, 4.0, 60.0], (200, 3))


def test_conditions_are_a_combination_of_the_slopes():
    a, b, tokens = POINTS.T
    first, second = np.moveaxis(numeric(conditions(), [x, beta1, n_tokens])(np.exp(-a), b, tokens), -1, 0)
    g = landscape.gradient(a, 1 - a, b, 1 - b, tokens)
    partition = 2 * np.exp(a) + np.exp(1 - a) + tokens - 2
    scale = partition * np.exp(landscape.loss(a, 1 - a, b, 1 - b, tokens))
    rise = (2 * np.exp(a) - np.exp(1 - a)) / partition
    slope_a, slope_b = scale * (g[:, 0] - g[:, 1]), scale * (g[:, 2] - g[:, 3])
    np.testing.assert_allclose(first, np.exp(-a) * slope_b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(second, slope_a + b * (rise - 1) * slope_b, rtol=1e-8, atol=1e-8)


def test_conditions_are_finite_at_infinite_alpha1():
    first, second = conditions(sp.Integer(9))
    # there w_i = e^b, w_e = 2 e^{(1 - b)/2}, w_o = 5 and the first condition is 2 w_i - w_e
    assert sp.simplify(first.subs(x, 0) - 2 * sp.exp(beta1) + 2 * sp.exp((1 - beta1) / 2)) == 0
    assert second.subs({x: 0, beta1: sp.Rational(1, 3)}).evalf() > 0


@pytest.mark.parametrize("tokens", [5, 30])
def test_late_velocity_is_the_ratio_of_slopes(tokens):
    for state in ((0.3, 2.5, -0.7), (-1.0, 4.0, 0.5)):
        for b in (0.5, 3.0, 9.0):
            g = landscape.gradient(state[0], state[1], b, state[2], tokens)
            found = late_velocity(np.log(b), np.array(state), tokens)
            np.testing.assert_allclose(found, b * g[[0, 1, 3]] / g[2], rtol=1e-9)


def test_late_state_is_where_the_velocities_balance():
    state = late_state(1e8, 9)
    velocity = late_velocity(np.log(1e8), np.array([-40.0, state.alpha2, state.beta2]), 9)
    np.testing.assert_allclose(velocity[1:], [2.0, -1.0], atol=1e-6)
    assert state.alpha1_slope == 0.5


def test_late_state_refuses_bad_numbers():
    with pytest.raises(ValueError, match="beta1 must be a finite number > 0"):
        late_state(0.0, 9)
