"""Margins on sweeps: shipped seeds are re-read, others trained with the same settings, censored runs counted."""

import pytest
from pytest import approx

from dynamics.model.config import ModelConfig
from dynamics.sweep.job import Place, read_result, run_job
from dynamics.sweep.record import Job, Measure, result_of
from dynamics.tasks.induction import Induction
from dynamics.training.settings import TrainConfig
from proofs_check.evidence.margin import Undecided
from proofs_check.kv.trained import sweep_margins as module
from proofs_check.kv.trained.sweeps import guess_accuracy
from proofs_check.ledger.claim import Effort

MODEL, MEASURE = ModelConfig(vocab=24, width=8, n_heads=2), Measure(every=2)
FAST, SLOW = ("tiny", "fast"), ("tiny", "slow")


def job(variant, seed):
    training = TrainConfig(steps=4, batch=4, task=Induction(pool=12), heldout_rows=16, seed=seed)
    return Job(name=f"{variant[1]}.seed-{seed}", config=MODEL, training=training)


@pytest.fixture(autouse=True)
def _tiny_sweep(monkeypatch):
    module.result.cache_clear()
    curves = {FAST: [[0.96], [0.2, 0.97], [0.95]], SLOW: [[0.1, 0.2], [0.1, 0.96], [0.1, 0.3]]}
    found = {
        variant: tuple(
            result_of(job(variant, seed), MEASURE, [2, 4][: len(curve)], curve, [1.0] * len(curve))
            for seed, curve in enumerate(mine)
        )
        for variant, mine in curves.items()
    }
    monkeypatch.setattr(module, "shipped", found.__getitem__)


def test_margins_of_single_runs_compare_the_best_score_with_the_level():
    assert module.arrives(FAST, 1).value == approx(0.02)
    assert module.arrives(SLOW, 0).value == approx(-0.75)
    assert module.stays_below(SLOW, 0).value == approx(0.75)
    with pytest.raises(Undecided):
        module.stays_below(FAST, 2, 0.95)


def test_times_keep_censored_runs():
    assert module.times(FAST) == (2, 4, 2)
    assert module.times(SLOW) == (None, 4, None)
    assert module.budget(SLOW) == 4


def test_seed_beyond_the_shipped_ones_is_trained_with_the_same_settings(tmp_path):
    fresh = module.result(FAST, 3)
    run_job(job(FAST, 3), MEASURE, Place(str(tmp_path)))
    assert fresh == read_result(tmp_path, job(FAST, 3), MEASURE)
    assert fresh.job.training.seed == 3


def test_points_are_the_shipped_seeds_and_with_full_effort_fresh_ones_too():
    points = module.runs(FAST, level=0.5)
    assert points(Effort.QUICK) == [{"variant": FAST, "seed": seed, "level": 0.5} for seed in range(3)]
    assert [point["seed"] for point in points(Effort.FULL)] == list(range(3 + module.FRESH))


def test_unknown_variant_is_refused(monkeypatch):
    monkeypatch.undo()
    with pytest.raises(ValueError, match="no shipped results of 'tiny'"):
        module.shipped(FAST)


def test_guess_accuracy_is_the_mean_over_rows():
    # Pool 3: T = 3 is drawn again, so T = 2 always, and the one other token is the answer.
    assert guess_accuracy(3) == approx(1.0)
    assert guess_accuracy(12) == approx(0.35025, abs=1e-5)
