"""The figure of Theorem 3.3: errors and their bounds; the picture is compared as a whole."""

import numpy as np
import pytest

from scripts.figures.heads import fig_theorem_3_3


@pytest.fixture(scope="module")
def data():
    return fig_theorem_3_3.compute(40)


def test_the_printed_head_errs_no_less_than_the_best_and_by_no_more_than_twice_its_rate(data):
    assert (data.least_any <= data.least).all() and (data.least <= data.printed * (1 + 1e-12)).all()
    assert data.printed[-1] < 2.5 * data.least[-1]


def test_where_a_word_recurs_the_error_keeps_to_its_bound_and_the_mask_makes_it_0(data):
    assert (data.matched <= data.bound * (1 + 1e-12)).all() and data.matched[-1] > 0.9 * data.bound[-1]
    assert np.abs(data.masked).max() < 1e-14
    assert (np.diff(data.matched) < 0).all()
