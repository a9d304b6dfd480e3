"""Budgets split over heads, against nearby splits; windows from tail sums by bisection."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import refuses
from theory.cache.budget import budget_saving, split_budget


def sharp_window(mass, slope, spread):
    """Smallest real W with dropped mass <= mass when all kept logits lie `spread` below: bisection on tail sums."""
    ratio = math.exp(-slope)

    def tail(window):
        odds = math.exp(spread) * ratio**window / (1 - ratio**window)
        return odds / (1 + odds)

    low, high = 0.0, 1.0
    while tail(high) > mass:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle == 0 or tail(middle) > mass else (low, middle)
    return high


@given(st.integers(0, 10**6), st.booleans())
def test_split_budget_spends_it_and_beats_every_nearby_split(seed, sharp):
    rng = np.random.default_rng(seed)
    heads = int(rng.integers(1, 6))
    slopes, costs, spreads = rng.uniform(0.01, 1, heads), rng.uniform(0.5, 2, heads), rng.uniform(0, 4, heads)
    budget = 0.3 * float((costs * slopes).min() / slopes.max())
    masses = split_budget(slopes, budget, costs, spreads if sharp else None)
    assert costs @ masses == pytest.approx(budget, rel=1e-9)
    assert (masses > 0).all()

    def total(m):
        if sharp:
            return sum(sharp_window(*row) for row in zip(m, slopes, spreads, strict=True))
        return sum((d - math.log(x)) / s for x, s, d in zip(m, slopes, spreads, strict=True))

    best = total(masses)
    for _ in range(4):
        tried = masses * np.exp(0.3 * rng.normal(size=heads))
        assert best <= total(tried * budget / (costs @ tried)) * (1 + 1e-9)


def test_budget_saving_is_the_gain_over_equal_shares():
    slopes = 2.0 ** -(np.arange(1, 33) / 4)
    best = (1 / slopes) / (1 / slopes).sum()  # shares of the budget: those of the windows' growth, by Lagrange
    gain = float((np.log(32 * best) / slopes).sum())
    assert split_budget(slopes, 1e-3) == pytest.approx(1e-3 * best, rel=1e-12)
    assert budget_saving(slopes) == pytest.approx(gain, rel=1e-12)
    assert budget_saving(slopes) == pytest.approx(1182, abs=0.5)
    assert budget_saving([0.25, 0.25]) == 0.0


@pytest.mark.parametrize(("slope", "factor"), [(0.7, 1 + 3e-9), (0.3, 1 + 1e-7), (0.5, 1.05), (0.5, 2), (7, 1e-15)])
def test_budget_saving_keeps_its_digits_for_slopes_that_hardly_differ(slope, factor):
    slopes = [slope, slope * factor]
    with mpmath.workdps(60):
        reach = [1 / mpmath.mpf(x) for x in slopes]
        mean = sum(reach) / 2
        exact = float(sum(r * mpmath.log(r / mean) for r in reach))
    # the slopes themselves leave half as many digits of their distance
    assert budget_saving(slopes) == pytest.approx(exact, rel=1e-15 * max(1, 4 / abs(slopes[1] / slope - 1)), abs=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: split_budget([0.5], 1.0), "too large"),
        (lambda: split_budget([0.5], 0.6, logit_ranges=[1.0]), "too large"),
        (lambda: split_budget([0.5], 0.1, logit_ranges=[1.0, 1.0]), "logit_ranges"),
    ],
)
def test_split_budget_refuses_bad_input_in_one_line(call, words):
    refuses(call, words)
