"""The slice grid against the four-parameter kernels, and the printed forms against their own term-by-term loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.theory.cases import refuses
from theory import landscape
from theory.landscape.grid import angle_between, slice_grid
from theory.landscape.printed import EQUATION, EXACT, LISTING, Slips, loss, printed_grid

PINNED = 1e-14
FORMS = [EXACT, EQUATION, LISTING, *(Slips(**{name: True}) for name in Slips._fields)]


def reference(grid, n_tokens):
    a, b = grid.alpha1[:, None], grid.beta1[None]
    value = landscape.loss(a, 1 - a, b, 1 - b, n_tokens)
    g = landscape.gradient(a, 1 - a, b, 1 - b, n_tokens)
    return value, g[..., 0] - g[..., 1], g[..., 2] - g[..., 3]


@pytest.mark.parametrize("n_tokens", [4, 4.5, 12, 1e6])
@pytest.mark.parametrize("size", [2, 63, 64, 65])
def test_slice_grid_equals_the_kernels_on_the_box(n_tokens, size):
    grid = slice_grid(n_tokens, size)
    for ours, true in zip(grid[2:], reference(grid, n_tokens), strict=True):
        assert ours.shape == (size, size)
        assert np.abs(ours - true).max() <= PINNED * max(1.0, np.log(n_tokens))


@given(
    n_tokens=st.floats(4, 1e4),
    a=st.tuples(st.floats(-3, 0), st.floats(0.5, 3)),
    b=st.tuples(st.floats(-6, 0), st.floats(0.5, 6)),
)
def test_slice_grid_equals_the_kernels_on_wider_spans(n_tokens, a, b):
    grid = slice_grid(n_tokens, 70, a, b)
    for ours, true in zip(grid[2:], reference(grid, n_tokens), strict=True):
        assert np.abs(ours - true).max() <= PINNED * max(1.0, np.abs(true).max())


@pytest.mark.parametrize("slips", FORMS)
@pytest.mark.parametrize("rest", [0, 2.5, 100])
def test_printed_grid_equals_its_loss_term_by_term(slips, rest):
    grid = printed_grid(rest, slips, 9)
    true = [[loss(a, b, rest, slips) for b in grid.beta1] for a in grid.alpha1]
    assert_allclose(grid.loss, true, rtol=PINNED, atol=PINNED)


@pytest.mark.parametrize("slips", FORMS)
def test_printed_gradient_is_the_slope_of_the_loss(slips):
    grid, h = printed_grid(3, slips, 5), 1e-5
    for i, a in enumerate(grid.alpha1):
        for j, b in enumerate(grid.beta1):
            along_a = (loss(a + h, b, 3, slips) - loss(a - h, b, 3, slips)) / (2 * h)
            along_b = (loss(a, b + h, 3, slips) - loss(a, b - h, 3, slips)) / (2 * h)
            assert grid.d_alpha1[i, j] == pytest.approx(along_a, abs=1e-8)
            assert grid.d_beta1[i, j] == pytest.approx(along_b, abs=1e-8)


@pytest.mark.parametrize("rest", [0, 10])
def test_equation_is_the_printed_loss_of_the_kernels(rest):
    grid = printed_grid(rest, EQUATION, 33)
    a, b = grid.alpha1[:, None], grid.beta1[None]
    # the kernels take the rest relative to 1, as Eq. 10 prints it
    true = landscape.printed_loss(a, 1 - a, b, 1 - b, rest, rest)
    assert_allclose(grid.loss, true, rtol=0, atol=PINNED)


def test_angle_is_zero_with_itself_and_a_half_turn_with_the_opposite_field():
    grid = slice_grid(6, 40)
    opposite = grid._replace(d_alpha1=-grid.d_alpha1, d_beta1=-grid.d_beta1)
    assert angle_between(grid, grid).max() == 0
    assert_allclose(angle_between(grid, opposite), np.pi, rtol=1e-15)
    other = printed_grid(2, LISTING, 40)
    assert_array_equal(angle_between(grid, other), angle_between(other, grid))


def test_two_slips_in_one_place_are_refused():
    refuses(lambda: printed_grid(1, Slips(constant_rest=True, exponential_rest=True)), "not both")
