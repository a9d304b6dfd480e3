"""Read a file from elsewhere only up to a size limit."""

from __future__ import annotations

import stat
from pathlib import Path


def read_bytes(path: str | Path, most: int) -> bytes:
    """The bytes of a file or a pipe. Raises: OSError; ValueError for a device, which may not end, and beyond `most`."""
    path = Path(path)
    if stat.S_ISCHR(path.stat().st_mode):
        raise ValueError(f"{path}: a device, not a file")
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{path}: more than {most} bytes are too many")
    return data
