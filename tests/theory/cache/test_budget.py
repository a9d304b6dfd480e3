"""Budgets split over heads, against nearby splits; cache sizes against counts of tokens, head by head."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.cache.budget import budget_saving, split_budget
from theory.cache.size import kept_share, protected_groups


def test_budget_saving_is_the_gain_over_equal_shares():
    slopes = 2.0 ** -(np.arange(1, 33) / 4)
    best = (1 / slopes) / (1 / slopes).sum()  # shares of the budget: those of the windows' growth, by Lagrange
    gain = float((np.log(32 * best) / slopes).sum())
    assert split_budget(slopes, 1e-3) == pytest.approx(1e-3 * best, rel=1e-12)
    assert budget_saving(slopes) == pytest.approx(gain, rel=1e-12)


@given(st.integers(1, 200_000), st.integers(0, 20), st.integers(0, 8))
def test_kept_share_equals_tokens_counted_head_by_head(length, chosen, extra):
    heads = [length] * chosen + [min(length, max(4000, Fraction(length, 5)) + extra)] * (20 - chosen)
    assert kept_share(length, Fraction(chosen, 20), extra) == sum(heads) / Fraction(20 * length)


@given(st.sampled_from([(6, 2), (6, 3), (8, 4), (9, 3)]), st.integers(0, 6))
def test_protected_groups_are_the_extremes_and_mean_of_all_placements(shape, chosen):
    heads, group = shape
    counts = [len({h // group for h in picks}) for picks in itertools.combinations(range(heads), chosen)]
    groups = heads // group
    mean = Fraction(sum(counts), len(counts) * groups)
    expected = Fraction(min(counts), groups), mean, Fraction(max(counts), groups)
    assert protected_groups(heads, chosen, group) == expected
