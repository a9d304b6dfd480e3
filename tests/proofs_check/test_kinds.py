"""A piece of evidence is called certified only where the second checker went through a certificate for each point."""

import pytest

from proofs_check import check
from proofs_check.claim import Effort, Kind, points_of
from proofs_check.registry import load

PIECES = [
    pytest.param(claim, evidence, id=f"{claim.id}-{index}")
    for claim in load().values()
    for index, evidence in enumerate(claim.evidence)
    if evidence.kind is Kind.CERTIFIED
]


@pytest.mark.parametrize(("claim", "evidence"), PIECES)
def test_certified_evidence_goes_through_the_second_checker(monkeypatch, claim, evidence):
    calls = []
    inner = check._proved

    def counted(*args):
        calls.append(None)
        return inner(*args)

    monkeypatch.setattr(check, "_proved", counted)
    point = next(iter(points_of(claim, evidence.points, Effort.QUICK)))
    assert evidence.margin(**point).value >= 0
    assert calls, "no certificate was checked: the piece is exact, not certified"
