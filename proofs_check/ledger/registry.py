"""The flat registry: every claim of every paper by id, loaded on demand; no claim is lost and no id is like another."""

import json
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
from typing import Any

from proofs_check.core import printing
from proofs_check.core.statement import Statement
from proofs_check.ledger.claim import Claim, Record
from proofs_check.ledger.paper import Paper
from proofs_check.ledger.rule import Rule

# Where packages say which papers they hold: `paper = "package:PAPER"`, ours as anybody's (pyproject.toml). Without
# `:PAPER` the record's name is the paper's in capitals.
GROUP = "induction_workbench.papers"
DROPPED = Path(__file__).with_name("dropped.json")
_ID = re.compile(r"[a-z0-9]+(\.[A-Za-z0-9_]+)+")
# Ids that read alike are taken for the same: any case, l, I and 1, o and 0, with or without an underscore.
_ALIKE = str.maketrans({"1": "l", "i": "l", "0": "o", "_": None})


class BrokenLedger(ValueError):
    """The claims as written cannot be loaded as a whole: never a result. Its arguments are a line each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


def papers_of(entries: Iterable[EntryPoint]) -> dict[str, Paper]:
    """The record of each paper, by its id. Raises BrokenLedger for an entry point that leads to no record of its paper,
    and where two packages hold papers of one name."""
    found: dict[str, Paper] = {}
    for entry in entries:
        package = _imported(entry.module)
        paper = getattr(package, entry.attr or entry.name.upper(), None)
        if not hasattr(package, "__path__") or not isinstance(paper, Paper) or paper.id != entry.name:
            raise BrokenLedger(f"the entry point {entry.name} = {entry.value} leads to no record of that paper")
        if (other := found.setdefault(entry.name, paper)) != paper:
            both = " and ".join(sorted((other.package, paper.package)))
            raise BrokenLedger(f"two packages hold a paper {entry.name!r}: {both}")
    return found


@cache
def installed() -> dict[str, Paper]:
    """The papers that are installed, by id. Raises BrokenLedger as `papers_of`."""
    return papers_of(entry_points(group=GROUP))


def host() -> tuple[str, ...]:
    """The ids of the papers that ship with the workbench: its own pages tell of no other."""
    return tuple(name for name, paper in installed().items() if paper.host)


def package_of(name: str) -> str | None:
    """The package that a claim of this id belongs to, alone: the one whose entry point names its paper."""
    paper = installed().get(name.split(".")[0])
    return None if paper is None else paper.package


def load(papers: tuple[str, ...] | None = None, patterns: tuple[str, ...] | None = None) -> dict[str, Claim]:
    """The claims of the packages that hold these papers (None: all papers), in their order, or those of plain ids; and
    the claims that they link to, whatever their paper: `select` chooses.

    Raises: ValueError for an unknown paper; BrokenLedger for a module that cannot be imported, a claim that no section
    lists, an id of another form or of another package's paper, and two ids that are the same or read alike.
    """
    for paper in papers or ():
        if paper not in installed():
            raise ValueError(f"unknown paper {paper!r}: choose from {', '.join(installed())}")
    if patterns is not None and (some := _some(patterns)) is not None:
        return some
    wanted = [installed()[paper].package for paper in papers or installed()]
    held: dict[str, list[Claim | Record]] = {}
    while wanted:
        package = wanted.pop(0)
        if package not in held:
            held[package] = list(_claims(package))
            wanted += [owner for claim in held[package] for link in _links(claim) if (owner := package_of(link))]
    _check_ids((package, claim) for package, claims in held.items() for claim in claims)
    found = {name: claim for package, claims in held.items() for name, claim in _stated(package, claims).items()}
    for package in held:
        for name in _formal(package):
            if name not in found or package_of(name) != package:
                raise BrokenLedger(f"a statement as data is called {name}, and no claim of {package} is")
    return found


def _stated(package: str, claims: Iterable[Claim | Record]) -> dict[str, Claim]:
    """The claims of a package by id, each with its statement as data, if the package's own `formal` has one."""
    formal = _formal(package)
    made = [entry.claim(_printed) if isinstance(entry, Record) else entry for entry in claims]
    return {c.id: _worded(c, formal[c.id]) if c.case is None and c.id in formal else c for c in made}


