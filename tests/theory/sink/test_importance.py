"""Column means against the printed row means; the entropy's extremes, and what the first token leaves of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.theory.sink.draws import SEEDS, causal, refuses
from theory import sink

LENGTHS = st.integers(2, 12)


@given(SEEDS, LENGTHS)
def test_importance_is_what_a_token_is_given_and_the_printed_one_says_nothing(seed, length):
    a = causal(np.random.default_rng(seed), length)
    given_by_hand = [sum(a[i, j] for i in range(length)) / length for j in range(length)]
    assert sink.token_importance(a) == pytest.approx(given_by_hand, abs=1e-14)
    assert sink.token_importance(a).sum() == pytest.approx(1, abs=1e-14)
    # the planted mistake: row means are 1/l, whatever the head
    assert sink.printed_importance(a) == pytest.approx(np.full(length, 1 / length), abs=1e-14)
    assert np.abs(sink.token_importance(a) - sink.printed_importance(a)).max() > 1e-6


def test_the_printed_index_cannot_tell_a_sink_from_the_identity():
    length = 6
    drained = np.zeros((length, length))
    drained[:, 0] = 1.0
    assert sink.printed_importance([np.eye(length), drained]) == pytest.approx(np.full((2, length), 1 / length))
    for a in (np.eye(length), drained):
        assert np.array_equal(sink.printed_importance(a), np.full(length, 1 / length))
    assert sink.importance_entropy(drained) == 0
    assert sink.importance_entropy(np.eye(length)) == pytest.approx(math.log(length), abs=1e-14)


def test_the_first_tokens_of_a_causal_head_have_their_share():
    a = causal(np.random.default_rng(1), 7, scale=3.0, batch=(2000,))
    running = sink.token_importance(a).cumsum(-1)
    assert (running >= np.arange(1, 8) / 7 - 1e-13).all()
    # reached by the identity; without the mask it is false
    assert np.array_equal(sink.token_importance(np.eye(7)), np.full(7, 1 / 7))
    last = np.zeros((7, 7))
    last[:, 6] = 1.0
    assert sink.token_importance(last)[0] == 0


def test_entropy_is_at_most_log_l_over_many_heads_and_lower_is_more_clustered():
    a = causal(np.random.default_rng(2), 6, scale=3.0, batch=(2000,))
    entropy, largest = sink.importance_entropy(a), sink.token_importance(a).max(-1)
    assert entropy.shape == (2000,) and (entropy >= 0).all() and (entropy < math.log(6)).all()
    assert np.corrcoef(entropy, largest)[0, 1] < -0.8  # Eq. 11's own reading would have it positive


@pytest.mark.parametrize("length", [2, 3, 5])
def test_only_the_identity_gives_a_causal_head_an_even_importance(length):
    """The largest off-diagonal weight under a_j = 1/l is 0: a linear program over all causal matrices."""
    places = [(i, j) for i in range(length) for j in range(i + 1)]
    rows = [[float(i == r) for i, _ in places] for r in range(length)]
    columns = [[float(j == c) for _, j in places] for c in range(length)]
    off = [-float(i != j) for i, j in places]
    bound = {"A_eq": rows + columns, "b_eq": np.ones(2 * length), "bounds": (0, 1)}
    assert linprog(off, **bound).fun == pytest.approx(0, abs=1e-12)
    # among all matrices it is not: the even one has the same importance
    assert sink.importance_entropy(np.full((length, length), 1 / length)) == pytest.approx(math.log(length))


@pytest.mark.parametrize("length", [1, 2, 3, 10, 257])
def test_entropy_of_even_causal_attention_is_that_of_its_matrix(length):
    even = np.tri(length) / np.arange(1, length + 1)[:, None]
    assert sink.uniform_causal_entropy(length) == pytest.approx(float(sink.importance_entropy(even)), abs=1e-12)


def test_even_causal_attention_loses_one_minus_gamma_nats_at_most():
    lengths = np.unique(np.geomspace(1, 10**6, 60).astype(int))
    gaps = np.log(lengths) - sink.uniform_causal_entropy(lengths)
    limit = 1 - np.euler_gamma
    assert (gaps < limit).all() and (np.diff(gaps) > 0).all()
    assert gaps[-1] > 0.99999 * limit
    assert gaps[-1] < np.euler_gamma  # not gamma itself


def test_first_token_bounds_the_entropy_of_every_causal_head():
    rng = np.random.default_rng(3)
    for length in (2, 3, 8):
        a = causal(rng, length, scale=2.5, batch=(1000,))
        first = sink.token_importance(a)[:, 0]
        bound = sink.entropy_bound(length, first)
        assert (sink.importance_entropy(a) <= bound + 1e-12).all()
    # without the binary entropy it would be exceeded
    wrong = (1 - first) * math.log(length - 1)
    assert (sink.importance_entropy(a) > wrong + 1e-3).any()


@given(LENGTHS, st.floats(0, 1))
def test_first_token_bound_is_reached_by_a_causal_head_for_every_importance(length, share):
    a = np.eye(length) * (1 - share)
    a[:, 0] += share
    first = (1 + (length - 1) * share) / length
    assert sink.token_importance(a)[0] == pytest.approx(first, abs=1e-14)
    assert float(sink.importance_entropy(a)) == pytest.approx(sink.entropy_bound(length, first), abs=1e-12)


def test_importance_refuses_in_one_line():
    refuses(lambda: sink.entropy_bound(4, 0.2), r"first_importance must be at least 1/length = 0\.25, got 0\.2")
    assert sink.entropy_bound(1, 1.0) == 0 and sink.entropy_bound(3, sum([1 / 3] * 3) / 3) > 0
