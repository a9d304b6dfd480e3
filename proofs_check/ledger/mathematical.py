"""Short forms for the mathematical claims of the method sections, and margins for identities that must fail."""

from collections.abc import Sequence
from typing import Any

from proofs_check.evidence.margin import Margin, identity
from proofs_check.ledger.claim import Claim, Control, Evidence, Kind, MarginFunction, Nature, Points, Verdict

ONCE: Points = ({},)  # the one point of a margin without arguments


def mathematical(
    id: str,
    source: str,
    statement: str = "",
    *evidence: Evidence,
    verdict: Verdict = Verdict.HOLDS,
    nature: Nature = Nature.MATHEMATICAL,
    **rest: Any,
) -> Claim:
    """A mathematical claim, holding unless said otherwise; `rest` goes to the record. Without evidence it needs no
    statement: that of its tree is printed.
    """
    return Claim(id=id, source=source, statement=statement, nature=nature, verdict=verdict, evidence=evidence, **rest)


def symbolic(scope: str, margin: MarginFunction, points: Points, *controls: Control) -> Evidence:
    return Evidence(Kind.SYMBOLIC, scope, margin, points, controls)


def certified(scope: str, margin: MarginFunction, points: Points, *controls: Control) -> Evidence:
    return Evidence(Kind.CERTIFIED, scope, margin, points, controls)


def sampled(scope: str, margin: MarginFunction, points: Points, *controls: Control) -> Evidence:
    return Evidence(Kind.SAMPLED, scope, margin, points, controls)


def exact(scope: str, margin: MarginFunction, points: Points, *controls: Control) -> Evidence:
    return Evidence(Kind.EXACT, scope, margin, points, controls)


def not_identity(printed: Any, true: Any) -> Margin:
    """printed and true differ as expressions, by a size that tells them apart; below zero where they are identical."""
    found = identity(printed, true)
    return Margin(-found.value if found.value < 0 else -1.0, printed, true)


def identities(printed: Sequence[Any], true: Sequence[Any]) -> Margin:
    """Entry by entry identities of two sequences (or matrices); the worst entry decides."""
    pairs = list(zip(printed, true, strict=True))
    if not pairs:
        raise ValueError("nothing to compare: both sides are empty")
    return min((identity(a, b) for a, b in pairs), key=lambda margin: margin.value)
