"""The shift as algebra: against plain indexing."""

import numpy as np
import pytest
import sympy as sp

from theory.shift.algebra import mixing_matrix, offset_weights, shift_matrix, shifted_attention, softmax, tokens
from theory.symbols import alpha1, alpha2, beta1, beta2


def test_shift_discards_the_last_token_and_pads_a_zero():
    rows = tokens(4, 2)
    shifted = shift_matrix(4) * rows
    assert shifted.row(0) == sp.zeros(1, 2)
    assert shifted[1:, :] == rows[:3, :]


def test_shift_is_nilpotent_of_the_length():
    assert shift_matrix(3) ** 3 == sp.zeros(3, 3)
    assert shift_matrix(3) ** 2 != sp.zeros(3, 3)


@pytest.mark.parametrize("kernel", [(2, 3), (5, 7, 11), (1,)])
def test_mixing_matrix_is_numpy_convolution(kernel):
    column = np.arange(1, 6)
    mixed = np.array(mixing_matrix(kernel, 5).tolist(), dtype=int) @ column
    assert (mixed == np.convolve(column, kernel)[:5]).all()


def test_offsets_of_equation_five_are_minus_one_zero_one():
    weights = offset_weights((alpha1, alpha2), (beta1, beta2))
    assert weights == {-1: alpha1 * beta2, 0: alpha1 * beta1 + alpha2 * beta2, 1: alpha2 * beta1}


def test_offsets_leave_out_coefficients_that_cancel():
    assert offset_weights((1, 1), (1, -1)) == {-1: -1, 1: 1}


def test_softmax_sums_to_one():
    assert sp.simplify(sum(softmax(sp.symbols("s1:4", real=True)))) == 1


def test_shifted_attention_equals_numpy_attention():
    values = np.array([[1, 2], [0, 1], [-1, 1]])
    states = sp.Matrix(values.tolist())
    got = np.array(shifted_attention(states, (2, 3), (1, -1), 2).evalf().tolist(), dtype=float)
    previous = np.vstack([np.zeros(2), values[:-1]])
    scores = np.where(np.tri(3) > 0, values @ (2 * values + 3 * previous).T / 2, -np.inf)
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    assert np.allclose(got, weights @ (values - previous), atol=1e-12)
