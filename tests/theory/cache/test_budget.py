"""Budgets split over heads, against nearby splits; windows from tail sums by bisection."""


import mpmath
import numpy as np
import pytest

from tests.theory.cases import refuses
from theory.cache.budget import budget_saving, split_budget


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


def test_split_budget_refuses_bad_input_in_one_line():
    refuses(lambda: split_budget([0.5], 1.0), "too large")
    refuses(lambda: split_budget([0.5], 0.6, logit_ranges=[1.0]), "too large")
    refuses(lambda: split_budget([0.5], 0.1, logit_ranges=[1.0, 1.0]), "logit_ranges")
