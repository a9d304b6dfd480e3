"""Decide the statements of a user's file: the file runs in a process of its own, and what it emits is data.

The file is never imported where something is decided; it can end its process, print, or patch what it likes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import BrokenExecutor
from concurrent.futures import TimeoutError as TooLong
from pathlib import Path
from typing import Any

from proofs_check.core.statement import Statement, from_data
from proofs_check.core.terms import Malformed
from proofs_check.ledger.foreign import Refused, written

Row = dict[str, Any]
_MOST_LETTERS = 200


def emitted(path: Path, seconds: float) -> tuple[list[Statement], list[str]]:
    """The statements of the file, and a line for each that is malformed and for what was not read.

    Raises Refused for what is no file to read, and for one that states nothing, runs on, or ends its process.
    """
    text = written(path, seconds)
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
    told_apart = counted(statement, found.certificate, try_mutants(statement)) if mutants and proved else None
    return {
        "id": statement.name, "sentence": sentence(statement), "definitions": definitions(statement),
        **summary(found.checked, found.reason), "certificate": found.certificate, "mutants": told_apart,
    }  # fmt: skip
