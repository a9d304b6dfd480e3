"""The slice of Figure 2 in symbols: its loss and gradients, its critical points, its branches."""

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose, assert_array_equal

from theory import landscape
from theory.landscape import printed
from theory.landscape.late_rates import late_velocity
from theory.landscape.printed import EQUATION, EXACT, LISTING
from theory.landscape.slice_branches import FOLD_BETA1, branch
from theory.landscape.slice_critical import conditions, x
from theory.landscape.slice_symbolic import (
    exact_terms,
    loss,
    slipped_terms,
    slope_sign,
)
from theory.landscape.symbolic import interior_table
from theory.lowering.numeric import numeric
from theory.symbols import alpha1, beta1, n_tokens

POINTS = [(0.0, 1.0), (0.3, 0.6), (1.0, 0.0), (0.8, 0.9)]


def value(expr, a, b):
    return float(expr.subs({alpha1: sp.Float(a, 30), beta1: sp.Float(b, 30)}).evalf(20))


@pytest.mark.parametrize("tokens", [4, 9])
def test_exact_terms_give_the_loss_of_the_kernels(tokens):
    expr = loss(exact_terms(interior_table(sp.Integer(tokens))))
    for a, b in POINTS:
        assert value(expr, a, b) == pytest.approx(float(landscape.loss(a, 1 - a, b, 1 - b, tokens)), abs=1e-13)


@pytest.mark.parametrize("slips", [EXACT, EQUATION, LISTING])
def test_slipped_terms_give_the_printed_loss(slips):
    expr = loss(slipped_terms(sp.Integer(3), slips))
    for a, b in POINTS:
        assert value(expr, a, b) == pytest.approx(printed.loss(a, b, 3, slips), abs=1e-13)


def test_slope_sign_has_the_sign_of_the_slope():
    terms = exact_terms(interior_table(sp.Integer(4)))
    for a in np.linspace(0, 1, 7):
        for b in np.linspace(0, 1, 7):
            g = landscape.gradient(a, 1 - a, b, 1 - b, 4)
            assert np.sign(value(slope_sign(terms, alpha1), a, b)) == np.sign(g[0] - g[1])
            assert np.sign(value(slope_sign(terms, beta1), a, b)) == np.sign(g[2] - g[3])


ANYWHERE = np.random.default_rng(0).uniform([-1.5, -5.0, 4.0], [2.5, 4.0, 60.0], (200, 3))


def test_conditions_are_a_combination_of_the_slopes():
    a, b, tokens = ANYWHERE.T
    first, second = np.moveaxis(numeric(conditions(), [x, beta1, n_tokens])(np.exp(-a), b, tokens), -1, 0)
    g = landscape.gradient(a, 1 - a, b, 1 - b, tokens)
    partition = 2 * np.exp(a) + np.exp(1 - a) + tokens - 2
    scale = partition * np.exp(landscape.loss(a, 1 - a, b, 1 - b, tokens))
    rise = (2 * np.exp(a) - np.exp(1 - a)) / partition
    slope_a, slope_b = scale * (g[:, 0] - g[:, 1]), scale * (g[:, 2] - g[:, 3])
    assert_allclose(first, np.exp(-a) * slope_b, rtol=1e-9, atol=1e-9)
    assert_allclose(second, slope_a + b * (rise - 1) * slope_b, rtol=1e-8, atol=1e-8)


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
            assert_allclose(found, b * g[[0, 1, 3]] / g[2], rtol=1e-9)


BETAS = -np.geomspace(0.01, 250, 30)


@pytest.fixture(scope="module")
def found():
    return branch(BETAS)


def on_slice(found):
    return found.alpha1, 1 - found.alpha1, found.beta1, 1 - found.beta1, found.n_tokens


def test_branch_is_critical(found):
    g = landscape.gradient(*on_slice(found))
    assert_allclose(g[:, [0, 2]] - g[:, [1, 3]], 0, atol=1e-13)


def test_branch_is_a_saddle_above_the_fold_and_a_minimum_below(found):
    h = landscape.hessian(*on_slice(found))
    turn = np.array([[1, -1, 0, 0], [0, 0, 1, -1]])
    low, high = np.linalg.eigvalsh(turn @ h @ turn.T).T
    assert_array_equal(np.sign(low), np.where(found.beta1 > FOLD_BETA1, -1, 1))
    assert (high > 0).all()
