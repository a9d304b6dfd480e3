"""Decide the statements of a user's file: the file runs in a process of its own, and what it emits is data.

The file is never imported where something is decided; it can end its process, print, or patch what it likes.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import BrokenExecutor
from concurrent.futures import TimeoutError as TooLong
from io import FileIO
from pathlib import Path
from typing import Any

from proofs_check.core.statement import Statement, from_data
from proofs_check.core.terms import Malformed

Row = dict[str, Any]
_MOST_BYTES, _MOST_LETTERS = 20_000_000, 200
_GRACE = 10  # seconds, twice what the supervisor takes at most


class Refused(ValueError):
    """The file cannot be used; the message is one line."""


def emitted(path: Path, seconds: float) -> tuple[list[Statement], list[str]]:
    """The statements of the file, and a line for each that is malformed and for what was not read.

    Raises Refused for what is no file to read, and for one that states nothing, runs on, or ends its process.
    """
    _check_readable(path)
    text = _written(path, seconds)
    if not text:
        raise Refused(f"{path.name} ends its process before it has stated anything")
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        raise Refused(f"{path.name} writes what is no list of statements")
    made: dict[str, tuple[int, Statement]] = {}
    malformed, ended = [], []
    for entry in entries:
        match entry:
            case [int(line), None, str(why)]:
                ended.append(f"{_place(path, line)}: {why[:_MOST_LETTERS]}; what follows is not read")
            case [int(line), str(name), what]:
                try:
                    made[name] = line, _made(name, what, made)
                except Exception as fault:  # whatever the data is, it costs no other statement
                    why = f"{name[:_MOST_LETTERS]!r} is malformed: {fault}"
                    malformed.append(f"{_place(path, line)}: the statement {why[: 2 * _MOST_LETTERS]}")
            case _:
                raise Refused(f"{path.name} writes what is no list of statements")
    if not made and not malformed:
        raise Refused(ended[0] if ended else f"{path.name} states nothing: call statement(..)")
    return [statement for _, statement in made.values()], malformed + ended


def _check_readable(path: Path) -> None:
    for wrong, why in (
        (not path.exists(), "there is no such file"), (path.is_dir(), "it is a folder"),
        (not path.is_file(), "it is no regular file"), (not os.access(path, os.R_OK), "no permission"),
    ):  # fmt: skip
        if wrong:
            raise Refused(f"cannot read {path}: {why}")


def _place(path: Path, line: int) -> str:
    return f"{path.name}, line {line}" if line else path.name


def _made(name: str, what: Any, made: Mapping[str, tuple[int, Statement]]) -> Statement:
    """The statement that the data writes. Raises whatever it is that the data is no statement for."""
    if isinstance(what, str):
        raise Malformed(what)
    if name in made:
        raise Malformed(f"the statement of line {made[name][0]} has its name")
    if len(name) > _MOST_LETTERS:
        raise Malformed(f"a name has at most {_MOST_LETTERS} characters, and it has {len(name)}")
    return from_data({**what, "name": name})


def _written(path: Path, seconds: float) -> bytes:
    """All that the file's process writes; it has ended, with all that it started. Raises Refused if it runs on."""
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


def decided(statements: list[Statement], seconds: float, mutants: bool = True) -> Iterator[Row]:
    """A row for each statement; one that takes longer than `seconds` is an error."""
    from proofs_check.ledger.workers import processes

    for statement in statements:
        with processes(1) as one:
            try:
                yield one.submit(row, statement.to_json(), mutants).result(timeout=seconds)
            except TooLong:
                one.shutdown(wait=True, kill_workers=True)
                yield _failed(statement, f"no answer within {seconds:g} s")
            except BrokenExecutor:
                yield _failed(statement, "the process that decides it ended")
            except Exception as fault:
                yield _failed(statement, f"{type(fault).__name__}: {fault}")


def _failed(statement: Statement, why: str) -> Row:
    from proofs_check.core.printing import sentence

    return {"id": statement.name, "sentence": sentence(statement), "outcome": "error", "message": why}


def row(data: Any, mutants: bool) -> Row:
    """Decide one statement given as data."""
    from proofs_check.core.certificate import Outcome
    from proofs_check.core.printing import definitions, sentence
    from proofs_check.ledger.verdicts import counted, summary
    from proofs_check.rigour.decide import UNAIDED, Empty, decide, try_mutants

    statement = from_data(data)
    try:
        found = decide(statement, UNAIDED)
    except Empty as why:
        return _failed(statement, str(why))
    proved = found.checked is not None and found.checked.outcome is Outcome.PROVED
    told_apart = counted(statement, try_mutants(statement)) if mutants and proved else None
    return {
        "id": statement.name, "sentence": sentence(statement), "definitions": definitions(statement),
        **summary(found.checked, found.reason), "certificate": found.certificate, "mutants": told_apart,
    }  # fmt: skip
