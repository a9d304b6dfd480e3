"""The suite: every check of what an adapter claims, and how each came out; what did not run is never a pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import chain, groupby
from math import inf
from time import monotonic
from typing import NamedTuple

from proofs_check.conform.adapter import Adapter
from proofs_check.conform.case import deviation
from proofs_check.conform.check import Check, Given
from proofs_check.conform.spec import CHECKS, SUBJECTS


class Outcome(Enum):
    """How a check came out; only the first is a pass."""

    PASSED = "passed"
    FAILED = "failed"
    RAISED = "raised"
    CONVENTION = "convention"
    REFUSED = "refused"
    CUT = "cut short"
    NOT_CLAIMED = "not claimed"


class Result(NamedTuple):
    """A check, how it came out, how many cases were as expected, one line on the first that was not, and the largest
    sizes of those that were."""

    check: Check
    outcome: Outcome
    cases: int = 0
    told: str = ""
    largest: Mapping[str, int] = {}

    @property
    def deviates(self) -> bool:
        return self.outcome in (Outcome.FAILED, Outcome.RAISED, Outcome.CONVENTION)


def run(adapter: Adapter, check: Check, seed: int = 0, by: str | None = None, until: float = inf) -> Result:
    """One check: its cases from the smallest on, until one is not as expected; all twice, with other numbers.

    until: when, by `time.monotonic`, no further case begins; if one is left, the check is cut short, and no pass.

    An adapter refuses what its implementation does not offer by NotImplementedError; then the check is no pass, though
    its other cases are as expected. Anything else that it raises is a deviation. Where a case is as expected by another
    convention, and so are all (`by` it), the check comes out as that: no pass, and no mistake.
    """
    missing = _missing(adapter, check)
    if missing:
        return Result(check, Outcome.NOT_CLAIMED, told=missing)
    done, refused, told, largest = 0, "", "", Counter[str]()
    cases = chain.from_iterable(check.cases(Given(adapter, check, seed, draw)) for draw in (0, 1))
    while True:
        try:
            told = f"case {done + 1}"
            case = next(cases, None)
            if case is None or (done and monotonic() > until):
                break
            told = case.told
            wrong = deviation(case, adapter.dtype, by)
        except NotImplementedError as error:  # of a case, or of what makes them, which then is at an end
            refused = refused or f"{told}: {_line(error)}"
            continue
        except (Exception, SystemExit) as error:  # of the user's code, or of the shapes that it returned
            return Result(check, Outcome.RAISED, done, f"{told}: {type(error).__name__}: {_line(error)}")
        if wrong is not None:
            if wrong.convention is None or by is not None:
                return Result(check, Outcome.FAILED, done, wrong.told)
            if run(adapter, check, seed, wrong.convention).deviates:
                return Result(check, Outcome.FAILED, done, f"{wrong.told}, and not in every case")
            return Result(check, Outcome.CONVENTION, done, wrong.told)
        done += 1
        largest |= Counter(case.sizes)  # the larger of two
    if refused or not done:
        return Result(check, Outcome.REFUSED, done, refused or "it had no case")
    if case is not None:
        return Result(check, Outcome.CUT, done, f"the time was over after {done} cases, all as expected", largest)
    return Result(check, Outcome.PASSED, done, largest=largest)


def conform(
    adapter: Adapter, only: frozenset[str] = frozenset(), seed: int = 0, seconds: float = inf
) -> list[Result]:
    """Every check, or those whose name or subject is named; each subject has so many seconds.

    Raises: ValueError for other names, and no claim at all.
    """
    if strangers := sorted(only - {check.name for check in CHECKS} - {*SUBJECTS}):
        raise ValueError(f"there is no check or subject {strangers[0]!r}: see --list")
    if not any(adapter.function(subject) for subject in SUBJECTS):
        raise ValueError(f"{adapter.name} claims nothing: it has none of {', '.join(SUBJECTS)}")
    chosen = [check for check in CHECKS if not only or {check.name, check.subject} & only]
    found = []
    for _, checks in groupby(chosen, lambda check: check.subject):
        several, end = list(checks), monotonic() + seconds
        for left, check in zip(range(len(several), 0, -1), several, strict=True):  # what one leaves, the next may take
            found.append(run(adapter, check, seed, until=monotonic() + (end - monotonic()) / left))
    return found


def claimed(adapter: Adapter) -> Iterator[Check]:
    """The checks of what an adapter claims: one test each, for `pytest.mark.parametrize`."""
    return (check for check in CHECKS if not _missing(adapter, check))


def require(adapter: Adapter, check: Check, seed: int = 0) -> None:
    """Raises AssertionError, one line, unless the check passes."""
    result = run(adapter, check, seed)
    if result.outcome is not Outcome.PASSED:
        raise AssertionError(f"{check.name} {result.outcome.value}: {result.told or check.says}")


def _missing(adapter, check):
    """Why an adapter does not claim a check, or nothing."""
    if adapter.function(check.subject) is None:
        return f"no function {check.subject}"
    if check.backend not in (None, adapter.backend):
        return f"needs BACKEND {check.backend!r}"
    lacking = [name for name in check.needs if not adapter.takes(check.subject, name)]
    return f"{check.subject} has no parameter {', '.join(lacking)}" if lacking else ""


def _line(error):
    text = " ".join(str(error).split())
    return text if len(text) <= 160 else text[:158] + ".."
