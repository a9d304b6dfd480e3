"""Contexts against the bounds: random ones, hostile ones, none above; and the contexts that attain them."""

from functools import partial

import numpy as np
import pytest

from tests.theory.alibi.drawn_heads import normalised, random_head, weights_of
from tests.theory.cases import refuses
from theory import alibi
from theory.alibi.sharp import sharp_weight

CASES = [(norm, biased, seed) for norm in ("rms", "layer") for biased in (False, True) for seed in range(6)]


def contexts(head, rng, count):
    """Random post-norm states, some of them replaced by the head's extremes; the query last."""
    found = alibi.extremes(**head)
    for _ in range(count):
        n = int(rng.integers(2, 40))
        states = normalised(rng.standard_normal((n, len(head["gamma"]))), head)
        if rng.random() < 0.7:
            cut = int(rng.integers(1, n))
            states[:cut], states[cut:] = found.high, found.low
            if rng.random() < 0.8:
                states[-1] = found.query
            flip = rng.random(n) < rng.choice([0.0, 0.0, 0.1])
            states[flip] = normalised(rng.standard_normal((int(flip.sum()), states.shape[1])), head)
        yield states


@pytest.mark.parametrize(("norm", "biased", "seed"), CASES)
def test_no_context_exceeds_the_weight_or_the_mass_bound(norm, biased, seed):
    rng = np.random.default_rng([seed, biased, norm == "rms"])
    d_model, d_head = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    head = random_head(rng, d_model, d_head, norm, biased)
    head["w_q"] = head["w_q"] * rng.choice([0.05, 0.3, 1.0])
    slope = float(rng.choice([0.0, 0.01, 0.1, 0.5, 1.0]))
    wide, own = alibi.logit_range(**head), alibi.self_gap(**head)
    for states in contexts(head, rng, 100):
        weights = weights_of(head, slope, states[-1], states)[::-1]
        n = len(states)
        bounds = [alibi.weight_bound(j, slope, wide, min(own, wide)) for j in range(n)]
        assert (weights <= np.array(bounds) * (1 + 1e-9)).all()
        masses = weights[::-1].cumsum()[::-1]
        assert all(masses[w] <= alibi.dropped_mass_bound(w, slope, wide, n) * (1 + 1e-9) for w in range(n))


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_negative_semidefinite_heads_attain_the_weight_and_the_mass_bound(norm):
    rng = np.random.default_rng(11)
    for _ in range(10):
        d = int(rng.integers(2, 9))
        w = rng.standard_normal((int(rng.integers(1, 4)), d)) * rng.choice([0.1, 0.4])
        head = {"w_q": w, "w_k": -w, "gamma": rng.uniform(0.5, 2, d), "norm_bias": None, "query_bias": None}
        head["norm"] = norm
        wide, slope = alibi.logit_range(**head), 0.05
        found = alibi.extremes(**head)
        for distance in (1, 5, 60):
            states = np.stack([found.high] + [found.query] * distance)  # the query is its own lowest key
            reached = weights_of(head, slope, found.query, states)[0]
            assert reached == pytest.approx(alibi.weight_bound(distance, slope, wide), rel=1e-9)
            assert reached == pytest.approx(sharp_weight(distance, slope, w, -w, head["gamma"], norm), rel=1e-7)
            many = np.stack([found.high] * 400 + [found.query] * distance)
            mass = weights_of(head, slope, found.query, many)[:400].sum()
            assert mass == pytest.approx(alibi.dropped_mass_bound(distance, slope, wide, 400 + distance), rel=1e-9)


def test_sharp_weight_of_a_head_that_sees_nothing_is_the_slope_alone():
    zero = np.zeros((2, 3))
    assert sharp_weight(4, 0.2, zero, zero, np.ones(3)) == pytest.approx(alibi.weight_bound(4, 0.2, 0.0))


def test_sharp_weight_refuses_what_is_not_a_distance():
    for distance in (0, 1.5):
        call = partial(sharp_weight, distance, 0.2, np.eye(2), np.eye(2), np.ones(2))
        refuses(call, "distance must be a whole number >= 1")
