"""Wrong claims on purpose: each has a counterexample (and must be contradicted) or is broken (and must be an error)."""

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, Undecided, at_most, close, identity, less, same
from proofs_check.evidence.tolerances import ROUNDING, VISIBLE
from proofs_check.ledger.claim import (
    ENUMERATED,
    SAMPLES,
    WITNESSED,
    Claim,
    Control,
    Evidence,
    Interval,
    Kind,
    Nature,
    Sampled,
    Severity,
    Verdict,
    Witness,
)
from proofs_check.oracles.landscape import one_hot_loss, symbolic_one_hot_logits
from theory import landscape
from theory.landscape import symbolic
from theory.symbols import alpha1, alpha2, beta1, beta2, n_tokens

BOX = tuple(Interval(name, 0.0, 1.0) for name in ("a1", "a2", "b1", "b2"))
TOKENS = Interval("tokens", 4, 12, whole=True)


def holds(name: str, evidence: Evidence, *hypotheses) -> Claim:
    return Claim(
        id=f"planted.{name}",
        source="planted",
        statement=name,
        nature=Nature.MATHEMATICAL,
        verdict=Verdict.HOLDS,
        evidence=(evidence,),
        hypotheses=hypotheses,
        coverage=SAMPLES if evidence.kind is Kind.SAMPLED else ENUMERATED,
    )


def _numeric_loss(formula: Callable[..., float]) -> Evidence:
    def margin(a1, a2, b1, b2, tokens) -> Margin:
        return close(formula(a1, a2, b1, b2, tokens), one_hot_loss(a1, a2, b1, b2, tokens, 2), ROUNDING)

    control = Control("none", lambda **p: close(0, 1, VISIBLE))
    return Evidence(Kind.SAMPLED, "planted", margin, Sampled(40, 40), (control,))


LOSS = landscape.loss
LOSSES: dict[str, Callable[..., float]] = {
    "alphas swapped": lambda a1, a2, b1, b2, t: LOSS(a2, a1, b1, b2, t),
    "betas swapped": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b2, b1, t),
    "alpha1 with the wrong sign": lambda a1, a2, b1, b2, t: LOSS(-a1, a2, b1, b2, t),
    "alpha2 with the wrong sign": lambda a1, a2, b1, b2, t: LOSS(a1, -a2, b1, b2, t),
    "beta1 with the wrong sign": lambda a1, a2, b1, b2, t: LOSS(a1, a2, -b1, b2, t),
    "beta2 with the wrong sign": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, -b2, t),
    "one token too many": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t + 1),
    "half a token too many": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t + 0.5),
    "the last position": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t, t),
    "the last position but one": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t, t - 1),
    "the first position": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t, 1),
    "the mean over positions": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t, "mean"),
    "the excess loss": lambda a1, a2, b1, b2, t: landscape.excess_loss(a1, a2, b1, b2, t),
    "Eq. 10 as printed": lambda a1, a2, b1, b2, t: landscape.printed_loss(a1, a2, b1, b2, t - 2, t - 4),
    "off by one part in a billion": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t) * (1 + 1e-9),
    "sigma = 2": lambda a1, a2, b1, b2, t: LOSS(a1 / 2, a2 / 2, b1, b2, t),
    "bits for nats": lambda a1, a2, b1, b2, t: LOSS(a1, a2, b1, b2, t) / np.log(2),
}


def _symbolic(spoil: Callable[[symbolic.Table], symbolic.Table]) -> Evidence:
    def margin(tokens: int) -> Margin:
        table = spoil(symbolic.interior_table())
        spoilt = sum(c.count * c.numerator for c in table.classes) / table.partition
        weighted = sum(c.count * c.numerator**2 for c in table.classes) / table.partition**2
        rows = symbolic_one_hot_logits(tokens, 2)
        true = sum(rows) + sum(row**2 for row in rows)
        return identity((spoilt + weighted).subs(n_tokens, tokens), true)

    points = tuple({"tokens": t} for t in (4, 5, 6))
    return Evidence(Kind.SYMBOLIC, "planted", margin, points, (Control("none", lambda tokens: identity(0, 1)),))


