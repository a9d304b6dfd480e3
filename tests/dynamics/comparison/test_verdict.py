"""What a comparison says, on numbers made up by hand: pairs, halves, texts."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from dynamics.comparison.on_text import Scored
from dynamics.comparison.plan import EVICTED, FULL
from dynamics.comparison.verdict import choose, line, texts_of

LEVELS = 2 + np.random.default_rng(0).random(8)  # texts differ by far more than policies do
EXTRA = {
    FULL: np.zeros(8),
    "one": np.array([0.01, 0.3, 0.02, 0.31, 0.03, 0.32, 0.02, 0.3]),  # best on the texts 0, 2, .., worst on the others
    "two": np.array([0.2, 0.1, 0.21, 0.11, 0.2, 0.12, 0.22, 0.1]),
    EVICTED: np.array([0.2, 0.2, 0.2, 0.22, 0.2, 0.19, 0.2, 0.21]),
    "less": np.array([0.5, -0.2, 0.5, -0.25, 0.5, -0.2, 0.5, -0.15]),
}


def scored(extra, draws=(0,)):
    """A row of 3 scored tokens whose loss is this much over the full cache's in each window."""
    values = np.stack([LEVELS[: len(extra)] + extra, np.abs(extra), extra > 0.2], 1)
    return Scored(np.stack([values + draw for draw in draws]), np.tile(values.mean(0), (3, 1)))


SCORES = {policy: scored(extra) for policy, extra in EXTRA.items()}
OTHER = {policy: LEVELS[1::2] + extra[1::2] for policy, extra in EXTRA.items()}


def paired(one, other):
    """Student's interval of a paired difference, by scipy."""
    apart = np.subtract(one, other)
    return [apart.mean(), *stats.t.interval(0.95, len(apart) - 1, apart.mean(), stats.sem(apart))]


def test_a_line_is_paired_with_the_full_cache_and_its_windows_count_once_a_text():
    extra = EXTRA["two"]
    found = line(scored(extra, (0, 0.1)), SCORES[FULL], np.arange(8))
    assert_allclose(found.extra, paired(LEVELS + extra + 0.05, LEVELS))
    assert_allclose([found.divergence.value, found.same, *found.worst], [extra.mean() + 0.05, 0.3, 6, 0.27])
    assert_allclose(found.places, extra.mean())
    found = line(SCORES["two"], SCORES[FULL], np.array([0, 0, 0, 0, 0, 1, 2, 3]))
    assert_allclose([found.extra.value, found.over_tokens], [np.mean([extra[:5].mean(), *extra[5:]]), extra.mean()])


def test_a_policy_is_chosen_on_one_half_and_reported_on_the_other():
    found = choose(SCORES, np.arange(8))
    assert found.best == "one" and found.behind.keys() == {"two", EVICTED, "less"}
    assert found.random.keys() == {"one", "two", "less"}
    for name in ("one", "two", "less"):
        assert_allclose(found.over_full[name], paired(OTHER[name], OTHER[FULL]))
        assert_allclose(found.random[name], paired(OTHER[EVICTED], OTHER[name]))
    assert_allclose(found.behind["two"], paired(OTHER["two"], OTHER["one"]))


def test_too_few_texts_choose_nothing():
    assert choose({policy: scored(extra[:3]) for policy, extra in EXTRA.items()}, np.arange(3)) is None
    assert choose({FULL: SCORES[FULL]}, np.arange(8)) is None
    assert choose({policy: SCORES[policy] for policy in (FULL, "one")}, np.arange(8)).random == {}
    assert texts_of(np.array([0, 0, 2, 2, 5])).tolist() == [0, 1, 2, 3, 4]
    assert texts_of(np.array([0, 0, 2, 3, 5])).tolist() == [0, 0, 1, 2, 3]
