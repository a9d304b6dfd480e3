"""Wrong claims on purpose: each has a counterexample (and must be contradicted) or is broken (and must be an error)."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np

from proofs_check.evidence.margin import Margin, Undecided, at_most, close, less, same
from proofs_check.evidence.tolerances import ROUNDING, VISIBLE
from proofs_check.ledger.claim import (
    ENUMERATED,
    SAMPLES,
    WITNESSED,
    Claim,
    Control,
    Evidence,
    Kind,
    Nature,
    Severity,
    Verdict,
)
from proofs_check.oracles.landscape import one_hot_loss
from theory import landscape


def drawn(count=60, **ends):
    """The corners of a box, and points drawn in it; whole numbers where both ends are."""
    rng = random.Random("planted")
    points = [dict(zip(ends, corner, strict=True)) for corner in itertools.product(*ends.values())]
    draw = {True: rng.randint, False: rng.uniform}
    return points + [{k: draw[type(a) is int](a, b) for k, (a, b) in ends.items()} for _ in range(count)]


def holds(name, evidence):
    return Claim(
        id=f"planted.{name}",
        source="planted",
        statement=name,
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        evidence=(evidence,),
        coverage=SAMPLES if evidence.kind is Kind.SAMPLED else ENUMERATED,
    )


def _numeric_loss(formula):
    def margin(a1, a2, b1, b2, tokens):
        return close(formula(a1, a2, b1, b2, tokens), one_hot_loss(a1, a2, b1, b2, tokens, 2), ROUNDING)

    control = Control("none", lambda **p: close(0, 1, VISIBLE))
    points = drawn(40, tokens=(4, 12), **dict.fromkeys(("a1", "a2", "b1", "b2"), (0.0, 1.0)))
    return Evidence(Kind.SAMPLED, "planted", margin, points, (control,))


LOSS = landscape.loss
LOSSES = {
    "alphas swapped": lambda a1, a2, b1, b2, t: LOSS(a2, a1, b1, b2, t),
    "beta2 with the wrong sign": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, -b2, t),
    "off by one part in a billion": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t) * (1 + 1e-9),
}


def _bound(left, right):
    return Evidence(
        Kind.SAMPLED,
        "planted",
        lambda **p: at_most(left(**p), right(**p), ROUNDING),
        drawn(x=(-3.0, 3.0)),
        (Control("none", lambda **p: at_most(1.0, 0.0)),),
    )


BOUNDS = {
    "loss bound 1 % too tight": _bound(lambda x: np.log(9), lambda x: 0.99 * LOSS(0, 0, 0, 0, 9)),
    "tangent on too wide a domain": _bound(lambda x: np.tanh(x), lambda x: x),
    "swapped: cosh x <= 1": _bound(lambda x: np.cosh(x), lambda x: 1.0),
    "strict where equality is attained": replace(
        _bound(lambda x: x, lambda x: x), margin=lambda x: less(Fraction(x) * 0, Fraction(x) * 0)
    ),
}


def _exact(printed, true):
    return Evidence(
        Kind.EXACT, "planted", lambda: same(printed, true), ({},), (Control("none", lambda: same(true + 1, true)),)
    )


EXACT = {
    "a count off by one": _exact(len(range(1, 9)), 9),
    "a fraction turned over": _exact(Fraction(2, 3) == Fraction(3, 2), True),
}

WITH_COUNTEREXAMPLE = [
    *(holds(f"loss: {name}", _numeric_loss(f)) for name, f in LOSSES.items()),
    *(holds(f"bound: {name}", evidence) for name, evidence in BOUNDS.items()),
    *(holds(f"exact: {name}", evidence) for name, evidence in EXACT.items()),
]

_GOOD = Evidence(Kind.EXACT, "planted", lambda: same(1, 1), ({},), (Control("two", lambda: same(2, 1)),))


def _below(top=1):
    return less(0, top)


_REFUTES = Evidence(Kind.EXACT, "planted", _below, ({},), (Control("equal", lambda: less(1, 1)),))
GOOD = holds("good", _GOOD)


def _undecided():
    raise Undecided("cannot tell")


def _false(**changes):
    claim = replace(
        GOOD,
        verdict=Verdict.FALSE,
        severity=Severity.BREAKS,
        coverage=WITNESSED,
        evidence=(_REFUTES,),
        note="planted",
        correction="planted.good",
    )
    return replace(claim, **changes)


def _with(**changes):
    return replace(GOOD, evidence=(replace(_GOOD, **changes),))


def _moving():
    """Its margin is one number during the run and another one at the witness."""
    values = iter([less(0, 1), less(0, 1), less(0, 1), less(0, 2)])
    evidence = replace(_REFUTES, margin=lambda: next(values))
    return _false(evidence=(evidence,), witness={})


BROKEN = {
    "no evidence": replace(GOOD, evidence=()),
    "no statement": replace(GOOD, statement=""),
    "no margin": _with(margin=None),
    "no controls": _with(controls=()),
    "NaN at the second point": _with(
        margin=lambda x=0: Margin(float("nan") if x else 0.0, 0, 0), points=({}, {"x": 1})
    ),
    "undecided evidence": _with(margin=_undecided),
    "a control that passes": _with(controls=(Control("same", lambda: same(3, 3)),)),
    "a NaN control": _with(controls=(Control("nan", lambda: Margin(float("nan"), 0, 0)),)),
    "an undecided control": _with(controls=(Control("undecided", _undecided),)),
    "a control without points": _with(controls=(Control("nowhere", None, ()),)),
    "one good control and one that passes": _with(
        controls=(Control("two", lambda: same(2, 1)), Control("same", lambda: same(3, 3)))
    ),
    "false without a witness": _false(),
    "false with a witness that is none": _false(witness={"top": 0}),
    "a witness that moves": _moving(),
    "a witness of what holds": replace(GOOD, witness={}),
    "a typo without its right form": replace(GOOD, verdict=Verdict.TYPO),
    "unsettled without a reason": replace(
        GOOD, verdict=Verdict.UNSETTLED, evidence=(Evidence(Kind.READ, "planted"),), coverage=None
    ),
    "the outcome of a claim that is the paper's": replace(GOOD, outcome_of="planted.open"),
}
