"""The theorem's own model in torch against brute force, the closed form and its own laws; its study and records."""

import numpy as np
import pytest
import torch

from dynamics.flow.descent import descend
from dynamics.flow.trajectories import gradient_flow
from dynamics.scalar import model as scalar_model
from dynamics.scalar import study
from dynamics.scalar.model import ScalarModel, draw_batch, draw_gram, train_scalars
from dynamics.scalar.prediction import corrected_flows, response
from dynamics.scalar.record import ScalarTraining
from dynamics.scalar.study import first_passage, flow_end, flow_time, learning_times, step_lag, table_setting
from proofs_check.oracles.width import gram_loss
from theory import landscape
from theory.landscape.frozen_table import table_deviation

SMALL = ScalarTraining(n_tokens=7, width=5, runs=3, steps=6, rate=0.1, batch=40, seed=3)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def ready():
    """A model with random scalars of its own a run, and a batch."""
    generator = seeded(SMALL.seed)
    scalars = torch.randn(SMALL.runs, 4, dtype=torch.float64, generator=generator)
    return ScalarModel(scalars, draw_gram(SMALL, generator)), draw_batch(SMALL, generator)


def test_losses_equal_the_brute_force_over_gram_matrices():
    model, batch = ready()
    found = model.losses(batch).detach().numpy()
    for run in range(SMALL.runs):
        for row in range(SMALL.batch):
            words = batch.words[run, row].numpy()
            gram = model.gram[run].numpy()[np.ix_(words, words)]
            place = int(batch.places[run, row]) + 1
            expected = gram_loss(model.scalars[run].tolist(), place, gram[None])[0]
            assert found[run, row] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("law", "places"), [("mean", {0, 1, 2, 3, 4, 5}), ("interior", {1, 2, 3, 4})])
def test_sentences_are_orders_of_all_tokens_with_every_position_of_the_law(law, places):
    batch = draw_batch(SMALL.model_copy(update={"law": law, "batch": 400}), seeded())
    assert set(batch.places.flatten().tolist()) == places
    assert (batch.words.sort(-1).values == torch.arange(7)).all()
    assert len(torch.unique(batch.words.flatten(0, 1), dim=0)) > 1000


def test_gram_matrices_are_those_of_gaussian_embeddings():
    settings = ScalarTraining(n_tokens=4, width=8, runs=20_000, steps=1, rate=1.0, batch=1)
    gram = draw_gram(settings, seeded()).numpy()
    np.testing.assert_allclose(gram.mean(0), np.eye(4), atol=0.015)
    np.testing.assert_allclose(gram.var(0), (np.eye(4) + 1) / 8, rtol=0.06)


def test_training_on_orthonormal_embeddings_is_descent_on_the_closed_form(monkeypatch):
    settings = ScalarTraining(n_tokens=8, width=1, runs=2, steps=300, rate=0.1, batch=3, law="interior")
    monkeypatch.setattr(scalar_model, "draw_gram", lambda *_: torch.eye(8, dtype=torch.float64).repeat(2, 1, 1))
    runs = train_scalars(settings, every=300)
    expected = descend([settings.start], 8, 300, 0.1).theta[-1]
    np.testing.assert_allclose(runs.theta[-1], expected.repeat(2, 0), atol=1e-12)
    np.testing.assert_allclose([*runs.diagonal, *runs.off_diagonal], 0, atol=1e-16)
    np.testing.assert_allclose(runs.times, [0, 30])


def test_training_repeats_itself_and_follows_its_seed():
    first, again, other = (train_scalars(SMALL.model_copy(update={"seed": seed})) for seed in (3, 3, 4))
    assert first.theta.shape == (7, 3, 4)
    assert (first.theta == again.theta).all()
    assert (first.theta[-1] != other.theta[-1]).all()


def test_table_means_are_those_of_the_gram_matrices():
    model, _ = ready()
    diagonal, off_diagonal = scalar_model.table_means(model.gram)
    for run, gram in enumerate(model.gram.numpy()):
        assert diagonal[run] == pytest.approx(np.mean(np.diag(gram) - 1))
        assert off_diagonal[run] == pytest.approx(gram[~np.eye(7, dtype=bool)].mean())


