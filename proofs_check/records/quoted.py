"""Sentences that can only be quoted here: a data file of what each says, and of what it would take to settle it."""

import tomllib
from pathlib import Path

from proofs_check.ledger.claim import Claim, Evidence, Kind, Nature, Verdict
from proofs_check.records.place import source

_FIELDS = ["at", "says", "takes"]


def quoted(module: str) -> tuple[Claim, ...]:
    """The quotations in the data file beside a module.

    Raises: ValueError, in a line, for an entry with other fields than three texts, and for an id that comes twice.
    """
    path = Path(module).with_suffix(".toml")
    entries = tomllib.loads(path.read_text("utf-8"))
    for name, entry in entries.items():
        texts = entry.values() if isinstance(entry, dict) and sorted(entry) == _FIELDS else ()
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise ValueError(f"{path.name}: {name} takes three texts and no more: {', '.join(_FIELDS)}")
    return tuple(_quotation(name, **entry) for name, entry in entries.items())


def _quotation(name: str, at: str, says: str, takes: str) -> Claim:
    return Claim(
        id=name, source=source(name, at), statement=says, nature=Nature.EMPIRICAL, verdict=Verdict.UNSETTLED,
        evidence=(Evidence(Kind.READ, "quoted"),), note=takes,
    )  # fmt: skip
