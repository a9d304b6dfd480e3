"""Whole files or none: a reader never meets a half-written file, and a hash says which bytes were meant."""

import glob
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from dynamics.files.lock import fcntl, held

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def check_target(path: str | Path) -> Path:
    """Return path if a file may be written under this name: nothing is there, or a regular file that may be replaced.

    A symbolic link is refused, not followed and not replaced: who names it may mean either. Links among the folders on
    the way are followed.
    Raises: ValueError, one line that names path and what it is.
    """
    path = Path(path)
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path  # a file in place of a folder on the way is met when folders are made
    except ValueError as error:  # a null byte
        raise ValueError(f"cannot write {str(path)!r}: {error}") from None
    if stat.S_ISLNK(mode):
        raise ValueError(f"cannot write {path}: it is a symbolic link to {os.readlink(path)}; name the file itself")
    if not stat.S_ISREG(mode):
        kind = next((name for matches, name in _KINDS if matches(mode)), "not a regular file")
        raise ValueError(f"cannot write {path}: it is {kind}")
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write {path}: the file is read-only")
    return path


def atomic_write_bytes(path: str | Path, data: bytes) -> None:
    """Write data to path so that path holds either its old content or all of data, also after an interruption.

    The bytes go to a temporary file in the same folder (os.replace is atomic only within one file system), reach the
    disk, and then take the name. Folders on the way are made. A file that is replaced hands on its permissions. What a
    kill left of an earlier write to path is removed: the system released its lock.

    Raises:
        ValueError: path names what `check_target` refuses. OSError, with path as its filename: the folder cannot be
        made or written, the disk is full. Nothing is left behind.
    """
    path = check_target(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        for left in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 12}.tmp"):
            with suppress(OSError), os.fdopen(held(left), "rb"):  # BlockingIOError: another process is writing it
                left.unlink()
        _write_and_rename(temporary, path, data)
    except OSError as error:  # of a write it has no name, of the rest that of the temporary file
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def atomic_write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8 with unchanged line ends; see atomic_write_bytes."""
    atomic_write_bytes(path, text.encode("utf-8"))


def _write_and_rename(temporary: Path, path: Path, data: bytes) -> None:
    with os.fdopen(held(temporary), "wb") as stream:
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
        if fcntl is not None:
            os.replace(temporary, path)  # while it is held, or another process takes it for what a kill left
    if fcntl is None:  # Windows renames no file that is open
        os.replace(temporary, path)


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of the file's bytes as 64 lower-case hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes already in memory, so that the bytes hashed are the bytes parsed."""
    return hashlib.sha256(data).hexdigest()
