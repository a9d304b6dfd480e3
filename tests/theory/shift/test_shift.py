"""The shift: its algebra against plain indexing, its initial law, its parameters."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from theory.shift import initialisation as init
from theory.shift.algebra import mixing_matrix, offset_weights, shifted_attention
from theory.shift.parameters import Shape, llama_ffn, non_embedding_parameters, untied_parameters


@pytest.mark.parametrize("kernel", [(2, 3), (5, 7, 11), (1,)])
def test_mixing_matrix_is_numpy_convolution(kernel):
    column = np.arange(1, 6)
    mixed = np.array(mixing_matrix(kernel, 5).tolist(), dtype=int) @ column
    assert (mixed == np.convolve(column, kernel)[:5]).all()


def test_offsets_leave_out_coefficients_that_cancel():
    assert offset_weights((1, 1), (1, -1)) == {-1: -1, 1: 1}


def test_shifted_attention_equals_numpy_attention():
    values = np.array([[1, 2], [0, 1], [-1, 1]])
    states = sp.Matrix(values.tolist())
    got = np.array(shifted_attention(states, (2, 3), (1, -1), 2).evalf().tolist(), dtype=float)
    previous = np.vstack([np.zeros(2), values[:-1]])
    scores = np.where(np.tri(3) > 0, values @ (2 * values + 3 * previous).T / 2, -np.inf)
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    assert np.allclose(got, weights @ (values - previous), atol=1e-12)


def test_expectation_equals_an_iterated_integral():
    x, y = sp.symbols("x y")
    polynomial = (1 - x - y) ** 3 * x + sp.Rational(1, 7)
    integral = sp.integrate(polynomial, (x, 0, 1), (y, 0, 1))
    assert init.expectation(polynomial, (x, y)) == Fraction(int(integral.p), int(integral.q))


def test_mixed_norm_is_the_squared_length():
    x, y = np.array([1.0, 0.0]), np.array([0.6, 0.8])
    mixed = 0.3 * x - 2.0 * y
    assert float(init.mixed_norm(0.3, -2.0, 0.6)) == pytest.approx(mixed @ mixed)



LLAMA_7B = Shape(4096, 32, 32, 32, 11008, 32000)
LLAMA_3_8B = Shape(4096, 32, 32, 8, 14336, 128256)


@pytest.mark.parametrize(("shape", "published"), [(LLAMA_7B, 6738415616), (LLAMA_3_8B, 8030261248)])
def test_untied_parameters_equal_the_published_totals(shape, published):
    assert untied_parameters(shape) == published


def listed(shape):
    head = shape.hidden // shape.heads
    square, narrow = (shape.hidden, shape.hidden), (shape.hidden, shape.kv_heads * head)
    wide = (shape.hidden, shape.ffn)
    layer = [square, narrow, narrow, square, wide, wide, wide, (1, shape.hidden), (1, shape.hidden)]
    return [*layer * shape.layers, (1, shape.hidden)]


@pytest.mark.parametrize("shape", [LLAMA_7B, LLAMA_3_8B, Shape(24, 3, 6, 2, 40, 11)])
def test_counts_equal_the_sum_over_listed_matrices(shape):
    body = sum(rows * columns for rows, columns in listed(shape))
    assert non_embedding_parameters(shape) == body


def test_llama_ffn_equals_the_published_widths():
    assert [llama_ffn(h) for h in (4096, 5120)] == [11008, 13824]
