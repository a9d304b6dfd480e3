"""The verdict on a record follows from what the core says: each row of the table, and what no record can say."""

import inspect

import pytest

from proofs_check.language import eq, exp, real, statement, var, whole
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
