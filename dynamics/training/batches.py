"""The batch of a training's task at a step and its held-out rows, functions of (seed, step).

The streams of random numbers never meet: spawn keys (0, step) for training, (1,) for held-out rows; a task may have
others for what all rows of a run share, as the 3-gram's table has (2,). The rows may meet, where a task has few.
"""

from dynamics.tasks.task import Batch
from dynamics.training.evaluation import heldout_rng, training_rng
from dynamics.training.settings import TrainConfig


def training_batch(training: TrainConfig, vocab: int, step: int) -> Batch:
    """Draw the rows that a run with these settings sees at `step`."""
    return training.task.draw(training_rng(training.seed, step), training.batch, vocab, training.seed)


def heldout_rows(training: TrainConfig, vocab: int, rows: int | None = None) -> Batch:
    """Draw the rows that score a run with these settings (default: training.heldout_rows of them)."""
    return training.task.draw(heldout_rng(training.seed), rows or training.heldout_rows, vocab, training.seed)
