"""Survival times: medians and intervals with censored runs against enumeration of every resample."""

import itertools
import math
from statistics import median

import pytest

from dynamics.statistics import survival

INF = math.inf
SAMPLES = [[30.0], [20, None], [10, 20, 70], [5, None, None], [7, 7, 9, None, None]]


@pytest.mark.parametrize("times", SAMPLES, ids=str)
def test_median_interval_is_that_of_all_resamples(times):
    """Its ends are quantiles of the medians of all resamples, within the error of a thousandth of the draws."""
    late = [INF if time is None else time for time in times]
    found = survival.median_interval(times, confidence=0.8)
    assert found.value == survival.median_time(times) == median(late)
    medians = sorted(map(median, itertools.product(late, repeat=len(late))))
    for share, end in ((0.1, found.low), (0.9, found.high)):
        low, high = ((share + error) * (len(medians) - 1) for error in (-0.01, 0.01))
        assert medians[math.floor(low)] <= end <= medians[math.ceil(high)]


def test_all_censored_sample_has_all_of_its_interval_beyond_the_budget():
    assert survival.median_interval([None] * 8) == (INF, INF, INF)
