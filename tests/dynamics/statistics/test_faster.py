"""The probability of being first: pairs counted, an interval as wide as the rank test's spread, and that covers."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from dynamics.statistics.survival import probability_faster

SAMPLES = [[10, 40], [10, 20, 70], [5, None, None], [7, 7, 9, None, None]]
SPREADS = [(1, 1), (1, 3), (3, 1)]


def spread_of_shares(m, n):
    """Standard deviation of the share of pairs over all ways to split the ranks 1 .. m + n."""
    ranks = set(range(m + n))
    splits = [(one, ranks - {*one}) for one in itertools.combinations(ranks, m)]
    return np.std([np.mean([x < y for x in one for y in other]) for one, other in splits])


@pytest.mark.parametrize(("first", "second"), list(itertools.product(SAMPLES, repeat=2)), ids=str)
def test_value_counts_pairs_and_both_ends_are_as_many_spreads_away(first, second):
    found, m, n = probability_faster(first, second), len(first), len(second)
    a, b = ([np.inf if time is None else time for time in times] for times in (first, second))
    assert found.value == pytest.approx(np.mean([(x < y) + (x == y) / 2 for x in a for y in b]), abs=1e-15)
    for end in (found.low, found.high):
        if 1e-9 < end < 1 - 1e-9:
            spread = 2 * np.sqrt(end * (1 - end)) * spread_of_shares(m, n)
            assert abs(found.value - end) / spread == pytest.approx(student.ppf(0.975, m + n - 2))


def drawn(probability, runs, spreads, draws):
    """Lognormal samples (draws, runs) of two laws, the first earlier with exactly that probability."""
    rng, apart = np.random.default_rng(0), norm.ppf(probability) * np.hypot(*spreads)
    return [np.exp(rng.normal(middle, one, (draws, runs))) for middle, one in zip((0, apart), spreads, strict=True)]


def measured(probability, runs, spreads):
    """How often the interval, which depends on the share alone, holds the true probability."""
    first, second = drawn(probability, runs, spreads, 10_000)
    shares = (first[:, :, None] < second[:, None, :]).mean((1, 2))
    _, place, where = np.unique(shares, return_index=True, return_inverse=True)
    low, high = np.array([probability_faster(first[i], second[i])[1:] for i in place])[where].T
    return np.mean((low <= probability) & (probability <= high))


def test_interval_covers_from_one_half_to_one_at_equal_spreads_and_others():
    cells = itertools.product((0.5, 0.7, 0.86, 0.95, 0.99), (5, 8, 12), SPREADS)
    found = {cell: measured(*cell) for cell in cells}
    assert min(covered for (_, _, spreads), covered in found.items() if spreads == (1, 1)) >= 0.94
    assert min(found.values()) >= 0.9 and np.mean([*found.values()]) >= 0.94
