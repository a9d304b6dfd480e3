"""Rotary heads: the raw product bounds nothing, the bound over all rotations is never exceeded."""

import math

import numpy as np
import pytest

from tests.theory.alibi.drawn_heads import random_head, rotated_spread
from tests.theory.cases import refuses
from theory import alibi
from theory.alibi.rotary import pair_numbers, rotary_range, rotary_range_normed

W_Q, W_K = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])


def test_a_product_of_zero_leaves_rotated_logits_that_are_not():
    assert alibi.logit_range(W_Q, W_K, np.ones(2)) == 0.0
    found = rotary_range(W_Q, W_K, np.ones(2))
    state = np.array([math.sqrt(2), 0.0])
    x, y = W_K @ state
    quarters = np.array([[-y, x], [y, -x]])  # the key turned to either side
    logits = quarters @ W_Q @ state / math.sqrt(2)
    assert abs(logits[0] - logits[1]) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("pairs", ["halves", "neighbours"])
@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_no_rotation_exceeds_the_bound(norm, pairs):
    rng = np.random.default_rng(4)
    for trial in range(12):
        d, d_head = int(rng.integers(2, 8)), 2 * int(rng.integers(1, 4))
        head = random_head(rng, d, d_head, norm, trial % 2)
        head["key_bias"] = rng.standard_normal(d_head) if trial % 2 else None
        bound = rotary_range(**head, pairs=pairs)
        assert rotated_spread(head, pairs, rng) <= bound * (1 + 1e-12)
        widest = np.linalg.norm(head["w_q"] * head["gamma"], 2) * np.linalg.norm(head["w_k"] * head["gamma"], 2)
        assert bound <= 2 * d * widest / math.sqrt(d_head) * (1 + 1e-12) or trial % 2


def test_one_pair_without_biases_attains_the_bound():
    rng = np.random.default_rng(6)
    w_q, w_k = rng.standard_normal((2, 2, 5))
    attained = 2 * 5 * np.linalg.norm(w_q, 2) * np.linalg.norm(w_k, 2) / math.sqrt(2)
    assert rotary_range(w_q, w_k, np.ones(5)) == pytest.approx(attained, rel=1e-12)


def test_normed_queries_and_keys_stay_within_their_bound_and_reach_it():
    rng = np.random.default_rng(8)
    gains = rng.uniform(0.2, 2, (2, 6))
    bound = rotary_range_normed(*gains)
    units = rng.standard_normal((2, 3000, 6))
    q, k = units * math.sqrt(6) / np.linalg.norm(units, axis=2, keepdims=True) * gains[:, None]
    sizes = [np.hypot(x[:, :3], x[:, 3:]) for x in (q, k)]
    assert 2 * (sizes[0] * sizes[1]).sum(axis=1).max() / math.sqrt(6) <= bound
    tops = np.maximum(gains[:, :3], gains[:, 3:]).prod(axis=0)
    assert bound == pytest.approx(2 * math.sqrt(6) * tops.max())


def test_the_pairs_of_a_part_that_turns_are_its_own():
    """Of four components the first two turn: 0 with 1, which a rotation of all four would pair with 2 and 3."""
    asked, seen = np.array([3.0, 0.1, 0.1, 0.1]), np.array([0.1, 3.0, 0.1, 0.1])
    query, key = 2 * asked * [1, 0, 0, 0], 2 * seen * [0, 1, 0, 0]
    key[:2] = key[1], -key[0]  # a quarter turn
    reached = 2 * abs(query @ key) / 2
    assert rotary_range_normed(asked, seen) < reached
    assert rotary_range_normed(asked, seen, rotated=2) == pytest.approx(reached, rel=1e-12)


def test_components_that_are_not_turned_are_pairs_of_one():
    assert pair_numbers(6, "halves", 4).tolist() == [0, 1, 0, 1, 2, 3]
    assert pair_numbers(6, "neighbours", 4).tolist() == [0, 0, 1, 1, 2, 3]
    assert pair_numbers(6, "halves").tolist() == pair_numbers(6, "halves", 6).tolist() == [0, 1, 2, 0, 1, 2]
    for rotated in (3, 8):
        refuses(lambda rotated=rotated: pair_numbers(6, "halves", rotated), f"d_head is {rotated}")
