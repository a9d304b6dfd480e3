"""The claim record: its vocabulary, its defaults, its points."""

from dataclasses import replace

import pytest

from proofs_check.ledger.claim import (
    ENUMERATED,
    INSTANCES,
    SAMPLES,
    WITNESSED,
    Coverage,
    Effort,
    Extent,
    Interval,
    Kind,
    Nature,
    Sampled,
    Severity,
    Status,
    Verdict,
    everywhere,
    points_of,
)
from tests.proofs_check.ledger import planted


@pytest.mark.parametrize("enumeration", [Nature, Verdict, Status, Extent, Kind])
def test_the_words_of_the_ledger_are_the_names_that_the_code_has_for_them(enumeration):
    assert all(member.name == member.value.upper() for member in enumeration)


def test_the_two_efforts_say_what_they_do():
    assert "fewer" in Effort.QUICK.value and "all sampled points" in Effort.FULL.value


def test_a_severity_is_a_word_of_the_field_and_a_coverage_says_why_it_is_whole():
    assert [s.value for s in Severity] == [
        "breaks the theorem", "repairable", "misprint", "code", "arithmetic", "reading",
    ]  # fmt: skip
    assert everywhere("T is free.") == Coverage(Extent.ALL, "T is free.")
    assert INSTANCES.extent is Extent.INSTANCES and SAMPLES.extent is Extent.SAMPLES
    assert all(whole.extent is Extent.ALL and whole.why for whole in (ENUMERATED, WITNESSED))


def test_an_interval_ends_where_it_says():
    assert Interval("x", 0.5, 1.5).ends() == (0.5, 1.5)
    assert Interval("n", 2, 4, whole=True).ends() == (2, 4)
    assert Interval("x", 1.5, 1.0).empty


def test_corners_are_never_more_than_the_count_nor_than_sixty_four():
    claim = replace(planted.GOOD, hypotheses=tuple(Interval(f"x{k}", 0.0, 1.0) for k in range(7)))
    assert len(list(points_of(claim, Sampled(3), Effort.QUICK))) == 3 + 3
    assert len(list(points_of(claim, Sampled(100), Effort.QUICK))) == 64 + 100
    assert Sampled() == Sampled(200, 2000)


@pytest.mark.parametrize("interval", [Interval("x", 0.0, float("inf")), Interval("x", float("-inf"), 0.0)])
def test_an_unbounded_interval_is_not_sampled(interval):
    claim = replace(planted.GOOD, hypotheses=(interval,))
    with pytest.raises(ValueError, match="unbounded"):
        list(points_of(claim, Sampled(3), Effort.QUICK))
