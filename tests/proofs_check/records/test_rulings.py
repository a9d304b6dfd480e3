"""The verdict on a record follows from what the core says: each row of the table, and what no record can say."""

import inspect
from dataclasses import replace

import pytest

from proofs_check.core.certificate import Outcome, check_certificate
from proofs_check.core.finite import evaluated
from proofs_check.core.rules import Rejected
from proofs_check.core.terms import lift
from proofs_check.language import choice, either, eq, exp, ne, real, sqrt, statement, var, whole
from proofs_check.ledger.claim import Severity, Verdict
from proofs_check.ledger.readings import READINGS, Reading
from proofs_check.ledger.ruling import Case, from_json, ruled
from proofs_check.ledger.store import judge, told_apart
from proofs_check.records import Rule, no_choice, rule, runs
from proofs_check.records.refers import refers
from proofs_check.records.trained import Trained

N, M = whole("n", 1, 6), whole("m", 1, 6)


def stated(says, *over, given=()):
    return statement("mine.row", for_all=over or [N], says=says, given=given)


def say(statement):
    return judge(statement.to_json(), None, False)


def found(printed, meant=None, say=say, **rest):
    made = ruled(Case(printed, meant, **rest), say, told_apart)
    return made.verdict.value, None if made.severity is None else made.severity.value


