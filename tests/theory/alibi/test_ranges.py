"""The logit range and the self gap of a head: against ascent that shares no code and against balls."""

import math

import numpy as np
import pytest
from pytest import approx

from tests.theory.alibi.drawn_heads import random_head, spread
from tests.theory.cases import refuses
from tests.theory.entries import QUERY
from theory import alibi

SIZES = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 4), (5, 8), (8, 3), (16, 4), (24, 12), (64, 8)]


def heads(norms=("rms", "layer"), biased=(False, True), sizes=SIZES, copies=1):
    rng = np.random.default_rng(7)
    for d_model, d_head in sizes:
        for norm in norms:
            if norm == "layer" and d_model < 2:
                continue
            for bias in biased:
                for _ in range(copies):
                    yield random_head(rng, d_model, d_head, norm, bias)


def test_logit_range_agrees_with_multi_start_ascent():
    for head in heads():
        assert alibi.logit_range(**head) == approx(spread(head), rel=1e-8)


def test_self_gap_without_biases_agrees_with_multi_start_ascent():
    for head in heads(biased=(False,), copies=2):
        assert alibi.self_gap(**head) == approx(spread(head, own=True), rel=1e-8, abs=1e-9)


def test_self_gap_with_biases_is_a_bound_within_one_per_cent():
    for head in heads(biased=(True,), copies=2):
        found, reached = alibi.self_gap(**head), spread(head, own=True)
        assert reached * (1 - 1e-9) - 1e-9 <= found <= 1.01 * reached + 1e-9


@pytest.mark.parametrize(
    "sizes",
    [
        [(1, 1), (2, 2), (3, 2), (5, 8), (12, 4)],
        pytest.param([(2, 1), (3, 2), (4, 4), (8, 3), (16, 4), (24, 12), (32, 8)], marks=pytest.mark.deep),
    ],
)
def test_enclosures_hold_the_floats_and_are_narrow(sizes):
    for head in heads(sizes=sizes):
        low, high = alibi.certified_logit_range(**head)
        found = alibi.logit_range(**head)
        assert low <= high <= low * (1 + 1e-9)
        assert low * (1 - 1e-12) <= found <= high * (1 + 1e-12)
        low, high = alibi.certified_self_gap(**head)
        found = alibi.self_gap(**head)
        assert low - 1e-12 <= found <= high + 1e-12 * max(high, 1)
        if head["norm_bias"] is None:
            assert high - low <= 1e-9 * max(high, 1e-3)


@pytest.mark.parametrize("certified", [False, True])
def test_degenerate_heads_have_their_ranges(certified):
    def middle(value):
        return sum(value) / 2 if certified else value

    logit_range = alibi.certified_logit_range if certified else alibi.logit_range
    self_gap = alibi.certified_self_gap if certified else alibi.self_gap
    zero, eye, one = np.zeros((2, 2)), np.eye(2), np.ones(2)
    assert middle(logit_range(zero, eye, one)) == approx(0, abs=1e-30)
    assert middle(self_gap(zero, eye, one)) == approx(0, abs=1e-30)
    # a constant query: all of the range comes from its bias
    wide = 2 * math.sqrt(2) * 5 / math.sqrt(2)
    assert middle(logit_range(zero, eye, one, None, [3, 4])) == approx(wide)
    assert middle(self_gap(zero, eye, one, None, [3, 4])) == approx(wide)
    # the hard case of the trust region: the bias is orthogonal to the top direction
    found = logit_range(np.diag([2.0, 1.0]), eye, one, None, [0.0, 0.1])
    # maximise 4 x^2 + (y + 0.1)^2 on x^2 + y^2 = 2: y = 0.1 / 3
    y = 0.1 / 3
    assert middle(found) == approx(2 * math.sqrt(4 * (2 - y * y) + (y + 0.1) ** 2), rel=1e-12)


def test_enclosures_stay_narrow_on_degenerate_heads():
    rng = np.random.default_rng(21)
    for trial in range(60):
        d, d_head = (int(n) for n in rng.integers(1, 8, 2))
        norm = "layer" if d > 1 and trial % 2 else "rms"
        w_q = rng.integers(-2, 3, (d_head, d)).astype(float)
        w_k = [w_q, -w_q, rng.integers(-2, 3, (d_head, d)).astype(float)][trial % 3]
        biased = trial % 4 == 0
        bias = rng.integers(-2, 3, d) * biased
        head = {"w_q": w_q, "w_k": w_k, "gamma": rng.choice([0, 1, 2, -1], d), "norm_bias": bias, "norm": norm}
        wide, gap = alibi.logit_range(**head), alibi.self_gap(**head)
        low, high = alibi.certified_logit_range(**head)
        assert low - 1e-12 <= wide <= high + 1e-12 and high - low <= 1e-9 * high + 1e-12
        low, high = alibi.certified_self_gap(**head)
        assert low - 1e-11 <= gap <= high + 1e-11
        assert biased or high - low <= 1e-9 * wide + 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w_q": [1.0, 2.0]}, "w_q has shape"),
        ({"w_q": np.zeros((0, 2))}, "w_q has shape"),
        ({"w_q": [[1, 2], [3]]}, "w_q must be a number or an array of numbers"),
        ({"w_k": np.eye(3)}, "w_k has shape"),
        ({"gamma": [1.0]}, "gamma has shape"),
        ({"norm_bias": [1.0]}, "norm_bias has shape"),
        ({"query_bias": [1.0, 2.0, 3.0]}, "query_bias has shape"),
        ({"w_q": [[1.0]], "w_k": [[1.0]], "gamma": [1.0], "norm": "layer"}, "d_model is 1"),
    ],
)
def test_bad_heads_are_refused_in_one_line(change, message):
    for function in (alibi.logit_range, alibi.self_gap, alibi.extremes):
        refuses(lambda function=function: function(**QUERY | change), message)
