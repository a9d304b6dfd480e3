"""Cache sizes against counts of tokens, head by head, and placements of heads by enumeration."""

import itertools
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import refuses
from theory.cache.size import kept_share, protected_groups


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


def test_cache_sizes_refuse_bad_input_in_one_line():
    refuses(lambda: kept_share(10, Fraction(11, 10)), "protected")
    refuses(lambda: protected_groups(10, 1, 4), "groups of 4")
