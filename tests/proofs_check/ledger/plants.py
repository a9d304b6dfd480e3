"""False claims planted through the real interface, by the way in which each tries to be believed.

STOPPED are refused, contradicted or undecided. OPEN are still confirmed: a claim brings its own margin, points and
symbols, and the harness believes them. They are the reason for statements as data; a test holds both lists to what
happens.
"""

import math
import random
from dataclasses import replace
from fractions import Fraction

import sympy as sp
from flint import arb

from proofs_check.evidence.certified import proved_on
from proofs_check.evidence.margin import (
    Margin,
    at_most,
    close,
    different,
    identity,
    less,
    same,
    worst,
)
from proofs_check.evidence.tolerances import ROUNDING, Tolerance
from proofs_check.ledger.claim import (
    ENUMERATED,
    INSTANCES,
    SAMPLES,
    WITNESSED,
    Claim,
    Control,
    Coverage,
    Evidence,
    Extent,
    Kind,
    Nature,
    Severity,
    Verdict,
    everywhere,
)
from theory.lowering.box import Box


def drawn(count, low, high):
    """The ends of an interval, and points drawn in it."""
    rng = random.Random("planted")
    return [{"x": x} for x in (low, high, *(rng.uniform(low, high) for _ in range(count)))]


NO = Control("a wrong variant", lambda **_: less(1, 0))
X = sp.Symbol("x", real=True)


def claim(margin, points=({},), *, kind=Kind.EXACT, coverage=INSTANCES, **record):
    """A claim that says it holds, on the evidence of one margin."""
    fields = {"id": "planted.plant", "source": "planted", "statement": "planted", "nature": Nature.MATHEMATICAL,
              "verdict": Verdict.HOLDS, "coverage": coverage}  # fmt: skip
    return Claim(evidence=(Evidence(kind, "planted", margin, points, (NO,)),), **{**fields, **record})


def sampled(margin, count=500, x=(0.0, 1.0)):
    return claim(margin, drawn(count, *x), kind=Kind.SAMPLED, coverage=SAMPLES)


def false(**record):
    """A claim called false, for the reason that 0 < 1."""
    fields = {"verdict": Verdict.FALSE, "severity": Severity.BREAKS, "coverage": WITNESSED, "note": "planted",
              "witness": {}, "correction": "planted.good"}  # fmt: skip
    return replace(claim(lambda: less(0, 1)), **{**fields, **record})


_ODD = []


def _every_other_call(x):
    """x < 1/2, asked on every other call only."""
    _ODD.append(0)
    return at_most(0, 1) if len(_ODD) % 2 else at_most(x, 0.5)


def _first_calls(x):
    _ODD.append(0)
    return at_most(0, 1) if len(_ODD) < 100 else at_most(x, 0.5)


def _swallowed(x):
    try:
        return at_most(1 / (x - 0.5) ** 2, 4.0)
    except ZeroDivisionError:
        return Margin(0.0, 0, 0)


WHOLE = sp.Symbol("k", integer=True)
POSITIVE = sp.Symbol("p", positive=True)
HUGE = Tolerance(1.0, "because I say so")

# way: name -> claim
STOPPED = {
    "the points are not the domain": {
        "no point": claim(lambda: at_most(0, 1), ()),
    },
    "a margin by hand": {
        "an undecided ball for its value": claim(lambda: Margin(arb(0, 1), 0, 0)),
        "a bool": claim(lambda: True),
        "a whole number for its value": claim(lambda: Margin(1, 0, 0)),
        "infinity": claim(lambda: Margin(math.inf, 0, 0)),
        "NaN": claim(lambda: Margin(math.nan, 0, 0)),
    },
    "constructors": {
        "two empty tuples": claim(lambda: same((), ())),
    },
    "the kind": {
        "samples that cover all": claim(
            lambda x: at_most(x, 0.99), drawn(9, 0.0, 0.5), kind=Kind.SAMPLED, coverage=ENUMERATED
        ),
        "trained, for the paper": claim(lambda: at_most(0, 1), kind=Kind.TRAINED, coverage=SAMPLES),
        "a quotation that settles": claim(None, kind=Kind.READ, coverage=None),
        "all, without a reason": claim(lambda: at_most(0, 1), coverage=Coverage(Extent.ALL)),
    },
    "a tolerance": {
        "of the size of the effect": claim(lambda: at_most(1.5, 1.0, 0.5)),
        "with a reason of its own": claim(lambda: close(0.3, 1.2, HUGE)),
    },
    "the record": {
        "unsettled with evidence": claim(lambda: at_most(0, 1), verdict=Verdict.UNSETTLED, note="planted"),
        "false as a slip of the text": false(nature=Nature.TEXTUAL, correction=None),
        "false without a correction": false(correction=None),
        "false without a severity": false(severity=None),
        "holds_if that accuses as code": claim(
            lambda: at_most(0, 1), verdict=Verdict.HOLDS_IF, severity=Severity.CODE, note="planted"
        ),
        "a reading that is not given": claim(
            lambda: at_most(0, 1), verdict=Verdict.HOLDS_IF, severity=Severity.READING, note="planted"
        ),
        "a correction that is false": false(is_correction=True),
    },
    "a state": {
        "every other call": sampled(_every_other_call, count=501),
        "the first calls": sampled(_first_calls, count=90),
    },
    "an end": {
        "sys.exit(0)": claim(lambda: (_ for _ in ()).throw(SystemExit(0))),
        "a generator's exit": claim(lambda: (_ for _ in ()).throw(GeneratorExit())),
    },
    "honest, and wrong": {
        "1 + x <= e^x turned round": sampled(lambda x: at_most(math.exp(x), 1 + x), x=(0.1, 1.0)),
        "(x + 1)^2 = x^2 + 1": claim(lambda: identity((X + 1) ** 2, X**2 + 1)),
        "1/3 = .333": claim(lambda: same(Fraction(1, 3), Fraction(333, 1000))),
        "x^2 > 0 on [-1, 1]": claim(lambda: worst([proved_on(Box({X: (-1, 1)}), X**2)])),
    },
}

