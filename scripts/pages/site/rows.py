"""The rows of a page that are searched: their facets, and the choices that each facet offers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .view import View

FACETS = ("paper", "verdict", "severity", "strength", "status")


class Filter(NamedTuple):
    """at: which facet of a row it asks for; choices: each with how many rows have it, the papers' order kept."""

    at: int
    name: str
    choices: list[tuple[str, int]]


def filters(views: Iterable[View]) -> list[Filter]:
    """A filter for each facet by which the rows differ."""
    columns: Sequence[Sequence[str]] = list(zip(*(view.facets for view in views), strict=True))
    counts = [Counter(filter(None, column)) for column in columns]
    return [Filter(at, FACETS[at], list(count.items())) for at, count in enumerate(counts) if len(count) > 1]
