"""Figures of the trained scalar models and the command that trains them: data, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dynamics.scalar import study
from dynamics.scalar.record import ScalarTraining, read_study
from dynamics.scalar.study import Plan
from scripts.figures.landscape import fig_finite_width, fig_learning_time
from tests.scripts.commands import drawn

TINY = ScalarTraining(n_tokens=5, width=4000, runs=2, steps=600, rate=0.1, batch=8)


@pytest.fixture(scope="module")
def learning():
    return fig_learning_time.compute(4)


@pytest.fixture(scope="module")
def width():
    return fig_finite_width.compute(200)


def test_curves_start_near_log_t_and_fall_where_the_limit_says(learning):
    for tokens, time, loss in zip(learning.tokens, learning.scaled_time, learning.scaled_loss, strict=True):
        assert (np.diff(time) > 0).all() and time[-1] == pytest.approx(1.6)
        assert loss[0] == pytest.approx(1, abs=0.04) and (np.diff(loss) < 1e-9).all()
        learnt = time[np.argmax(loss <= 0.1 / np.log(tokens))] * learning.limit * tokens
        assert 0 < learnt - learning.limit * tokens < 10 * np.log(tokens)
    assert (learning.excess > 0).all() and (learning.excess < 10 * np.log(learning.lengths)).all()


def test_trained_curves_follow_the_flow_of_their_length(learning):
    assert list(learning.trained_tokens) == [16, 32, 64, 128, 256, 512, 1024]
    ratio = learning.estimate / learning.flow_times[:, None]
    assert (np.abs(ratio - 1) < 0.02).all()
    assert (learning.others[:, 0] == 128).all() and learning.others.shape == (2, 6)
    assert learning.trained_time.shape == learning.trained_loss.shape
    for tokens, time, loss in zip(learning.trained_tokens, learning.trained_time, learning.trained_loss, strict=True):
        assert np.nanmin(loss) < 0.1 / np.log(tokens) and (np.isnan(time) == np.isnan(loss)).all()
    for tokens, time, loss in list(zip(learning.tokens, learning.scaled_time, learning.scaled_loss, strict=True))[:3]:
        row = list(learning.trained_tokens).index(tokens)
        trained = [values[row][~np.isnan(values[row])] for values in (learning.trained_loss, learning.trained_time)]
        for level in (0.2, 0.5, 0.8):
            at = np.interp(-level, -loss, time)
            assert np.interp(-level, -trained[0], trained[1]) == pytest.approx(at, rel=0.005)


def test_sampled_mean_and_deviation_are_near_their_predictions(width):
    at = np.searchsorted(width.times, width.sample_times)
    mean, error, deviation = width.samples.T
    assert (np.abs(mean - width.mean[at]) < 4 * error + 0.02).all()
    assert (np.abs(deviation / width.deviation[at] - 1) < 0.5).all()


def test_each_trained_point_stands_at_its_own_length(learning):
    panel = fig_learning_time.draw(learning).axes[3]
    points = [at for line in panel.lines if line.get_marker() in "os^" for at in line.get_xdata()]
    assert sorted(points) == panel.get_xticks().tolist() and len(set(points)) == 9
    assert [label.get_text() for label in panel.get_xticklabels()][-3:] == ["1024", "128", "128"]


def test_deviations_are_near_their_predictions(width):
    for values, power, size in zip((width.spread, width.shift), (-0.5, -1.0), width.predicted, strict=True):
        assert_allclose(values[:, 0] * width.widths**-power, size, rtol=0.25)
        assert (values[:, 1] < values[:, 0]).all() and (values[:, 0] < values[:, 2]).all()
    assert_allclose(width.exponents[:, 0], [-0.5, -1.0], atol=0.06)


@pytest.mark.parametrize(("name", "data"), [("learning_time", "learning"), ("finite_width", "width")])
def test_main_leaves_its_files(tmp_path, request, name, data):
    drawn(tmp_path, f"fig_{name}", "--quick", data=request.getfixturevalue(data))


def test_scalar_writes_a_study_and_prints_a_line_a_length(tmp_path, monkeypatch, done):
    coarse = TINY.model_copy(update={"rate": 0.2, "steps": 300})
    small = Plan(((TINY, coarse),), (TINY.model_copy(update={"law": "interior"}),))
    monkeypatch.setattr(study, "plan", lambda *_: small)
    path = tmp_path / "new" / "study.json"
    lines = done("scalar", "--quiet", "--out", path).splitlines()
    assert read_study(path).learning[0].fine.training == TINY
    assert lines[1].split() == ["T", "start", "flow", "trained", "interval"]
    assert lines[2].split()[:2] == ["5", "0.5,0.5,0.5,0.5"] and lines[3] == str(path)


def test_scalar_says_where_a_run_never_learnt(tmp_path, monkeypatch, done):
    short = TINY.model_copy(update={"steps": 2})
    monkeypatch.setattr(study, "plan", lambda *_: Plan(((short, short.model_copy(update={"rate": 0.2})),), ()))
    assert "not learnt by every run" in done("scalar", "--quiet", "--out", tmp_path / "study.json")
