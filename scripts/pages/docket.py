"""The order in which verdicts are told: what breaks a theorem first, misprints late, what is ours apart."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from proofs_check.ledger.row import Row


class Group(NamedTuple):
    """A key for links, the colour class, the title, what to know before reading, and which rows belong."""

    key: str
    colour: str
    title: str
    lead: str
    holds: Callable[[Row], bool]


def _is(verdict: str, *severities: str) -> Callable[[Row], bool]:
    return lambda row: (
        not row.is_correction and row.verdict == verdict and (not severities or row.severity in severities)
    )


def _is_outcome(row: Row) -> bool:
    return bool(row.is_correction and row.nature == "empirical")


GROUPS = (
    Group("breaks", "false", "Breaks a theorem", "False with everything that the paper says in force: theorems, and "
          "steps without which their proofs fail. Each with its smallest counterexample and the statement that holds.",
          _is("false", "breaks the theorem")),
    Group("repairable", "false", "False as printed, repairable", "A statement of the same form holds.",
          _is("false", "repairable")),
    Group("code", "false", "Code that computes something else", "", _is("false", "code")),
    Group("arithmetic", "false", "Numbers that contradict each other", "", _is("false", "arithmetic")),
    Group("missing", "holds_if", "True with a missing hypothesis", "The note names it; a control, or a mutant, drops "
          "it and is rejected.", _is("holds_if", "repairable")),
    Group("fair", "holds_if", "True as a fair reader takes it", "The hypothesis is one that such a reader supplies; it "
          "accuses nobody.", _is("holds_if", "reading", "arithmetic")),
    Group("refuted", "false", "Refuted, repair open", "The core refutes what is printed; what is meant is not "
          "proved yet.", _is("refuted")),
    Group("misprints", "typo", "Misprints", "The note gives the right form; the form as printed is the control.",
          _is("typo")),
    Group("holds", "holds", "Holds as printed", "", _is("holds")),
    Group("ours", "correction", "Corrections and additions", "Statements of ours: what holds in place of, or beside, "
          "the statements above.", lambda row: row.is_correction and not _is_outcome(row)),
    Group("outcomes", "correction", "Outcomes here", "What small models and simulations did on this scale, with their "
          "sizes. They stand beside claims about other models and settle none of them.", _is_outcome),
    Group("open", "unsettled", "Open", "The core neither proves nor refutes them yet.", _is("open")),
    Group("unsettled", "unsettled", "Unsettled", "Nobody can settle these here; they are listed and never counted as "
          "checked.", _is("unsettled")),
)  # fmt: skip


def grouped(rows: Iterable[Row]) -> list[tuple[Group, list[Row]]]:
    """The rows by group, in the docket's order; every row is in exactly one group, and empty groups are left out.

    Raises ValueError for a row that no group or more than one takes.
    """
    found: dict[str, list[Row]] = {group.key: [] for group in GROUPS}
    for row in rows:
        takers = [group.key for group in GROUPS if group.holds(row)]
        if len(takers) != 1:
            raise ValueError(f"{row.id} belongs to {len(takers)} groups of the docket")
        found[takers[0]].append(row)
    return [(group, found[group.key]) for group in GROUPS if found[group.key]]


STRENGTHS = ("proved", "argued", "instances", "sampled", "trained", "read")


class Counts(NamedTuple):
    """A group's title, how many defects its rows have (0 if they have none), how many of the rows each paper has, and
    how many there are of each strength.
    """

    title: str
    defects: int
    papers: dict[str, int]
    strengths: dict[str, int]


def counts(rows: Iterable[Row]) -> list[Counts]:
    """The docket in numbers: papers and strengths that no row has are left out. A row without evidence is "read"."""
    rows = list(rows)
    strengths = Counter(row.strength or "read" for row in rows)
    papers = Counter(paper(row) for row in rows)
    found = []
    for group, members in grouped(rows):
        of, strong = Counter(map(paper, members)), Counter(row.strength or "read" for row in members)
        seen = {name: strong[name] for name in STRENGTHS if strengths[name]}
        found.append(Counts(group.title, len(defects(members)), {name: of[name] for name in papers}, seen))
    return found


def wrong(rows: Iterable[Row]) -> list[Row]:
    """The rows that are false or misprinted."""
    return [row for row in rows if row.verdict in ("false", "typo")]


def defects(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows that are false, misprinted or lack a hypothesis, those that repeat one defect together."""
    found: dict[str, list[Row]] = {}
    for row in sorted((row for row in rows if row.severity), key=lambda row: row.defect is not None):
        found.setdefault(row.defect or row.id, []).append(row)
    return list(found.values())


def papers(ids: Iterable[str]) -> dict[str, Any]:
    """The records of the papers that ids of claims belong to, by paper, as far as they are installed."""
    from proofs_check.ledger.registry import installed

    every = installed()
    return {name: every[name] for name in dict.fromkeys(one.split(".")[0] for one in ids) if name in every}


def paper(row: Row) -> str:
    """The paper of a row, short, its versions together; by the first part of its ids where it is not installed."""
    first: str = row.id.split(".")[0]
    return papers([row.id])[first].short if papers([row.id]) else first


def titles(rows: Iterable[Row]) -> dict[str, str]:
    """The address of each text that rows belong to, by its title."""
    return {one.title: one.link for one in papers(row.id for row in rows).values()}


def table(found: list[Counts]) -> list[list[str]]:
    """Rows of cells, the heading first; an empty cell for none."""
    heading = ["kind", "claims", "defects", *(found[0].papers if found else ()), *(found[0].strengths if found else ())]
    lines = [[c.title, sum(c.papers.values()), c.defects, *c.papers.values(), *c.strengths.values()] for c in found]
    return [heading, *([str(cell or "") for cell in line] for line in lines)]