def _numerator(index: int, numerator: sp.Expr) -> Callable[[symbolic.Table], symbolic.Table]:
    def spoil(table: symbolic.Table) -> symbolic.Table:
        classes = list(table.classes)
        classes[index] = classes[index]._replace(numerator=numerator)
        return table._replace(classes=tuple(classes))

    return spoil


def _count(index: int, count: sp.Expr) -> Callable[[symbolic.Table], symbolic.Table]:
    def spoil(table: symbolic.Table) -> symbolic.Table:
        classes = list(table.classes)
        classes[index] = classes[index]._replace(count=count)
        return table._replace(classes=tuple(classes))

    return spoil


A, B = sp.exp(alpha1), sp.exp(alpha2)
TABLES: dict[str, Callable[[symbolic.Table], symbolic.Table]] = {
    "edge with alpha2": _numerator(2, beta1 + beta2 * B),
    "edge with the betas swapped": _numerator(2, beta2 + beta1 * A),
    "edge with a minus": _numerator(2, beta1 - beta2 * A),
    "repeated counted once": _numerator(1, beta1 * A + beta2 * B),
    "repeated with beta1 B": _numerator(1, 2 * beta1 * B + beta2 * B),
    "target without beta2": _numerator(0, beta1 * B),
    "target with beta2 A": _numerator(0, beta1 * B + beta2 * A),
    "others without beta2": _numerator(3, beta1),
    "others counted T - 3": _count(3, n_tokens - 3),
    "others counted T - 5": _count(3, n_tokens - 5),
    "one edge": _count(2, sp.Integer(1)),
    "three edges": _count(2, sp.Integer(3)),
    "partition T - 1": lambda t: t._replace(partition=2 * A + B + n_tokens - 1),
    "partition with one A": lambda t: t._replace(partition=A + B + n_tokens - 1),
    "partition with the alphas swapped": lambda t: t._replace(partition=2 * B + A + n_tokens - 2),
}


def _bound(left: Callable[..., float], right: Callable[..., float]) -> Evidence:
    return Evidence(
        Kind.SAMPLED,
        "planted",
        lambda **p: at_most(left(**p), right(**p), ROUNDING),
        Sampled(60, 60),
        (Control("none", lambda **p: at_most(1.0, 0.0)),),
    )


def _variation(x: float, y: float) -> float:
    """Total variation between the softmax of (x, 0) and of (y, 0)."""
    return abs(1 / (1 + np.exp(-x)) - 1 / (1 + np.exp(-y)))


UNIT, REAL = Interval("x", 0.0, 1.0), Interval("x", -3.0, 3.0)
BOUNDS: dict[str, tuple[Evidence, Interval]] = {
    "tanh bound 1 % too tight": (
        _bound(lambda x: _variation(x / 20, -x / 20), lambda x: 0.99 * np.tanh(x / 40)),
        Interval("x", 0.1, 3.0),
    ),
    "loss bound 1 % too tight": (_bound(lambda x: np.log(9), lambda x: 0.99 * LOSS(0, 0, 0, 0, 9)), UNIT),
    "partition bound 1 % too tight": (_bound(lambda x: 2 * np.exp(x) + 1, lambda x: 0.99 * (2 * np.e + 1)), UNIT),
    "square bound 1 % too tight": (_bound(lambda x: x**2 + (1 - x) ** 2, lambda x: 0.99), UNIT),
    "logarithm on too wide a domain": (
        _bound(lambda x: x - x**2 / 2, lambda x: np.log1p(x)),
        Interval("x", -0.9, 3.0),
    ),
    "tangent on too wide a domain": (_bound(lambda x: np.tanh(x), lambda x: x), REAL),
    "exponential on too wide a domain": (_bound(lambda x: np.exp(x), lambda x: 1 + x + x**2), Interval("x", 0.0, 3.0)),
    "decreasing in alpha1 on too wide a domain": (
        _bound(lambda x: LOSS(0, 1, 1, 0, 9), lambda x: LOSS(x, 1, 1, 0, 9)),
        Interval("x", -3.0, 1.0),
    ),
    "swapped: tanh x >= x": (_bound(lambda x: x, lambda x: np.tanh(x)), UNIT),
    "swapped: log(1 + x) >= x": (_bound(lambda x: x, lambda x: np.log1p(x)), UNIT),
    "swapped: cosh x <= 1": (_bound(lambda x: np.cosh(x), lambda x: 1.0), REAL),
    "swapped: loss at (0, 1) is the largest": (
        _bound(lambda x: LOSS(x, 1 - x, 1, 0, 9), lambda x: LOSS(0, 1, 1, 0, 9)),
        UNIT,
    ),
    "strict where equality is attained": (
        Evidence(
            Kind.SAMPLED,
            "planted",
            lambda x: less(Fraction(x) ** 2 * 0, Fraction(x) * 0),
            Sampled(5, 5),
            (Control("none", lambda x: less(1.0, 0.0)),),
        ),
        UNIT,
    ),
}


