"""A result in one text file, its bytes recorded by a hash beside it, as sha256sum reads it."""

from pathlib import Path

from dynamics.files.atomic import atomic_write_text, check_target, sha256_bytes


def write_hashed(path: str | Path, text: str) -> None:
    """Write the text, then `<file>.sha256`: interrupted in between, they do not fit and are refused.

    Raises: as `files.atomic_write_bytes`; where one of the two names cannot be written, neither is.
    """
    check_target(_beside(path))
    atomic_write_text(path, text)
    atomic_write_text(_beside(path), f"{sha256_bytes(text.encode())}  {Path(path).name}\n")


def read_hashed(path: str | Path) -> bytes:
    """Return the file's bytes. Raises OSError: a file is missing. ValueError: not the bytes that were recorded."""
    data = Path(path).read_bytes()
    if _beside(path).read_text("utf-8", errors="replace").split() != [sha256_bytes(data), Path(path).name]:
        raise ValueError(f"{path}: not the bytes whose sha256 {_beside(path).name} records")
    return data


def _beside(path: str | Path) -> Path:
    return Path(f"{path}.sha256")