SQUARES, BEYOND = stated(N * N >= N), stated(N * N > N)
FIXED, SHIFTED = stated(eq(N + 2, 2 + N)), stated(eq(N + 2, 3 + N))
CUBE = N * N * N + 3 * N * N + 3 * N + 1
ROWS = {
    "proved": (SQUARES, None, {}, ("holds", None)),
    "refuted, finite": (BEYOND, None, {}, ("false", "repairable")),
    "refuted, in a table": (BEYOND, None, {"kinds": ("text", "table")}, ("false", "arithmetic")),
    "refuted, a theorem": (BEYOND, None, {"kinds": ("theorem", "table")}, ("false", "breaks the theorem")),
    "refuted, a listing": (BEYOND, None, {"kinds": ("listing",)}, ("false", "code")),
    "a needed hypothesis": (BEYOND, stated(N * N > N, given=[N > 1]), {}, ("holds_if", "repairable")),
    "a needed domain": (BEYOND, stated(N * N > N, whole("n", 2, 6)), {}, ("holds_if", "repairable")),
    "a needed domain, in a table": (BEYOND, stated(N * N > N, whole("n", 2, 6)), {"kinds": ("table",)},
                                    ("holds_if", "arithmetic")),
    "a domain narrower than needed": (BEYOND, stated(N * N > N, whole("n", 3, 6)), {}, ("refuted", None)),
    "one hypothesis too many": (BEYOND, stated(N * N > N, given=[N > 1, N < 6]), {}, ("refuted", None)),
    "one that changes nothing": (BEYOND, stated(N * N > N, given=[N > 1, N > 0]), {}, ("refuted", None)),
    "a slip that is shown": (SHIFTED, FIXED, {"shown": stated(2 <= N + 2)}, ("typo", "misprint")),
    "a slip in a listing": (SHIFTED, FIXED, {"shown": stated(2 <= N + 2), "kinds": ("listing",)}, ("typo", "code")),
    "a slip that nothing shows": (SHIFTED, FIXED, {}, ("false", "repairable")),
    "shown, and something else": (SHIFTED, FIXED, {"shown": stated(N >= 1)}, ("false", "repairable")),
    "the same exchange at three places": (stated(eq(N + 3 + 3 + 3, 6 + N)), stated(eq(N + 2 + 2 + 2, 6 + N)),
                                          {"shown": stated(2 <= N + 2)}, ("false", "repairable")),
    "a large exchange": (stated(eq(2, CUBE)), stated(eq((N + 1) * (N + 1) * (N + 1), CUBE)),
                         {"shown": stated((N + 1) * (N + 1) * (N + 1) >= 1)}, ("false", "repairable")),
    "no point meets the hypotheses": (BEYOND, stated(N * N > N, given=[N > 4, N < 2]), {}, ("refuted", None)),
    "a reading and nothing that is meant": (BEYOND, None, {"reading": "rivals"}, ("false", "repairable")),
    "another statement": (BEYOND, stated(N * N * N >= N), {}, ("false", "repairable")),
    "what is meant is false": (BEYOND, stated(N * N > N, given=[N > 0]), {}, ("refuted", None)),
    "nothing is decided": (stated(exp(var("x")) >= var("x"), real("x")), None, {}, ("open", None)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_each_row_of_the_table(name):
    printed, meant, rest, wanted = ROWS[name]
    assert found(printed, meant, **rest) == wanted


def test_reading_gives_its_severity_and_changes_no_other_part(monkeypatch):
    monkeypatch.setitem(READINGS, "given", Reading("Small sizes are left out.", Severity.READING, "given"))
    assert found(BEYOND, stated(N * N > N, given=[N > 1]), reading="given") == ("holds_if", "reading")
    with pytest.raises(ValueError, match="may change given"):
        found(BEYOND, stated(N * N >= N), reading="given")
    with pytest.raises(KeyError):
        found(BEYOND, stated(N * N > N, given=[N > 1]), reading="whatever")


def test_repair_names_the_ends_that_it_adds_and_no_other():
    made = ruled(Case(BEYOND, stated(N * N > N, whole("n", 2, 6))), say, told_apart)
    assert made.repair == "2 <= n"


def test_repair_may_not_assume_what_it_concludes():
    with pytest.raises(ValueError, match="what is concluded is a hypothesis"):
        found(BEYOND, stated(N * N > N, given=[N * N > N]))


# What hostile edits of a claim changed, and nothing noticed: a record has none of it.
BY_HAND = {"verdict", "severity", "hypotheses", "statement", "formula", "witness", "strength", "coverage", "note",
           "evidence", "points", "tolerance", "correction", "is_correction", "source", "scope", "nature",
           "denied"}  # fmt: skip


@pytest.mark.parametrize("kind", [rule, no_choice, Rule, runs, refers, Trained], ids=lambda kind: kind.__name__)
def test_record_has_no_word_for_what_is_computed(kind):
    assert not set(inspect.signature(kind).parameters) & BY_HAND


@pytest.mark.parametrize("word", sorted(BY_HAND))
def test_word_for_what_is_computed_is_refused(word):
    with pytest.raises(TypeError):
        rule("mine.a.b", "Abstract", SQUARES, **{word: Verdict.FALSE})


def test_case_survives_as_data():
    case = Case(BEYOND, stated(N * N > N, given=[N > 1]), "", SQUARES, ("table",), ({"n": 1},))
    assert from_json(case.to_json()) == case


FINITE = {
    "two variables, the later below the earlier": (stated(M <= N, N, whole("m", 1, N)), "proved"),
    "an open end": (stated(N < 6, replace(N, high_open=True)), "proved"),
    "an open low end": (stated(N > 1, replace(N, low_open=True)), "proved"),
    "a choice": (stated(eq(N, 2 * (N / 2)), choice("n", 2, 5)), "proved"),
    "no point at all": (stated(N > 7, given=[N > 6]), "error"),
    "false at the last point": (stated(N < 6), "refuted"),
    "without a value at one point": (stated(ne(1 / (N - 3), 0)), "refuted"),
    "a value that a hypothesis guards": (stated(ne(1 / (N - 3), 0), given=[ne(N, 3)]), "proved"),
    "two expressions that are equal": (stated(eq(exp(N) * exp(N), exp(2 * N))), "proved"),
}


@pytest.mark.parametrize("name", FINITE)
def test_finitely_many_points_are_all_evaluated(name):
    made, wanted = FINITE[name]
    assert say(made)["outcome"] == wanted


def test_certificate_that_says_everywhere_is_checked():
    unknown = sqrt(3 + 2 * sqrt(2)) <= 1 + sqrt(2) + 0 * N  # true, and the core does not know it
    undecided = (stated(unknown), stated(N < 6, given=[either(N <= 1, unknown)]))
    several = (*undecided, stated(ne(1 / (N - 3), 0)), stated(exp(N) >= 1, whole("n", 1)), stated(N > 7, given=[N > 6]))
    for wrong in (stated(N < 6), *several):
        claimed = {"format": 1, "statement": wrong.digest, "point": {"n": "1"}, "everywhere": True}
        with pytest.raises(Rejected):
            check_certificate(wrong, claimed)
    assert check_certificate(SQUARES, evaluated(SQUARES)).outcome is Outcome.PROVED
    pair = replace(whole("n", 1, 6), sizes=(lift(2),))  # two whole numbers, each from 1 to 6
    for many in (whole("n", 1), whole("n", 1, 9**9), real("n", 1, 6), pair):
        assert evaluated(stated(M >= 1, M, many)) is None
    half = stated(ne(2 * N, 7), real("n", 1, 6))  # false at 7/2 alone, between the whole numbers
    with pytest.raises(Rejected, match="Endless"):
        check_certificate(half, {"format": 1, "statement": half.digest, "point": {"n": "1"}, "everywhere": True})
