"""Whole files or none: a reader never meets a half-written file, and a hash says which bytes were meant."""

import hashlib
import os
import secrets
from pathlib import Path


def atomic_write_bytes(path: str | Path, data: bytes) -> None:
    """Write data to path so that path holds either its old content or all of data, also after an interruption.

    The bytes go to a temporary file in the same folder (os.replace is atomic only within one file system), reach the
    disk, and then take the name. Folders on the way are made.

    Raises:
        OSError: the folder cannot be made or written; nothing is left behind.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    # os.open rather than tempfile: the file gets the user's usual permissions, not 0600.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def atomic_write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8 with unchanged line ends; see atomic_write_bytes."""
    atomic_write_bytes(path, text.encode("utf-8"))


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of the file's bytes as 64 lower-case hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes already in memory, so that the bytes hashed are the bytes parsed."""
    return hashlib.sha256(data).hexdigest()
