"""A paper as data: its name, the modules of its claims, where its certificates lie, and its places by its own numbers.

A package of claims describes its papers in `paper.toml` beside its `__init__`, one table a version of the text. The
list of places says that "Theorem 3.3" is a theorem and "Appendix A" the proof of one, so no claim has to.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proofs_check.ledger.place import BOTH, KINDS, Place, labels, near, ours, span, word_of


@dataclass(frozen=True)
class Paper:
    """One version of a text. written: how sources write its name, if not as `short`; sections: modules of claims in the
    package; certificates: the file of its statements'; page: one for all versions; places: the kind of each label;
    lists: names of other kinds, as symbols; first: the version before.
    """

    id: str
    title: str
    link: str
    package: str
    sections: tuple[str, ...]
    certificates: Path
    short: str
    page: str
    written: str = ""
    version: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first: Paper | None = None

    @property
    def host(self) -> bool:
        """Does it ship with the workbench?"""
        return self.package.startswith("proofs_check.")

    @property
    def name(self) -> str:
        return self.written or self.short

    def place(self, at: str) -> Place:
        """The place that a text names, "(both versions)" all but what it numbers otherwise by "(first version: ..)".

        Raises: ValueError for a label that the paper does not have, for a word that is none of the few that stand
        beside labels, and for a text without a label.
        """
        known = {**(self.first.places if self.first else {}), **self.places}
        papers = {False: self, True: self.first}
        every = list(labels(at, known))
        renamed = {word_of(label) for label, earlier in every if earlier}
        every += [(label, True) for label, _ in every if BOTH in at and word_of(label) not in renamed]
        kinds = {_kind(papers[which], label, at) for label, which in every}
        mine, old = (tuple(dict.fromkeys(label for label, earlier in every if earlier is which)) for which in papers)
        if not mine:
            raise ValueError(f"{at!r} names no place of {self.id}")
        versions = (self.version, *([self.first.version] if old and self.first else []))
        return Place(self.id, at, mine, old, tuple(kind for kind in KINDS if kind in kinds), ours(at), versions)

    def listed(self, among: str) -> Collection[str]:
        """The names in a list, "labels" or one of `lists`. Raises: ValueError for another."""
        if among != "labels" and among not in self.lists:
            raise ValueError(f"{self.id} has no list of {among}{near(among, self.lists)}")
        return self.places if among == "labels" else self.lists[among]


def _kind(paper: Paper | None, label: str, at: str) -> str:
    if paper is None:
        raise ValueError(f"{at!r}: the paper has no first version")
    if label not in paper.places:
        raise ValueError(f"{at!r}: {paper.id} has no {label}{near(label, paper.places)}")
    return paper.places[label]


def read(package: str) -> tuple[Paper, ...]:
    """The papers of the package that is being imported, a table each in its `paper.toml`; what stands before the tables
    is said of all. Raises: ValueError, in a line, for a file that describes no paper."""
    path = Path(str(sys.modules[package].__file__)).with_name("paper.toml")
    found: dict[str, Paper] = {}
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        lists = data.pop("lists", {})
        common = {name: value for name, value in data.items() if not isinstance(value, dict)}
        for name in [name for name in data if name not in common]:
            own = {"short": name, "page": name, "certificates": "certificates", **common, **data[name]}
            own["certificates"] = (path.parent / own["certificates"] / f"{name}.json").resolve()
            own["first"] = found[own["first"]] if "first" in own else None
            own |= {"sections": tuple(own["sections"]), "lists": lists | own.get("lists", {})}
            own |= {"id": name, "package": package, "places": _listed(own.get("places", {}))}
            found[name] = Paper(**own)
    except (KeyError, OSError, TypeError, ValueError) as fault:
        raise ValueError(f"{path} describes no paper: {fault}") from fault
    return tuple(found.values())


def _listed(places: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The kind of each label; "Table 1 to 16" lists sixteen."""
    found: dict[str, str] = {}
    for kind, entries in places.items():
        for start, _, end in (entry.partition(" to ") for entry in entries):
            listed = [start, *(span(start, f"{word_of(start)} {end}") if end else [])]
            if kind not in KINDS or found.keys() & listed:
                raise ValueError(f"{start!r} is listed twice, or as {kind!r}, which is no kind of place")
            found |= dict.fromkeys(listed, kind)
    return found
