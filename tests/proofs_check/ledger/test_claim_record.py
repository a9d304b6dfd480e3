"""The claim record: its vocabulary, its defaults, its points."""

import pytest

from proofs_check.ledger.claim import (
    ENUMERATED,
    INSTANCES,
    SAMPLES,
    WITNESSED,
    Coverage,
    Effort,
    Extent,
    Kind,
    Nature,
    Severity,
    Status,
    Verdict,
    everywhere,
)


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
