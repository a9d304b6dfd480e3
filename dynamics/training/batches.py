"""The batch of a training's task at a step, its held-out rows, and whether task and model fit together.

Batches are functions of (seed, step); the 3-gram table is one of the seed alone. Three streams that never meet: spawn
keys (0, step) for training, (1,) for held-out rows, (2,) for the table.
"""

from functools import lru_cache

import numpy as np

from dynamics.model.config import TrainConfig
from dynamics.tasks.hop import hop_batch
from dynamics.tasks.induction import FIRST_TOKEN, Batch, induction_batch
from dynamics.tasks.mqar import mqar_batch
from dynamics.tasks.trigram import Table, trigram_batch, trigram_table
from dynamics.training.evaluation import heldout_rng, training_rng


def training_batch(training: TrainConfig, vocab: int, step: int) -> Batch:
    """Draw the rows that a run with these settings sees at `step`."""
    return _draw(training, training_rng(training.seed, step), training.batch, vocab)


def heldout_rows(training: TrainConfig, vocab: int, rows: int | None = None) -> Batch:
    """Draw the rows that score a run with these settings (default: training.heldout_rows of them).

    Of the 3-gram task they ask for the same table: there is nothing to learn from one pair about another.
    """
    return _draw(training, heldout_rng(training.seed), rows or training.heldout_rows, vocab)


def check_task(training: TrainConfig, vocab: int) -> None:
    """Raise ValueError, one line, where the task's settings do not fit the vocabulary or each other."""
    room = vocab - FIRST_TOKEN
    if training.task == "induction" and training.pool > room:
        raise ValueError(f"pool must be at most vocab - {FIRST_TOKEN} = {room}, got {training.pool}")
    if training.task == "hop" and training.symbols + training.hops + 1 > room:
        needed = training.symbols + training.hops + 1
        raise ValueError(f"symbols + hops + 1 must be at most vocab - {FIRST_TOKEN} = {room}, got {needed}")
    if training.task == "trigram" and room < 1:
        raise ValueError(f"vocab must be at least {FIRST_TOKEN + 1}, got {vocab}")
    if training.task != "induction":
        _draw(training, training_rng(0, 0), 1, vocab)


def _draw(training: TrainConfig, rng: np.random.Generator, rows: int, vocab: int) -> Batch:
    if training.task == "induction":
        return induction_batch(rng, rows, vocab, training.pool)
    if training.task == "trigram":
        return trigram_batch(rng, rows, vocab, _table(training.seed, training.pairs, vocab), training.length)
    if training.task == "hop":
        return hop_batch(rng, rows, training.symbols, training.length, training.hops, training.least_hops)
    return mqar_batch(rng, rows, vocab, training.pairs, training.length)


@lru_cache(maxsize=16)
def _table(seed: int, pairs: int, vocab: int) -> Table:
    return trigram_table(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,))), pairs, vocab)
