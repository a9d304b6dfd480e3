"""`There is a choice such that`: its denial is made from what is printed, for one choice at all inputs."""

from dataclasses import replace

import pytest

from proofs_check.core.terms import eq
from proofs_check.language import (
    ball,
    exists,
    positive,
    real,
    sequence,
    statement,
    total,
    unique_minimiser,
    var,
    whole,
)
from proofs_check.language.denial import denial
from proofs_check.ledger.rows import decided, record
from proofs_check.ledger.ruling import Case, ruled
from proofs_check.ledger.store import judge, searched, told_apart
from tests.proofs_check.ledger import planted
from tests.proofs_check.records.test_rulings import found as ruled_as

n, a, t, k, x = map(var, "natkx")
DOMAIN = [whole("n", 1), positive("t"), real("a"), sequence("x", n, -3, 3)]


def printed(says, choice=1, *, given=(), domain=DOMAIN):
    """Some number a does it, for all x at once."""
    return statement("mine.choice", for_all=domain, given=given, says=exists({a: choice}, says))


INVERSE = printed(eq(a * x[1] * t, t))
TWO = {"n": 1, "x": [1]}, {"n": 1, "x": [2]}
CASE = Case(INVERSE, inputs=TWO)


def say(one):
    return judge(one.to_json(), searched(one, None, False), False)


def found(meant=None, which=INVERSE, inputs=TWO, **rest):
    return ruled_as(which, meant, say, inputs=inputs, **rest)


@pytest.mark.parametrize(("sum_is", "outcome"), [(14, "refuted"), (13, "proved")])
def test_items_are_read_at_their_places(sum_is, outcome):
    weighed = printed(eq(a + total(k, 1, n, k * x[k]), a + sum_is))
    assert say(denial(weighed, [{"n": 3, "x": [1, 2, 3]}]))["outcome"] == outcome


def test_no_choice_makes_a_sentence_false_and_another_place_to_look_makes_it_hold():
    assert found() == ("false", "repairable")
    assert found(kinds=("theorem",)) == ("false", "breaks the theorem")
    there = printed(eq(a * t, t))
    assert found(there, reading="places") == ("holds_if", "repairable")
    assert found(there) == ("false", "repairable")
    assert found(printed(eq(a * t, t + t)), reading="places") == ("refuted", None)
    assert ruled(CASE, say, told_apart).governs.name == "mine.choice.denied"
    made = ruled(Case(INVERSE, there, "places", inputs=TWO), say, told_apart)
    assert made.governs is there
    assert made.repair == "whatever t, a are, it fails at n = 1, x = [1] or at n = 1, x = [2]"


def test_a_poor_choice_is_no_denial_and_a_good_one_is_none_either():
    """At one of the two inputs alone some number does it, although the number that is named does not."""
    assert found(which=printed(eq(a * x[1] * t, t), 5), inputs=TWO[:1]) == ("open", None)
    assert found(which=printed(a * t <= t)) == ("holds", None)
    for outcome in ("open", "refuted"):  # by something else than the denial, which stays open
        made = ruled(CASE, lambda one, said=outcome: {"outcome": said if one is INVERSE else "open"}, told_apart)
        assert made.verdict.value == outcome


@pytest.mark.parametrize(("which", "inputs", "words"), [
    (statement("mine.plain", for_all=DOMAIN, says=eq(a * x[1], 1)), TWO, "leaves nothing to choose"),
    (printed(eq(a * x[1], 1), given=[t > 1]), TWO, "assumes something"),
    (INVERSE, ({"n": 1, "x": [1]}, {"n": 2, "x": [2, 0]}), "differ in more"),
    (INVERSE, ({"n": 1, "x": [1]}, {"n": 1}), "differ in more"),
    (printed(eq(a * x[1] * t, t), 1 / (x[1] ** 2 + 1)), TWO, "follows an input"),
    (INVERSE, ({"n": 1, "a": 2, "x": [1]},), "follows an input"),
    (INVERSE, ({"n": 1, "x": [4]},), "outside"),
    (INVERSE, ({"n": 0, "x": []},), "outside"),
    (INVERSE, ({"n": 2, "x": [1]},), "outside"),
    (INVERSE, ({"n": 1, "x": [[1]]},), "outside"),
    (printed(eq(a * x[1], 1), domain=[whole("n", 1), real("a"), ball("x", n, 2)]), TWO, "outside"),
    (statement("mine.least", for_all=[real("a"), *DOMAIN[:1]], says=unique_minimiser(a * a, at={a: 0})), TWO, "choose"),
], ids=lambda part: part if isinstance(part, str) else "")  # fmt: skip
def test_denial_of_something_else_or_elsewhere_is_refused(which, inputs, words):
    with pytest.raises(ValueError, match=words):
        denial(which, inputs)


def test_what_rests_on_a_denial_is_confirmed_by_its_proof():
    """The statement of other false claims is what is printed, and confirmed by its refutation."""
    false = planted._false(evidence=(), witness=None, case=CASE, coverage=None)
    for formal, outcome, status in ((CASE.denied, "proved", "confirmed"), (INVERSE, "proved", "contradicted"),
                                    (CASE.denied, "refuted", "contradicted")):  # fmt: skip
        row = record(replace(false, id="mine.choice", formal=formal), {"planted.good": planted.GOOD})
        core = {**say(CASE.denied), "outcome": outcome}
        assert decided(replace(row, status="not_checked"), core).status == status
