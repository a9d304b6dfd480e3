"""Multi-query associative recall (Arora et al. 2023, Zoology, Section 3 and the law of their code).

A row begins with n key-value pairs k_1 v_1 .. k_n v_n, keys distinct, values distinct, from disjoint halves of the
vocabulary. Every key is then asked for once; the answer at it is its value. The rest of the row is random tokens.
Unlike the induction task a pair stands by itself: a value is no key of the next token.
"""

from typing import Literal

import numpy as np

from dynamics.files.manifest import Positive, Several
from dynamics.tasks.induction import make_distinct
from dynamics.tasks.task import FIRST_TOKEN, Batch, Task, check_batch

POWER = 0.01


class MQAR(Task):
    """pairs, of a row; length, of the longest row."""

    name: Literal["mqar"] = "mqar"
    pairs: Positive = 4
    length: Several = 16

    def draw(self, rng: np.random.Generator, rows: int, vocab: int, seed: int) -> Batch:
        """As `mqar_batch`."""
        return mqar_batch(rng, rows, vocab, self.pairs, self.length)

    def words(self) -> dict[str, str]:
        """Pairs and length."""
        return {"pairs": f"{self.pairs} pairs", "length": f"rows of {self.length} tokens"}


def mqar_batch(
    rng: np.random.Generator, batch: int, vocab: int = 8192, pairs: int = 4, length: int = 64, power: float = POWER
) -> Batch:
    """Draw rows: the pairs, then (length - 2 pairs)/2 slots of two tokens, the keys at the starts of `pairs` of them.

    The slot of k_1, then that of k_2, and so on, is drawn among those left with chances proportional to g^(power-1),
    g = 1, 2, ..; every token that is not set so is uniform on 11..vocab-1, as there (random_non_queries). All queries
    are scored there; here one of them, drawn uniformly, an unbiased part of the same loss, and the row ends at it.

    Args: vocab, keys are the lower half of 11..vocab-1, values the upper; pairs, n >= 1; length, even, at least
        4 pairs; power, 1 makes slots uniform, the published 0.01 keeps queries close to the pairs.
    Returns: a Batch; position is the index of the answer's value, one after its key.
    Raises: ValueError for a value outside these ranges.
    """
    middle = key_value_border(vocab)
    _check(batch, vocab, pairs, length, power)
    rows = np.arange(batch)
    tokens = rng.integers(FIRST_TOKEN, vocab, size=(batch, length), dtype=np.int64)
    keys = _distinct(rng, batch, pairs, FIRST_TOKEN, middle)
    tokens[:, 0 : 2 * pairs : 2] = keys
    tokens[:, 1 : 2 * pairs : 2] = _distinct(rng, batch, pairs, middle, vocab)
    place = 2 * pairs + 2 * _slots(rng, batch, pairs, (length - 2 * pairs) // 2, power)
    tokens[rows[:, None], place] = keys
    scored = rng.integers(pairs, size=batch)
    query, position = place[rows, scored], 2 * scored + 1
    target = tokens[rows, position]
    tokens[np.arange(length) > query[:, None]] = 0
    return Batch(tokens[:, : query.max() + 1], query + 1, query, target, position)


def key_value_border(vocab: int) -> int:
    """Return the first token that is a value; keys are 11 up to it, values from it to vocab - 1."""
    return FIRST_TOKEN + (vocab - FIRST_TOKEN) // 2


def _distinct(rng: np.random.Generator, batch: int, count: int, first: int, end: int) -> np.ndarray:
    flat = rng.integers(first, end, size=batch * count, dtype=np.int64)
    make_distinct(rng, flat, np.full(batch, count), first, end)
    return flat.reshape(batch, count)


def _slots(rng: np.random.Generator, batch: int, count: int, space: int, power: float) -> np.ndarray:
    """Draw `count` of 0..space-1 one after the other, without return, with weights (g+1)^(power-1): (batch, count).

    A race: slot g rings after an exponential time of rate its weight, so the order of ringing is the order of drawing.
    """
    weight = np.arange(1, space + 1) ** (power - 1.0)
    return np.argsort(rng.exponential(size=(batch, space)) / weight, axis=1)[:, :count]


def _check(batch: int, vocab: int, pairs: int, length: int, power: float) -> None:
    check_batch(batch)
    room = (vocab - FIRST_TOKEN) // 2
    if not 1 <= pairs <= room:
        raise ValueError(f"pairs must be in 1..{room}, the keys of a vocabulary of {vocab}, got {pairs}")
    if length < 4 * pairs or length % 2:
        raise ValueError(f"length must be even and at least 4 pairs = {4 * pairs}, got {length}")
    if not power > 0:
        raise ValueError(f"power must be positive, got {power}")
