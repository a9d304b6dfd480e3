"""The league's joint level over 2,000 leagues in which every difference is known, looked at after every seed.

Entries are drawn, not differences: comparisons share their baselines, as they do in the arena.
"""

import math

import numpy as np
import pytest
from scipy import stats

from dynamics.arena.bundle import shipped_arena
from dynamics.arena.engine import differences
from dynamics.arena.presets import PRESETS
from dynamics.statistics.sequence import intervals, running

LEAGUES, SPREAD = 2000, 0.006 / 2**0.5


def residuals() -> np.ndarray:
    """Each entry's log losses in the shipped league less their mean, over their spread, all entries together."""
    found = shipped_arena("league").losses.values()
    logs = [np.log(each) for each in found if len(each) > 2]
    return np.concatenate([(one - one.mean()) / one.std(ddof=1) for one in logs])


LAWS = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape) / 3**0.5,
    "resampled": lambda rng, shape: rng.choice(residuals(), shape),
}


def missed(plan, law, count: int) -> np.ndarray:
    """Which leagues have an interval that does not hold the true difference, 0."""
    rng, names = np.random.default_rng(0), list(plan.entries)
    most = max(one.rule.most for one in plan.comparisons.values())
    drawn = dict(zip(names, SPREAD * law(rng, (len(names), count, most)), strict=True))
    wrong = np.zeros(count, dtype=bool)
    for one in plan.comparisons.values():
        d = (drawn[one.variant] - drawn[one.baseline])[:, : one.rule.most]
        low, high = running(*intervals(d, one.rule.alpha, one.rule.method, one.rule.c))
        wrong |= (low[:, -1] > 0) | (high[:, -1] < 0)
    return wrong


@pytest.mark.parametrize("law", LAWS)
def test_all_intervals_of_a_league_hold_at_once_as_often_as_they_say(law):
    wrong = missed(PRESETS["league"]("0" * 64), LAWS[law], LEAGUES)
    assert stats.binom.sf(wrong.sum() - 1, len(wrong), 0.05) > 1e-3


def test_no_difference_of_the_shipped_league_is_far_from_normal():
    """Shapiro and Wilk's test of each comparison, Bonferroni's level over all: what the intervals assume."""
    bundle = shipped_arena("league")
    each = [differences(one, bundle.losses) for one in bundle.plan.comparisons.values()]
    smallest = min(stats.shapiro(d).pvalue for d in each)
    assert smallest > 0.01 / len(each)


@pytest.mark.parametrize(("law", "mean", "times"), [("exponential", 1.0, 14), ("lognormal", math.exp(0.5), 40)])
def test_of_skewed_differences_the_intervals_fail_as_often_as_the_page_says(law, mean, times):
    rule = PRESETS["league"]("0" * 64).comparisons["smear / vanilla"].rule
    drawn = getattr(np.random.default_rng(0), law)(size=(20_000, rule.most)) - mean
    low, high = running(*intervals(drawn, rule.alpha, rule.method, rule.c))
    missed = ((low[:, -1] > 0) | (high[:, -1] < 0)).mean()
    assert missed / rule.alpha == pytest.approx(times, rel=0.15)
