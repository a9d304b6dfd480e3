"""Runs that ship: shipped seeds are re-read, others trained with the same settings, censored runs counted."""

import pytest
from pytest import approx

from dynamics.model.config import ModelConfig
from dynamics.sweep.job import Place, read_result, run_job
from dynamics.sweep.record import Job, Measure, result_of
from dynamics.tasks.induction import Induction
from dynamics.training.settings import TrainConfig
from proofs_check.kv.trained.checks import guess_accuracy
from proofs_check.ledger.claim import Effort
from proofs_check.records import shipped as module

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
        variant[1]: [
            result_of(job(variant, seed), MEASURE, [2, 4][: len(curve)], curve, [1.0] * len(curve))
            for seed, curve in enumerate(mine)
        ]
        for variant, mine in curves.items()
    }
    monkeypatch.setattr(module, "_sweep", {"tiny": found}.__getitem__)


def test_the_score_of_a_run_is_its_best():
    assert [module.best(SLOW, seed) for seed in range(3)] == [0.2, 0.96, 0.3]


def test_times_keep_censored_runs_and_a_tally_says_how_many_arrive():
    assert module.times(FAST) == [2, 4, 2] and module.tally(FAST) == "2 steps"
    assert module.times(SLOW) == [None, 4, None] and module.tally(SLOW) == "over 4 steps, 1 of 3 runs"
    assert module.budget(SLOW) == 4


def test_seed_beyond_the_shipped_ones_is_trained_with_the_same_settings(tmp_path):
    fresh = module.result(FAST, 3)
    run_job(job(FAST, 3), MEASURE, Place(str(tmp_path)))
    assert fresh == read_result(tmp_path, job(FAST, 3), MEASURE)
    assert fresh.job.training.seed == 3


def test_seeds_are_the_shipped_ones_and_with_full_effort_fresh_ones_too():
    assert module.seeds(FAST, Effort.QUICK) == range(3)
    assert module.seeds(FAST, Effort.FULL) == range(3 + module.FRESH)


@pytest.mark.parametrize("run", [("tiny", "a"), ("figure-1a", "vanilla-3")])
def test_unknown_variant_is_refused(run, monkeypatch):
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"no shipped results of 'tiny'|no variant vanilla-3"):
        module.shipped(run)


def test_guess_accuracy_is_the_mean_over_rows():
    # Pool 3: T = 3 is drawn again, so T = 2 always, and the one other token is the answer.
    assert guess_accuracy(3) == approx(1.0)
    assert guess_accuracy(12) == approx(0.35025, abs=1e-5)
