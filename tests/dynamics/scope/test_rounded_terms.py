"""Every term of the rounded bounds by itself: heads of a few numbers, rounded step by step, for which it is needed.

In each case the error that is seen lies beyond what the bound would be without the term.
"""

import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

from dynamics.scope.rounded import rounded_logits, rounded_scopes
from tests.dynamics.scope.cases import PLAIN, InMemory, rounded

LEAST, HALF = 2.0**-24, 2.0**-25  # the smallest number of float16, and what a rounding near it can be off by
UP = 1.0625 * HALF  # rounds up to LEAST, off by most of HALF


class Head(InMemory):
    """One head in memory: projections (d_head, d_model); cast: whether the file is in a wider format."""

    def __init__(self, query, key, cast=False, **given):
        query, key = np.atleast_2d(query), np.atleast_2d(key)
        sizes = {name: given.pop(name) for name in tuple(given) if name in PLAIN._fields}
        sizes = {"n_layers": 1, "n_heads": 1, "n_kv_heads": 1, "scale": 1.0} | sizes
        small = {name: np.asarray(value, np.float32) for name, value in given.items()}
        width = dict(zip(("d_head", "d_model"), query.shape, strict=True))
        super().__init__(PLAIN._replace(**sizes, **width), **{"gamma": np.ones(query.shape[1], np.float32)} | small)
        self.weights = [
            {"query": np.float32(query)[None], "key": np.float32(key)[None], "value": np.float32(key)[None]}
        ]
        self.cast = cast


class Ran(NamedTuple):
    """Logits of one query, (n,), before a sink and beside it, and the sink; in float64."""

    plain: torch.Tensor
    logits: torch.Tensor
    sink: float


def ran(head, states, dtype, angles=(), opt=False):
    """Logits of the last state at all, every step rounded to dtype; with float64 in exact arithmetic.

    angles: of the states, by which rotary queries and keys of two components are turned.
    """
    sizes, small = head.architecture, head.small(0)
    wide = torch.float64 if dtype == torch.float64 else torch.float32

    def take(x):
        return torch.as_tensor(np.asarray(x, np.float64)).to(dtype)

    def normed(x, gain):
        x = x.to(wide)
        return (x * torch.rsqrt(x.square().mean(-1, keepdim=True))).to(dtype) * take(gain)

    def summed(a, b):
        return (a.to(wide) @ b.to(wide)).to(dtype)

    x = normed(take(states), small.gamma)
    x = x if small.norm_bias is None else x + take(small.norm_bias)
    sides = []
    for role in ("query", "key"):
        bias, gain = getattr(small, f"{role}_bias"), getattr(small, f"{role}_gain")
        side = summed(x, take(head.weights[0][role][0]).T)
        side = side if bias is None else side + take(bias[0])
        side = side if gain is None else normed(side, gain)
        side = side if sizes.clip is None else side.clamp(*take([-sizes.clip, sizes.clip]))
        if sizes.position == "rope":
            turn = torch.tensor(angles, dtype=torch.float32).to(wide)[:, None]
            cos, sin = turn.cos().to(dtype), turn.sin().to(dtype)
            side = torch.cat([side[:, :1] * cos + -side[:, 1:] * sin, side[:, 1:] * cos + side[:, :1] * sin], 1)
        sides.append(side)
    query, key = sides[0][-1:], sides[1]
    found = summed(query * sizes.scale, key.T)[0] if opt else summed(query, key.T)[0] * sizes.scale
    if sizes.softcap is not None:
        found = torch.tanh(found / sizes.softcap) * sizes.softcap
    if sizes.slopes is not None:
        found = found + take(sizes.slopes[0] * np.arange(len(found)))
    if small.sinks is None:
        return Ran(found.double(), found.double(), -math.inf)
    together = torch.cat([found, take(small.sinks)])
    together = (together - together.max()).double()
    return Ran(found.double(), together[:-1], float(together[-1]))


def told(head, context=2):
    return rounded(rounded_logits, head, "float16", 0.01, context=context)[1][0]


def share(head, states, **how):
    """How far two logits are off together, over what is allowed; they are as near and as small as told."""
    run, exact, known = (*(ran(head, states, dtype, **how) for dtype in (torch.float16, torch.float64)), told(head))
    off, slopes = run.logits - exact.logits, head.architecture.slopes
    placed = 0.0 if slopes is None else slopes[0] * (len(states) - 1)
    assert run.logits.max() - run.logits.min() <= known.spread + placed
    assert run.plain.abs().max() <= known.largest + placed
    return float(off.max() - off.min()) / (2 * known.error)


