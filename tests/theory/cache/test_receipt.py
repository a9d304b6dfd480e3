"""Receipts: bounds on what forgotten tokens change, against brute force, and reached."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import SEEDS, refuses
from theory.cache import receipt
from theory.cache.dropped import attend, truncate


@given(SEEDS, st.integers(1, 8), st.floats(0.0, 60.0))
def test_no_law_of_this_mean_has_a_larger_mean_of_e_to_the_x(seed, n, width):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-30, 30)
    x, p = low + width * rng.random(n), rng.dirichlet(np.ones(n))
    largest = float(np.log(p @ np.exp(x)))
    assert largest <= float(receipt.log_mean_exp_bound(p @ x, low, low + width)) + 1e-12
    assert p @ x <= largest + 1e-12


def drawn(seed):
    """One query: logits without bias of kept and forgotten tokens, distances, a slope, values."""
    rng = np.random.default_rng(seed)
    kept, gone, width = (int(rng.integers(1, 9)) for _ in range(3))
    x = rng.standard_normal(kept + gone) * 10 ** rng.uniform(-1, 1.3)
    slope = rng.choice([0.0, 10 ** rng.uniform(-2, 0.5)])
    distance = rng.permutation(40)[: kept + gone]
    values = rng.standard_normal((kept + gone, width)) * 10 ** rng.uniform(-1, 1)
    dropped = np.arange(kept + gone) >= kept
    return rng, x, slope, distance, values, dropped


def bound_of(x, slope, distance, values, dropped, with_mean, returned):
    """The receipt from the ends of the forgotten products, with or without their means."""
    bias = -slope * distance
    total = np.logaddexp.reduce(bias[dropped])
    low, high = x[dropped].min(), x[dropped].max()
    weights = np.exp(bias[dropped] - total)
    centre = values[dropped][0]
    ball = np.linalg.norm(values[dropped] - centre, axis=1).max()
    mean = weights @ x[dropped] if with_mean else None
    ends = receipt.log_mass(total, low, high, mean)
    log_kept = np.logaddexp.reduce((x + bias)[~dropped])
    least, largest = (receipt.share(end, log_kept) for end in ends)
    kept = attend((x + bias)[~dropped], values[~dropped])
    found = [receipt.receipt_bound(least, largest, kept, returned, centre, ball)]
    if with_mean:
        middle = weights @ values[dropped]
        rim = receipt.mean_value_radius(high - low, np.linalg.norm(middle - centre), ball)
        found.append(receipt.receipt_bound(least, largest, kept, returned, middle, rim))
    return float(min(found)), (least, largest)


@given(SEEDS, st.booleans(), st.booleans())
def test_no_query_loses_more_than_its_receipt_says(seed, with_mean, returns_noise):
    rng, x, slope, distance, values, dropped = drawn(seed)
    truth = truncate(x - slope * distance, values, dropped)
    returned = truth.truncated + returns_noise * rng.standard_normal(values.shape[1]) * 10 ** rng.uniform(-3, 1)
    bound, (least, largest) = bound_of(x, slope, distance, values, dropped, with_mean, returned)
    slack = 1e-12 * (1 + np.abs(values).max() + np.abs(returned).max())
    assert least - 1e-12 <= truth.mass <= largest + 1e-12
    assert np.linalg.norm(truth.full - returned) <= bound + slack


def test_the_mean_never_weakens_a_receipt_and_halves_some():
    gains = []
    for seed in range(200):
        _, *head = drawn(seed)
        returned = np.zeros(head[3].shape[1])
        gains.append(bound_of(*head, True, returned)[0] / bound_of(*head, False, returned)[0])
    assert max(gains) < 1 + 1e-9 and min(gains) < 0.5


@given(SEEDS)
def test_a_bound_is_reached_at_an_end_of_the_share_and_on_the_rim(seed):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 5))
    kept, returned, centre = rng.standard_normal((3, width))
    least, largest = np.sort(rng.random(2))
    radius = rng.random()
    bound = float(receipt.receipt_bound(least, largest, kept, returned, centre, radius))
    reached = []
    for share in (least, largest, rng.uniform(least, largest)):
        middle = (1 - share) * (kept - returned) + share * (centre - returned)
        out = middle / max(np.linalg.norm(middle), 1e-300)
        reached.append(np.linalg.norm(middle + share * radius * out))
    assert max(reached) == approx(bound, rel=1e-12) and reached[2] <= bound * (1 + 1e-12)


@given(SEEDS)
def test_the_mean_of_the_forgotten_values_is_no_farther_than_said(seed):
    _, x, slope, distance, values, dropped = drawn(seed)
    bias, products, forgotten = -slope * distance[dropped], x[dropped], values[dropped]
    mean = np.exp(bias - np.logaddexp.reduce(bias)) @ forgotten
    true = attend(products + bias, forgotten)
    centre = forgotten[0]
    radius = np.linalg.norm(forgotten - centre, axis=1).max()
    said = receipt.mean_value_radius(np.ptp(products), np.linalg.norm(mean - centre), radius)
    assert np.linalg.norm(true - mean) <= said + 1e-12 * (1 + radius)


@pytest.mark.parametrize(("mean", "wanted"), [(-1, 2), (2.5, 2.5), (9, 2.5)])
def test_a_mean_beyond_the_ends_counts_as_the_next_end(mean, wanted):
    assert receipt.log_mean_exp_bound(mean, 2, 2.5) == wanted
    assert receipt.log_mean_exp_bound(mean, 2, 2) == 2


def test_ends_that_are_not_in_order_are_refused():
    refuses(lambda: receipt.log_mean_exp_bound(0, 1, 0), "high must be at least low, got 0 and 1")
