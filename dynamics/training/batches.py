"""The batch of a training's task at a step and its held-out rows, functions of (seed, step).

The streams of random numbers never meet: spawn keys (0, step) for training, (1,) for held-out rows; a task may have
others for what all rows of a run share, as the 3-gram's table has (2,). The rows may meet, where a task has few.
"""

from collections.abc import Iterator

from dynamics.tasks.task import Batch
from dynamics.training.evaluation import heldout_rng, training_rng
from dynamics.training.settings import TrainConfig


def training_batch(training: TrainConfig, vocab: int, step: int) -> Batch:
    """Draw the rows that a run with these settings sees at `step`."""
    return training.task.draw(training_rng(training.seed, step), training.batch, vocab, training.seed)


def heldout_rows(training: TrainConfig, vocab: int, rows: int | None = None) -> Batch:
    """Draw the rows that score a run with these settings (default: training.heldout_rows of them)."""
    return training.task.draw(heldout_rng(training.seed), rows or training.heldout_rows, vocab, training.seed)


def seen_share(training: TrainConfig, vocab: int) -> float:
    """The share of the held-out rows that a run trains on as well: the same tokens up to the scored one."""
    heldout = list(_rows(heldout_rows(training, vocab)))
    trained = {row for step in range(training.steps) for row in _rows(training_batch(training, vocab, step))}
    return sum(row in trained for row in heldout) / len(heldout)


def _rows(batch: Batch) -> Iterator[tuple[int, ...]]:
    for tokens, last in zip(batch.tokens, batch.query_index, strict=True):
        yield tuple(tokens[: last + 1].tolist())
