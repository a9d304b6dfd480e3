"""The exact tests against enumeration and scipy's floating-point ones."""

from fractions import Fraction
from itertools import combinations
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from proofs_check.evidence.counting import holm_level, rank_test, sign_test

TIME = st.integers(1, 5) | st.just(inf)


@given(st.lists(TIME, min_size=1, max_size=4), st.lists(TIME, min_size=1, max_size=4))
def test_rank_test_counts_the_splits_of_the_pooled_values_one_by_one(first, second):
    pooled = [*first, *second]
    ranks = stats.rankdata(pooled)
    expected = len(first) * (len(pooled) + 1) / 2
    sums = [sum(ranks[place] for place in places) for places in combinations(range(len(pooled)), len(first))]
    far = sum(abs(total - expected) >= abs(sums[0] - expected) for total in sums)
    assert rank_test(first, second) == Fraction(far, len(sums))


def test_rank_test_refuses_an_empty_sample():
    with pytest.raises(ValueError, match="a value in each sample"):
        rank_test([], [1])


@given(st.lists(st.integers(0, 30).map(lambda k: Fraction(k, 400)), min_size=1, max_size=5))
def test_holm_level_parts_what_the_adjusted_values_reject(values):
    level, ordered = holm_level(values), sorted(values)
    for place, p in enumerate(ordered):
        adjusted = max(min(Fraction(1), (len(values) - j) * ordered[j]) for j in range(place + 1))
        assert (p <= level) == (adjusted <= Fraction(1, 20))


@given(st.integers(1, 60), st.data())
def test_sign_test_agrees_with_scipy(trials, data):
    successes = data.draw(st.integers(0, trials))
    expected = stats.binomtest(successes, trials).pvalue
    assert float(sign_test(successes, trials)) == pytest.approx(expected, rel=1e-9)


def test_sign_test_refuses_more_successes_than_trials():
    with pytest.raises(ValueError, match=r"0\.\.3"):
        sign_test(4, 3)
