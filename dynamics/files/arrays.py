"""Read arrays from a file of somebody else: nothing is unpickled, and nothing larger than a limit is unpacked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynamics.files.bounded import read_bytes

LARGEST = 2**30  # bytes of a file, and of all its arrays


def read_array(path: str | Path, most: int = LARGEST) -> NDArray:
    """The array of an .npy file. Raises OSError; ValueError of one line for any other file."""
    data = read_bytes(path, most)
    with _named(path):
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)


def read_arrays(path: str | Path, most: int = LARGEST) -> dict[str, NDArray]:
    """The arrays of an .npz file by name. Raises OSError; ValueError of one line for any other file."""
    data = read_bytes(path, most)
    with _named(path), zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        if (size := sum(entry.file_size for entry in entries.values())) > most:
            raise ValueError(f"its arrays have {size} bytes, more than {most}")
        return {
            name: np.lib.format.read_array(archive.open(entry), allow_pickle=False) for name, entry in entries.items()
        }


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """What goes wrong inside becomes a ValueError of one line that names the file.

    A damaged file raises errors of zlib, zipfile, struct and tokenize, SyntaxError, EOFError, NotImplementedError, and
    more: whatever it was, the file holds no arrays.
    """
    try:
        yield
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path}: {text}") from None
