"""A good claim, and broken ones, of which each must be an error."""

from dataclasses import replace

from proofs_check.evidence.margin import Undecided, less, same
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
    "undecided evidence": _with(margin=_undecided),
    "an undecided control": _with(controls=(Control("undecided", _undecided),)),
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
