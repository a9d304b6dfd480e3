"""What the pages show of a claim: its row of the ledger, what decides it, the smallest example, where it stands."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from proofs_check.ledger.row import Piece, Row

from ...commands import report
from .. import docket

WORDS = {"holds": "holds", "holds_if": "holds under a hypothesis", "false": "false", "typo": "misprint",
         "unsettled": "unsettled", "refuted": "refuted, repair open", "open": "open"}  # fmt: skip


class View:
    """A claim as a page shows it. row: of the ledger, decided; paged: has it a page, or an anchor of this one?"""

    def __init__(self, row: Row, group: docket.Group, claim: Any = None, paged: bool = True):
        self.row, self.group, self.claim, self.paged = row, group, claim, paged
        self.id, self.colour = row.id, group.colour
        self.paper = docket.paper(row)

    @property
    def link(self) -> str:
        return self.to(self.id)

    def to(self, name: str) -> str:
        """Where a claim is found from here."""
        return claim_link(name) if self.paged else f"#{name}"

    @property
    def verdict_words(self) -> str:
        """The verdict with its severity; what is ours says so."""
        if self.row.is_correction:
            return "ours"
        return ", ".join(dict.fromkeys(filter(None, (WORDS[self.row.verdict], self.row.severity))))

    @property
    def facets(self) -> tuple[str, ...]:
        """What a search may ask for: `rows.FACETS`, in words, "" for none."""
        row = self.row
        status = (row.status or "").replace("_", " ")
        return self.paper, WORDS[row.verdict], row.severity or "", row.strength or "read", status

    @property
    def badge(self) -> str:
        """What the run found, where there was one and it is not agreement."""
        status = self.row.status
        return "" if status in (None, "confirmed", "not_checked") else status

    badge_colour = "false"

    @cached_property
    def witness(self) -> Row | None:
        """Point, printed and true side: of the run, or evaluated now; those of our own statements are no examples."""
        if self.row.witness is not None or self.claim is None:
            return self.row.witness
        from proofs_check.ledger.harness import evaluate_witness
        from proofs_check.ledger.rows import plain

        found = evaluate_witness(self.claim)
        return None if found is None else {name: plain(value) for name, value in vars(found).items()}

    @property
    def fails(self) -> str:
        """Where the core refutes what is printed."""
        refuted = (self.row.core or {}).get("outcome") == "refuted" and self.row.verdict in ("false", "typo")
        return report.failing(self.row) if refuted else ""

    @property
    def beside(self) -> str:
        from proofs_check.ledger.rows import beside

        return beside(self.row)

    @property
    def example(self) -> str:
        """The smallest example in a line, or nothing; of two places that disagree neither is called the true one."""
        if self.witness is None:
            return self.fails
        point = self.witness["point"]
        at = report.show(point["name"] if set(point) == {"name"} else point) or "the statement itself"
        printed, true = (report.show(self.witness[name]) for name in ("printed", "true"))
        if printed == true:
            return ""
        apart = self.row.severity == "arithmetic"
        return f"At {at}: {printed} against {true}." if apart else f"At {at}: printed {printed}, true {true}."

    @property
    def note_title(self) -> str:
        return report.note_title(self.row)

    @property
    def ruling(self) -> str:
        """The row of the table that gives the verdict, or the note that a person wrote."""
        proved = self.row.case is not None and (self.row.core or {}).get("outcome") == "proved"
        return self.row.note or ("Proved as printed." if proved else "")

    @property
    def proof(self) -> str:
        """What the core's proof rests on, where it takes more than arithmetic, or the lemma that it lacks."""
        from proofs_check.ledger.proofs import missing_lemma
        from proofs_check.ledger.registry import sketch

        found = (sketch if self.row.strength == "proved" else missing_lemma)(self.id)
        return f"{'The proof' if self.row.strength == 'proved' else 'Missing'}: {found}" if found else ""

    @property
    def mutants(self) -> str:
        made = self.row.mutants
        if not made or not made["made"]:
            return ""
        return (f"Wrong variants: {made['made']} made, {made['refuted']} refuted, {made['true']} true, "
                f"{made['open']} open.")  # fmt: skip

    @property
    def evidence(self) -> list[str]:
        """A line a piece of evidence: what was checked, and how it went where it ran."""
        return [_ran(e) for e in self.row.evidence]

    @cached_property
    def place(self) -> str:
        """The file that states the claim, with its line."""
        return places().get(self.id, "")


def _ran(piece: Piece) -> str:
    if piece.margin is None:
        return f"{piece.kind} ({piece.scope})"
    margin = f"{piece.points} points, smallest margin {piece.margin:.3g}"
    controls = ", ".join(f'"{name}"' for name in piece.controls)
    return f"{piece.kind} ({piece.scope}: {margin}; wrong variants rejected: {controls})"


def claim_link(name: str) -> str:
    """The address of a claim's page, from the site's root."""
    return f"claims/{name}.html"


def page_of(name: str) -> str | None:
    """The page of the paper that a claim of this id belongs to, if that is installed; its versions share it."""
    return next((f"paper-{paper.page}.html" for paper in docket.papers([name]).values()), None)


@cache
def places() -> dict[str, str]:
    """Where each id is first written as a text of its own, outside of proofs; a statement as data comes last."""
    from proofs_check.ledger.registry import installed

    written, found = re.compile(rf'.*?(?:^\[|^\s*|\()"((?:{"|".join(installed())})\.[\w.]+)"'), {}
    for package in dict.fromkeys(paper.package for paper in installed().values()):
        (folder,) = map(Path, import_module(package).__path__)
        paths = [path for path in sorted(folder.rglob("*")) if path.suffix in (".toml", ".py")]
        for path in sorted(paths, key=lambda path: ("formal" in str(path.relative_to(folder)), path.suffix == ".py")):
            if "proofs" in path.relative_to(folder).parts:
                continue
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if match := written.match(line):
                    found.setdefault(match[1], f"{package.replace('.', '/')}/{path.relative_to(folder)}:{number}")
    return found


class Section(NamedTuple):
    """A part of a paper and its claims, in the order of the ledger."""

    name: str
    claims: list[View]


def sections(claims: Iterable[View]) -> list[Section]:
    """The claims by the first part that their source names, sections in order, then what has none, then appendices."""
    found: dict[str, list[View]] = {}
    for claim in claims:
        found.setdefault(_section(claim.row.source), []).append(claim)
    return [Section(name, found[name]) for name in sorted(found, key=_order)]


def _section(source: str) -> str:
    match = re.search(r"Sections? (\d+(?:\.\d+)?)|Appendix ([A-Z])|(Abstract)", source)
    if match is None:
        return "Tables, figures and equations"
    number, letter, abstract = match.groups()
    return f"Section {number}" if number else f"Appendix {letter}" if letter else abstract


def _order(name: str) -> tuple:
    if name == "Abstract":
        return (0,)
    if name.startswith("Section"):
        return 1, *map(int, name.split()[1].split("."))
    return (2,) if not name.startswith("Appendix") else (3, name)


def views(rows: list[Row], registry: Mapping[str, Any], paged: bool = True) -> list[tuple[docket.Group, list[View]]]:
    """All rows by group, in the docket's order."""
    return [(group, [View(row, group, registry.get(row.id), paged) for row in members])
            for group, members in docket.grouped(rows)]  # fmt: skip
