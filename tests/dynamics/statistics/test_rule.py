"""Rules, plans and decisions: known answers, what a file may say, power and what it promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamics.statistics import power as simulated
from dynamics.statistics.rule import VERDICTS, Plan, Result, Rule, State, Verdict, answer, decide, verdicts

METHODS = ("gaussian", "symmetric")


def rule(**changed):
    fields = {"metric": "loss", "lower_is_better": True, "smallest": 0.005, "most": 40, "method": "symmetric"}
    return Rule(**(fields | changed))


def around(mean, count=40, spread=0.01):
    """Differences with this mean, none alike, spread evenly and in no order."""
    return mean + spread * np.random.default_rng(3).permutation(np.linspace(-1, 1, count))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("mean", "spread", "verdict", "state"),
    [
        (-0.03, 0.01, Verdict.BETTER, State.DECIDED),
        (0.03, 0.01, Verdict.WORSE, State.DECIDED),
        (0.0, 0.002, Verdict.SAME, State.DECIDED),
        (-0.005, 0.005, Verdict.AHEAD, State.SPENT),
        (0.005, 0.005, Verdict.BEHIND, State.SPENT),
        (0.0, 0.1, Verdict.OPEN, State.SPENT),
    ],
)
def test_decisions_that_are_known(method, mean, spread, verdict, state):
    found = decide(rule(method=method), around(mean, spread=spread))
    assert (found.verdict, found.state) == (verdict, state)
    assert found.low <= -mean <= found.high
    higher = decide(rule(method=method, lower_is_better=False), -around(mean, spread=spread))
    assert higher == found


def test_worse_by_however_little_may_end_a_comparison():
    found = decide(rule(worse_ends=True), around(0.005, spread=0.005))
    assert (found.verdict, found.state) == (Verdict.BEHIND, State.DECIDED) and found.n < 40


def test_states_before_the_end():
    d = around(-0.03)
    assert decide(rule(), d[:2]) == (Verdict.OPEN, State.FEW, 2, -math.inf, math.inf)
    assert decide(rule(), d[:4]).state is State.ON
    stopped = decide(rule(), d)
    assert decide(rule(), d[: stopped.n]) == stopped and decide(rule(), d[: stopped.n - 1]).state is State.ON
    assert decide(rule(least=20), d).n == 20
    assert all(decide(rule(), d[:n]).n == min(n, stopped.n) for n in range(1, 40))


def test_intervals_that_do_not_meet_are_said_to():
    d = np.concatenate([around(-0.002, 9, 0.0005), around(0.2, 31)])
    found = decide(rule(smallest=0.0001, least=40), d)
    assert found.verdict is Verdict.APART and found.low > found.high


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_a_verdict_says_what_its_interval_says(a, b):
    low, high = sorted([a, b])
    found = VERDICTS[int(verdicts(rule(smallest=0.25), np.array(low), np.array(high)))]
    holds = {
        Verdict.BETTER: low >= 0.25, Verdict.WORSE: high <= -0.25, Verdict.SAME: max(-low, high) <= 0.25,
        Verdict.AHEAD: low > 0, Verdict.BEHIND: high < 0, Verdict.OPEN: low <= 0 <= high,
    }  # fmt: skip
    assert holds[found]


def test_a_plan_is_a_file_with_a_hash_that_its_results_carry():
    plan = Plan(rules={"b": rule(share=0.5), "a": rule(share=0.5, metric="bits")})
    again = Plan.parsed(plan.model_dump_json().encode(), "plan.json")
    assert again == plan and again.sha256 == plan.sha256
    assert Plan(rules=dict(reversed(plan.rules.items()))).sha256 == plan.sha256
    assert Plan(rules={"a": plan.rules["a"], "b": rule(share=0.5, smallest=0.006)}).sha256 != plan.sha256
    result = answer(plan, "a", [0.01, -0.02])
    assert Result.parsed(result.model_dump_json().encode(), "result.json") == result
    assert (result.plan_sha256, result.low, result.state) == (plan.sha256, None, "not enough seeds")
    assert plan.rules["a"].alpha == 0.025


@pytest.mark.parametrize("method", METHODS)
def test_power_counts_what_decide_says(method):
    plan, shape = rule(method=method, most=20), (60, 20)
    gains = 0.008 + 0.01 * np.random.default_rng(4).standard_normal(shape)
    found = simulated.power(plan, 0.008, 0.01, draws=60, seed=4)
    decisions = [decide(plan, -row) for row in gains]
    for verdict, share in found.by_n.items():
        assert share.tolist() == pytest.approx(
            [sum(d.verdict is verdict and d.n <= n for d in decisions) / 60 for n in range(1, 21)]
        )
    assert found.seeds == pytest.approx(np.mean([d.n for d in decisions]))
    assert found.seeds == simulated.power(plan, 0.008, 0.01, draws=60, seed=4).seeds
    assert sum(found.at_end.values()) == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("effect", [0.0, 0.00499, 0.00501, -0.00499])
def test_what_is_said_is_false_no_more_often_than_the_error_allows(method, effect):
    share = simulated.power(rule(method=method), effect, 0.01).at_end
    true = {
        Verdict.BETTER: effect >= 0.005, Verdict.WORSE: effect <= -0.005, Verdict.SAME: abs(effect) <= 0.005,
        Verdict.AHEAD: effect > 0, Verdict.BEHIND: effect < 0, Verdict.OPEN: True, Verdict.APART: False,
    }  # fmt: skip
    assert sum(share[verdict] for verdict in Verdict if not true[verdict]) <= 0.05


@pytest.mark.parametrize(("share", "column"), [(1.0, 0), (0.1, 1)])
@pytest.mark.parametrize("effect", simulated.TABLE)
def test_the_table_of_power_is_what_is_simulated(effect, share, column):
    better, same, seeds = simulated.TABLE[effect][column]
    found = simulated.power(rule(share=share), effect, 0.01)
    assert found.at_end[Verdict.BETTER] == pytest.approx(better, abs=0.006)
    assert found.at_end[Verdict.SAME] == pytest.approx(same, abs=0.006)
    assert found.seeds == pytest.approx(seeds, abs=0.06)
