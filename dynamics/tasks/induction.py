"""The induction task of the KV-shifting paper (section 3.2, Appendix K), with the exact law of its generator.

A row is x_1 .. x_T distinct, then x_{T+1} = x_i; the answer is x_{T+2} = x_{i+1}.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from dynamics.tasks.task import FIRST_TOKEN, Batch, Task, check_batch


class Induction(Task):
    """pool: the listing's `length`, of which the law of a row's length is made; at most vocab - 11."""

    name: Literal["induction"] = "induction"
    pool: Annotated[int, Field(ge=3)] = 512

    def draw(self, rng: np.random.Generator, rows: int, vocab: int, seed: int) -> Batch:
        """As `induction_batch`."""
        return induction_batch(rng, rows, vocab, self.pool)

    def words(self) -> dict[str, str]:
        """The mean length of a row."""
        return {"pool": f"rows of {self.mean_length():.1f} different tokens on average, then one of them again"}

    def mean_length(self) -> float:
        """The mean of T."""
        law = length_law(self.pool)
        return float(law @ np.arange(law.size))


def as_induction(task: Task) -> Induction:
    """The task, which must be this one. Raises: ValueError."""
    if not isinstance(task, Induction):
        raise ValueError(f"this is about the induction task, got {task.name}")
    return task


def stopping_law_exact(pool: int) -> list[Fraction]:
    """P(T) = (T-1)/(n-1) prod_{t<T} (n-t)/(n-1), T = 2..n: the first repetition when nothing is drawn again.

    Source: derived from Appendix K. With T distinct tokens out, the next differs from the last, so it is uniform on
    n-1 tokens of which T-1 are old. Returns: a list indexed by T = 0..n, summing to 1.
    """
    _check_pool(pool)
    law, survive = [Fraction(0)] * (pool + 1), Fraction(1)
    for n_tokens in range(1, pool + 1):
        stop = Fraction(n_tokens - 1, pool - 1)
        law[n_tokens] = survive * stop
        survive *= 1 - stop
    return law


def length_law_exact(pool: int) -> list[Fraction]:
    """The law of T in Appendix K: stopping_law_exact conditioned on T < n, for T = n is drawn again.

    Returns: a list indexed by T = 0..n, positive on 2..n-1, summing to 1.
    """
    law = stopping_law_exact(pool)
    return [p / (1 - law[pool]) for p in law[:pool]] + [Fraction(0)]


@lru_cache(maxsize=8)
def length_law(pool: int = 512) -> np.ndarray:
    """The law of length_law_exact in double precision, read-only, shape (pool + 1,), indexed by T.

    For n = 512: mean 29.003, median 27; the discarded mass P(T = n) = (n-1)!/(n-1)^(n-1) is about 1e-220.
    """
    _check_pool(pool)
    stop = np.arange(pool) / (pool - 1)
    law = np.zeros(pool + 1)
    law[1:] = stop * np.concatenate(([1.0], np.cumprod(1 - stop[:-1])))
    law[pool] = 0.0
    law /= law.sum()
    law.flags.writeable = False
    return law


def induction_batch(rng: np.random.Generator, batch: int, vocab: int = 8000, pool: int = 512) -> Batch:
    """Draw rows with the law of Appendix K: T from length_law(pool), i uniform on 1..T-1, tokens uniform and distinct.

    Args: rng; batch >= 1; vocab, tokens are 11..vocab-1; pool, the listing's `length`, 3 <= pool <= vocab - 11.
    Returns: a Batch of rows x_1 .. x_{T+1} whose answer is x_{i+1}; the paper's i is its position.
    Raises: ValueError for a value outside these ranges.
    """
    check_batch(batch)
    _check_pool(pool)
    if pool > vocab - FIRST_TOKEN:
        raise ValueError(f"pool must be at most vocab - {FIRST_TOKEN} = {vocab - FIRST_TOKEN}, got {pool}")
    n_tokens = np.searchsorted(_cumulative(pool), rng.random(batch), side="right")
    position = rng.integers(1, n_tokens)
    flat = rng.integers(FIRST_TOKEN, vocab, size=int(n_tokens.sum()), dtype=np.int64)
    make_distinct(rng, flat, n_tokens, FIRST_TOKEN, vocab)
    tokens = np.zeros((batch, int(n_tokens.max()) + 1), dtype=np.int64)
    tokens[np.arange(tokens.shape[1]) < n_tokens[:, None]] = flat
    rows = np.arange(batch)
    tokens[rows, n_tokens] = tokens[rows, position - 1]
    return Batch(tokens, n_tokens + 1, n_tokens, tokens[rows, position], position)


@lru_cache(maxsize=8)
def _cumulative(pool: int) -> np.ndarray:
    cumulative = np.cumsum(length_law(pool))
    # Ends at 1 exactly where the sum saturates: no uniform falls beyond it, onto a T that has no mass in doubles.
    return cumulative / cumulative[-1]


def make_distinct(rng: np.random.Generator, flat: np.ndarray, counts: np.ndarray, first: int, end: int) -> None:
    """Redraw from first..end-1, in place, every token that repeats an earlier one of its row, until none does.

    Args: flat, the rows one after the other, drawn uniformly from first..end-1; counts, tokens of each row.
    Exact: each token ends uniform on those not used before it. Few rows need it (6 % of them for 8000 tokens), so one
    sort finds these and a plain loop mends them; sorting random keys for all tokens would cost 100 times the rest.
    """
    code = np.repeat(np.arange(len(counts)) * end, counts) + flat
    ordered = np.sort(code)
    hit = np.unique(ordered[1:][ordered[1:] == ordered[:-1]] // end)
    ends = np.cumsum(counts)
    for row in hit:
        _redraw_repeats(rng, flat[ends[row] - counts[row] : ends[row]], first, end)


def _redraw_repeats(rng: np.random.Generator, row: np.ndarray, first: int, end: int) -> None:
    seen: set[int] = set()
    for index, token in enumerate(row.tolist()):
        while token in seen:
            token = int(rng.integers(first, end))
        seen.add(token)
        row[index] = token


def _check_pool(pool: int) -> None:
    if pool < 3:
        raise ValueError(f"pool must be at least 3 (fewer tokens never repeat), got {pool}")
