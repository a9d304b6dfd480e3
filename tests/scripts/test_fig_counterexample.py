"""The drawn counterexample: data against theory and the balls, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dynamics.model.made.two_word import CASES
from proofs_check.oracles.alibi import ball_weights
from scripts.figures.heads import fig_counterexample
from tests.dynamics.model.test_two_word import ball_head, exact


@pytest.fixture(scope="module")
def data():
    return fig_counterexample.compute(60)


def test_data_weights_are_measured_attain_the_bound_and_agree_with_the_balls(data):
    assert_allclose(data.weight, data.bound, rtol=1e-9)
    case = CASES[fig_counterexample.NAME]
    head, (other, target) = ball_head(case), exact(case.words)
    for n in (1, 34, 52):
        assert data.weight[n - 1] == pytest.approx(float(ball_weights(head, [target, *[other] * n])[0].mid()), rel=1e-9)


def test_data_weight_exceeds_eps_between_the_printed_and_the_sharp_scope_and_not_beyond(data):
    assert data.printed == pytest.approx(20 - 2 * np.log(1e-3), rel=1e-12)
    between = (data.distance > data.printed) & (data.distance < data.sharp)
    assert between.sum() == 18 and (data.weight[between] > data.eps).all()
    assert (data.weight[data.distance >= data.sharp] <= data.eps).all()