OPEN = {
    "the points are not the domain": {
        "one point 500 times": claim(lambda x: at_most(x, 0.5), tuple({"x": 0.25} for _ in range(500)), hypotheses=(
            "0 <= x <= 1",)),
        "'every T' on a list": claim(lambda T: at_most(T, 6), ({"T": 4}, {"T": 5}, {"T": 6}), statement="every T <= 6",
                                     coverage=everywhere("T is listed.")),
        "points outside the hypotheses": claim(lambda x: at_most(2, x), ({"x": 3},), hypotheses=("0 <= x <= 1",)),
    },
    "symbols": {
        "sqrt(x^2) = x for x real, asked of a positive one": claim(
            lambda: identity(sp.sqrt(POSITIVE**2), POSITIVE), kind=Kind.SYMBOLIC
        ),
        "sin(pi x) = 0 for x real, asked of a whole one": claim(
            lambda: identity(sp.sin(sp.pi * WHOLE), 0), kind=Kind.SYMBOLIC
        ),
        "x/x = 1 at 0 as well": claim(lambda: identity(X / X, 1), kind=Kind.SYMBOLIC),
        "the symbol's name for the symbol": claim(
            lambda: proved_on(Box({"p": (-1, 1)}), sp.sqrt(POSITIVE**2) / POSITIVE), statement="|p|/p > 0"
        ),
    },
    "a margin by hand": {
        "zero by hand": claim(lambda: Margin(0.0, "anything", "anything")),
        "an exception swallowed": claim(_swallowed, ({"x": 0.5},)),
        "any for all": claim(lambda: max(at_most(2, 1), at_most(0, 1))),
        "the best for the worst": claim(lambda: max([same(1, 2), same(1, 1)], key=lambda m: m.value)),
    },
    "the kind": {
        "floats called symbolic": claim(lambda: close(0.1 + 0.2, 0.3, ROUNDING), kind=Kind.SYMBOLIC),
        "a sample called exact": claim(lambda: at_most(math.sin(1.0), 0.9), coverage=everywhere("sin 1 is a sample.")),
    },
    "the violating region is small": {
        ".999 of a sharp bound": sampled(lambda x: at_most(math.sin(x), 0.9999999), 50, (0.0, 3.0)),
        "a needle": sampled(lambda x: at_most(math.exp(-(((x - 0.123456) * 1e6) ** 2)), 0.5)),
        "the wrong scale": sampled(lambda x: at_most(x / (1 + x), 0.999)),
    },
    "a tolerance": {
        "a named one, scaled to the effect": claim(lambda: close(0.3, 1.2, ROUNDING.times(1e13))),
    },
    "something else": {
        "evidence about another statement": claim(lambda: same(2 + 2, 4), statement="2 + 2 = 5"),
        "the theory against itself": claim(lambda: same(math.comb(6, 3), math.comb(6, 3)), statement="C(6, 3) = 21"),
        "a formula for another statement": claim(lambda: same(1, 1), formula=r"e^{i\pi}=1"),
        "invented runs": claim(lambda: less(Fraction(1, 100), Fraction(99, 100)), kind=Kind.TRAINED, coverage=SAMPLES,
                               is_correction=True),
        "a contradiction with another claim": claim(lambda: different(1, 2), statement="the opposite of planted.good"),
    },
}  # fmt: skip
