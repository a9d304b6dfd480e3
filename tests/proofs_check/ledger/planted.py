"""A good claim, and broken ones, of which each must be an error."""

from dataclasses import replace

from proofs_check.evidence.margin import Margin, Undecided, less, same
from proofs_check.ledger.claim import (
    ENUMERATED,
    WITNESSED,
    Claim,
    Control,
    Evidence,
    Kind,
    Nature,
    Severity,
    Verdict,
)

_GOOD = Evidence(Kind.EXACT, "planted", lambda: same(1, 1), ({},), (Control("two", lambda: same(2, 1)),))
GOOD = Claim(
    id="planted.good",
    source="planted",
    statement="good",
    nature=Nature.MATHEMATICAL,
    verdict=Verdict.HOLDS,
    evidence=(_GOOD,),
    coverage=ENUMERATED,
)


def _below(top=1):
    return less(0, top)


_REFUTES = Evidence(Kind.EXACT, "planted", _below, ({},), (Control("equal", lambda: less(1, 1)),))


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
