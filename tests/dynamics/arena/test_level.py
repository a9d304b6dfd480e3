"""The league's joint level over 2,000 leagues in which every difference is known, looked at after every seed.

Entries are drawn, not differences: comparisons share their baselines, as they do in the arena.
"""

import numpy as np
import pytest
from scipy import stats

from dynamics.arena.bundle import shipped_arena
from dynamics.arena.engine import differences
from dynamics.arena.presets import PRESETS
from tests.dynamics.statistics import test_sequence as single

LEAGUES = 2000


def residuals() -> np.ndarray:
    """Each entry's log losses in the shipped league less their mean, over their spread, all entries together."""
    found = shipped_arena("league").losses.values()
    logs = [np.log(each) for each in found if len(each) > 2]
    return np.concatenate([(one - one.mean()) / one.std(ddof=1) for one in logs])


LAWS = {
    "gaussian": single.LAWS["gaussian"],
    "t3": single.LAWS["t3"],
    "resampled": lambda rng, shape: rng.choice(residuals(), shape),
}


def missed(rule, differences) -> np.ndarray:
    """Which sequences of differences have an interval that does not hold the true one, 0."""
    return single.missed(differences, rule.method, rule.alpha, rule.c)


@pytest.mark.parametrize("law", LAWS)
def test_all_intervals_of_a_league_hold_at_once_as_often_as_they_say(law):
    plan = PRESETS["league"]("0" * 64)
    most = max(one.rule.most for one in plan.comparisons.values())
    losses = LAWS[law](np.random.default_rng(0), (len(plan.entries), LEAGUES, most))
    drawn = dict(zip(plan.entries, losses, strict=True))
    wrong = [
        missed(one.rule, (drawn[one.variant] - drawn[one.baseline])[:, : one.rule.most])
        for one in plan.comparisons.values()
    ]
    assert single.compatible(np.any(wrong, axis=0))


def test_no_difference_of_the_shipped_league_is_far_from_normal():
    """Shapiro and Wilk's test of each comparison, Bonferroni's level over all: what the intervals assume."""
    bundle = shipped_arena("league")
    each = [differences(one, bundle.losses) for one in bundle.plan.comparisons.values()]
    smallest = min(stats.shapiro(d).pvalue for d in each)
    assert smallest > 0.01 / len(each)


@pytest.mark.parametrize(("law", "times"), [("exponential", 14), ("lognormal", 40)])
def test_of_skewed_differences_the_intervals_fail_as_often_as_the_page_says(law, times):
    rule = PRESETS["league"]("0" * 64).comparisons["smear / vanilla"].rule
    drawn = single.draw(single.FAILING[law], 20_000, rule.most)
    assert missed(rule, drawn).mean() / rule.alpha == pytest.approx(times, rel=0.15)