def _printed(name: str) -> Statement:
    """The statement that a record prints. Raises BrokenLedger where there is no record of this id."""
    for section in _mentions(_packages()).get(name, {}):
        for entry in _section(".".join(section)):
            if entry.id == name and isinstance(entry, Rule):
                return entry.printed
    raise BrokenLedger(f"there is no record {name} that prints the right form")


def _worded(claim: Claim, formal: Statement) -> Claim:
    """The claim with its statement as data, whose words are its own where nothing else is evidence for it."""
    if claim.evidence:
        return replace(claim, formal=formal)
    return replace(claim, formal=formal, statement=printing.sentence(formal), formula=printing.formula(formal),
                   hypotheses=tuple(printing.hypotheses(formal)))  # fmt: skip


def _formal(package: str) -> Mapping[str, Statement]:
    found: Mapping[str, Statement] = _in_formal(package, "FORMAL")
    return found


def _in_formal(package: str, name: str) -> Mapping[str, Any]:
    """A table of the package's module `formal`; empty where there is none."""
    if find_spec(f"{package}.formal") is None:
        return {}
    return getattr(_imported(f"{package}.formal"), name, {})


def statements(claims: Iterable[Claim]) -> dict[str, Statement]:
    """Every statement that the core decides, by its name: what governs a claim, what is printed and what is meant."""
    made = list(claims)
    found = [claim.formal for claim in made]
    cases = [claim.case for claim in made if claim.case is not None]
    found += [one for case in cases for one in (case.printed, case.meant, case.denied)]
    return {one.name: one for one in found if one is not None}


def sketch(name: str) -> str | None:
    """What a proof of a claim's statement rests on, where it takes more than arithmetic; its package says it."""
    package = package_of(name)
    return None if package is None else _in_formal(package, "NEEDS").get(name)


def select(
    claims: Mapping[str, Claim],
    patterns: tuple[str, ...] | None,
    verdict: str | None = None,
    papers: tuple[str, ...] | None = None,
) -> list[str]:
    """The ids that a pattern matches, * standing for anything (all without patterns), of one verdict if it is named,
    and of these papers.

    Raises ValueError for a pattern that matches nothing, with the id that it may have meant, and where nothing is left.
    """
    known = {name: claim for name, claim in claims.items() if papers is None or claim.paper in papers}
    patterns = None if patterns is None else tuple(map(resolved, patterns))
    for pattern in patterns or ():
        hits = [known[name] for name in known if fnmatchcase(name, pattern)]
        if not hits:
            if pattern in dropped():
                raise ValueError(f"{pattern} is no claim any more: {dropped()[pattern]}")
            near = get_close_matches(pattern, known, n=1, cutoff=0.5)
            raise ValueError(
                f"unknown claim id {pattern!r}: " + (f"did you mean {near[0]}?" if near else "--list shows them all")
            )
        if all(verdict not in (None, claim.verdict.value) for claim in hits):
            raise ValueError(f"no claim that matches {pattern!r} is {verdict}")
    chosen = [n for n in known if patterns is None or any(fnmatchcase(n, pattern) for pattern in patterns)]
    found = [name for name in chosen if verdict is None or known[name].verdict.value == verdict]
    if not found:
        of = f" of {', '.join(papers)}" if papers else ""
        raise ValueError(f"there is no claim{of}" + (f" that is {verdict}" if verdict else ""))
    return found


def resolved(name: str) -> str:
    """The id of the record that an id once stood for a part of, or the name itself."""
    became = dropped().get(name, "")
    return became if _ID.fullmatch(became) else name


@cache
def dropped() -> dict[str, str]:
    """What became of each id that once was a claim, in a line; or the id of the record that holds it now."""
    return dict(json.loads(DROPPED.read_text("utf-8")))


def _some(patterns: tuple[str, ...]) -> dict[str, Claim] | None:
    """The claims of some plain ids and of what they link to, without loading the rest; None where that cannot do."""
    index = _mentions(_packages())
    found: dict[str, Claim] = {}
    patterns = tuple(map(resolved, patterns))
    wanted = list(patterns)
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        places = index.get(name, {})
        hits = [(package, c) for package, section in places for c in _section(f"{package}.{section}") if c.id == name]
        if not hits:
            return None
        _check_ids(hits)
        ((package, claim),) = hits
        found |= _stated(package, [claim])
        wanted += _links(claim)
    return {name: found[name] for name in [*patterns, *found]}


