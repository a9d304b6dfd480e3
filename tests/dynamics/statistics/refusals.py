"""What the statistics refuse: for each call the words of the error, and the arguments that it answers."""

import math

from dynamics.statistics import power, survival
from dynamics.statistics.rule import Plan, Rule, answer, decide
from dynamics.statistics.sequence import intervals
from tests.dynamics.refusal import done
from tests.dynamics.statistics.test_rule import rule

RULE = rule()


def plan(**rules):
    Plan.checked({"rules": rules})


def changed(**fields):
    Rule.checked(RULE.model_dump() | fields)


TABLE = {
    plan: {
        "at least 1 item": {},
        "shares must add up to at most 1, got 1.2": {"a": rule(share=0.6), "b": rule(share=0.6)},
        "a family has one error": {"a": rule(share=0.5), "b": rule(share=0.5, error=0.1)},
    },
    changed: {
        "greater than 0": {"smallest": 0.0},
        "most must be at least least, got 8 < 9": {"least": 9, "most": 8},
        "5 seeds exclude nothing at error 0.05 under 'symmetric'": {"most": 5},
    },
    done: {
        "'b' is not in the plan": lambda: answer(Plan(rules={"a": RULE}), "b", [0.1]),
        "draws must be at least 1, got 0": lambda: power.power(RULE, 0.0, 1.0, draws=0),
    },
    decide: {
        "the rule allows 40 differences, got 41": (RULE, [0.1] * 41),
        "one sequence, got shape": (RULE, [[0.1]]),
        "must be finite and at most 1e+100, got nan": (RULE, [0.1, math.nan]),
    },
    power.power: {"spread must be positive, got 0": (RULE, 0.0, 0.0)},
    intervals: {
        "at least one difference": [([], 0.05, "gaussian"), (3.0, 0.05, "gaussian")],
        "must be finite and at most 1e+100, got nan": ([1, math.nan], 0.05, "gaussian"),
        "must be finite and at most 1e+100, got -inf": ([1, -math.inf], 0.05, "symmetric"),
        "alpha must lie strictly between 0 and 1, got 1.0": ([1, 2], 1.0, "gaussian"),
        "alpha must lie strictly between 0 and 1, got nan": ([1, 2], math.nan, "gaussian"),
        "c must lie between 0.001 and 1000, got 0.0": ([1, 2], 0.05, "gaussian", 0.0),
        "method must be gaussian or symmetric, got 'student'": ([1, 2], 0.05, "student"),
        "one sequence of differences, got shape": ([[1, 2]], 0.05, "symmetric"),
    },
    survival.median_time: {
        "at least one run": ([],),
        "times must be positive, got 0": ([3, 0],),
        "times must be positive, got nan": ([math.nan],),
    },
    survival.median_interval: {
        "draws must be at least 1, got 0": {"times": [1], "draws": 0},
        "confidence must lie strictly between 0 and 1, got 1": {"times": [1], "confidence": 1.0},
    },
    survival.probability_faster: {
        "at least one run": ([1], []),
        "confidence must lie strictly between 0 and 1, got 0": {"first": [1], "second": [2], "confidence": 0.0},
    },
}
