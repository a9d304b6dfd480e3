"""From scores to heads: exact counts, ties, unions, thresholds and key-value groups."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dynamics.heads.scores import HeadScores
from dynamics.heads.selection import kept_count, retrieval_heads, top_heads


@given(st.integers(0, 5000), st.integers(0, 100))
def test_counts_are_rounded_up_from_exact_percentages(n_heads, percent):
    assert kept_count(n_heads, percent / 100) == -(-percent * n_heads // 100)
    assert kept_count(n_heads, f"0.{percent:03}") == -(-percent * n_heads // 1000)


@given(st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.1, 0.5, 1.0]), min_size=4, max_size=4), min_size=1, max_size=6))
def test_top_heads_are_the_highest_and_ties_go_to_the_first(scores):
    kept = top_heads(scores, 0.3)
    flat, chosen = np.ravel(scores), np.flatnonzero(kept)
    assert len(chosen) == math.ceil(3 * len(flat) / 10)
    assert set(chosen) == set(sorted(range(len(flat)), key=lambda i: (-flat[i], i))[: len(chosen)])


def test_retrieval_heads_are_the_union_over_the_whole_model():
    induction, echo = np.zeros((5, 10)), np.zeros((5, 10))
    induction[4, :7], echo[0, 9] = np.arange(1, 8), 0.9
    induction[0, 0] = 0.5
    kept = retrieval_heads(HeadScores(echo, induction, induction, induction))
    assert np.argwhere(kept).tolist() == [[0, 9]] + [[4, head] for head in range(7)]
    both = retrieval_heads(HeadScores(induction, induction, echo, echo))
    assert both.sum() == 7
