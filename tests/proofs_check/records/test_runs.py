"""The record of a listing: what it says follows from what comes, and a mistake in it is seen when it is run."""

import pytest

from proofs_check.ledger.claim import Severity, Status, Verdict
from proofs_check.ledger.harness import run_claim
from proofs_check.records import runs


def total(last, first=1, imported=False):
    """The sum from {first} to {last}."""
    return sum(range(first, last + 1)) if imported else undefined(last)  # noqa: F821


def summed(last, first=1, returns=True):
    """The sum from {first} to {last}."""
    return sum(range(first, last + 1)) if returns else None


def half(last, more=1):
    """half of {last} ({last} + {more})."""
    return last * (last + more) // 2


def twice(last, shift=1, back=1):
    """Twice the sum to {last}, where two slips undo each other."""
    return last * (last + 1) + shift - back


def double(last):
    """{last} ({last} + 1)."""
    return last * (last + 1)


CASES = [{"last": last} for last in (2, 3, 5)]
SAID = {
    "holds": (summed, half, {"broken": [{"first": 2}, {"more": 2}]}, Verdict.HOLDS, None, ""),
    "misprint": (
        summed,
        half,
        {"mend": {"more": 1}, "cases": [{"last": 5, "more": 2}]},
        Verdict.TYPO,
        Severity.MISPRINT,
        "The sum from 1 to 5: half of 5 (5 + 1).",
    ),
    "raises": (
        total,
        half,
        {"mend": {"imported": True}},
        Verdict.TYPO,
        Severity.CODE,
        "As printed it raises NameError. Mended: imported.",
    ),
    "returns nothing": (
        summed,
        half,
        {"mend": {"returns": True}, "cases": [{"last": 5, "returns": False}]},
        Verdict.TYPO,
        Severity.CODE,
        "As printed it returns None. Mended: returns.",
    ),
    "another value": (
        summed,
        half,
        {"mend": {"first": 1}, "cases": [{"last": 5, "first": 2}]},
        Verdict.FALSE,
        Severity.CODE,
        "As printed something else comes. Mended: first = 1.",
    ),
    "reading": (
        summed,
        half,
        {"broken": [{"last": -5}], "reading": "exists"},
        Verdict.HOLDS_IF,
        Severity.READING,
        "Not for last = -5.",
    ),
}
WRONG = {
    "promised what does not come": (summed, 6, {"broken": [{"last": 4}]}),
    "a slip that is none": (summed, half, {"mend": {"returns": True}}),
    "a mend that mends nothing": (total, half, {"mend": {"first": 1}}),
    "a mend of more than the slip": (total, half, {"mend": {"imported": True, "first": 1}}),
    "two slips of the sentence that undo each other": (double, twice, {"mend": {"shift": 0, "back": 0}}),
    "a mend of a name that neither has": (total, half, {"mend": {"import": True}}),
    "a change that breaks nothing": (summed, half, {"broken": [{"first": 2}, {"first": 1}]}),
    "no change that breaks it": (summed, half, {}),
    "a reading that leaves nothing out": (summed, half, {"broken": [{"last": 7}], "reading": "exists"}),
}


def made(code, promised, rest):
    return runs("kv.appM.planted", "Appendix M", code, promised, **{"cases": CASES, **rest})


@pytest.mark.parametrize("name", SAID)
def test_the_verdict_and_the_words_follow_from_what_comes(name):
    code, promised, rest, verdict, severity, note = SAID[name]
    claim = made(code, promised, rest)
    assert (claim.verdict, claim.severity, claim.note) == (verdict, severity, note)
    assert run_claim(claim).status is Status.CONFIRMED, run_claim(claim).message


@pytest.mark.parametrize("name", WRONG)
def test_a_record_that_says_something_else_is_not_confirmed(name):
    assert run_claim(made(*WRONG[name])).status is not Status.CONFIRMED


def test_a_statement_is_printed_from_the_arguments():
    assert made(*SAID["holds"][:3]).statement == "The sum from 1 to last: half of last (last + 1), for last = 2, 3, 5."
    one = made(*SAID["misprint"][:3])
    assert one.statement == "The sum from 1 to 5: half of 5 (5 + 2), for last = 5 and more = 2."
    false = made(*SAID["another value"][:3])
    assert false.holds_instead == "The sum from 1 to 5: half of 5 (5 + 1), with first = 1."
