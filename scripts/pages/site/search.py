"""The index of the search: questions, commands, pages with their headings, functions, figures, words, claims."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .. import gallery
from . import api, commands
from .findings import QUESTIONS
from .view import View, claim_link

KINDS = ("question", "command", "page", "function", "figure", "word", "claim")  # of one rank, the first comes first
HEADING = re.compile(r'^<h(\d)(?:[^>]*? id="(.*?)")?[^>]*>(.*?)</h\d>(.*)', re.DOTALL)
LEAD = re.compile(r'<(p|li)(?: class="lead")?>.*?</\1>', re.DOTALL)
LONG = 160  # characters of a text


class Row(NamedTuple):
    """What can be found: its kind, the title that ranks it, its address below the site's root, and some words."""

    kind: str
    title: str
    link: str
    text: str


def script(pages: Mapping[str, str], claims: Iterable[View]) -> str:
    """The index as search.js loads it. pages: every page of the site, by file name."""
    listed = ([KINDS.index(row.kind), *row[1:]] for row in rows(pages, claims))
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in listed)
    return "window.searchIndex = [\n" + ",\n".join(lines) + "\n];\n"


def rows(pages: Mapping[str, str], claims: Iterable[View]) -> Iterator[Row]:
    for one in QUESTIONS:
        yield Row("question", one.asked, one.link, one.answer.replace("`", ""))
    for command in commands.every():
        yield Row("command", command.name, command.link, command.line)
    for name, page in pages.items():
        if "/" not in name:
            yield from headings(name, page)
    for room in api.rooms():
        for function in room.functions:
            name = f"{room.name}.{function.name}"
            yield Row("function", f"theory.{name}", f"api.html#{name}", short(function.doc.split("\n\n")[0]))
    for picture in gallery.pictures():
        title = re.split(r" \(|\. Sizes|\.$", picture.caption)[0]
        yield Row("figure", title, f"figures.html#{picture.name}", f"{picture.name}: {picture.command}")
    yield from words(pages["glossary.html"])
    for view in claims:
        said = f"{view.verdict_words}. {view.row.source}: {short(view.row.statement)}"
        yield Row("claim", view.id, claim_link(view.id), said)


def headings(name: str, page: str) -> Iterator[Row]:
    """The page by its title, and each heading that has an anchor, with the words that come next."""
    page = re.sub(r"<script.*?</script>", "", page.partition("<main")[2], flags=re.DOTALL)
    _, *parts = re.split(r"(?=<h[12][ >])", page)
    title = ""
    for part in parts:
        level, anchor, words, below = HEADING.findall(part)[0]
        said = LEAD.search(page if level == "1" else below)
        first = short(plain(said[0])) if said else ""
        if level == "1":
            title = plain(words)
            yield Row("page", title, name, first)
        elif anchor:
            yield Row("page", plain(words), f"{name}#{anchor}", f"{title}. {first}")


def words(page: str) -> Iterator[Row]:
    """The words of the glossary, of which one entry may explain two."""
    for item in re.findall(r"<li>(<strong id=.*?)</li>", page, re.DOTALL):
        for anchor, word in re.findall(r'<strong id="(.*?)">(.*?)</strong>', item):
            yield Row("word", plain(word), f"glossary.html#{anchor}", short(plain(item)))


def plain(fragment: str) -> str:
    """The words of a piece of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", fragment)).split())


def short(text: str) -> str:
    """The text in one line, cut at a word."""
    text = " ".join(text.split())
    return text if len(text) <= LONG else text[:LONG].rsplit(" ", 1)[0] + " .."
