"""All pages of the site by name, from the ledger's rows, the docstrings and the project's Markdown."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from proofs_check.ledger.registry import dropped
from theory import __version__

from ...commands import audit, report
from .. import coverage_page, docket, gallery
from . import api, commands, search, text, uses
from .findings import FINDINGS, QUESTIONS
from .notebooks import body, heading
from .rows import filters
from .view import View, claim_link, page_of, sections, views

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RULED = (("Errata", "errata.html"), ("All claims", "claims.html"))
OTHERS = (("Explorer", "explorer.html"), ("Figures", "figures.html"), ("Notebooks", "notebooks.html"),
          ("Arena", "arena.html"), ("Commands", "commands.html"), ("API", "api.html"), ("Guide", "guide.html"),
          ("Words", "glossary.html"), ("Trust", "trust.html"), ("Add to it", "contributing.html"))  # fmt: skip
PAPER_LEAD = (
    "Every claim in the order of the paper's sections. Each has a page with the verdict, the evidence, the smallest "
    "example where it fails, and what holds instead. Statements marked ours stand beside the claims of the paper."
)  # fmt: skip
CLAIMS_LEAD = "Every claim of the papers, and our statements beside them, worst first. Each leads to its page."
API_LEAD = (
    "import theory; theory.alibi.scope(..) reaches each. Numbers are ints, floats, Fractions or numpy's, and "
    "broadcast, but for a size that is an axis of the result; what cannot be is refused in one line that names the "
    "argument."
)

# What the explorer, which also works alone, has of the template on the site.
STYLE = '<link rel="stylesheet" href="style.css">'
SKIP = '<a class="skip" href="#main">To the text</a>\n'


class Pages:
    """The pages as texts. rows: the ledger's, decided, of the papers that have pages; registry: its claims; documents:
    Markdown by page name, none for pages of the papers alone; notebooks: nodes of nbformat, with outputs or without, by
    the name of their script.
    """

    def __init__(self, rows: list[dict], registry: Mapping[str, Any], documents: Mapping[str, str],
                 notebooks: Mapping[str, Any]):  # fmt: skip
        self.rows, self.registry, self.documents, self.notebooks = rows, registry, documents, notebooks
        self.groups = views(rows, registry)
        self.papers: dict[str, Any] = {}
        for paper in docket.papers(row.id for row in rows).values():
            self.papers.setdefault(f"paper-{paper.page}.html", paper)
        papers = [(paper.short[0].upper() + paper.short[1:], page) for page, paper in self.papers.items()]
        self.nav = [("Findings", "index.html"), *papers, *RULED, *OTHERS] if documents else [*papers, *RULED]
        self.environment = environment(set(registry))
        self.users = uses.users(rows, documents)

    def all(self) -> dict[str, str]:
        """Every page that is made from a template, by file name."""
        errata = audit.errata(self.registry, self.rows)
        found = {"errata.html": self.document("errata", errata), "claims.html": self.claims()}
        found |= {page: self.paper(page) for page in self.papers}
        found |= {view.link: self.claim(view) for _, members in self.groups for view in members}
        if not self.documents:
            return found
        found |= {"index.html": self.front(), "figures.html": self.figures()}
        found |= {"api.html": self.api(), "notebooks.html": self.contents(), "explorer.html": self.explorer()}
        found |= {f"notebook-{name}.html": self.notebook(name) for name in self.notebooks}
        found |= {f"{one[0]}.html": self.document(*one) for one in self.documents.items()}
        found["commands.html"] = self.commands()
        found = {name: self.answered(name, page) for name, page in found.items()}
        return found | {"search-index.js": search.script(found, [view for _, claims in self.groups for view in claims])}

    def render(self, here: str, template: str, **values: Any) -> str:
        page, up = self.environment.get_template(template), "../" * here.count("/")
        known = {"nav": self.nav, "version": __version__, "searched": bool(self.documents)}
        return page.render(here=here, up=up, alone=False, **known, **values)

    def front(self) -> str:
        own = [row for row in self.rows if not row.is_correction]
        lead = f"There are {len(own)} claims of the papers and {len(self.rows) - len(own)} statements beside them."
        return self.render("index.html", "front.html.j2", title="Findings", lead=lead, findings=FINDINGS,
                           by_id={row.id: row for row in self.rows},
                           questions=QUESTIONS, heading=coverage_page.HEADING, shares=coverage_page.shares(self.rows),
                           counts=docket.table(docket.counts(self.rows)))  # fmt: skip

    def paper(self, page: str) -> str:
        mine = [view for _, members in self.groups for view in members if page_of(view.id) == page]
        order = {row.id: at for at, row in enumerate(self.rows)}
        mine.sort(key=lambda view: order[view.id])
        tiles = [(group, sum(page_of(view.id) == page for view in members)) for group, members in self.groups]
        gone = [(name, became) for name, became in dropped().items() if page_of(name) == page]
        paper = self.papers[page]
        return self.render(page, "paper.html.j2", title=paper.title, link=paper.link, lead=PAPER_LEAD, dropped=gone,
                           tiles=[tile for tile in tiles if tile[1]],
                           worst=[view for view in mine if view.group.key == "breaks"], sections=sections(mine),
                           figures=[f for f in FINDINGS * bool(self.documents) if page_of(f.claims[0]) == page])

    def claim(self, view: View) -> str:
        page = page_of(view.id) or "claims.html"
        return self.render(view.link, "one.html.j2", title=view.id, claim=view, page=page, paper=self.papers.get(page),
                           users=self.users[view.id])

    def claims(self) -> str:
        every = [view for _, members in self.groups for view in members]
        script = (HERE / "claims.js").read_text("utf-8")
        return self.render("claims.html", "claims.html.j2", title="All claims", lead=CLAIMS_LEAD,
                           groups=self.groups, filters=filters(every), script=script)  # fmt: skip

    def figures(self) -> str:
        return self.render("figures.html", "figures.html.j2", title="Figures", figures=list(gallery.pictures()))

    def explorer(self) -> str:
        """The page that also works alone, below the site's header."""
        header = SKIP + self.render("explorer.html", "header.html.j2")
        page = (HERE / "explorer.html").read_text("utf-8").replace("<style>", f"{STYLE}\n<style>", 1)
        return page.replace("<main>", f'{header}\n<main id="main">', 1)

    def api(self) -> str:
        return self.render("api.html", "api.html.j2", title="API", lead=API_LEAD, rooms=api.rooms())

    def commands(self) -> str:
        every = commands.every()
        return self.render("commands.html", "commands.html.j2", title="Commands", commands=every)

    def contents(self) -> str:
        """The notebooks with their first words."""
        found = [(name, *heading(node)) for name, node in self.notebooks.items()]
        return self.render("notebooks.html", "notebooks.html.j2", title="Notebooks", notebooks=found)

    def notebook(self, name: str) -> str:
        node = self.notebooks[name]
        return self.render(f"notebook-{name}.html", "notebook.html.j2", title=heading(node)[0], body=body(node),
                           name=name)  # fmt: skip

    def document(self, name: str, markdown: str) -> str:
        title = re.search(r"^# (.+)$", markdown, re.MULTILINE)
        body = text.html(markdown, self.environment.globals["ids"])
        return self.render(f"{name}.html", "text.html.j2", title=title[1] if title else name, body=body)

    def answered(self, name: str, page: str) -> str:
        """The page with the answers to the questions of the front page that lead here, each below its heading."""
        answer = self.environment.get_template("answer.html.j2")
        for question in QUESTIONS:
            where, _, anchor = question.link.partition("#")
            if where == name:
                there = page.index(f'id="{anchor if "=" not in anchor and anchor else "main"}"')
                head, end, rest = re.split(r"(</h\d>)", page[there:], maxsplit=1)
                told = answer.render(question=question, up="../" * name.count("/"))
                page = "".join([page[:there], head, end, told, rest])
        return page


def environment(ids: set[str]) -> Any:
    """Templates with the filters that they use. ids: of the claims, to which their names lead."""
    found = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True,
                               undefined=jinja2.StrictUndefined, trim_blocks=True)  # fmt: skip
    found.globals["ids"] = ids
    found.filters.update(math=report.math, show=report.show, claim_link=claim_link, anchor=text.anchor,
                         named=lambda words, up="": named(words, ids, up))  # fmt: skip
    return found


def named(words: str, ids: set[str], up: str = "") -> str:
    """Plain words as HTML: what stands between backticks as code, each id of a claim as a link to it.

    up: the way to the site's root.
    """
    def link(match: re.Match) -> str:
        return f'<a href="{up}{claim_link(match[0])}">{match[0]}</a>' if match[0] in ids else match[0]

    code = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(jinja2.filters.escape(words)))
    return jinja2.filters.Markup(re.sub(r"[a-z]\w*(?:\.\w+)+", link, code))
