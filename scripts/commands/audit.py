"""Write the referee's report on one paper for its authors, as Markdown and LaTeX: findings by severity, with wordings.

Each finding has what is printed, how it was read, the smallest example, what holds, and the command that checks it.
"""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ..pages import docket
from ..pages.markdown import markdown_text
from ..pages.site.view import View
from . import cli

FOUND = ("false", "holds_if", "typo")
LEADS = {
    "missing": "Each is true once the hypothesis named under it is said.", "misprints": "",
    "fair": "Each is true as a fair reader takes it; a clarifying line would spare others the question.",
}  # fmt: skip
PLAIN = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\textasciicircum{}", "%": r"\%",
         "&": r"\&", "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
         "|": r"\textbar{}", '"': "{''}", "`": "`", "\N{ALMOST EQUAL TO}": r"\ensuremath{\approx}",
         "\N{MINUS SIGN}": r"\ensuremath{-}"}  # fmt: skip


class Finding(NamedTuple):
    """One point of the report, in plain text; formula in LaTeX; what does not apply is empty."""

    id: str
    where: str
    printed: str
    formula: str
    read: str
    example: str
    title: str  # of the note: what is true, what is needed, what to write
    note: str
    holds: str  # the id of what holds instead
    wording: str
    strength: str  # how far that is established
    label: str  # of the wording
    as_data: str  # what the core proves of it, beyond its wording
    command: str


class Report(NamedTuple):
    """All that the templates show of a paper."""

    title: str
    link: str
    counts: list[tuple[str, int]]
    strengths: list[tuple[str, int]]
    groups: list[tuple[docket.Group, list[Finding]]]
    right: list[View]
    unsettled: list[View]


def report(paper: str) -> Report:
    """The report on a paper, from the ledger and what is kept of the core. Raises: ValueError for another name."""
    from proofs_check.ledger.registry import installed, load

    from ..pages.site.view import views
    from .docs import records

    registry = load((paper,))
    every = {row.id: row for row in records(registry)}
    rows = [row for row in every.values() if row.paper == paper]
    groups = [(group, members) for group, members in views(rows, registry) if not members[0].row.is_correction]
    strengths = Counter(view.row.strength for _, members in groups for view in members
                        if view.row.strength and view.row.verdict != "unsettled")  # fmt: skip
    told = [(group._replace(lead=LEADS.get(group.key, group.lead)), [_finding(view, every) for view in members])
            for group, members in groups if members[0].row.verdict in FOUND]  # fmt: skip
    right, unsettled = ([view for _, members in groups for view in members if view.row.verdict == verdict]
                        for verdict in ("holds", "unsettled"))  # fmt: skip
    reach = [(name, strengths[name]) for name in docket.STRENGTHS if strengths[name]]
    counted = [(group.title, len(members)) for group, members in groups]
    return Report(installed()[paper].title, installed()[paper].link, counted, reach, told, right, unsettled)


def _finding(view: View, every: dict[str, dict]) -> Finding:
    from proofs_check.ledger.rows import beside

    row, title = view.row, "Write" if view.row.verdict == "typo" else view.note_title
    holds = every[row.correction] if row.correction else None
    return Finding(view.id, row.source, row.statement, row.formula or "", row.reading or "",
                   view.example, title, row.note or "", row.correction or "", view.wording,
                   _strength(row, holds) if view.wording else "",
                   view.wording_title if view.wording else "",
                   beside(holds) if holds and holds.strength == "proved" else "",
                   f"python -m scripts verify --id {view.id}")  # fmt: skip


def _strength(row, holds) -> str:
    """Of what holds instead: the correction's, or the record's own: proved by the core, or run at its cases."""
    if holds is None:
        return "proved" if row.case else "instances"
    return holds.strength or "read"


def markdown(found: Report) -> str:
    """The report as Markdown."""
    return _rendered("audit.md.j2", found)


def latex(found: Report) -> str:
    """The report as a LaTeX document for pdflatex. Raises: ValueError for a letter that it has no form for."""
    return _rendered("audit.tex.j2", found)


def _rendered(template: str, found: Report) -> str:
    import jinja2

    from ..pages.site.pages import HERE

    loader = jinja2.FileSystemLoader(HERE / "templates")
    page = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
                              keep_trailing_newline=True, autoescape=False,
                              **({} if template.endswith(".md.j2") else TEX_MARKS))  # fmt: skip
    page.filters.update(md=markdown_text, tex=tex, idtex=idtex)
    return page.get_template(template).render(found._asdict())


# Braces and percent signs are LaTeX's own.
TEX_MARKS = {"block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<<",
             "variable_end_string": ">>", "comment_start_string": "<#", "comment_end_string": "#>"}  # fmt: skip


def tex(text: str) -> str:
    """Plain text as LaTeX that prints it. Raises: ValueError for a letter beyond ASCII that has no form here."""
    found = [PLAIN.get(letter, letter) for letter in text]
    for letter, form in zip(text, found, strict=True):
        if form == letter and not (" " <= letter <= "~" or letter == "\n"):
            raise ValueError(f"LaTeX has no form here for {letter!r} (U+{ord(letter):04X})")
    return "".join(found)


def idtex(name: str) -> str:
    """A claim's id or a command in typewriter letters, with breaks after dots and underscores."""
    return r"\texttt{" + re.sub(r"(\.|\\_)", r"\1\\allowbreak{}", tex(name)).replace("--", "-{}-") + "}"


def parser() -> cli.Parser:
    p = cli.command_parser("audit", __doc__)
    p.add_argument("paper", metavar="PAPER", help="kv, kv1 (its first version), razor, .. or one of a package of yours")
    p.add_argument("--out", metavar="FOLDER", help="where report.md and report.tex go (default out/audit/PAPER)")
    return p


def main(argv: list[str] | None = None) -> int:
    """Both files, or none."""
    args = parser().parse_args(argv)
    folder = Path(args.out or f"out/audit/{args.paper}")
    targets = [cli.output_file(str(folder / f"report.{ending}")) for ending in ("md", "tex")]
    found = report(args.paper)
    texts = markdown(found), latex(found)
    from dynamics.files.atomic import atomic_write_text

    for target, text in zip(targets, texts, strict=True):
        atomic_write_text(target, text)
        print(target)
    return 0
