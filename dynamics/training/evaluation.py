"""Streams of training and held-out rows, and a model's score on a batch."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.decoder import InductionModel
from dynamics.tasks.induction import induction_batch
from dynamics.tasks.task import Batch


class Evaluation(NamedTuple):
    """Mean cross-entropy (nats), correct answers and rows."""

    loss: float
    correct: int
    rows: int

    @property
    def accuracy(self) -> float:
        """Correct answers over rows."""
        return self.correct / self.rows


def training_rng(seed: int, step: int) -> np.random.Generator:
    """Return the generator of one step's batch: a run needs no generator state to be resumed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, step)))


def heldout_rng(seed: int) -> np.random.Generator:
    """Return the generator of held-out rows, from a stream that no training step of any seed uses."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))


def heldout_batch(seed: int, rows: int, vocab: int, pool: int) -> Batch:
    """Draw held-out rows of the induction task; `batches.heldout_rows` serves every task."""
    return induction_batch(heldout_rng(seed), rows, vocab, pool)


def as_tensors(batch: Batch, device: torch.device | str) -> tuple[Tensor, Tensor, Tensor]:
    """Return tokens, query_index and target as int64 tensors on device."""
    tokens, query, target = (torch.from_numpy(part).to(device) for part in (batch[0], batch[2], batch[3]))
    return tokens, query, target


def parts(batch: Batch, size: int) -> list[Batch]:
    """Cut a batch into batches of at most `size` rows, each trimmed to its own longest row."""
    pieces = []
    for start in range(0, len(batch.lengths), size):
        piece = Batch(*(part[start : start + size] for part in batch))
        pieces.append(piece._replace(tokens=piece.tokens[:, : piece.lengths.max()]))
    return pieces


@torch.no_grad()
def evaluate(model: InductionModel, batch: Batch, chunk: int = 512) -> Evaluation:
    """Score a model on a batch, `chunk` rows at a time."""
    device = model.embedding.device
    loss, correct = 0.0, 0
    for piece in parts(batch, chunk):
        tokens, query, target = as_tensors(piece, device)
        logits = model(tokens, query)
        loss += F.cross_entropy(logits, target, reduction="sum").item()
        correct += int((logits.argmax(-1) == target).sum())
    return Evaluation(loss / len(batch.lengths), correct, len(batch.lengths))
