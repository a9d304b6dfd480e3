"""One writer a folder: the system releases the lock when its process ends, also after a kill."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without a lock
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextmanager
def only_writer(folder: str | Path) -> Iterator[None]:
    """Hold the folder's lock, the file `.lock`, and remove it afterwards. A file that a killed run left blocks no run.

    The folder is made, and removed again if nothing was written into it.
    Raises: ValueError, one line, where another run holds the lock; OSError for a folder that cannot be written.
    """
    folder = Path(folder)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = _locked(folder)
        try:
            yield
        finally:
            (folder / LOCK).unlink(missing_ok=True)  # while it is held: the next run then makes its own
            os.close(descriptor)
    finally:
        with suppress(OSError):  # not empty
            for path in made:
                path.rmdir()


def held(path: Path) -> int:
    """Open a file, made if it is not there, and lock it until the descriptor that is returned is closed.

    Raises: BlockingIOError where another process holds it; OSError for a file that cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        # os.open rather than tempfile: a new file gets the user's usual permissions, not 0600.
        descriptor = os.open(path, flags, 0o666)
        try:
            _lock(descriptor)
            if _is(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the file was removed between opening and locking it: by the run that ended just then


def _locked(folder: Path) -> int:
    path = folder / LOCK
    try:
        descriptor = held(path)
    except BlockingIOError:
        holder = ""
        with suppress(OSError):
            holder = path.read_text(errors="replace")[:200]
        raise ValueError(f"{folder}: another run is writing here ({holder or 'another process'})") from None
    with suppress(OSError):  # a full disk: whoever writes a result there says so
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    return descriptor


def _lock(descriptor: int) -> None:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return  # a file system without locks


def _is(descriptor: int, path: Path) -> bool:
    """Whether path is still the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
