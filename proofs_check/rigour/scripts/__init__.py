"""Proof scripts for statements that the search does not settle alone: tactics, part by part, and believed in nothing.

Each module has SCRIPTS, from the name of a claim to a function that gives the tactics for the parts of its statement
(and, under "defined", one for its conditions of definedness; under "weaker", one for what a mutant of it changed, with
the statement itself among the hypotheses), and NEEDS, the lemma that is missing where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from proofs_check.rigour.tactics import Tactic


def script_of(name: str) -> Mapping[str, Tactic] | None:
    """The tactics for the parts of a statement, by their labels, if it has any."""
    for info in iter_modules(__path__, f"{__name__}."):
        made = import_module(info.name).SCRIPTS.get(name)
        if made is not None:
            found: Mapping[str, Tactic] = made()
            return found
    return None


def missing_lemma(name: str) -> str | None:
    """What is missing where a statement is not proved, in a sentence."""
    for info in iter_modules(__path__, f"{__name__}."):
        found: str | None = getattr(import_module(info.name), "NEEDS", {}).get(name)
        if found is not None:
            return found
    return None