def test_corrected_flow_without_corrections_is_the_flow():
    times = np.array([2.0, 9.0])
    for law, position in (("mean", "mean"), ("interior", None)):
        found = corrected_flows([0.5, 0.2, 0.7, 0.4], 9, times, np.zeros((2, 3)), law)
        flow = gradient_flow([[0.5, 0.2, 0.7, 0.4]], 9, 9.0, times=times, position=position).theta
        np.testing.assert_allclose(found, flow.repeat(2, 1), atol=1e-7)


def test_response_is_linear_in_the_means_of_small_tables():
    found = response([0.5] * 4, 8, [3.0], "interior")
    flows = corrected_flows([0.5] * 4, 8, [3.0], [[0, 1e-4, 0], [0, 0, -1e-4]], "interior")[0]
    np.testing.assert_allclose((flows[0] - found.theta[0]) / 1e-4, found.along_diagonal[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose((flows[1] - found.theta[0]) / -1e-4, found.along_off_diagonal[0], rtol=1e-3, atol=1e-4)
    own, other = table_deviation(8, 1)
    expected = np.sqrt((own * found.along_diagonal) ** 2 + (other * found.along_off_diagonal) ** 2)
    np.testing.assert_allclose(found.deviation, expected, rtol=1e-12)


def test_response_predicts_the_exact_flow_of_an_average_over_tables():
    """T = 4, where the average over all orders and tables can be trained on directly, one table a run."""
    settings = ScalarTraining(n_tokens=4, width=400, runs=60, steps=40, rate=0.05, batch=200, law="interior", seed=1)
    runs, predicted = train_scalars(settings, every=40), response([0.5] * 4, 4, [2.0], "interior")
    means = np.column_stack([runs.diagonal, runs.off_diagonal])
    linear = means @ np.stack([predicted.along_diagonal[0], predicted.along_off_diagonal[0]])
    away = runs.theta[-1] - flow_end(settings) - step_lag(settings)
    assert ((away - linear).var(0) < 0.1 * away.var(0)).all()
    np.testing.assert_allclose(away.std(0) * 20, predicted.deviation[0], rtol=0.3)


def test_first_passage_interpolates_and_says_where_a_run_never_arrives():
    loss = np.array([[3.0, 0.05, 2.0], [1.0, 0.5, 2.0], [0.5, 0.01, 2.0]])
    np.testing.assert_allclose(first_passage(np.array([0.0, 1.0, 3.0]), loss, 0.75), [2.0, 0.0, np.nan])


def test_step_error_halves_with_the_rate():
    setting = table_setting(64)
    half = setting.model_copy(update={"rate": setting.rate / 2, "steps": 2 * setting.steps})
    np.testing.assert_allclose(step_lag(setting), 2 * step_lag(half), rtol=0.01)
    assert np.abs(step_lag(setting)).max() < 1e-3


def test_rate_of_the_learning_times_is_late_by_less_than_a_fifth_of_a_percent():
    rate, flow = study.RATES[16], flow_time(16)
    found = descend([study.HALVES], 16, int(np.ceil(1.002 * flow / rate)), rate, position="mean")
    assert found.loss[-1] <= 0.1


def test_flow_times_are_those_of_each_flow_by_itself():
    settings = ((16, study.HALVES), (40, (0.0, 1.0, 1.0, 0.0)))
    flows = [gradient_flow([start], t, 100.0, position="mean", levels=[0.1]).level_times[0, 0] for t, start in settings]
    np.testing.assert_allclose(study.flow_times(settings), flows, rtol=1e-7)


def test_learning_times_are_near_the_flow_of_the_same_law():
    setting = ScalarTraining(n_tokens=12, width=20_000, runs=4, steps=600, rate=0.05, batch=16)
    found = learning_times(setting)
    np.testing.assert_allclose(found.times, flow_time(12), rtol=0.02)
    assert found.path_times[0] == 0 and found.path_times[-1] == pytest.approx(30.0)
    assert found.path_loss[0] == pytest.approx(float(landscape.loss(*[0.5] * 4, 12, "mean")), abs=1e-6)
    early = learning_times(setting.model_copy(update={"steps": 20}))
    assert early.times == (None,) * 4
