"""The sampled margin functions of the ledger, driven by hypothesis over the intervals that they are drawn from."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_check.ledger.claim import Sampled
from proofs_check.ledger.registry import load

CASES = [
    pytest.param(claim, evidence, id=f"{claim.id}-{index}")
    for claim in load().values()
    for index, evidence in enumerate(claim.evidence)
    if isinstance(evidence.points, Sampled)
]


def values(interval):
    if interval.whole:
        return st.integers(int(interval.low), int(interval.high))
    return st.floats(interval.low, interval.high)


def test_there_is_sampled_evidence_to_drive():
    assert CASES


@pytest.mark.parametrize(("claim", "evidence"), CASES)
def test_a_sampled_margin_is_never_negative_where_it_is_drawn(claim, evidence):
    intervals = evidence.points.over or claim.intervals

    @settings(max_examples=25)
    @given(st.fixed_dictionaries({interval.name: values(interval) for interval in intervals}))
    def check(point):
        assert evidence.margin(**point).value >= 0

    check()