BOTH = [[-1.0], [1.0]]  # the only states of width 1: keys k and -k of the query at the second
BIG = 2.0**10  # a key that shows what a query is off by
CASES = {
    # q.k
    "product": (Head(2.0**-12, UP * 2**12), BOTH),
    # a tiny product, scaled, beside a tiny bias
    "bias": (Head(2.0**-12, UP * 2**12, scale=0.53125, position="alibi", slopes=(UP,)), BOTH),
    # the quotient by the cap
    "cap": (Head(2.0**-12, 16 * 2.0**-12, softcap=30.0), BOTH),
    # W x of a query
    "sum": (Head(UP * 2**12, 2.0**15, gamma=[2.0**-12], scale=16.0), BOTH),
    # the state after its gain
    "state": (Head([[2.0**12, -(2.0**12)]], [[2.0**15, 2.0**15]], gamma=2 * [LEAST]), [[-0.53, -1.31], [0.53, 1.31]]),
    # weights rounded when they are loaded, times a large state
    "weights": (Head(UP, BIG / 16, cast=True, gamma=[16.0], scale=16.0), BOTH),
    # a bias as well
    "cast bias": (Head(UP, 2 * BIG, cast=True, gamma=[0.53125], query_bias=[[UP]], scale=16.0), BOTH),
    # weights rounded when they are loaded, times the bias of the norm
    "norm bias": (Head([[UP, UP]], [[BIG, -BIG]], cast=True, norm_bias=[16.0, 16.0]), [[-1.0, 1.0], [1.0, -1.0]]),
    # the gain of a norm of keys
    "gain": (Head([[1.0], [1.0]], [[5.0], [7.0]], query_gain=2 * [256.0], key_gain=2 * [3 * LEAST], head_norm="rms"),
             BOTH),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_near_the_smallest_number_of_float16(case):
    assert 0.25 < share(*CASES[case]) <= 1


def past(steps, part):
    """A number above 1 that is rounded down by this part of the spacing of float16."""
    return 1 + (steps + part) * 2.0**-10


def alike(first, count):
    """What stands beside 1 in each of count - 1 components, so that the norm makes of 1 this number."""
    return math.sqrt((count / first**2 - 1) / (count - 1))


def test_gains_of_normed_heads_are_rounded_when_they_are_loaded():
    """The norm's output, its gain and their product are rounded down, each by nearly all that a rounding can be."""
    first, gains = 4 * past(51, 0.487), 18 * [past(10, 0.482)]
    side = np.float16([[1.0], *17 * [[alike(first, 18)]]])
    head = Head(side, side, query_gain=gains, key_gain=gains, head_norm="rms", cast=True, scale=1 + 38 / 1024)
    assert 0.89 < share(head, BOTH) <= 1  # two roundings a side would allow .75


def test_gains_and_weights_are_rounded_when_they_are_loaded():
    """The norm's output, its gain, their product, a weight, the query and its bias are rounded down."""
    first, gains = 8 * past(15, 0.482), 66 * [past(34, 0.459)]
    weights, states = np.zeros((1, 66)), np.full((2, 66), alike(first, 66))
    weights[0, 0], states[:, 0] = past(10, 0.487), [-1.0, 1.0]
    head = Head(weights, weights, gamma=gains, query_bias=[[0.49 * 2.0**-7]], cast=True, scale=1 + 38 / 1024)
    assert 0.8 < share(head, np.float16(states)) <= 1  # four roundings a side would allow .71


def test_queries_that_are_scaled_before_they_meet_keys():
    """As OPT does: 12 of the smallest numbers become 2, and not 1.5."""
    head = Head(4 * [[12 * LEAST]], 4 * [[BIG]], scale=0.125)
    assert share(head, BOTH) < 1e-3 and 0.7 < share(head, BOTH, opt=True) <= 1


@pytest.mark.parametrize("off", [0.0, 0.47])
def test_queries_of_the_smallest_numbers_that_are_turned(off):
    """11 and 3 of them; products of both components are off by nearly half of one, to the side of the sums before."""
    query = np.array([[11 + off], [3 - off]]) * LEAST
    head = Head(query * 2**12, 2 * [[2.0**15]], gamma=[2.0**-12], position="rope", scale=16.0)
    found = share(head, 3 * [[1.0]], angles=(0.0, math.pi, 2.1))
    assert 0.5 + off / 2 < found <= 1


@pytest.mark.parametrize("cap", [1.0006, 2.5001, 0.010003])
@pytest.mark.parametrize("norm", [None, "rms"])
def test_a_rounded_clip_is_off_by_no_more_than_what_reaches_it(cap, norm):
    rng, worst = np.random.default_rng(0), 0.0
    gains = {} if norm is None else {"query_gain": 2 * [1.5 * cap], "key_gain": 2 * [1.5 * cap], "head_norm": norm}
    for _ in range(50):
        query, key = (np.float16(cap * rng.uniform(0.4, 1.2, (2, 2))) for _ in range(2))
        head = Head(query, key, clip=cap, scale=2.0 ** round(-2 * math.log2(cap)), **gains)
        worst = max(worst, share(head, rng.choice([-1.0, 1.0], (3, 2)) * [1.0, 0.01]))
        assert told(head).largest <= 1.02 * head.architecture.scale * 2 * cap**2
    assert 0.01 < worst <= 1


SPACING = 2.0**-6  # of numbers of float16 from 16 to 32
NEAR = 1.03 * SPACING / 2


def beside(logit, sink, **given):
    """Logits -logit and logit beside a sink."""
    return Head([[1.0], [0.0]], [[np.float16(logit)], [0.0]], position="rope", sinks=[sink], **given)


def test_logits_less_a_large_sink():
    """Both are less by 30, and off by half of what numbers there are apart, to either side."""
    head = beside(NEAR, 30.0)
    run = ran(head, BOTH, torch.float16, (0.0, 0.0)).logits
    assert 0.5 < share(head, BOTH, angles=(0.0, 0.0)) <= 1
    assert 0.4 < float(run[1] - run[0]) / told(head).spread <= 1


def lead(head):
    """Of the sink over the largest logit: as it runs, and what is said of it."""
    run, known = ran(head, BOTH, torch.float16, (0.0, 0.0)), told(head)
    return run.sink - float(run.logits.max()), known.sink - known.largest


def test_a_sink_that_is_rounded_twice():
    """When it is loaded and less the largest logit, both times down, where numbers are 1/64 apart."""
    run, known = lead(beside(NEAR, -30.0 - NEAR, cast=True))
    assert run == -30.0 - 2 * SPACING and run - SPACING < known <= run


def test_no_sink_leads_by_less_than_is_said():
    rng = np.random.default_rng(0)
    for _ in range(60):
        run, known = lead(beside(*np.float32(rng.uniform([0, -40], [40, 40]) * 10 ** rng.uniform(-2, 0, 2)), cast=True))
        assert known <= run


def weights(slope, count, steps):
    """Weights by distance where only slopes count, rounded once or at each of exponential, sum and quotient."""
    powers = np.exp(-np.float16(slope * np.arange(count)).astype(np.float64))
    if not steps:
        return np.float64(np.float16(powers / powers.sum()))
    powers = np.float64(np.float16(powers))
    return np.float64(np.float16(powers / np.float64(np.float16(powers.sum()))))


def scope(slope, context, eps):
    """Of a head whose products are all 0."""
    head = Head(0.0, 0.0, **({"position": "alibi", "slopes": (slope,)} if slope else {}))
    return rounded(rounded_scopes, head, "float16", eps, context=context)[1][0]


@pytest.mark.parametrize("count", [235, 465, 470])
def test_equal_weights_that_are_rounded_up(count):
    run = weights(0.0, count, steps=False)[-1]
    for eps in (1.0001 / count, run * (1 - 1e-6)):
        assert 1 / count < eps < run and count - 1 < scope(0.0, count, eps)
    assert scope(0.0, count, run * 1.002) <= count - 1


@pytest.mark.parametrize(("slope", "distance", "units", "steps"), [(15.375, 1, 4, False), (2.48828125, 6, 6, True)])
def test_the_smallest_weights(slope, distance, units, steps):
    """Of 3.53 and of 5.05 smallest numbers, the second rounded as an exponential and again as a quotient."""
    run = weights(slope, distance + 2, steps)
    assert run[distance] == units * LEAST
    found = scope(slope, distance + 2, 0.9999 * units * LEAST)
    assert distance < found <= distance + 1 and run[distance + 1] <= units * LEAST / 2


def test_a_sum_that_loses_every_small_exponential():
    """Each is rounded down in float16, and then lost beside 1, one by one, in float32."""
    count, logit = 2**18, 8.1171875
    powers = np.float32(np.float16(np.exp([0.0] + [-2 * logit] * (count - 1))))
    assert powers[1] == LEAST and np.cumsum(powers)[-1] == 1.0
    head = Head(1.0, logit)
    _, (run,) = rounded(rounded_scopes, head, "float16", 1 - 1e-6, context=count)
    assert count - 1 < run < 2 * count
