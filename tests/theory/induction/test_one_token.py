"""The least error of a causal head on sentences of one token, against heads drawn at random and a linear program."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.optimize import linprog

from theory import induction


def outputs(length, sigma, slope, alpha, beta):
    """Of a causal head, for each sentence with one 1, at places 1..L-1."""
    sentences = np.eye(length)[:-1, :, None]
    return induction.kv_shift_head(sentences, sigma, slope, "causal", alpha=alpha, beta=beta)[:, 0]


def wanted(length, slope):
    """Definition 3.1 there: 0 at the place 1, the softmax of the distances over 2..L-1 elsewhere."""
    weights = np.exp(-slope * np.arange(length)[::-1][1:-1])
    return np.append(0.0, weights / weights.sum())


numbers, sigmas = st.floats(-5, 5), st.floats(0.1, 9)


@given(st.integers(3, 12), sigmas, st.floats(0, 3), st.tuples(numbers, numbers), st.tuples(numbers, numbers))
def test_no_head_errs_less(length, sigma, slope, alpha, beta):
    error = abs(outputs(length, sigma, slope, alpha, beta) - wanted(length, slope)).max()
    assert error >= induction.one_token_error(length, slope) * (1 - 1e-9)


@given(st.integers(3, 12), sigmas, st.floats(0, 3), st.floats(0, 3))
def test_nor_with_another_slope_than_the_definitions(length, sigma, slope, alpha):
    error = abs(outputs(length, sigma, slope, (alpha, 1.0), (0.4, 1.3)) - wanted(length, 0.0)).max()
    assert error >= induction.one_token_error_any_slope(length) * (1 - 1e-9)


@pytest.mark.parametrize("slope", [0.0, 1e-9, 0.25, 2.0])
@pytest.mark.parametrize("length", [3, 4, 40])
def test_it_is_the_optimum_of_the_linear_program(length, slope):
    growth, truth = np.exp(slope * np.arange(length - 1) - slope * (length - 2)), wanted(length, slope)
    ones = np.ones(length - 1)
    sides = np.block([[growth[:, None], -ones[:, None]], [-growth[:, None], -ones[:, None]]])
    found = linprog([0, 1], sides, np.append(truth, -truth), bounds=[(None, None), (0, None)])
    assert induction.one_token_error(length, slope) == approx(found.fun, rel=1e-7)


@pytest.mark.parametrize("length", [4, 5, 200])
def test_with_any_slope_it_is_the_least_over_ratios(length):
    """The head gives y r^j: at best r = (1 - t)/t its errors at the first, second and last place are equal."""
    error = induction.one_token_error_any_slope(length)
    t = error * (length - 2)
    gives = t / (length - 2) * ((1 - t) / t) ** np.arange(length - 1)
    off = abs(gives - wanted(length, 0.0))
    assert off.max() == approx(error, rel=1e-9) and off[[0, 1, -1]] == approx([error] * 3, rel=1e-9)
    for ratio in np.linspace(1.0, 1.0 + 8 / length, 400):
        powers = ratio ** np.arange(length - 1)
        y = np.linspace(0, 2 / (length - 2), 200)[:, None]
        assert abs(y * powers - wanted(length, 0.0)).max(1).min() >= error * (1 - 1e-9)


def test_with_any_slope_three_tokens_cost_nothing():
    assert induction.one_token_error_any_slope(3) == 0
