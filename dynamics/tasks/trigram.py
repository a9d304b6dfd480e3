"""The 3-gram task of the KV-shifting paper (Appendix E.3; first version: Section 3.3), with an exact law.

A table of `pairs` different pairs (x1, x2), about 200 in the paper, each with a random x3; the model must give x3 when
it sees x1, x2. Nothing in the row tells the answer: it has to be remembered. The paper does not say what surrounds a
pair; here nothing does, or `length` - 2 random tokens come first.
"""

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from dynamics.files.manifest import Positive, Several
from dynamics.tasks.task import FIRST_TOKEN, Batch, Task, check_batch


class Trigram(Task):
    """pairs, of the table, which is a function of the run's seed; length, of a row: 2 is nothing but the pair.

    Held-out rows ask for the same table: there is nothing to learn from one pair about another.
    """

    name: Literal["trigram"] = "trigram"
    pairs: Positive = 200
    length: Several = 2

    def draw(self, rng: np.random.Generator, rows: int, vocab: int, seed: int) -> Batch:
        """As `trigram_batch`."""
        return trigram_batch(rng, rows, vocab, _table(seed, self.pairs, vocab), self.length)

    def words(self) -> dict[str, str]:
        """Pairs and length."""
        return {"pairs": f"{self.pairs} pairs", "length": f"rows of {self.length} tokens"}


class Table(NamedTuple):
    """first, second, third: (pairs,) each; the pairs (first, second) differ from each other."""

    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


def trigram_table(rng: np.random.Generator, pairs: int, vocab: int) -> Table:
    """Draw `pairs` of the (vocab - 11)^2 ordered pairs of tokens without repetition, and for each a uniform token.

    Raises: ValueError for vocab below 12 or pairs outside of 1..(vocab - 11)^2.
    """
    tokens = vocab - FIRST_TOKEN
    if tokens < 1:
        raise ValueError(f"vocab must be at least {FIRST_TOKEN + 1}, got {vocab}")
    if not 1 <= pairs <= tokens**2:
        raise ValueError(f"pairs must be in 1..(vocab - {FIRST_TOKEN})^2 = {tokens**2}, got {pairs}")
    code = rng.choice(tokens**2, size=pairs, replace=False)
    third = rng.integers(FIRST_TOKEN, vocab, size=pairs)
    return Table(FIRST_TOKEN + code // tokens, FIRST_TOKEN + code % tokens, third)


def trigram_batch(rng: np.random.Generator, batch: int, vocab: int, table: Table, length: int = 2) -> Batch:
    """Draw rows: length - 2 uniform tokens, then a uniform pair of the table; the answer is its third token.

    Args: table, as from trigram_table with the same vocab. Returns: a Batch whose position is -1 everywhere, for the
    answer is read off no token of the row. Raises: ValueError for batch < 1 or length < 2.
    """
    check_batch(batch)
    if length < 2:
        raise ValueError(f"length must be at least 2 (a pair), got {length}")
    drawn = rng.integers(len(table.first), size=batch)
    tokens = rng.integers(FIRST_TOKEN, vocab, size=(batch, length), dtype=np.int64)
    tokens[:, -2], tokens[:, -1] = table.first[drawn], table.second[drawn]
    lengths = np.full(batch, length)
    return Batch(tokens, lengths, lengths - 1, table.third[drawn], np.full(batch, -1))


@lru_cache(maxsize=16)
def _table(seed: int, pairs: int, vocab: int) -> Table:
    return trigram_table(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,))), pairs, vocab)
