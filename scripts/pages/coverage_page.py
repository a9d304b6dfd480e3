"""docs/coverage.md: every checkable sentence of the papers with the claims that rule on it, and the shares."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from proofs_check.ledger.row import Row

from .markdown import between

SHARES = ("<!-- shares: begin -->", "<!-- shares: end -->")
HAND = ("<!-- by hand: begin -->", "<!-- by hand: end -->")


class Sentence(NamedTuple):
    """A checkable sentence of a paper, its section, and the claims that rule on it."""

    section: str
    text: str
    claims: tuple[str, ...]


def sentences(text: str) -> list[Sentence]:
    """The rows of the tables of docs/coverage.md."""
    found, section = [], ""
    for line in text.splitlines():
        if line.startswith("### "):
            section = line[4:]
        elif re.match(r"\| \d+ \|", line):
            _, sentence, claims = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            found.append(Sentence(section, sentence, tuple(re.findall(r"`([^`]+)`", claims))))
    return found


class Share(NamedTuple):
    """What is ruled on of the checkable sentences of a paper or section. Each is in one of the four counts after the
    first; `proved` are those of the decided ones of which the core proved or refuted a claim.
    """

    name: str
    sentences: int
    decided: int
    unsettled: int
    ours: int
    none: int
    proved: int


HEADING = ("sentences", "decided", "unsettled", "ours only", "not ruled on", "proved by the core")


def shares(text: str, rows: Iterable[Row]) -> list[Share]:
    """The shares of each paper, then of each section, from the page of sentences and the ledger's rows."""
    found = {row.id: row for row in rows}
    counts: dict[str, Counter] = {}
    for sentence in sentences(text):
        states = _states([found[name] for name in sentence.claims])
        for name in (sentence.section.split(":")[0], sentence.section):
            counts.setdefault(name, Counter()).update(("sentences", *states))
    order = sorted(counts, key=lambda name: ":" in name)
    return [Share(name, *(counts[name][field] for field in Share._fields[1:])) for name in order]


def _states(claims: list[Row]) -> list[str]:
    theirs = [row for row in claims if not row.is_correction]
    decided = [row for row in theirs if row.verdict not in ("unsettled", "open")]
    if not decided:
        return ["unsettled" if theirs else "ours" if claims else "none"]
    return ["decided", *["proved"] * any(row.strength == "proved" for row in decided)]


def table(found: Iterable[Share], first: str) -> list[str]:
    """Lines of a Markdown table."""
    cells = [[share.name, *map(str, share[1:])] for share in found]
    return ["| " + " | ".join(line) + " |" for line in ([first, *HEADING], ["---"] * 7, *cells)]


RECORDS = {"rule": "statements: sentence, conditions and verdict computed from a tree", "runs": "listings that are run",
           "refers": "labels and symbols, looked up in the paper's list", "quoted": "quotations: our words",
           "trained": "trainings here: sentence, names and numbers printed from the runs that ship",
           "by hand": "by hand: sentence, conditions, verdict and checks"}  # fmt: skip


def by_record(rows: Iterable[Row]) -> list[str]:
    """How many claims are which kind of record, and how many are written by hand: a Markdown table."""
    own = [(row.record, row.is_correction) for row in rows]
    lines = [f"| {words} | {own.count((kind, False))} | {own.count((kind, True))} |" for kind, words in RECORDS.items()]
    return ["| what a claim is | the papers' | ours |", "| --- | --- | --- |", *lines]


def with_shares(text: str, rows: Iterable[Row]) -> str:
    """The coverage page with its tables of shares brought up to date."""
    text = between(text, HAND, by_record(rows))
    return between(text, SHARES, table(shares(text, rows), "section"))
