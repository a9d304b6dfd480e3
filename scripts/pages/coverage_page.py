"""The page of coverage: what the claims are, how many are decided, which places they are about, what is left out."""

import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from proofs_check.ledger.paper import Paper
from proofs_check.ledger.place import word_of
from proofs_check.ledger.registry import host, installed
from proofs_check.ledger.row import Row

from .docket import papers
from .markdown import escaped

TOP = """\
# Coverage

What the claims of the papers are, how many of them are decided, and where they stand. A claim is *decided* if its
verdict is neither `unsettled` nor `open`; `verify --id` prints what it would take to settle one. *Decided by the core*
counts those that the core proved or refuted. A claim stands in the list at each place that its source names, by the
numbers of the paper's own text. Our own statements, which stand beside the papers' claims, are left out. Last come the
checkable sentences that no claim is about, in our words: a person keeps that list. All else here is made from the
claims."""
RECORDS = {"rule": "statements: sentence, conditions and verdict computed from a tree", "runs": "listings that are run",
           "no_choice": "choices that are said to exist, and denied at inputs: computed from a tree",
           "refers": "labels and symbols, looked up in the paper's list", "quoted": "quotations: our words",
           "trained": "trainings here: sentence, names and numbers printed from the runs that ship",
           "by hand": "by hand: sentence, conditions, verdict and checks"}  # fmt: skip
JUDGED = """\
A person writes what is printed and what is meant, and no machine checks that against the paper; what stands as prose
is a person's too. All else about a record follows from a table but for three choices, which are all listed here: how a
sentence is read, from a closed list; which record prints the right form of a slip; which claim has the same defect."""
HEADING = ("claims", "decided", "unsettled or open", "decided by the core", "sentences left out")


def page(rows: Sequence[Row]) -> str:
    """The page of the papers that ship, from their rows."""
    lines = [TOP, "", *by_record(rows), "", *table(shares(rows), "paper")]
    for name in host():
        if mine := [row for row in rows if row.paper == name and not row.is_correction]:
            lines += _paper(installed()[name], mine)
    lines += ["", "## What is left to judgement", "", JUDGED, "", *by_judgement(rows)]
    return "\n".join(lines) + "\n"


def by_record(rows: Iterable[Row]) -> list[str]:
    """How many claims are which kind of record, and how many are written by hand: a Markdown table."""
    own = [(row.record, row.is_correction) for row in rows]
    lines = [f"| {words} | {own.count((kind, False))} | {own.count((kind, True))} |" for kind, words in RECORDS.items()]
    return ["| what a claim is | the papers' | ours |", "| --- | --- | --- |", *lines]


def by_judgement(rows: Iterable[Row]) -> list[str]:
    """The records whose verdict rests on a reading, on a record that shows the right form, or on a link: a table."""
    lines = ["| claim | read as | the right form stands in | same defect as |", "| --- | --- | --- | --- |"]
    for row in (row for row in rows if row.record in ("rule", "no_choice", "runs")):
        shown = ((row.case or {}).get("shown") or {}).get("name")
        if row.reading or shown or row.defect:
            links = (f"`{name}`" if name else "" for name in (shown, row.defect))
            lines.append(f"| `{row.id}` | {escaped(row.reading)} | {' | '.join(links)} |")
    return lines


def shares(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """For each paper, all versions together: its name and the numbers under HEADING."""
    own = [row for row in rows if not row.is_correction]
    found = []
    for page, paper in {paper.page: paper for paper in papers(row.id for row in own).values()}.items():
        mine = [row for row in own if installed()[row.paper].page == page]
        decided = [row for row in mine if row.verdict not in ("unsettled", "open")]
        proved, left = sum(row.strength == "proved" for row in decided), sum(map(len, unruled(paper).values()))
        numbers = (len(mine), len(decided), len(mine) - len(decided), proved, left)
        found.append((paper.short[0].upper() + paper.short[1:], *map(str, numbers)))
    return found


def table(found: Iterable[Sequence[str]], first: str) -> list[str]:
    """Lines of a Markdown table."""
    return ["| " + " | ".join(line) + " |" for line in ([first, *HEADING], ["---"] * (len(HEADING) + 1), *found)]


def places(paper: Paper, source: str) -> list[str]:
    """The labels of the paper that a source names, "RazorAttention, Section 3.1, Theorem 1". Where it has words that no
    record may use, the labels of the parts between its commas that can be read."""
    text = source.partition(", ")[2]
    try:
        return list(paper.place(text).labels)
    except ValueError:
        found = [label for part in re.split(r"[,;()]", text) for label in _read(paper, part)]
    return list(dict.fromkeys(found))


def _read(paper: Paper, text: str) -> tuple[str, ...]:
    try:
        return paper.place(text.strip()).labels
    except ValueError:
        return ()


def unruled(paper: Paper) -> dict[str, list[str]]:
    """Checkable sentences that no claim of the paper is about, by place: `unruled.toml` beside the paper's claims."""
    path = Path(str(sys.modules[paper.package].__file__)).with_name("unruled.toml")
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def _paper(paper: Paper, rows: Sequence[Row]) -> list[str]:
    """The list of one version: its places in the order of its record, the text first."""
    at: dict[str, list[Row]] = {label: [] for label in _ordered(paper)}
    for row in rows:
        for label in places(paper, row.source):
            at[label].append(row)
    lines = ["", f"## {paper.short[0].upper()}{paper.short[1:]}{f', {paper.version}' * bool(paper.version)}", "",
             "| place | decided | unsettled or open |", "|---|---|---|"]  # fmt: skip
    for label, there in at.items():
        unsettled = [row for row in there if row.verdict in ("unsettled", "open")]
        decided = [row for row in there if row not in unsettled]
        if there:
            lines.append(f"| {label} | {_ids(decided)} | {_ids(unsettled)} |")
    if any(other.first is paper for other in installed().values()):
        return lines  # of a version before, only what the next one has left out or numbers otherwise is ruled on
    lines += ["", f"No claim names: {', '.join(label for label, there in at.items() if not there) or 'none'}."]
    left = [f"- {label}: {escaped(one)}" for label, sentences in unruled(paper).items() for one in sentences]
    return [*lines, "", "Sentences that no claim is about:", "", *left] if left else lines


def _ordered(paper: Paper) -> list[str]:
    """The labels of the paper: the text's first, those of one word together, by number, 4.3.1 after 4.3."""
    known = sorted(paper.places, key=lambda label: paper.places[label] != "text")
    words = list(dict.fromkeys(map(word_of, known)))
    numbers = {label: [(len(part), part) for part in label.split()[-1].split(".")] for label in known}
    return sorted(known, key=lambda label: (paper.places[label] != "text", words.index(word_of(label)), numbers[label]))


def _ids(rows: Iterable[Row]) -> str:
    return " ".join(f"`{row.id}`" for row in rows)
