"""The phase portrait: every start takes one of two routes, the boundary is where theory says, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scripts.figures.landscape import fig_phase_portrait
from tests.dynamics.refusal import refused
from tests.scripts.commands import drawn
from theory import landscape


@pytest.fixture(scope="module")
def data():
    return fig_phase_portrait.compute(8, 9)


def test_data_border_parts_two_routes_and_passes_the_critical_point(data):
    assert set(np.unique(data.route)) == {-1, 1}
    for route, border, axis in zip(data.route, data.border, data.axes, strict=True):
        assert_array_equal(route > 0, axis > border[:, None])
    assert np.interp(data.critical[1], data.axes[0], data.border[0]) == pytest.approx(data.critical[2], abs=0.01)


def test_data_critical_point_is_a_saddle_with_two_ways_out(data):
    assert_allclose(landscape.gradient(*data.critical, 8), 0, atol=1e-15)
    assert (np.sign(data.eigenvalues) == [-1, -1, 1, 1]).all()
    h = landscape.hessian(*data.critical, 8)
    assert_allclose(h @ data.eigenvectors, data.eigenvalues * data.eigenvectors, atol=1e-14)


def test_data_routes_part_near_the_limit_curve(data):
    a, b = np.meshgrid(data.axes[0], data.axes[0], indexing="ij")
    above = b > -np.sign(a) * np.sqrt(2 * (a + np.exp(-a) - 1))
    assert np.mean(above == (data.route[0] > 0)) > 0.96


@pytest.mark.deep
def test_data_large_sentences_send_less_of_the_box_to_anti_induction(data):
    assert data.box_share == pytest.approx(0.08, abs=0.01)
    assert fig_phase_portrait.compute(30, 21).box_share < 0.02


def test_data_examples_learn_by_opposite_signs(data):
    assert (data.example_loss[-1] < 0.1).all()
    assert (np.sign(data.examples[-1][:, [1, 2]]) == [[1, 1], [-1, -1]]).all()


def test_data_paths_start_in_their_planes_and_lose(data):
    assert_array_equal(data.paths[0][:, [0, 3]], np.broadcast_to(data.critical[[0, 3]], (36, 2)))
    assert_allclose(data.slice_paths[0][:, ::2] + data.slice_paths[0][:, 1::2], 1, atol=1e-15)
    for paths in (data.paths, data.slice_paths):
        assert (np.diff(landscape.loss(*np.moveaxis(paths, -1, 0), 8), axis=0) <= 1e-12).all()


@pytest.mark.parametrize("tokens", [3, 101])
def test_compute_refuses_other_numbers_of_tokens(tokens):
    refused(r"4\.\.100", fig_phase_portrait.compute, tokens)


def test_main_leaves_its_files(tmp_path, data):
    drawn(tmp_path, "fig_phase_portrait", "--quick", data=data)
