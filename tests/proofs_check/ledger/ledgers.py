"""Small ledgers for the workers to load: good ones, and ones whose evidence or loading ends the process."""

import os
import signal
import time
from dataclasses import replace
from enum import StrEnum

from proofs_check.evidence.margin import same
from proofs_check.ledger.claim import Nature
from tests.proofs_check.ledger import planted

GOOD = planted.GOOD


def _claim(name, margin=None):
    evidence = GOOD.evidence if margin is None else (replace(GOOD.evidence[0], margin=margin),)
    return replace(GOOD, id=f"planted.{name}", evidence=evidence)


def _registry(*claims):
    return {claim.id: claim for claim in claims}


def whole(papers, patterns):
    return _registry(*(_claim(f"c{k}") for k in range(12)))


def wrong(papers, patterns):
    return _registry(_claim("good"), _claim("exact: a fraction turned over", lambda: same(False, True)))


def fails(papers, patterns):
    """Twelve claims, and for a third of them evidence that cannot be had, with a long reason."""

    def margin():
        raise RuntimeError("no such thing " * 40)

    return _registry(*(_claim(f"c{k}", margin if k % 3 == 2 else None) for k in range(12)))


def none(papers, patterns):
    return {}


def unreadable(papers, patterns):
    return _registry(replace(_claim("good"), verdict="holds"))


class Word(StrEnum):
    ONE = "one"


def rewrites(papers, patterns):
    """A claim whose evidence writes another statement and verdict into it while it runs, and whose point is no text."""

    def margin(where=Word.ONE):
        for name, value in (("statement", "2 = 3"), ("note", "so it is"), ("is_correction", True)):
            object.__setattr__(claim, name, value)
        return same(1, 1)

    claim = replace(
        planted._false(id="planted.false"), correction=None, nature=Nature.TABLE, witness={"where": Word.ONE},
        evidence=(replace(planted._REFUTES, margin=margin),),
    )  # fmt: skip
    return _registry(claim)


ENDS = {
    "leaves": lambda: os._exit(0),
    "aborts": lambda: os.kill(os.getpid(), signal.SIGKILL),
}


def leaves(papers, patterns):
    return _with("leaves")


def aborts(papers, patterns):
    return _with("aborts")


def _with(name):
    """Eight good claims, and in their midst one whose evidence ends the process."""
    good = [_claim(f"c{k}") for k in range(8)]
    return _registry(*good[:4], _claim(name, ENDS[name]), *good[4:])


def leaves_while_loading(papers, patterns):
    os._exit(0)


HELD = []


def holds_much():
    """The process that this runs in, which then holds more than a leak of loky's."""
    HELD.append(b"1" * 350_000_000)
    time.sleep(1.1)  # loky looks once a second
    return os.getpid()


def sleeps(papers, patterns):
    def margin():
        print("ready", flush=True)
        time.sleep(60)
        return same(1, 1)

    return _registry(_claim("sleeps", margin))
