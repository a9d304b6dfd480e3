"""Contexts that attain the bounds; a head as one record: its scope, transposed matrices, all that takes it."""

import math
from functools import partial

import numpy as np
import pytest

from tests.theory.alibi.drawn_heads import random_head, weights_of
from tests.theory.cases import refuses
from tests.theory.entries import ENTRIES
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



def drawn(i):
    """A head as keyword arguments, with a slope and an eps."""
    rng = np.random.default_rng(i)
    arrays = random_head(rng, *rng.integers(2, 12, 2), ("rms", "layer")[i % 2], i % 3 == 0)
    arrays["w_q"] *= rng.uniform(0.1, 1) / len(arrays["gamma"])
    return arrays, rng.uniform(0.05, 1), rng.choice([0.2, 0.01, 1e-4])


def test_the_scope_of_two_hundred_heads_is_where_the_worst_context_falls_to_eps():
    for arrays, slope, eps in map(drawn, range(200)):
        found, at = alibi.head_scope(alibi.Head(**arrays), slope, eps), alibi.extremes(**arrays)
        assert found[:2] == (alibi.logit_range(**arrays), alibi.self_gap(**arrays))
        assert found.scope == alibi.scope(slope, found.logit_range, eps)
        states = np.stack([at.high] + [at.low] * math.ceil(found.scope))
        assert weights_of(arrays, slope, at.query, states)[0] <= eps * (1 + 1e-9)
        assert weights_of(arrays, slope, at.query, states[:-1])[0] > eps
        states[-1] = at.query
        assert weights_of(arrays, slope, at.query, states)[0] <= eps * (1 + 1e-9)


def test_transposed_matrices_are_named_wherever_shapes_decide():
    for arrays, *others in map(drawn, range(200)):
        for turned in (["w_q"], ["w_k"], ["w_q", "w_k"]) if np.ptp(arrays["w_q"].shape) else ():
            head = alibi.Head(**arrays | {name: arrays[name].T for name in turned})
            refuses(partial(alibi.head_scope, head, *others), f"transposed {' and '.join(turned)}: gamma has")


def test_a_record_gives_what_its_arrays_give_and_its_biases_are_never_dropped():
    known = [entry for entry in ENTRIES if {"w_q", "w_k", "gamma"} <= set(entry.arguments)]
    for entry in known:
        given = entry.arguments | entry.words
        head = alibi.Head(**{name: given[name] for name in alibi.Head._fields if name in given})
        others = {name: value for name, value in given.items() if name not in alibi.Head._fields}
        assert np.array_equal(entry.function(head, **others), entry.function(**given))
    assert len(known) == 11
    biased = alibi.Head([[1.0]], [[1.0]], [1.0], [1.0])
    refuses(partial(sharp_weight, biased, 3, 0.5), "sharp_weight is of a head without biases")
