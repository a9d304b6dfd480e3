"""The claim record: its vocabulary, its defaults, its points."""

from dataclasses import replace

import pytest

from proofs_check.ledger import claim as c
from proofs_check.ledger.harness import ClaimResult
from tests.proofs_check.ledger import planted

VOCABULARY = {
    c.Nature: "mathematical table empirical textual",
    c.Verdict: "holds holds_if false typo unsettled",
    c.Status: "confirmed contradicted undecided error not_checked",
    c.Extent: "all instances samples",
    c.Kind: "kernel symbolic certified exact sampled trained read",
}


@pytest.mark.parametrize("enumeration", VOCABULARY, ids=lambda enumeration: enumeration.__name__)
def test_the_words_of_the_ledger_are_the_published_ones(enumeration):
    assert [member.value for member in enumeration] == VOCABULARY[enumeration].split()
    assert all(member.name == member.value.upper() for member in enumeration)


def test_the_two_efforts_say_what_they_do():
    assert "fewer" in c.Effort.QUICK.value and "all sampled points" in c.Effort.FULL.value


def test_a_severity_is_a_word_of_the_field_and_a_coverage_says_why_it_is_whole():
    assert [s.value for s in c.Severity] == [
        "breaks the theorem", "repairable", "misprint", "code", "arithmetic", "reading",
    ]  # fmt: skip
    assert c.everywhere("T is free.") == c.Coverage(c.Extent.ALL, "T is free.")
    assert c.INSTANCES.extent is c.Extent.INSTANCES and c.SAMPLES.extent is c.Extent.SAMPLES
    assert all(whole.extent is c.Extent.ALL and whole.why for whole in (c.ENUMERATED, c.WITNESSED))


def test_records_default_to_the_least():
    assert c.Interval("x", 0, 1) == c.Interval("x", 0, 1, whole=False)
    assert c.Sampled() == c.Sampled(quick=200, full=2000)
    assert c.Control("none") == c.Control("none", margin=None, points=None)
    assert c.Evidence(c.Kind.READ, "all") == c.Evidence(c.Kind.READ, "all", None, (), ())
    assert c.Witness({}) == c.Witness({}, None)
    fields = ("planted.x", "planted", "text", c.Nature.TABLE, c.Verdict.HOLDS, ())
    assert c.Claim(*fields) == c.Claim(*fields, "", (), None, None, "", False, None, "", None, None)
    assert ClaimResult(c.Status.ERROR) == ClaimResult(c.Status.ERROR, (), None, "")


def test_an_interval_ends_where_it_says():
    assert c.Interval("x", 0.5, 1.5).ends() == (0.5, 1.5)
    assert c.Interval("n", 2, 4, whole=True).ends() == (2, 4)
    assert c.Interval("x", 1.5, 1.0).empty


def test_the_paper_is_the_first_part_of_the_id():
    assert replace(planted.GOOD, id="kv1.thm3.4.minimum").paper == "kv1"


def test_points_may_depend_on_the_effort():
    def points(effort):
        return [{"x": effort}]

    for effort in c.Effort:
        assert list(c.points_of(planted.GOOD, points, effort)) == [{"x": effort}]
    assert list(c.points_of(planted.GOOD, ({"x": 1},), c.Effort.FULL)) == [{"x": 1}]


def test_drawn_points_stay_in_an_interval_away_from_one():
    claim = replace(planted.GOOD, hypotheses=(c.Interval("x", 5.0, 6.0),))
    drawn = list(c.points_of(claim, c.Sampled(30), c.Effort.QUICK))
    assert all(5 <= point["x"] <= 6 for point in drawn)
    assert len({point["x"] for point in drawn}) == 32


def test_corners_are_never_more_than_the_count_nor_than_sixty_four():
    claim = replace(planted.GOOD, hypotheses=tuple(c.Interval(f"x{k}", 0.0, 1.0) for k in range(7)))
    assert len(list(c.points_of(claim, c.Sampled(3), c.Effort.QUICK))) == 3 + 3
    assert len(list(c.points_of(claim, c.Sampled(100), c.Effort.QUICK))) == 64 + 100


@pytest.mark.parametrize("interval", [c.Interval("x", 0.0, float("inf")), c.Interval("x", float("-inf"), 0.0)])
def test_an_unbounded_interval_is_not_sampled(interval):
    claim = replace(planted.GOOD, hypotheses=(interval,))
    with pytest.raises(ValueError, match="unbounded"):
        list(c.points_of(claim, c.Sampled(3), c.Effort.QUICK))
