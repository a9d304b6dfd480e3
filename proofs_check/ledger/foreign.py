"""What a file of others writes in a process of its own: bytes, in which nothing is believed."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from io import FileIO
from pathlib import Path

_MOST_BYTES = 20_000_000
_GRACE = 10  # seconds, twice what the supervisor takes at most


class Refused(ValueError):
    """The file cannot be used; the message is one line."""


def written(path: Path, seconds: float) -> bytes:
    """All that the file's process writes; it has ended, with all that it started. Raises Refused if it runs on."""
    _check_readable(path)
    reading, writing = os.pipe()
    module = "proofs_check.language.emit"
    command = [sys.executable, "-P", "-m", module, str(path), str(writing), str(os.getpid())]
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            process = subprocess.Popen(command, pass_fds=[writing], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
        finally:
            os.close(writing)
        try:
            return _read(pipe, process, seconds)
        finally:
            _end(process)


def _check_readable(path: Path) -> None:
    for wrong, why in (
        (not path.exists(), "there is no such file"), (path.is_dir(), "it is a folder"),
        (not path.is_file(), "it is no regular file"), (not os.access(path, os.R_OK), "no permission"),
    ):  # fmt: skip
        if wrong:
            raise Refused(f"cannot read {path}: {why}")


def _read(pipe: FileIO, process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """All that is written until the other end is closed."""
    ends = time.monotonic() + seconds
    text = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(text) <= _MOST_BYTES:
            left = ends - time.monotonic()
            if left <= 0:
                raise Refused(f"the file runs for more than {seconds:g} s")
            if selector.select(min(left, 0.5)):
                part = pipe.read(65536)
                if not part:
                    return bytes(text)
                text += part
            elif process.poll() is not None and not selector.select(0.1):
                return bytes(text)
    raise Refused(f"the file states more than {_MOST_BYTES / 1e6:g} MB")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Has the supervisor end the file's process and what it started; kills a supervisor that does not answer."""
    process.terminate()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
