"""Who names a claim: other claims, pages of text, figures."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .. import gallery
from .view import Row, claim_link

_ID = re.compile(r"[a-z][a-z0-9]*(?:\.[A-Za-z0-9_]+)+")


class User(NamedTuple):
    """Its name, its address from the site's root, and for a claim its place in the paper."""

    name: str
    link: str
    place: str = ""


def users(rows: Iterable[Row], documents: Mapping[str, str]) -> dict[str, list[User]]:
    """For each claim all that name it."""
    every = list(rows)
    told = [(User(row.id, claim_link(row.id), row.source), " ".join(filter(None, _words(row)))) for row in every]
    if documents:
        told += [(User(f"the page {name}", f"{name}.html"), page) for name, page in documents.items()]
        told += [(User(one.name, f"figures.html#{one.name}"), one.caption) for one in gallery.pictures()]
    found: dict[str, dict[User, None]] = {row.id: {} for row in every}
    for user, words in told:
        for match in _ID.findall(words):
            if match in found and match != user.name:
                found[match][user] = None
    return {name: list(those) for name, those in found.items()}


def _words(row: Row) -> tuple[str | None, ...]:
    shown = ((row.case or {}).get("shown") or {}).get("name")
    return row.statement, row.note, row.why, row.reading, row.correction, row.outcome_of, row.defect, shown
