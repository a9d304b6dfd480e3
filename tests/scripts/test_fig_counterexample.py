"""The drawn counterexample: data against theory and the balls, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proofs_check.oracles.alibi import ball_weights
from proofs_check.razor.scope.theorem1_checks import WITNESSES
from scripts.figures.heads import fig_counterexample


@pytest.fixture(scope="module")
def data():
    return fig_counterexample.compute(60)


def test_data_weights_are_measured_attain_the_bound_and_agree_with_the_balls(data):
    assert_allclose(data.weight, data.bound, rtol=1e-9)
    head, _, _, target, other, _, _ = WITNESSES[fig_counterexample.NAME]
    for n in (1, 34, 52):
        assert data.weight[n - 1] == pytest.approx(float(ball_weights(head, [target, *[other] * n])[0].mid()), rel=1e-9)


def test_data_weight_exceeds_eps_between_the_printed_and_the_sharp_scope_and_not_beyond(data):
    assert data.printed == pytest.approx(20 - 2 * np.log(1e-3), rel=1e-12)
    between = (data.distance > data.printed) & (data.distance < data.sharp)
    assert between.sum() == 18 and (data.weight[between] > data.eps).all()
    assert (data.weight[data.distance >= data.sharp] <= data.eps).all()


def test_data_the_querys_own_key_is_its_worst(data):
    root = np.sqrt(2)
    assert_allclose(data.states, [[root, 0], [-root, 0]])
    assert (np.linalg.norm(data.hidden, axis=1) == 1).all()
    assert_allclose(data.keys @ data.query, [-10, 10])


def test_figure_draws_the_printed_scope_up_to_the_curve_and_says_the_weight_beyond_it(data):
    panel = fig_counterexample.draw(data).axes[1]
    (upright,) = (line for line in panel.lines if tuple(line.get_xdata()) == (data.printed, data.printed))
    assert tuple(upright.get_ydata()) == (0, 1)
    assert any(text.get_text() == "89 % at 34,\nbeyond $L_h$" for text in panel.texts)
    assert 100 * data.weight[33] == pytest.approx(89, abs=0.5)
