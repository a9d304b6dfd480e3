"""The committed list of what ships as data: a sha256 a file, as `sha256sum` writes and checks it."""

import hashlib
from pathlib import Path

from proofs_check.ledger.registry import BrokenLedger

ROOT = Path(__file__).parents[2]  # what holds the packages, here and where they are installed
LIST = Path(__file__).with_name("shipped.sha256")
PLACES = (
    "dynamics/shipped", "proofs_check/certificates", "proofs_check/ledger/judged.json",
    "proofs_check/ledger/dropped.json", "proofs_check/records/tables.json",
)  # fmt: skip


def written() -> str:
    """The text of the list, for the files that are there."""
    return "".join(f"{digest}  {name}\n" for name, digest in _there().items())


def faults() -> list[str]:
    """A line for each file that is missing, is another than the listed one, or is not listed.

    Raises: BrokenLedger where the list itself is missing or damaged.
    """
    try:
        lines = LIST.read_text("utf-8").splitlines()
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError) as fault:
        raise BrokenLedger(f"the list of what ships cannot be read: {LIST}: {fault}") from fault
    there = _there()
    found = []
    for name in sorted(listed | there):
        if listed.get(name) != there.get(name):
            why = "is missing" if name not in there else "is not listed" if name not in listed else "was changed"
            found.append(f"{name} {why}: {LIST.name} lists what ships")
    return found


def _there() -> dict[str, str]:
    """The sha256 of every file that ships, by its path."""
    paths = {path for place in PLACES for path in (ROOT / place, *(ROOT / place).rglob("*")) if path.is_file()}
    names = sorted((path.relative_to(ROOT).as_posix(), path) for path in paths)
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in names}
