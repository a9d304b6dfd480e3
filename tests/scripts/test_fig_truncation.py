"""Truncation and compensation against memory: the data obey the bounds and their order; files."""

import numpy as np
import pytest

from scripts.figures.heads import fig_truncation

ROUNDING = 1e-15
DROP, MEAN, DECAYED, CENTRED, SECOND = range(5)


@pytest.fixture(scope="module")
def data():
    return fig_truncation.compute(2)


def test_data_errors_lie_under_the_bounds_and_those_under_the_worst(data):
    at = np.searchsorted(data.grid, data.windows, side="right") - 1  # the bound of a window at most as long
    assert (data.error[:, :, DROP] <= data.bound[..., at] + ROUNDING).all()
    assert (data.bound <= data.worst[:, None]).all() and (np.diff(data.worst, axis=1) <= 0).all()
    assert (data.worst <= 1).all() and data.worst[1, -1] < 1e-10 < data.error[1, 0, DROP, 0]


def test_data_tokens_that_decay_and_look_at_queries_do_better_under_alibi(data):
    error = np.median(data.error, axis=1)[1, :, data.windows <= 64].T
    assert (error[DECAYED] < 0.6 * error[MEAN]).all() and (error[SECOND] < error[CENTRED]).all()
    assert np.abs(error[MEAN] / error[DROP] - 1).max() < 0.2  # with the mean bias the token weighs almost nothing


def test_data_mean_token_beats_dropping_in_short_windows_only_without_a_bias(data):
    error = np.median(data.error, axis=1)[0]
    assert np.isnan(error[DECAYED]).all() and not np.isnan(np.delete(error, DECAYED, axis=0)).any()
    assert error[MEAN, 0] < 0.3 * error[DROP, 0]
    assert (error[SECOND] < error[CENTRED]).all()


def test_data_counts_a_token_a_log_mass_and_a_covariance(data):
    extra = data.held - data.windows
    numbers = [0, 2 * 16 + 1, 2 * 16 + 1, 2 * 16 + 1, 2 * 16 + 1 + 2 * 16 * 16]
    np.testing.assert_allclose(extra, np.array(numbers)[:, None] / (2 * 16) * np.ones(len(data.windows)))


def test_figure_clips_no_marker_and_both_panels_have_one_scale(data):
    first, second = fig_truncation.draw(data).axes
    assert first.get_ylim() == second.get_ylim()
    for panel in (first, second):
        left, right = panel.get_xlim()
        low, high = panel.get_ylim()
        for line in panel.lines:
            shown = line.get_markevery()
            if shown is not None:
                x, y = line.get_xdata()[shown], line.get_ydata()[shown]
                assert ((1.05 * left < x) & (x < right / 1.05) & (low < y) & (y < high)).all()
