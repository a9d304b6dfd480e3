"""Sentences and names of the papers' texts as entries of data files: those that can only be quoted, with what it would
take to settle them, and names that a list of the paper has or has not.
"""

import tomllib
from pathlib import Path
from typing import Any

from proofs_check.ledger.claim import Claim, Evidence, Kind, Nature, Verdict
from proofs_check.ledger.rule import source
from proofs_check.records.refers import refers


def quoted(module: str) -> tuple[Claim, ...]:
    """The claims of the data file beside a module.

    Raises: ValueError, in a line, for an entry with other fields than those of a quotation (`at`, `says` and `takes`, a
    text each) or of `refers` (`printed` and `meant` are lists of texts), and for an id that comes twice.
    """
    path = Path(module).with_suffix(".toml")
    return tuple(_made(path.name, name, entry) for name, entry in tomllib.loads(path.read_text("utf-8")).items())


def _made(file: str, name: str, entry: Any) -> Claim:
    fields = set(entry) if isinstance(entry, dict) and all(map(_fits, entry, entry.values())) else set()
    if fields == {"at", "says", "takes"}:
        return _quotation(name, **entry)
    if {"at", "among", "printed"} <= fields <= {"at", "among", "printed", "meant", "why"}:
        return refers(name, **entry)
    raise ValueError(f"{file}: {name} needs the texts at, says, takes, or at, among, printed and perhaps meant, why")


def _fits(field: str, value: Any) -> bool:
    """Is it a text, or for the fields of names a list of texts?"""
    texts = value if field in ("printed", "meant") else [value]
    return isinstance(texts, list) and bool(texts) and all(isinstance(text, str) and text.strip() for text in texts)


def _quotation(name: str, at: str, says: str, takes: str) -> Claim:
    return Claim(
        id=name, source=source(name, at), record="quoted",
        statement=says, nature=Nature.EMPIRICAL, verdict=Verdict.UNSETTLED,
        evidence=(Evidence(Kind.READ, "quoted"),), note=takes,
    )  # fmt: skip
