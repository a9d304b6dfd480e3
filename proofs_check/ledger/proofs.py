"""Proof scripts for statements that the search does not settle alone: tactics, part by part, and believed in nothing.

They stand in the room `proofs` of a paper. Each module has SCRIPTS, from the name of a claim to a function that gives
the tactics for the parts of its statement (and, under "defined", one for its conditions of definedness; under "weaker",
one for what a mutant of it changed, with the statement itself among the hypotheses; under "points", the points at which
mutants fail and no search finds it, or at which the statement fails, where a search finds none so small), and NEEDS,
the lemma that is missing where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

from proofs_check.ledger.registry import package_of
from proofs_check.rigour.tactics import Tactic


def script_of(name: str) -> Mapping[str, Tactic] | None:
    """The tactics for the parts of a statement, by their labels, if it has any."""
    for module in _modules(name):
        made = module.SCRIPTS.get(name)
        if made is not None:
            found: Mapping[str, Tactic] = made()
            return found
    return None


def missing_lemma(name: str) -> str | None:
    """What is missing where a statement is not proved, in a sentence."""
    for module in _modules(name):
        found: str | None = getattr(module, "NEEDS", {}).get(name)
        if found is not None:
            return found
    return None


def _modules(name: str) -> Iterator[ModuleType]:
    """The modules of the room `proofs` of the package that a claim of this id belongs to."""
    package = package_of(name)
    spec = None if package is None else find_spec(f"{package}.proofs")
    places = None if spec is None else spec.submodule_search_locations
    if places is not None:
        yield from (import_module(info.name) for info in iter_modules(places, f"{package}.proofs."))
