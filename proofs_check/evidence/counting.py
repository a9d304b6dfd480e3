"""Exact tests in rationals: of two samples by their ranks, of a count by its sign, and Holm's level for many tests."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import comb
from typing import Any

TwoByTwo = tuple[tuple[int, int], tuple[int, int]]

# The customary level of significance.
SIGNIFICANT = Fraction(1, 20)


def rank_test(first: Sequence[Any], second: Sequence[Any]) -> Fraction:
    """Two-sided p that two samples come from one law: the share of the C(m + n, m) ways to split the pooled values in
    which the rank sum is as far from its mean as the one seen, or farther.

    Source: Mann and Whitney's test, exact with ties, which have the mean of their ranks. Args: m >= 1 and n >= 1 values
    with an order. Returns: an exact probability in (0, 1]. Raises: ValueError for an empty sample.
    """
    if not first or not second:
        raise ValueError("a rank test needs a value in each sample")
    pooled = sorted([*first, *second])
    twice = {value: bisect_left(pooled, value) + bisect_right(pooled, value) + 1 for value in pooled}
    m, mean = len(first), len(first) * (len(pooled) + 1)
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in first)]  # by how many are taken, by rank sum
    for value in pooled:
        for taken in range(m, 0, -1):
            for total, number in ways[taken - 1].items():
                ways[taken][total + twice[value]] += number
    seen = abs(sum(twice[value] for value in first) - mean)
    far = sum(number for total, number in ways[m].items() if abs(total - mean) >= seen)
    return Fraction(far, comb(len(pooled), m))


def holm_level(values: Iterable[Fraction], error: Fraction = SIGNIFICANT) -> Fraction:
    """The largest p that Holm's method rejects among these, as a level: it rejects those at or below, no other.

    Source: Holm 1979, Scandinavian Journal of Statistics 6:65: the k-th smallest of n is held against
    error/(n - k + 1), up to the first that is larger. With probability 1 - error no true hypothesis is rejected.
    """
    ordered = sorted(values)
    left = next((len(ordered) - k for k, p in enumerate(ordered) if p * (len(ordered) - k) > error), 1)
    return error / left


def sign_test(successes: int, trials: int) -> Fraction:
    """Two-sided p of a fair coin: the total probability of all counts no likelier than the one seen.

    Args: 0 <= successes <= trials. Returns: an exact probability in (0, 1]. Raises: ValueError outside of that.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must lie in 0..{trials}, got {successes}")
    ways = [comb(trials, k) for k in range(trials + 1)]
    return Fraction(sum(w for w in ways if w <= ways[successes]), 2**trials)
