"""The mask before and after the softmax, keys at obtuse angles, a second copy of the first token; column means against
the printed row means, and what the first token leaves of their entropy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import SEEDS, head, refuses, softmax
from theory.cache import compensation_rotary
from theory.sink import (
    causal_attention,
    causal_leak,
    copy_weights,
    entropy_bound,
    importance_entropy,
    logit_lead,
    printed_causal_attention,
    printed_importance,
    rotary_copy_gap,
    rotary_copy_gap_bound,
    softmax_plus_one,
    token_importance,
    uniform_causal_entropy,
    zero_key_weight,
)

LENGTHS = st.integers(2, 8)
RATES = np.array([1.0, 0.37, 0.01])


@given(SEEDS, LENGTHS)
def test_a_mask_before_the_softmax_is_causal_and_one_after_it_is_not(seed, length):
    s = np.random.default_rng(seed).normal(scale=2, size=(length, length))
    a, printed = causal_attention(s), printed_causal_attention(s)
    for i in range(length):
        assert a[i, : i + 1] == approx(softmax(s[i, : i + 1]), abs=1e-14)
    assert a.sum(-1) == approx(np.ones(length), abs=1e-14) and np.array_equal(np.triu(a, 1), np.zeros_like(a))
    assert printed == approx(np.tri(length) * softmax(s), abs=1e-15)
    assert (printed.sum(-1)[:-1] < 1 - 1e-12).all()
    s[:-1, -1] += 3.0
    assert np.array_equal(causal_attention(s)[:-1], a[:-1])
    assert (np.abs(printed_causal_attention(s) - printed)[:-1].max(-1) > 1e-9).all()


@given(SEEDS, LENGTHS)
def test_the_leak_is_what_the_printed_rows_lack(seed, length):
    s = np.random.default_rng(seed).normal(scale=2, size=(3, length, length))
    leak = causal_leak(s)
    assert 1 - printed_causal_attention(s).sum(-1) == approx(leak, abs=1e-14)
    assert (1 - leak)[..., None] * causal_attention(s) == approx(
        printed_causal_attention(s), abs=1e-14
    )
    assert (leak[:, -1] == 0).all() and (leak[:, :-1] > 0).all()


@given(SEEDS)
def test_logit_lead_is_the_difference_of_two_products(seed):
    q, one, other = np.random.default_rng(seed).normal(size=(3, 4))
    norms = np.linalg.norm([q, one, other], axis=-1)
    cosines = [one @ q / (norms[0] * norms[1]), other @ q / (norms[0] * norms[2])]
    found = logit_lead(norms[0], norms[1], np.clip(cosines[0], -1, 1), norms[2], np.clip(cosines[1], -1, 1))
    assert found == approx(q @ one - q @ other, abs=1e-12)


@given(SEEDS, st.integers(1, 6))
def test_a_zero_key_has_the_weight_that_plus_one_drops(seed, keys):
    x, _ = head(seed, keys)
    found = zero_key_weight(x)
    assert found == approx(softmax(np.append(x, 0.0))[-1], rel=1e-12)
    assert found == approx(1 - softmax_plus_one(x).sum(), abs=1e-13)


@given(SEEDS, st.floats(-4, 4), st.booleans())
def test_copy_weights_are_those_of_the_softmax_with_a_second_copy(seed, log_ratio, added):
    x, _ = head(seed, 5)
    a = softmax(x)
    more = np.append(x, x[0] + log_ratio)
    if not added:
        more[3] = -np.inf  # the copy stands where token 3 was
    truth = softmax(more)
    found = copy_weights(a[0], log_ratio, 0.0 if added else a[3])
    assert found.first == approx(truth[0], rel=1e-11) and found.copy == approx(truth[-1], rel=1e-11)


def test_a_copy_in_the_place_of_the_only_other_token_leaves_the_two_alone():
    found = copy_weights(0.75, math.log(3), 0.25)
    assert [found.first, found.copy] == approx([0.25, 0.75], abs=1e-15)


@given(SEEDS, st.integers(0, 500), st.integers(0, 500))
def test_rotary_copy_gap_is_that_of_rotated_keys(seed, distance, offset):
    q, k = np.random.default_rng(seed).normal(size=(2, 6))
    turned = compensation_rotary.rotate(np.stack([q, k, k]), [distance, 0, offset], RATES)
    truth = turned[0] @ turned[2] - turned[0] @ turned[1]
    assert rotary_copy_gap(q, k, distance, offset, RATES) == approx(truth, abs=1e-10)


def test_rotary_copy_gap_stays_within_its_bound_and_reaches_it():
    rng = np.random.default_rng(8)
    q, k = rng.normal(size=(2, 2000, 6))
    distance, offset = rng.integers(0, 99, 2000), rng.integers(1, 99, 2000)
    found = rotary_copy_gap(q, k, distance, offset, RATES)
    bound = rotary_copy_gap_bound(q, k, offset, RATES)
    assert (np.abs(found) <= bound + 1e-12).all() and (found > 0).any() and (found < 0).any()
    # the key of every pair turned to where the gap is largest
    half = RATES * offset[:, None] / 2
    angles = np.sign(np.sin(half)) * np.pi / 2 - RATES * distance[:, None] + half
    pairs = (q[:, 0::2] + 1j * q[:, 1::2]) * np.exp(-1j * angles)
    best = np.stack([pairs.real, pairs.imag], -1).reshape(2000, 6)
    reached = rotary_copy_gap(q, best, distance, offset, RATES)
    assert reached == approx(rotary_copy_gap_bound(q, best, offset, RATES), rel=1e-9)


def test_rows_that_do_not_broadcast_are_named():
    query, key, rate = np.ones((4, 1, 2)), np.ones((1, 5, 2)), [0.3]
    told = "do not broadcast: query (4, 1), key (1, 5), "
    refuses(lambda: rotary_copy_gap(query, key, [1.0] * 3, 1, rate), told + "distance (3,), offset ()")
    refuses(lambda: rotary_copy_gap_bound(query, key, [1.0] * 3, rate), told + "offset (3,)")
    assert rotary_copy_gap(query, key, np.ones((3, 1, 1)), 1, rate).shape == (3, 4, 5)
    refuses(lambda: copy_weights([0.5] * 3, [0.0] * 2), "do not broadcast: weight (3,), log_ratio (2,)")
    refuses(lambda: logit_lead([1.0, 2.0], [1.0] * 3, 0.0, 1.0, 0.0), "do not broadcast: cosine ()")


@given(SEEDS, st.integers(2, 12))
def test_importance_is_what_a_token_is_given_and_the_printed_one_says_nothing(seed, length):
    a = causal_attention(np.random.default_rng(seed).normal(scale=2, size=(length, length)))
    given_by_hand = [sum(a[i, j] for i in range(length)) / length for j in range(length)]
    assert token_importance(a) == approx(given_by_hand, abs=1e-14)
    assert printed_importance(a) == approx(np.full(length, 1 / length), abs=1e-14)


def test_the_printed_index_cannot_tell_a_sink_from_the_identity():
    length = 6
    drained = np.zeros((length, length))
    drained[:, 0] = 1.0
    both = [np.eye(length), drained]
    assert np.array_equal(printed_importance(both), np.full((2, length), 1 / length))
    assert importance_entropy(both) == approx([math.log(length), 0], abs=1e-14)


@pytest.mark.parametrize("length", [1, 2, 257])
def test_entropy_of_even_causal_attention_is_that_of_its_matrix(length):
    even = np.tri(length) / np.arange(1, length + 1)[:, None]
    assert uniform_causal_entropy(length) == approx(float(importance_entropy(even)), abs=1e-12)


@given(st.integers(2, 12), st.floats(0, 1))
def test_first_token_bound_is_reached_by_a_causal_head_for_every_importance(length, share):
    a = np.eye(length) * (1 - share)
    a[:, 0] += share
    first = (1 + (length - 1) * share) / length
    assert token_importance(a)[0] == approx(first, abs=1e-14)
    assert float(importance_entropy(a)) == approx(entropy_bound(length, first), abs=1e-12)


def test_the_entropy_of_one_token_is_zero_and_a_rounded_share_is_enough():
    assert entropy_bound(1, 1.0) == 0 and entropy_bound(3, sum([1 / 3] * 3) / 3) > 0
