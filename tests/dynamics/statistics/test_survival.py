"""Survival times: medians and intervals with censored runs against enumeration of every resample."""

import itertools
import math
from statistics import median

import numpy as np
import pytest

from dynamics.statistics import survival

INF = math.inf
SAMPLES = [[30.0], [10, 40], [20, None], [10, 20, 70], [5, None, None], [10, 30, 50, None], [7, 7, 9, None, None]]


def late(times):
    return [INF if time is None else time for time in times]


def resamples(times):
    return itertools.product(late(times), repeat=len(times))


def quantile(values, share, side):
    """Order statistics by hand; `side` rounds the rank down or up."""
    ordered = sorted(values)
    return ordered[side(share * (len(ordered) - 1))]


def bracket(values, low, high):
    """Whether low and high are quantiles of values within the Monte-Carlo error of a thousandth of the draws."""
    return all(
        quantile(values, share - 0.01, math.floor) <= end <= quantile(values, share + 0.01, math.ceil)
        for share, end in ((0.1, low), (0.9, high))
    )


@pytest.mark.parametrize("times", SAMPLES, ids=str)
def test_median_interval_is_that_of_all_resamples(times):
    found = survival.median_interval(times, confidence=0.8)
    assert found.value == survival.median_time(times) == median(late(times))
    assert bracket([median(sample) for sample in resamples(times)], found.low, found.high)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(SAMPLES[1:4], SAMPLES[2:5])), ids=str)
def test_ratio_intervals_are_those_of_all_resamples(first, second):
    pairs = [(median(a), median(b)) for a in resamples(first) for b in resamples(second)]
    low, high = ([end if a == b == INF else a / b for a, b in pairs] for end in (0.0, INF))
    found = survival.median_ratio(first, second, confidence=0.8)
    assert quantile(low, 0.09, math.floor) <= found.low <= quantile(low, 0.11, math.ceil)
    assert quantile(high, 0.89, math.floor) <= found.high <= quantile(high, 0.91, math.ceil)


def test_ratio_of_two_censored_medians_is_unknown():
    found = survival.median_ratio([None, None], [None])
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0.0, INF)


def test_ratio_to_a_censored_median_is_zero_and_of_one_infinite():
    assert survival.median_ratio([10, 20, 30], [None]) == (0.0, 0.0, 0.0)
    assert survival.median_ratio([None], [10, 20, 30]) == (INF, INF, INF)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(SAMPLES[2:5], repeat=2)), ids=str)
def test_probability_faster_counts_pairs_and_resamples(first, second):
    def share(a, b):
        return np.mean([1.0 if x < y else 0.5 if x == y else 0.0 for x in a for y in b])

    found = survival.probability_faster(first, second, confidence=0.8)
    assert found.value == share(late(first), late(second))
    assert bracket([share(a, b) for a in resamples(first) for b in resamples(second)], found.low, found.high)
    assert found.value + survival.probability_faster(second, first).value == 1.0


def test_all_censored_sample_has_all_of_its_interval_beyond_the_budget():
    assert survival.median_interval([None] * 8) == (INF, INF, INF)


def test_intervals_repeat_with_their_seed_and_move_with_it():
    times = list(range(10, 200, 7))
    assert survival.median_interval(times) == survival.median_interval(times)
    assert len({survival.probability_faster(times, times[::2], draws=50, seed=k) for k in range(4)}) > 1
