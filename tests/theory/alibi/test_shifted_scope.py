"""Scopes of mixed keys: no context found by a convex program exceeds them, and some context comes as near as said."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.optimize import minimize

from tests.theory.alibi.drawn_heads import random_head
from tests.theory.cases import softmax
from theory import alibi
from theory.alibi.shifted import shifted_range
from theory.alibi.shifted_scope import (
    log_shifted_odds,
    shifted_dropped_mass,
    shifted_scope,
    shifted_weight_bound,
    shifted_window,
)

COEFFICIENT = st.floats(-1.5, 1.5, allow_subnormal=False)
HEADS = {"slope": st.sampled_from([0.0, 0.01, 0.2, 0.7, 1.5]), "raw": st.sampled_from([0.0, 0.5, 2.0, 6.0, 12.0]),
         "own": COEFFICIENT, "before": COEFFICIENT}  # fmt: skip


def weights(raw_logits, slope, own, before):
    """The attention of the last token: a softmax over mixed logits under the slope; nothing precedes the first."""
    s = np.asarray(raw_logits, dtype=float)
    return softmax(own * s + before * np.concatenate([[0.0], s[:-1]]) + slope * np.arange(len(s)))


def log_odds_found(targets, others, slope, raw, own, before):
    """The least logarithm of the odds against some consecutive tokens that a search over raw logits finds (convex for
    one), with up to two tokens before them."""

    def value(s, older):
        share = weights(s, slope, own, before)
        wanted = share[older : older + targets].sum()
        return math.log1p(-wanted) - math.log(wanted) if 0 < wanted < 1 else 700.0

    found = []
    for older in (0, 1, 2):
        size = older + targets + others
        start = np.where(np.arange(size) < older + targets, 0.3, -0.3) * raw
        box = [(-raw / 2, raw / 2)] * size
        found.append(float(minimize(value, start, args=(older,), bounds=box, method="L-BFGS-B").fun))
    return min(found)


def worst(distance, slope, raw, own, before, v):
    """Odds against the target in the context that is best for it, if its own raw logit is v - D/2 in size: the token
    before it, itself, the others."""
    signs = (math.copysign(1.0, own), math.copysign(1.0, before))
    s = np.concatenate([[signs[1] * raw / 2], [signs[0] * (v - raw / 2)], np.full(distance, -signs[0] * raw / 2)])
    share = weights(s, slope, own, before)[1]
    return (1 - share) / share


@given(distance=st.integers(1, 30), **HEADS)
def test_odds_of_one_sign_are_attained_but_for_the_token_before_the_target(distance, slope, raw, own, before):
    own, before = max(abs(own), abs(before)), min(abs(own), abs(before))
    bound = math.exp(log_shifted_odds(distance, slope, raw, own, before))
    extra = math.exp(-slope - before * raw / 2)
    assert worst(distance, slope, raw, own, before, raw) == approx(bound + extra, rel=1e-7)
    assert worst(distance, slope, raw, -own, -before, raw) == approx(bound + extra, rel=1e-7)


@given(eps=st.sampled_from([1e-6, 1e-3, 0.1, 0.5, 0.9]), **HEADS)
def test_scope_is_where_the_bound_reaches_eps_and_never_beyond_the_old_one(eps, slope, raw, own, before):
    found = shifted_scope(slope, raw, own, before, eps)
    assert 0 <= found <= alibi.scope(slope, shifted_range(raw, [own, before]), eps) * (1 + 1e-12)
    distance = max(1, math.ceil(found * (1 + 1e-12)))
    assert shifted_weight_bound(distance, slope, raw, own, before) <= eps * (1 + 1e-9)
    if own * before >= 0 and found > 1:
        assert shifted_weight_bound(found, slope, raw, own, before) == approx(eps, rel=1e-6)


@given(window=st.integers(1, 7), far=st.integers(1, 5), **HEADS)
def test_no_context_has_more_mass_beyond_a_window_than_its_bound(window, far, slope, raw, own, before):
    found = log_odds_found(far, window, slope, raw, own, before)
    bound = shifted_dropped_mass(window, slope, raw, own, before, window + far + 2)
    assert 1 / (1 + math.exp(found)) <= bound + 1e-9
    assert bound <= alibi.dropped_mass_bound(window, slope, shifted_range(raw, [own, before]), window + far + 2) + 1e-12


@given(mass=st.sampled_from([1e-6, 1e-3, 0.1, 0.5, 0.9]), **HEADS)
def test_window_keeps_the_mass_by_its_bound_and_is_at_most_the_old_one(mass, slope, raw, own, before):
    found = shifted_window(slope, raw, own, before, mass)
    assert found <= alibi.window_for_mass(slope, shifted_range(raw, [own, before]), mass)
    if found < math.inf:
        kept = max(1, math.ceil(found * (1 + 1e-12)))
        assert shifted_dropped_mass(kept, slope, raw, own, before) <= mass * (1 + 1e-9)


@pytest.mark.parametrize("coefficients", [(1.0, 0.0), (0.3, 0.7), (-0.4, 1.3), (0.2, -0.5, 0.9)])
def test_range_of_mixed_keys_is_attained_by_chosen_neighbours(coefficients):
    head = random_head(np.random.default_rng(0), 6, 3, "rms", False)
    found = alibi.extremes(**head)
    query = head["w_q"] @ found.query
    signs = np.sign(coefficients)
    high, low = (head["w_k"] @ key for key in (found.high, found.low))
    best = sum(c * (high if s > 0 else low) for c, s in zip(coefficients, signs, strict=True))
    worst = sum(c * (low if s > 0 else high) for c, s in zip(coefficients, signs, strict=True))
    spread = query @ (best - worst) / math.sqrt(3)
    assert spread == approx(shifted_range(alibi.logit_range(**head), coefficients), rel=1e-10)


def test_rows_are_taken_one_by_one_and_zeros_leave_no_range():
    assert shifted_range(2.0, [[1.0, 0.0], [0.5, -0.5], [0.0, 0.0]]).tolist() == [2.0, 2.0, 0.0]
