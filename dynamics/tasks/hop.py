"""The k-hop task of Sanford, Hsu and Telgarsky (2024), which Figure 8 of the KV-shifting paper takes over.

Letters x_1 .. x_n, neighbours different: x_1 uniform, each next uniform on the other letters. One hop goes from index p
to p' = 1 + max{j < p: x_j = x_p}, the successor of the latest earlier occurrence; hop_k(p) is the letter after k hops,
or a special token where one of them finds no occurrence. A row begins with a token that says k.
Source: the definition of Section 4 there and the law of their code (seq_len 100, 4 letters, k = 0..16), which asks for
hop_k at all of its 98 letters; here one of them, drawn uniformly, is asked for, an unbiased part of the same loss.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from dynamics.files.manifest import Count, Several
from dynamics.tasks.task import FIRST_TOKEN, Batch, Task, check_batch

NOWHERE = 1


class Hop(Task):
    """symbols, letters; hops, the largest k; least_hops, the smallest (None: hops); length, of the longest row."""

    name: Literal["hop"] = "hop"
    symbols: Annotated[int, Field(ge=3)] = 4
    hops: Count = 1
    least_hops: Count | None = None
    length: Several = 17

    def draw(self, rng: np.random.Generator, rows: int, vocab: int, seed: int) -> Batch:
        """As `hop_batch`; vocab must have room for the letters and a token for each k in 0..hops."""
        room, needed = vocab - FIRST_TOKEN, self.symbols + self.hops + 1
        if needed > room:
            raise ValueError(f"symbols + hops + 1 must be at most vocab - {FIRST_TOKEN} = {room}, got {needed}")
        return hop_batch(rng, rows, self.symbols, self.length, self.hops, self.least_hops)

    def words(self) -> dict[str, str]:
        """Letters, k and length."""
        words = {"symbols": f"{self.symbols} letters", "hops": f"k = {self.hops}"}
        return words | {"length": f"rows of {self.length} tokens"}


def hop_batch(
    rng: np.random.Generator,
    batch: int,
    symbols: int = 4,
    length: int = 99,
    hops: int = 1,
    least_hops: int | None = None,
) -> Batch:
    """Draw rows: the token of k, then letters up to the scored one, whose index is uniform on 1..length-1.

    Args: symbols, letters, the tokens 11..10+symbols, at least 3; length, of the longest row, at least 2; k is uniform
        on least_hops..hops (default: hops alone) and has the token 11 + symbols + k.
    Returns: a Batch; the answer is a letter, position its index, or NOWHERE (token 1) with position -1.
    Raises: ValueError for a value outside these ranges.
    """
    least = hops if least_hops is None else least_hops
    _check(batch, symbols, length, hops, least)
    k = rng.integers(least, hops + 1, size=batch)
    letters = _letters(rng, batch, symbols, length - 1)
    query = rng.integers(1, length, size=batch)
    position = hop(letters, query - 1, k) + 1  # in letters the scored one stands at query - 1, in the row at query
    position[position == 0] = -1
    tokens = np.concatenate(((FIRST_TOKEN + symbols + k)[:, None], FIRST_TOKEN + letters), axis=1)
    target = np.where(position < 0, NOWHERE, tokens[np.arange(batch), position])
    tokens[np.arange(length) > query[:, None]] = 0
    return Batch(tokens[:, : query.max() + 1], query + 1, query, target, position)


def hop(letters: np.ndarray, start: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Index after k hops from `start`, -1 where one finds no earlier occurrence.

    Args: letters (batch, n) integers in 0..; start (batch,) indices; k (batch,) at least 0. Returns: (batch,) indices.
    """
    goes_to, rows = _successors(letters), np.arange(len(letters))
    at = start.copy()
    for step in range(int(k.max(initial=0))):
        at = np.where((k > step) & (at >= 0), goes_to[rows, at], at)
    return at


def _successors(letters: np.ndarray) -> np.ndarray:
    """One hop from every index at once: 1 + the index of the letter's latest earlier occurrence, or -1."""
    goes_to = np.full(letters.shape, -1)
    index = np.arange(letters.shape[1])
    for letter in np.unique(letters):
        here = letters == letter
        latest = np.maximum.accumulate(np.where(here, index, -1), axis=1)  # including the index itself
        earlier = np.concatenate((np.full((len(letters), 1), -1), latest[:, :-1]), axis=1)
        goes_to = np.where(here & (earlier >= 0), earlier + 1, goes_to)
    return goes_to


def _letters(rng: np.random.Generator, batch: int, symbols: int, n: int) -> np.ndarray:
    """A uniform start, then steps of 1..symbols-1 around the circle of letters: uniform on the others each time."""
    steps = rng.integers(1, symbols, size=(batch, n), dtype=np.int64)
    steps[:, 0] = rng.integers(symbols, size=batch)
    return steps.cumsum(axis=1) % symbols


def _check(batch: int, symbols: int, length: int, hops: int, least: int) -> None:
    check_batch(batch)
    if symbols < 3:
        raise ValueError(f"symbols must be at least 3 (two letters only alternate), got {symbols}")
    if length < 2:
        raise ValueError(f"length must be at least 2 (the token of k and a letter), got {length}")
    if not 0 <= least <= hops:
        raise ValueError(f"hops must be in 0 <= least_hops <= hops, got {least} and {hops}")
