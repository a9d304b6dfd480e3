"""A baseline for the arena: an n-gram model that counts the bytes a run trains on, scored on its held-out rows."""

import numpy as np
from numpy.typing import NDArray

from dynamics.arena.record import PackedTraining
from dynamics.arena.training import Texts, heldout_rows
from dynamics.tasks.packed import VOCAB, Packed, packed_rows
from dynamics.training.evaluation import training_rng


def ngram_loss(training: PackedTraining, source: Texts, order: int) -> float:
    """Mean cross-entropy in nats a token of an n-gram model of this order (Witten and Bell 1991).

    p(c | h) = (n(h c) + t(h) p(c | h')) / (n(h) + t(h)), with n counts in the rows of the training's seed, t(h) the
    number of different tokens seen after h, and h' the context h without its oldest token. Before the empty context
    all tokens are alike. No context reaches into another document.
    """
    drawn = [
        packed_rows(training_rng(training.seed, step), source.training, training.rows, training.length,
                    training.packing)
        for step in range(training.steps)
    ]  # fmt: skip
    seen, asked = Packed(*map(np.concatenate, zip(*drawn, strict=True))), heldout_rows(training, source)
    chance = np.full(asked.scored.shape, 1 / VOCAB)
    for length in range(order):
        (known, keys), (where, wanted) = _contexts(seen, length), _contexts(asked, length)
        pairs, counts = np.unique(keys[known], return_counts=True)
        contexts, first, kinds = np.unique(pairs // VOCAB, return_index=True, return_counts=True)
        totals, before = np.add.reduceat(counts, first), wanted[where] // VOCAB
        total, types = _looked_up(before, contexts, totals), _looked_up(before, contexts, kinds)
        mixed = (_looked_up(wanted[where], pairs, counts) + types * chance[where]) / np.maximum(total + types, 1)
        chance[where] = np.where(total > 0, mixed, chance[where])
    return float(-np.log(chance[asked.scored]).mean())


def _contexts(rows: Packed, length: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which scored tokens have `length` tokens of their document before them; context and token as one number."""
    at = np.arange(1, rows.tokens.shape[1])
    oldest = np.maximum(at - length, 0)
    where = rows.scored & (at >= length) & (rows.segments[:, oldest] == rows.segments[:, at])
    return where, sum(rows.tokens[:, np.maximum(at - back, 0)] * VOCAB**back for back in range(length + 1))


def _looked_up(asked: NDArray[np.int64], known: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[at] == asked, counts[at], 0)
