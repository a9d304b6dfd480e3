"""Column means against the printed row means; the entropy's extremes, and what the first token leaves of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import SEEDS
from theory import sink

LENGTHS = st.integers(2, 12)


@given(SEEDS, LENGTHS)
def test_importance_is_what_a_token_is_given_and_the_printed_one_says_nothing(seed, length):
    a = sink.causal_attention(np.random.default_rng(seed).normal(scale=2, size=(length, length)))
    given_by_hand = [sum(a[i, j] for i in range(length)) / length for j in range(length)]
    assert sink.token_importance(a) == pytest.approx(given_by_hand, abs=1e-14)
    assert sink.printed_importance(a) == pytest.approx(np.full(length, 1 / length), abs=1e-14)


def test_the_printed_index_cannot_tell_a_sink_from_the_identity():
    length = 6
    drained = np.zeros((length, length))
    drained[:, 0] = 1.0
    both = [np.eye(length), drained]
    assert np.array_equal(sink.printed_importance(both), np.full((2, length), 1 / length))
    assert sink.importance_entropy(both) == pytest.approx([math.log(length), 0], abs=1e-14)


@pytest.mark.parametrize("length", [1, 2, 3, 10, 257])
def test_entropy_of_even_causal_attention_is_that_of_its_matrix(length):
    even = np.tri(length) / np.arange(1, length + 1)[:, None]
    assert sink.uniform_causal_entropy(length) == pytest.approx(float(sink.importance_entropy(even)), abs=1e-12)


@given(LENGTHS, st.floats(0, 1))
def test_first_token_bound_is_reached_by_a_causal_head_for_every_importance(length, share):
    a = np.eye(length) * (1 - share)
    a[:, 0] += share
    first = (1 + (length - 1) * share) / length
    assert sink.token_importance(a)[0] == pytest.approx(first, abs=1e-14)
    assert float(sink.importance_entropy(a)) == pytest.approx(sink.entropy_bound(length, first), abs=1e-12)


def test_the_entropy_of_one_token_is_zero_and_a_rounded_share_is_enough():
    assert sink.entropy_bound(1, 1.0) == 0 and sink.entropy_bound(3, sum([1 / 3] * 3) / 3) > 0
