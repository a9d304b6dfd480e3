"""Batches by task: functions of seed and step, induction as ever, and trainings of every task."""

import hashlib

import numpy as np
import pytest

from dynamics.heads.named import inspect
from dynamics.model.config import ModelConfig
from dynamics.tasks.hop import Hop
from dynamics.tasks.induction import Induction
from dynamics.tasks.mqar import MQAR
from dynamics.tasks.trigram import Trigram
from dynamics.training.batches import heldout_rows, training_batch
from dynamics.training.evaluation import heldout_batch
from dynamics.training.loop import train
from dynamics.training.settings import SMALL_TRAINING, TrainConfig
from tests.dynamics.refusal import refused

TASKS = {
    task.name: TrainConfig(steps=3, batch=16, heldout_rows=32, task=task)
    for task in (Induction(pool=12), Trigram(pairs=4, length=20), Hop(hops=2, length=20), MQAR(pairs=4, length=20))
}
VOCAB = 40


def test_a_small_task_trains_on_held_out_rows_too():
    """As many of 3,200 as were counted apart from this project."""
    training = SMALL_TRAINING.but(seed=3)
    batches = heldout_rows(training, 32), *(training_batch(training, 32, step) for step in range(50))
    known, *drawn = ([row[:n].tolist() for row, n in zip(*batch[:2], strict=True)] for batch in batches)
    assert sum(row in known for rows in drawn for row in rows) == 190


def digest(batch):
    return hashlib.sha256(b"".join(part.astype("<i8").tobytes() for part in batch)).hexdigest()[:16]


def same(left, right):
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("training", TASKS.values(), ids=TASKS)
def test_batches_are_functions_of_seed_and_step(training):
    other = training.but(seed=1)
    assert same(training_batch(training, VOCAB, 7), training_batch(training, VOCAB, 7))
    assert same(heldout_rows(training, VOCAB), heldout_rows(training, VOCAB))
    drawn = [
        training_batch(training, VOCAB, 7),
        training_batch(training, VOCAB, 8),
        training_batch(other, VOCAB, 7),
        heldout_rows(training, VOCAB, training.batch),
        heldout_rows(other, VOCAB, training.batch),
    ]
    assert len({digest(batch) for batch in drawn}) == 5


def test_induction_batches_are_the_ones_that_the_shipped_models_saw():
    # Hashes of the rows before there was a choice of tasks.
    training = TrainConfig(seed=3, batch=64)
    assert digest(training_batch(training, 8000, 5)) == "a2dfa42f821b043c"
    assert digest(training_batch(TASKS["induction"], 32, 0)) == "7b65f4793795a5df"
    assert digest(heldout_rows(training, 8000, 100)) == "7c3e2589240b5639"
    assert same(heldout_rows(training, 8000, 100), heldout_batch(3, 100, 8000, 512))


def test_trigram_batches_of_a_run_share_one_table_and_seeds_do_not():
    training = TASKS["trigram"].but(batch=200)

    def rule(batch):
        return {tuple(row[-2:].tolist()): int(answer) for row, answer in zip(batch.tokens, batch.target, strict=True)}

    first = rule(training_batch(training, VOCAB, 0))
    assert len(first) == 4
    assert first == rule(training_batch(training, VOCAB, 1)) == rule(heldout_rows(training, VOCAB, 200))
    assert first != rule(training_batch(training.but(seed=1), VOCAB, 0))


def test_inspect_refuses_rows_whose_answer_is_not_in_them():
    config = ModelConfig(vocab=VOCAB, width=16, n_heads=2)
    model = train(config, TASKS["trigram"], progress=False).model
    refused("the answer does not always stand in the row", inspect, model, heldout_rows(TASKS["trigram"], VOCAB))
    assert len(inspect(model, heldout_rows(TASKS["mqar"], VOCAB))) == 2