def _exact(printed: int, true: int) -> Evidence:
    return Evidence(
        Kind.EXACT, "planted", lambda: same(printed, true), ({},), (Control("none", lambda: same(true + 1, true)),)
    )


EXACT = {
    "a sum off by one": _exact(sum(range(10)) + 1, 45),
    "a count off by one": _exact(len(range(1, 9)), 9),
    "a product with a wrong factor": _exact(3 * 128, 4 * 128),
    "an average off in the last digit": _exact(3749, 3748),
    "a fraction turned over": _exact(Fraction(2, 3) == Fraction(3, 2), True),
}

WITH_COUNTEREXAMPLE: list[Claim] = [
    *(holds(f"loss: {name}", _numeric_loss(f), *BOX, TOKENS) for name, f in LOSSES.items()),
    *(holds(f"table: {name}", _symbolic(spoil)) for name, spoil in TABLES.items()),
    *(holds(f"bound: {name}", evidence, interval) for name, (evidence, interval) in BOUNDS.items()),
    *(holds(f"exact: {name}", evidence) for name, evidence in EXACT.items()),
]

_GOOD = Evidence(Kind.EXACT, "planted", lambda: same(1, 1), ({},), (Control("two", lambda: same(2, 1)),))


def _below(top: int = 1) -> Margin:
    return less(0, top)


_REFUTES = Evidence(Kind.EXACT, "planted", _below, ({},), (Control("equal", lambda: less(1, 1)),))
GOOD = holds("good", _GOOD)


def _undecided() -> Margin:
    raise Undecided("cannot tell")


class _Unforeseen(Exception):
    pass


def _unforeseen() -> Margin:
    raise _Unforeseen("from a library")


def _assertion() -> Margin:
    raise AssertionError("a library's own check")


