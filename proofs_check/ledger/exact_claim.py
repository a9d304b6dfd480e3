"""A short form for claims whose whole evidence is one exact comparison."""

from collections.abc import Sequence
from typing import Any

from proofs_check.ledger.claim import (
    Claim,
    Control,
    Evidence,
    Kind,
    MarginFunction,
    Nature,
    Point,
    Points,
    Verdict,
)

FINAL = "KV shifting (final)"
FIRST = "KV shifting (first version)"
BOTH = "KV shifting (final and first version)"


def exact_claim(
    id: str,
    source: str,
    statement: str,
    margin: MarginFunction,
    points: Points,
    controls: Sequence[Control],
    *,
    scope: str = "all points there are",
    nature: Nature = Nature.TABLE,
    verdict: Verdict = Verdict.HOLDS,
    witness: Point | None = None,
    **rest: Any,
) -> Claim:
    """A claim with one piece of exact evidence; `witness` is a point of `margin`, `rest` goes to the record."""
    return Claim(
        id=id,
        source=source,
        statement=statement,
        nature=nature,
        verdict=verdict,
        evidence=(Evidence(Kind.EXACT, scope, margin, points, tuple(controls)),),
        witness=witness,
        **rest,
    )