def _links(claim: Claim | Record) -> list[str]:
    named = (getattr(claim, link, None) for link in ("correction", "outcome_of", "defect", "repeats"))
    return [link for link in named if link is not None]


@cache
def _mentions(every: tuple[str, ...]) -> Mapping[str, Mapping[tuple[str, str], None]]:
    """For each id that stands in a section's source, every package and section that holds it."""
    index: dict[str, dict[tuple[str, str], None]] = {}
    for package in every:
        for section in _sections(package):
            spec = find_spec(f"{package}.{section}")
            if spec is None or spec.origin is None:
                raise BrokenLedger(f"{package} lists the section {section}, which does not exist")
            source = Path(spec.origin)
            files = [path for path in (source, source.with_suffix(".toml")) if path.is_file()]
            written = "".join(path.read_text("utf-8") for path in files)
            for found in re.finditer(rf'["\']({_ID.pattern})["\']', written):
                index.setdefault(found[1], {})[package, section] = None
    return index


def _claims(package: str) -> Iterator[Claim | Record]:
    """Every claim of the listed sections, once it is sure that the package holds no other."""
    listed = [claim for name in _sections(package) for claim in _section(f"{package}.{name}")]
    ids = {id(claim) for claim in listed}
    for name, claim in _written(package):
        if id(claim) not in ids:
            raise BrokenLedger(f"{name} holds the claim {claim.id!r}, which no section lists")
    yield from listed


def _packages() -> tuple[str, ...]:
    return tuple(dict.fromkeys(paper.package for paper in installed().values()))


def _sections(package: str) -> tuple[str, ...]:
    """The modules of claims that the records of a package's papers name."""
    return tuple(dict.fromkeys(s for paper in installed().values() if paper.package == package for s in paper.sections))


def _section(name: str) -> tuple[Claim | Record, ...]:
    claims = getattr(_imported(name), "CLAIMS", None)
    if not isinstance(claims, tuple | list) or not all(isinstance(claim, Claim | Record) for claim in claims):
        raise BrokenLedger(f"{name} has no CLAIMS, a sequence of claims")
    return tuple(claims)


def _written(package: str) -> Iterator[tuple[str, Claim | Record]]:
    """Every claim that stands in a module of the package or of its rooms, at its top level or in a sequence there."""
    for info in iter_modules(_imported(package).__path__, f"{package}."):
        if info.ispkg:
            yield from _written(info.name)
        for value in vars(_imported(info.name)).values():
            entries = value if isinstance(value, tuple | list) else [value]
            yield from ((info.name, entry) for entry in entries if isinstance(entry, Claim | Record))


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # an exit while claims are loaded must not end the run as if nothing were wrong
        why = " ".join(f"{type(fault).__name__}: {fault}".split())
        raise BrokenLedger(f"{name} cannot be imported: {why}") from fault


def _check_ids(claims: Iterable[tuple[str, Claim | Record]]) -> None:
    """Of claims, each with the package that holds it."""
    names: set[str] = set()
    alike: dict[str, str] = {}
    for package, claim in claims:
        if not _ID.fullmatch(claim.id):
            raise BrokenLedger(f"the id {claim.id!r} is not of the form paper.place.part, in letters, digits and _")
        owner = package_of(claim.id)
        if owner is None:
            raise BrokenLedger(f"the id {claim.id!r} belongs to no known paper: {', '.join(installed())}")
        if owner != package:
            paper = claim.id.split(".")[0]
            raise BrokenLedger(f"{package} holds a claim {claim.id!r}, and the paper {paper} belongs to {owner}")
        if claim.id in names:
            raise BrokenLedger(f"two claims are called {claim.id}")
        names.add(claim.id)
        other = alike.setdefault(claim.id.lower().translate(_ALIKE), claim.id)
        if other != claim.id:
            raise BrokenLedger(f"the ids {other} and {claim.id} read alike")
