"""Decide the statements of a user's file: the file runs in a process of its own, and what it emits is data.

The file is never imported where something is decided; it can end its process, print, or patch what it likes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from concurrent.futures import TimeoutError as TooLong
from contextlib import suppress
from pathlib import Path
from typing import Any

from proofs_check.core.statement import Statement, from_data
from proofs_check.core.terms import Malformed

Row = dict[str, Any]
_MOST_BYTES = 20_000_000


class Refused(Exception):
    """The file states nothing that can be decided; the message is one line."""


def emitted(path: Path, seconds: float) -> list[Statement]:
    """The statements that the file emits. Raises Refused where it ends early, runs on, or states nothing."""
    reading, writing = os.pipe()
    command = [sys.executable, "-P", "-m", "proofs_check.language.emit", str(path), str(writing)]
    process = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)  # fmt: skip
    os.close(writing)
    try:
        text = _read(reading, process, seconds)
    finally:
        _end(process)
    if not text:
        raise Refused(f"{path.name} ends its process before it has stated anything")
    data = json.loads(text)
    if isinstance(data, str):
        raise Refused(f"{path.name}: {data}")
    if not data:
        raise Refused(f"{path.name} states nothing: call statement(..)")
    statements = []
    for entry in data:
        try:
            statements.append(from_data(entry))
        except (Malformed, RecursionError) as fault:
            raise Refused(f"{path.name}: {fault}") from fault
    names = [made.name for made in statements]
    if len(set(names)) < len(names):
        raise Refused(f"{path.name} gives one name to two statements")
    return statements


def _read(descriptor: int, process: subprocess.Popen[bytes], seconds: float) -> str:
    """All that is written until the other end is closed; Refused after the time limit."""
    import selectors
    import time

    ends = time.monotonic() + seconds
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector, os.fdopen(descriptor, "rb", buffering=0) as pipe:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            left = ends - time.monotonic()
            if left <= 0 or sum(map(len, parts)) > _MOST_BYTES:
                raise Refused(f"the file runs for more than {seconds:g} s, or states too much")
            if selector.select(min(left, 0.5)):
                part = pipe.read(65536)
                if not part:
                    break
                parts.append(part)
            elif process.poll() is not None and not selector.select(0.1):
                break
    try:
        text = b"".join(parts).decode()
        json.loads(text or "null")
    except ValueError:
        return ""
    return text


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the file's process and what it started."""
    import signal

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
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
    told_apart = counted(statement, found.certificate, try_mutants(statement)) if mutants and proved else None
    return {
        "id": statement.name, "sentence": sentence(statement), "definitions": definitions(statement),
        **summary(found.checked, found.reason), "certificate": found.certificate, "mutants": told_apart,
    }  # fmt: skip