def _divide() -> Margin:
    return same(1 // 0, 1)


def _false(**changes) -> Claim:
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


def _with(**changes) -> Claim:
    return replace(GOOD, evidence=(replace(_GOOD, **changes),))


def _moving() -> Claim:
    """Its margin is one number during the run and another one at the witness."""
    values = iter([less(0, 1), less(0, 1), less(0, 1), less(0, 2)])
    evidence = replace(_REFUTES, margin=lambda: next(values))
    return _false(evidence=(evidence,), witness=Witness({}))


def _counting() -> Margin:
    """Good on its first calls only."""
    _CALLS.append(None)
    return less(0, 1) if len(_CALLS) < 500 else less(1, 0)


_CALLS: list[None] = []
_SAMPLED = replace(_GOOD, margin=lambda x: same(1, 1), points=Sampled(5, 5))
BROKEN: dict[str, Claim] = {
    "no evidence": replace(GOOD, evidence=()),
    "no points": _with(points=()),
    "no points from a generator": _with(points=lambda effort: iter(())),
    "no margin": _with(margin=None),
    "no controls": _with(controls=()),
    "NaN margin": _with(margin=lambda: Margin(float("nan"), 0, 0)),
    "NaN at the second point": _with(
        margin=lambda x=0: Margin(float("nan") if x else 0.0, 0, 0), points=({}, {"x": 1})
    ),
    "infinite margin": _with(margin=lambda: Margin(float("inf"), 0, 0)),
    "a bool for a margin": _with(margin=lambda: True),
    "a float for a margin": _with(margin=lambda: 1.0),
    "a margin that raises": _with(margin=_divide),
    "a margin that raises what nobody foresaw": _with(margin=_unforeseen),
    "a margin that fails an assertion": _with(margin=_assertion),
    "undecided evidence": _with(margin=_undecided),
    "a control that passes": _with(controls=(Control("same", lambda: same(3, 3)),)),
    "a control that changes nothing": _with(controls=(Control("nothing"),)),
    "a NaN control": _with(controls=(Control("nan", lambda: Margin(float("nan"), 0, 0)),)),
    "an undecided control": _with(controls=(Control("undecided", _undecided),)),
    "a control without points": _with(controls=(Control("nowhere", None, ()),)),
    "one good control and one that passes": _with(
        controls=(Control("two", lambda: same(2, 1)), Control("same", lambda: same(3, 3)))
    ),
    "vacuous hypotheses": replace(GOOD, evidence=(_SAMPLED,), hypotheses=(Interval("x", 1.0, 0.0),)),
    "NaN hypotheses": replace(GOOD, evidence=(_SAMPLED,), hypotheses=(Interval("x", float("nan"), 1.0),)),
    "contradictory hypotheses": replace(GOOD, hypotheses=(Interval("T", 4, 9), Interval("T", 1, 3))),
    "one hypothesis twice": replace(GOOD, hypotheses=(Interval("T", 4, 9), Interval("T", 4, 9))),
    "an interval of one point": replace(GOOD, evidence=(_SAMPLED,), hypotheses=(Interval("x", 1.0, 1.0),)),
    "whole numbers from one and a half": replace(GOOD, hypotheses=(Interval("T", 1.5, 9, whole=True),)),
    "kernel without a kernel": _with(kind=Kind.KERNEL),
    "a ball for the value of a margin": _with(margin=lambda: Margin(arb(0, 1), 0, 0)),
    "a whole number for the value of a margin": _with(margin=lambda: Margin(0, 0, 0)),
    "a margin that exits": _with(margin=lambda: sys.exit(0)),
    "a margin that counts its calls": replace(
        _with(margin=lambda x: _counting(), points=Sampled(300, 300)), hypotheses=(Interval("x", 0.0, 1.0),)
    ),
    "unbounded sampling": replace(GOOD, evidence=(_SAMPLED,), hypotheses=(Interval("x", 0.0, float("inf")),)),
    "sampling without intervals": replace(GOOD, evidence=(_SAMPLED,)),
    "read alone for holds": replace(GOOD, evidence=(Evidence(Kind.READ, "planted"),)),
    "false without a witness": _false(),
    "false without a correction": _false(witness=Witness({}), correction=None),
    "false with a witness that is none": _false(witness=Witness({"top": 0})),
    "a witness with a margin of its own": _false(witness=Witness({}, lambda: less(0, 1))),
    "a witness that moves": _moving(),
    "a typo without its right form": replace(GOOD, verdict=Verdict.TYPO),
    "holds_if without the hypothesis": replace(GOOD, verdict=Verdict.HOLDS_IF),
    "unsettled without a reason": replace(
        GOOD, verdict=Verdict.UNSETTLED, evidence=(Evidence(Kind.READ, "planted"),), coverage=None
    ),
    "unsettled with evidence": replace(GOOD, verdict=Verdict.UNSETTLED, note="planted"),
    "ours and not holding": replace(_false(witness=Witness({})), is_correction=True),
    "the outcome of a claim that is the paper's": replace(GOOD, outcome_of="planted.open"),
}
