"""The flat registry: every claim of every paper by id, loaded on demand; no claim is lost and no id is like another."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from proofs_check.core.statement import Statement
from proofs_check.ledger.claim import Claim

# Where packages say which papers they hold: `paper = "package"`, ours as anybody's (pyproject.toml).
GROUP = "induction_workbench.papers"
_ID = re.compile(r"[a-z0-9]+(\.[A-Za-z0-9_]+)+")
# Ids that read alike are taken for the same: any case, l, I and 1, o and 0, with or without an underscore.
_ALIKE = str.maketrans({"1": "l", "i": "l", "0": "o", "_": None})


class BrokenLedger(Exception):
    """The claims as written cannot be loaded as a whole: never a result."""


def papers_of(entries: Iterable[EntryPoint]) -> dict[str, tuple[str, ...]]:
    """The package of each paper. Raises BrokenLedger where two packages hold papers of one name."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if found.setdefault(entry.name, (entry.value,)) != (entry.value,):
            raise BrokenLedger(f"two packages hold a paper {entry.name!r}: {found[entry.name][0]} and {entry.value}")
    return found


PAPERS = papers_of(entry_points(group=GROUP))


def load(papers: tuple[str, ...] = tuple(PAPERS), patterns: tuple[str, ...] | None = None) -> dict[str, Claim]:
    """The claims of the named papers in the papers' order, or those that match `patterns` with the ones they link to.

    Raises: ValueError for an unknown paper; BrokenLedger for a module that cannot be imported, a claim that no section
    lists, an id of another form or of no paper, and two ids that are the same or read alike.
    """
    for paper in papers:
        if paper not in PAPERS:
            raise ValueError(f"unknown paper {paper!r}: choose from {', '.join(PAPERS)}")
    packages = tuple(dict.fromkeys(package for paper in papers for package in PAPERS[paper]))
    if patterns is not None and (some := _some(packages, papers, patterns)) is not None:
        return _stated(packages, some)
    claims = list(_claims(packages))
    _check_ids(claims)
    return _stated(packages, {claim.id: claim for claim in claims}, papers)


def _stated(
    packages: tuple[str, ...], claims: dict[str, Claim], papers: tuple[str, ...] | None = None
) -> dict[str, Claim]:
    """The claims, each with its statement as data if its package's module `formal` has one."""
    formal: dict[str, Statement] = {}
    mine = {package for claim in claims.values() for package in PAPERS.get(claim.paper, ())}
    for package in packages:
        if package in mine and find_spec(f"{package}.formal") is not None:
            formal |= _imported(f"{package}.formal").FORMAL
    if papers is not None:
        for name in formal:
            if name not in claims:
                raise BrokenLedger(f"a statement as data is called {name}, and no claim is")
    found = {name: replace(c, formal=formal[name]) if name in formal else c for name, c in claims.items()}
    return {name: c for name, c in found.items() if papers is None or c.paper in papers}


def sketches() -> dict[str, str]:
    """By the claim's id, what a proof of its statement rests on, where it takes more than arithmetic: every paper's."""
    found: dict[str, str] = {}
    for package in dict.fromkeys(package for packages in PAPERS.values() for package in packages):
        if find_spec(f"{package}.formal") is not None:
            found |= getattr(_imported(f"{package}.formal"), "NEEDS", {})
    return found


def select(claims: Mapping[str, Claim], patterns: tuple[str, ...] | None, verdict: str | None = None) -> list[str]:
    """The ids that a pattern matches, * standing for anything (all without patterns), of one verdict if it is named.

    Raises ValueError for a pattern that matches nothing, with the id that it may have meant.
    """
    for pattern in patterns or ():
        hits = [claims[name] for name in claims if fnmatchcase(name, pattern)]
        if not hits:
            near = get_close_matches(pattern, claims, n=1, cutoff=0.5)
            raise ValueError(
                f"unknown claim id {pattern!r}: " + (f"did you mean {near[0]}?" if near else "--list shows them all")
            )
        if all(verdict not in (None, claim.verdict.value) for claim in hits):
            raise ValueError(f"no claim that matches {pattern!r} is {verdict}")
    chosen = [n for n in claims if patterns is None or any(fnmatchcase(n, pattern) for pattern in patterns)]
    return [name for name in chosen if verdict in (None, claims[name].verdict.value)]


