"""A line of the league says what its rule says of its seeds; costs are counted by hand."""

import json

import numpy as np
import pytest

from dynamics.arena.bundle import bundle_of
from dynamics.arena.engine import Place
from dynamics.arena.league import as_records, cost, lines, outcome, smallest
from dynamics.arena.record import Speed
from dynamics.statistics.rule import State, Verdict
from dynamics.statistics.sequence import intervals
from tests.dynamics.arena.cases import comparison, made_up, plan

NOISE = np.random.default_rng(3).normal(0, 1e-3, (3, 6))


def bundle(values):
    losses = {name: (2.5 * np.exp(each)).tolist() for name, each in values.items()}
    return bundle_of(plan(), made_up(plan(), losses), Place())


CLEAR = {"vanilla": NOISE[0], "kv": NOISE[1] - 0.05, "resformer": NOISE[2]}


def test_lines_are_what_the_rule_says_of_the_seeds_it_looked_at():
    kv, resformer, third = lines(bundle(CLEAR))
    assert (kv.name, kv.variant, kv.baseline) == ("kv / vanilla", "kv", "vanilla")
    assert (kv.verdict, kv.state) == (Verdict.BETTER, State.DECIDED)
    n, rule = kv.seeds, comparison("kv", "vanilla").rule
    d = (NOISE[1] - 0.05 - NOISE[0])[:n]
    low, high = intervals(d, rule.alpha, "gaussian", rule.c)
    assert kv.difference == pytest.approx(np.exp(d.mean()) - 1)
    assert (kv.low, kv.high) == pytest.approx((np.exp(low.max()) - 1, np.exp(high.min()) - 1))
    assert kv.low <= kv.difference <= kv.high < -0.005
    assert outcome(kv, 0.005) == "better by at least 0.5 %"
    assert outcome(resformer, 0.005) in {"no difference larger than 0.5 %", "undecided"}
    assert (third.verdict, third.difference < -0.03) == (Verdict.BETTER, True)


def test_what_has_no_seed_has_no_line_and_few_seeds_are_said_to_be_few():
    found = lines(bundle({"vanilla": NOISE[0, :2], "kv": NOISE[1, :2] - 0.05}))
    assert [line.name for line in found] == ["kv / vanilla"]
    assert outcome(found[0], 0.005) == "not enough seeds"
    assert found[0].state is State.FEW


def test_records_are_json_and_an_infinite_end_is_null():
    one = as_records(
        bundle({"vanilla": NOISE[0, :1], "kv": NOISE[1, :1]}), {"kv": Speed(tokens_per_second=7.0, seconds=[1.0])}
    )
    assert json.loads(json.dumps(one, allow_nan=False)) == one
    assert (one[0]["low"], one[0]["high"]) == (None, None)
    assert as_records(bundle(CLEAR))[0]["outcome"] == "better by at least 0.5 %"
    assert (one[0]["tokens/s"], one[0]["baseline_tokens/s"]) == (7.0, None)
    assert {"name", "seeds", "difference", "low", "high", "parameters", "tokens/s", "cache bytes"} <= one[0].keys()


def test_costs_are_those_of_the_configuration():
    """Width 8, two heads, two layers, MLP 8, tied embedding of 128: written out."""
    layer = 4 * 8 * 8 + 3 * 8 * 8 + 2 * 8
    found = cost(plan(), "vanilla")
    assert found.parameters == 128 * 8 + 2 * layer + 8
    assert found.cache == 2 * (2 * 2 * 8)  # two bytes a number: keys and values of two layers
    assert found.tokens_per_second is None
    assert cost(plan(), "kv").parameters == found.parameters + 2 * 2 * 2 * 2  # alpha and beta: heads times window
    assert smallest(plan()) == 0.005
