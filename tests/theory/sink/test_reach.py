"""The largest weight of one token: from the range alone, and under ALiBi with the longest context that has a sink."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import refuses, softmax
from theory import alibi
from theory.sink import (
    divergence_bound,
    first_token_bound,
    largest_divergence,
    masked_sink_length,
    sink_length,
)

WEIGHTS = st.floats(0.001, 0.999)


def divergence(x):
    p = softmax(x)
    return math.log(x.shape[-1]) + (p * np.log(p)).sum(-1)


@given(st.integers(2, 60), st.floats(0, 40))
def test_largest_divergence_is_the_best_of_all_corners(length, span):
    corners = [divergence(np.where(np.arange(length) < k, span, 0.0)) for k in range(1, length)]
    assert largest_divergence(length, span) == approx(max(corners), abs=1e-12)
    assert max(corners) <= divergence_bound(span) + 1e-12


def first_weight(length, slope, logit_range, self_gap):
    """The first token highest, the query's own self_gap below it, all others logit_range below."""
    x = np.full(length, -logit_range)
    x[-1] = -self_gap
    x[0] = 0.0
    return softmax(x - slope * np.arange(length)[::-1])[0]


@given(st.integers(2, 60), st.floats(0, 1), st.floats(0, 12), st.floats(0, 1))
def test_first_token_bound_is_attained_by_the_context_that_is_named(length, slope, logit_range, share):
    gap = share * logit_range
    found = first_token_bound(length, slope, logit_range, gap)
    assert found == approx(first_weight(length, slope, logit_range, gap), rel=1e-10)
    free = first_token_bound(length, slope, logit_range)
    assert free == approx(first_weight(length, slope, logit_range, logit_range), rel=1e-10)


@given(st.one_of(st.just(0.0), st.floats(0.003, 2)), st.floats(0, 5), WEIGHTS)
def test_sink_length_is_the_longest_by_brute_force(slope, logit_range, weight):
    lengths = np.arange(1, 2001)
    powers = np.exp(np.minimum(slope * lengths[:-1], 600.0) - logit_range)
    reached = 1 / (1 + np.append(0.0, np.cumsum(powers)))
    brute = lengths[reached >= weight * (1 - 1e-11)].max()
    found = sink_length(slope, logit_range, weight)
    assert found == brute or (brute == 2000 and found >= 2000) or reached[brute - 1] == approx(weight, rel=1e-10)
    if 1 < found < 1e6:  # the planted mistake: a length that forgets to count the query
        assert first_token_bound(found, slope, logit_range) >= weight * (1 - 1e-11)
        assert first_token_bound(found + 1, slope, logit_range) < weight


@pytest.mark.parametrize("length", [1, 2, 7, 1000])
def test_a_weight_that_is_just_reached_counts(length):
    for slope, logit_range in ((0.0, 0.0), (0.0, 3.0), (0.1, 5.0)):
        weight = first_token_bound(length, slope, logit_range)
        if weight < 1:
            assert sink_length(slope, logit_range, weight) == length
    if length > 1:
        assert sink_length(0.0, 0.0, 1 / length) == length


@given(st.floats(0.01, 3), st.floats(0, 12), WEIGHTS)
def test_masked_sink_length_is_the_longest_by_brute_force(slope, self_gap, weight):
    lengths = np.arange(1, 2501)
    reached = np.append(1.0, [alibi.masked_weight_bound(n, slope, self_gap) for n in (1, 2)])
    reached = np.append(reached, 1 / (1 + np.exp(np.minimum(slope * lengths[2:-1] - self_gap, 600))))
    brute = lengths[reached >= weight * (1 - 1e-11)].max()
    found = masked_sink_length(slope, self_gap, weight)
    assert found == brute or reached[brute - 1] == approx(weight, rel=1e-10)
    assert found >= sink_length(slope, self_gap, weight)


def test_reach_refuses_in_one_line():
    refuses(lambda: sink_length(0.0, 800.0, 0.5), "too large or too small for sink_length")
