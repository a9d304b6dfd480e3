"""A byte-level text that every machine has: the sources of the running Python's own standard library."""

import hashlib
import sysconfig
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

# Tests and other people's packages; tables rather than text; what the build wrote for this machine alone.
LEFT_OUT = frozenset(("test", "tests", "idle_test", "site-packages", "dist-packages", "encodings", "pydoc_data"))
ASCII = 128
HELDOUT_BYTES = 32  # a file is held out where its hash begins below this: one in eight


class Corpus(NamedTuple):
    """Two byte strings, (n,) uint8 below 128, and the SHA-256 of all files, names included."""

    training: np.ndarray
    heldout: np.ndarray
    sha256: str
    files: int


@cache
def standard_library() -> Corpus:
    """The corpus of this Python; results on it belong to its hash, another Python version has another."""
    return read_corpus(sysconfig.get_paths()["stdlib"])


def read_corpus(folder: str | Path) -> Corpus:
    """Read all *.py below a folder in the order of their names, bytes beyond ASCII as "?".

    A file goes to the held-out part or to training by its own hash, so that the split needs no list and no seed.
    Raises: ValueError where there is no text for both parts; OSError for a file that cannot be read.
    """
    total, parts = hashlib.sha256(), {True: [], False: []}
    named = sorted((path.relative_to(folder).as_posix(), path) for path in Path(folder).rglob("*.py"))
    named = [(name, path) for name, path in named if _belongs(name)]
    for name, path in named:
        data = path.read_bytes()
        own = hashlib.sha256(data).digest()
        total.update(name.encode() + b"\0" + own)
        parts[own[0] < HELDOUT_BYTES].append(data)
    if not parts[True] or not parts[False]:
        raise ValueError(f"{folder}: {len(named)} Python sources are too few for a training and a held-out part")
    return Corpus(_text(parts[False]), _text(parts[True]), total.hexdigest(), len(named))


def _belongs(name: str) -> bool:
    folders = name.split("/")[:-1]
    built = name.startswith(("_sysconfigdata", "config-"))
    return not built and not LEFT_OUT.intersection(folders)


def _text(files: list[bytes]) -> np.ndarray:
    data = np.frombuffer(b"\n".join(files), dtype=np.uint8)
    return np.where(data < ASCII, data, ord("?")).astype(np.uint8)
