"""Contexts that attain the bounds, and the sharp weight of heads without biases."""

from functools import partial

import numpy as np
import pytest

from tests.theory.alibi.drawn_heads import weights_of
from tests.theory.cases import refuses
from theory import alibi
from theory.alibi.sharp import sharp_weight


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
