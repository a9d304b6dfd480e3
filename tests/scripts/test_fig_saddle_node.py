"""The saddle-node diagram: its branches meet at the fold and pass the proved points; files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scripts.figures.landscape import fig_saddle_node
from tests.scripts.commands import drawn
from theory import landscape


@pytest.fixture(scope="module")
def data():
    return fig_saddle_node.compute(15)


def test_data_branches_start_at_the_fold_and_pass_the_proved_points(data):
    for side in (data.saddle, data.minimum):
        assert_allclose(side[[2, 0, 1], 0], data.fold, atol=1e-4)
        assert (np.diff(side[2]) > 0).all() and side[2, -1] > 300
    for tokens, alpha1, beta1 in data.proved:
        side = data.saddle if beta1 > -0.5 else data.minimum
        assert np.interp(tokens, side[2], side[0]) == pytest.approx(alpha1, abs=1e-3)
        assert np.interp(tokens, side[2], side[1]) == pytest.approx(beta1, rel=1e-2)


def test_data_points_exist_after_the_fold_only_and_are_critical(data):
    assert np.isnan(data.points[0]).all()
    for alpha1, beta1 in data.points[1]:
        g = landscape.gradient(alpha1, 1 - alpha1, beta1, 1 - beta1, 15)
        assert_allclose([g[0] - g[1], g[2] - g[3]], 0, atol=1e-3)


def test_data_every_start_learns_before_the_fold_and_some_do_not_after(data):
    assert data.learns[0].all()
    assert 0.4 < data.learns[1].mean() < 0.47
    inside = (data.alpha1[:, None] >= 0) & (data.alpha1[:, None] <= 1) & (data.beta1 >= 0) & (data.beta1 <= 1)
    assert inside.sum() > 10 and data.learns[1][inside].all()


def test_data_border_parts_the_starts_that_learn(data):
    for learns, border in zip(data.learns, data.border, strict=True):
        assert_array_equal(learns, data.beta1 > border[:, None])
    saddle = data.points[1, 0]
    assert np.interp(saddle[0], data.alpha1, data.border[1]) == pytest.approx(saddle[1], abs=0.01)


def test_data_paths_that_do_not_learn_end_at_the_minimum(data):
    ends = data.paths[1, -1]
    lost = np.hypot(*(ends - data.points[1, 1]).T) < 0.02
    assert lost.any() and (landscape.loss(ends[~lost, 0], 1 - ends[~lost, 0], ends[~lost, 1], 1 - ends[~lost, 1], 15)
                           < 0.1).all()  # fmt: skip


def test_main_leaves_its_files(tmp_path, data):
    drawn(tmp_path, "fig_saddle_node", "--quick", data=data)
