"""Proof scripts for statements that the search does not settle alone: tactics, part by part, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from proofs_check.rigour.tactics import Tactic

SCRIPTS: dict[str, Callable[[], Mapping[str, Tactic]]] = {}


def script_of(name: str) -> Mapping[str, Tactic] | None:
    """The tactics for the parts of a statement, by their labels, if it has any."""
    made = SCRIPTS.get(name)
    return None if made is None else made()
