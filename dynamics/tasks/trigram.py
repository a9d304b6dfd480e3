"""The 3-gram task of the KV-shifting paper (Appendix E.3; first version: Section 3.3), with an exact law.

A table of `pairs` different pairs (x1, x2), about 200 in the paper, each with a random x3; the model must give x3 when
it sees x1, x2. Nothing in the row tells the answer: it has to be remembered. The paper does not say what surrounds a
pair; here nothing does, or `length` - 2 random tokens come first.
"""

from typing import NamedTuple

import numpy as np

from dynamics.tasks.induction import FIRST_TOKEN, Batch


class Table(NamedTuple):
    """first, second, third: (pairs,) each; the pairs (first, second) differ from each other."""

    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


def trigram_table(rng: np.random.Generator, pairs: int, vocab: int) -> Table:
    """Draw `pairs` of the (vocab - 11)^2 ordered pairs of tokens without repetition, and for each a uniform token.

    Raises: ValueError for pairs outside of 1..(vocab - 11)^2.
    """
    tokens = vocab - FIRST_TOKEN
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
    if batch < 1:
        raise ValueError(f"batch must be at least 1, got {batch}")
    if length < 2:
        raise ValueError(f"length must be at least 2 (a pair), got {length}")
    drawn = rng.integers(len(table.first), size=batch)
    tokens = rng.integers(FIRST_TOKEN, vocab, size=(batch, length), dtype=np.int64)
    tokens[:, -2], tokens[:, -1] = table.first[drawn], table.second[drawn]
    lengths = np.full(batch, length)
    return Batch(tokens, lengths, lengths - 1, table.third[drawn], np.full(batch, -1))
