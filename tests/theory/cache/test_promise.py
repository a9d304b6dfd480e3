"""What may be forgotten for good: the promise holds for every later query, and nothing more could go in that order."""

import numpy as np
import pytest
from hypothesis import given

from tests.theory.cases import SEEDS, refuses
from theory.cache.promise import droppable


def held(seed):
    rng = np.random.default_rng(seed)
    heads, n = int(rng.integers(1, 4)), int(rng.integers(1, 20))
    slopes = rng.choice([0.0, 0.05, 0.5], (heads, 1))
    low = -np.abs(rng.standard_normal((heads, n))) * 10 ** rng.uniform(-1, 1)
    up = np.abs(rng.standard_normal((heads, n))) * 10 ** rng.uniform(-1, 1)
    distance = np.arange(n, 0, -1)
    before = np.where(rng.random(heads) < 0.5, -np.inf, rng.uniform(-30, -5, heads))
    return rng, up - slopes * distance, low - slopes * distance, before, float(10 ** rng.uniform(-4, -0.3))


@given(SEEDS)
def test_what_is_forgotten_is_within_the_promise(seed):
    _, cost, worth, before, error = held(seed)
    drop, lost = droppable(cost, worth, before, error)
    left, right = np.exp(before) + np.exp(cost[:, drop]).sum(1), np.exp(worth[:, ~drop]).sum(1)
    assert np.exp(lost) == pytest.approx(left, rel=1e-9)
    assert not drop.any() or (left <= error / (1 - error) * right).all()


@given(SEEDS)
def test_the_next_token_in_the_order_would_break_it(seed):
    _, cost, worth, before, error = held(seed)
    drop, _ = droppable(cost, worth, before, error)
    order = np.argsort(cost.max(0), kind="stable")
    more = drop.copy()
    more[order[int(drop.sum())] if not drop.all() else 0] = True
    left, right = np.exp(before) + np.exp(cost[:, more]).sum(1), np.exp(worth[:, ~more]).sum(1)
    assert (left > error / (1 - error) * right * (1 - 1e-8)).any()
    assert not drop.all()


@given(SEEDS)
def test_no_allowed_query_gives_forgotten_tokens_more_then_or_later(seed):
    """Keys are vectors, queries a ball: up and low are attained by some query, not all by one."""
    rng = np.random.default_rng(seed)
    n, width, slope = int(rng.integers(2, 16)), 3, float(rng.choice([0.0, 0.1, 0.6]))
    keys = rng.standard_normal((n, width)) * 10 ** rng.uniform(-1, 0.3)
    reference, ages, error = keys.mean(0), np.arange(n, 0, -1), 10 ** rng.uniform(-3, -0.3)
    size = np.linalg.norm(keys - reference, axis=1)
    drop, _ = droppable((size - slope * ages)[None], (-size - slope * ages)[None], np.array([-np.inf]), error)
    for later in (0, 1, 7):
        queries = rng.standard_normal((50, width))
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        weights = np.exp(queries @ keys.T - slope * (ages + later))
        assert (weights[:, drop].sum(1) <= error * weights.sum(1) * (1 + 1e-12)).all()


def test_batches_are_decided_one_by_one():
    one, two = ([x[None] for x in held(seed)[1:4]] for seed in (11, 11))
    two[0] = two[0] - 3.0
    both = [np.concatenate(x) for x in zip(one, two, strict=True)]
    drop, lost = droppable(*both, 0.1)
    for row, alone in enumerate((one, two)):
        found = droppable(*alone, 0.1)
        assert np.array_equal(drop[row], found[0][0]) and np.array_equal(lost[row], found[1][0])


def test_a_token_that_has_to_stay_stays_and_one_that_is_gone_costs_nothing():
    cost, worth = np.array([[-np.inf, -9.0, np.inf, 0.0]]), np.array([[-np.inf, -9.0, -5.0, 0.0]])
    drop, lost = droppable(cost, worth, np.array([-np.inf]), 0.5)
    assert drop.tolist() == [True, True, False, False] and lost[0] == -9.0


def test_other_arguments_are_refused():
    refuses(lambda: droppable([[0.0]], [[0.0]], [0.0], 1.0), "error must lie strictly between 0 and 1, got 1.0")
    refuses(lambda: droppable([[0.0]], [[0.0, 1.0]], [0.0], 0.1), "must agree")
    refuses(lambda: droppable([[np.nan]], [[0.0]], [0.0], 0.1), "cost, worth and forgotten must not be NaN")
