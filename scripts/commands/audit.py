"""Write the referee's report on one paper for its authors, as Markdown and LaTeX: findings by severity, with wordings.

Each finding has what is printed, how it was read, the smallest example, what holds, and the command that checks it.
"""

import re
from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from proofs_check.ledger.paper import Paper
from proofs_check.ledger.row import Row

from ..pages import docket
from ..pages.markdown import closed, markdown_text
from ..pages.site.view import View
from . import cli

FOUND = ("false", "holds_if", "typo", "refuted")
LEADS = {
    "missing": "Each is true once the hypothesis named under it is said.", "misprints": "",
    "fair": "Each is true as a fair reader takes it; a clarifying line would spare others the question.",
}  # fmt: skip
PLAIN = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\textasciicircum{}", "%": r"\%",
         "&": r"\&", "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
         "|": r"\textbar{}", '"': "{''}", "`": "`", "\N{ALMOST EQUAL TO}": r"\ensuremath{\approx}",
         "\N{MINUS SIGN}": r"\ensuremath{-}"}  # fmt: skip


class Finding(NamedTuple):
    """One point of the report, in plain text, formula in LaTeX. parts: what is said of it, each below its title;
    definitions: of the names in what is printed, and in what holds.
    """

    id: str
    where: str
    printed: str
    formula: str
    parts: list[tuple[str, str]]
    definitions: list[str]

    @property
    def command(self) -> str:
        return f"python -m scripts verify --id {self.id}"


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

    from .docs import records

    registry = load((paper,))
    return _report(installed()[paper], [paper], registry, records(registry))


def _report(paper: Paper, names: Container[str], registry: Mapping[str, Any], rows: list[Row]) -> Report:
    """names: of the versions of the paper that it tells of."""
    from ..pages.site.view import views

    every = {row.id: row for row in rows}
    mine = [row for row in rows if row.paper in names and not row.is_correction]
    groups = views(mine, registry)
    strengths = Counter(row.strength for row in mine if row.strength and row.verdict != "unsettled")
    told = [(group._replace(lead=LEADS.get(group.key, group.lead)), _findings(members, every))
            for group, members in groups if members[0].row.verdict in FOUND]  # fmt: skip
    right, unsettled = ([view for _, members in groups for view in members if view.row.verdict == verdict]
                        for verdict in ("holds", "unsettled"))  # fmt: skip
    reach = [(name, strengths[name]) for name in docket.STRENGTHS if strengths[name]]
    counted = [(group.title, len(members)) for group, members in groups]
    return Report(paper.title, paper.link, counted, reach, told, right, unsettled)


def _findings(views: list[View], every: Mapping[str, Row]) -> list[Finding]:
    """Those that repeat a defect stand behind the first that has it."""
    by_id = {view.id: view for view in views}
    return [_finding(by_id[row.id], every) for rows in docket.defects(view.row for view in views) for row in rows]


def _finding(view: View, every: Mapping[str, Row]) -> Finding:
    row, title = view.row, "Write" if view.row.verdict == "typo" else view.note_title
    holds = every[row.correction] if row.correction else None
    # A correction takes the place of what is printed; another statement of ours only stands beside it.
    label = "Suggested wording" if (row.correction or ".corrected").endswith(".corrected") else "What holds"
    wording = f"{row.holds_instead.removesuffix('.')} ({_established(row, holds)})" if row.holds_instead else ""
    parts = (("The mistake is that of", row.defect), ("Read as", row.reading), ("Smallest example", view.example),
             (title, row.note), ("Remark", row.why), (label, wording))  # fmt: skip
    definitions = [line for one in (row, holds) if one and one.strength == "proved" for line in _definitions(one)]
    told = [(name, words) for name, words in parts if words]
    return Finding(view.id, row.source, row.statement, row.formula or "", told, list(dict.fromkeys(definitions)))


def _definitions(row: Row) -> list[str]:
    from proofs_check.ledger.rows import beside

    return list(filter(None, beside(row).removeprefix("Where ").split("; where ")))


def _established(row: Row, holds: Row | None) -> str:
    """What holds instead, and how far: a claim of its own, or the record's, proved by the core or run at its cases."""
    if holds is None:
        return "proved" if row.case else "instances"
    return f"{holds.id}, {holds.strength or 'read'}"


def errata(registry: Mapping[str, Any], rows: list[Row]) -> str:
    """What is wrong in all papers that the rows belong to, as one page of Markdown; versions of a paper together."""
    papers = docket.papers(row.id for row in rows)
    versions: dict[str, list[str]] = {}
    for name, paper in papers.items():
        versions.setdefault(paper.title, []).append(name)
    reports = [_report(papers[names[0]], names, registry, rows) for names in versions.values()]
    return _rendered("errata.md.j2", {"reports": reports, "numbers": docket.table(docket.counts(rows))})


def markdown(found: Report) -> str:
    """The report as Markdown."""
    return _rendered("audit.md.j2", found._asdict())


def latex(found: Report) -> str:
    """The report as a LaTeX document for pdflatex. Raises: ValueError for a letter that it has no form for."""
    return _rendered("audit.tex.j2", found._asdict())


def _rendered(template: str, values: Mapping[str, Any]) -> str:
    import jinja2

    from ..pages.site.pages import HERE

    loader = jinja2.FileSystemLoader(HERE / "templates")
    page = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
                              keep_trailing_newline=True, autoescape=False,
                              **({} if template.endswith(".md.j2") else TEX_MARKS))  # fmt: skip
    page.filters.update(md=markdown_text, closed=closed, tex=tex, idtex=idtex)
    return page.get_template(template).render(values)


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
