"""Markdown of the project as pages of the site: anchors, links between pages, claim ids that lead to their claims."""

import re
from collections import Counter
from collections.abc import Container
from itertools import count
from typing import Any

from markdown_it import MarkdownIt

from .view import claim_link

PAGES = {"README.md": "index.html", "CONTRIBUTING.md": "contributing.html", "CHANGELOG.md": "changelog.html",
         "claims.md": "claims.html", "errata.md": "errata.html", "theory.md": "api.html",
         "gallery.md": "figures.html"}  # fmt: skip


def html(markdown: str, ids: Container[str]) -> str:
    """An HTML fragment; what is raw HTML in the text is shown as text."""
    md = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = md.parse(re.sub(r"<!--.*?-->\n?", "", markdown, flags=re.DOTALL))
    named = Anchors(ids)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", named(tokens[at + 1].content))
        for child in token.children or []:
            _relink(child)
    text = md.renderer.render(tokens, md.options, {})
    text = re.sub("(?<=<li>)<strong>[^:]*", lambda words: named.bold(words[0]), text)
    number = count(1)
    wide = '<div class="wide" tabindex="0" role="region" aria-label="table {}"><table>'
    text = re.sub("<table>", lambda _: wide.format(next(number)), text)
    text = text.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    return linked(text, ids)


def linked(text: str, ids: Container[str]) -> str:
    """HTML whose claim ids in code lead to the claims, but for those that stand in a link already."""
    def link(match: re.Match) -> str:
        return f'<a href="{claim_link(match[1])}">{match[0]}</a>' if match[1] in ids else match[0]

    parts = re.split(r"(<a .*?</a>)", text, flags=re.DOTALL)
    return "".join(part if k % 2 else re.sub(r"<code>([\w.]+)</code>", link, part) for k, part in enumerate(parts))


def anchor(text: str) -> str:
    """The fragment of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


class Anchors:
    """The anchors of a page, each once: a claim's id stands for itself."""

    def __init__(self, ids: Container[str]):
        self.ids, self.seen = ids, Counter[str]()

    def __call__(self, words: str) -> str:
        bare = re.sub("`|</?code>", "", words)
        name = bare if bare in self.ids else anchor(bare)
        self.seen[name] += 1
        return f"{name}-{self.seen[name] - 1}" if self.seen[name] > 1 else name

    def bold(self, item: str) -> str:
        """What an item of a list begins with, each bold word an anchor."""
        return re.sub("<strong>(.*?)</strong>", lambda word: f'<strong id="{self(word[1])}">{word[1]}</strong>', item)


def _relink(token: Any) -> None:
    """Links to pages of the project go to those of the site, pictures to the site's figures."""
    if token.type == "link_open":
        token.attrSet("href", _target(token.attrGet("href")))
    if token.type == "image":
        token.attrSet("src", f"figures/{token.attrGet('src').rsplit('/', 1)[-1]}")
        token.attrSet("loading", "lazy")


def _target(link: str) -> str:
    if "://" in link or link.startswith("#"):
        return link
    path, _, fragment = link.partition("#")
    name = path.rsplit("/", 1)[-1]
    if name.endswith(".png"):
        return f"figures/{name}"
    page = PAGES.get(name, re.sub(r"^claims-(\w+)\.html$", r"paper-\1.html", name.replace(".md", ".html")))
    return page + (f"#{fragment}" if fragment else "")
