"""Exact moments of the initial coefficients: against integrals done another way."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theory.shift import initialisation as init


@pytest.mark.parametrize("window", [2, 3, 4, 5])
def test_second_moment_formula_equals_the_expanded_polynomial(window):
    assert init.second_moment(window) == init.lagged_moment(window)


@pytest.mark.parametrize("window", [2, 3, 4])
def test_coefficients_sum_to_one(window):
    assert sp.expand(sum(init.coefficients(window)[1])) == 1


def test_expectation_equals_an_iterated_integral():
    x, y = sp.symbols("x y")
    polynomial = (1 - x - y) ** 3 * x + sp.Rational(1, 7)
    integral = sp.integrate(polynomial, (x, 0, 1), (y, 0, 1))
    assert init.expectation(polynomial, (x, y)) == Fraction(int(integral.p), int(integral.q))


@pytest.mark.parametrize(("window", "mean", "negative"), [(2, "1/2", "0"), (3, "0", "1/2"), (4, "-1/2", "5/6")])
def test_oldest_coefficient_has_the_stated_mean_and_sign(window, mean, negative):
    assert init.oldest_mean(window) == Fraction(mean)
    assert init.oldest_negative(window) == Fraction(negative)


def test_uniform_sum_cdf_is_symmetric_and_clipped():
    for level in (Fraction(1, 3), Fraction(1), Fraction(7, 5)):
        assert init.uniform_sum_cdf(3, level) + init.uniform_sum_cdf(3, 3 - level) == 1
    assert init.uniform_sum_cdf(2, -1) == 0
    assert init.uniform_sum_cdf(2, 5) == 1


def test_mixed_norm_is_the_squared_length():
    x, y = np.array([1.0, 0.0]), np.array([0.6, 0.8])
    mixed = 0.3 * x - 2.0 * y
    assert float(init.mixed_norm(0.3, -2.0, 0.6)) == pytest.approx(mixed @ mixed)


@pytest.mark.parametrize("call", [init.coefficients, init.second_moment, init.oldest_mean, init.oldest_negative])
def test_window_below_two_is_refused(call):
    with pytest.raises(ValueError, match="window must be a whole number >= 2, got 1"):
        call(1)