def _some(packages: tuple[str, ...], papers: tuple[str, ...], patterns: tuple[str, ...]) -> dict[str, Claim] | None:
    """The claims of some plain ids and of what they link to, without loading the rest; None where that cannot do."""
    index = _mentions(packages)
    found: dict[str, Claim] = {}
    wanted = list(patterns)
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        claim = next((c for module in index.get(name, ()) for c in _section(module) if c.id == name), None)
        if claim is None or claim.paper not in papers:
            return None
        found[name] = claim
        wanted += [link for link in (claim.correction, claim.outcome_of) if link is not None]
    return {name: found[name] for name in [*patterns, *found]}


@cache
def _mentions(packages: tuple[str, ...]) -> Mapping[str, list[str]]:
    """For each id that stands in a section's source, the sections that hold it."""
    index: dict[str, list[str]] = {}
    for package in packages:
        for section in _imported(package).SECTIONS:
            spec = find_spec(f"{package}.{section}")
            if spec is None or spec.origin is None:
                raise BrokenLedger(f"{package} lists the section {section}, which does not exist")
            for found in re.finditer(rf'"({_ID.pattern})"', Path(spec.origin).read_text("utf-8")):
                index.setdefault(found[1], []).append(f"{package}.{section}")
    return index


def _claims(packages: tuple[str, ...]) -> Iterator[Claim]:
    """Every claim of the listed sections, once it is sure that the packages hold no other."""
    for package in packages:
        listed = [claim for name in _imported(package).SECTIONS for claim in _section(f"{package}.{name}")]
        ids = {id(claim) for claim in listed}
        for name, claim in _written(package):
            if id(claim) not in ids:
                raise BrokenLedger(f"{name} holds the claim {claim.id!r}, which no section lists")
        yield from listed


def _section(name: str) -> tuple[Claim, ...]:
    claims = getattr(_imported(name), "CLAIMS", None)
    if not isinstance(claims, tuple | list) or not all(isinstance(claim, Claim) for claim in claims):
        raise BrokenLedger(f"{name} has no CLAIMS, a sequence of claims")
    return tuple(claims)


def _written(package: str) -> Iterator[tuple[str, Claim]]:
    """Every claim that stands in a module of the package or of its rooms, at its top level or in a sequence there."""
    for info in iter_modules(_imported(package).__path__, f"{package}."):
        if info.ispkg:
            yield from _written(info.name)
        for value in vars(_imported(info.name)).values():
            entries = value if isinstance(value, tuple | list) else [value]
            yield from ((info.name, entry) for entry in entries if isinstance(entry, Claim))


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # an exit while claims are loaded must not end the run as if nothing were wrong
        raise BrokenLedger(f"{name} cannot be imported: {type(fault).__name__}: {fault}") from fault


def _check_ids(claims: Iterable[Claim]) -> None:
    names: set[str] = set()
    alike: dict[str, str] = {}
    for claim in claims:
        if not _ID.fullmatch(claim.id):
            raise BrokenLedger(f"the id {claim.id!r} is not of the form paper.place.part, in letters, digits and _")
        if claim.paper not in PAPERS:
            raise BrokenLedger(f"the id {claim.id!r} belongs to no known paper: {', '.join(PAPERS)}")
        if claim.id in names:
            raise BrokenLedger(f"two claims are called {claim.id}")
        names.add(claim.id)
        other = alike.setdefault(claim.id.lower().translate(_ALIKE), claim.id)
        if other != claim.id:
            raise BrokenLedger(f"the ids {other} and {claim.id} read alike")
