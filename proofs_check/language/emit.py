"""Run a file of claims and write what it states, as plain data, to the file descriptor named; nothing else counts.

A process of its own: `python -m proofs_check.language.emit FILE.py DESCRIPTOR PARENT`, under a supervisor. It writes a
list of [line, name, what]: what is a statement's data, or why there is none; without a name, why the file ended.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from functools import partial
from traceback import walk_stack, walk_tb
from types import FrameType
from typing import Any

from proofs_check.language.supervised import supervised


def main(path: str, descriptor: int, parent: int) -> int:
    supervised(partial(_state, path, descriptor), parent)
    return 0


def _state(path: str, descriptor: int) -> None:
    import runpy

    from proofs_check import language

    entries: list[tuple[int, str | None, Any]] = []

    def stated(name: object, **said: Any) -> Any:
        """As `notation.statement`; one that is malformed is noted, and the file goes on."""
        made = None
        try:
            made = language.notation.statement(str(name), **said)
            what: Any = made.to_json()
        except Exception as fault:
            what = str(fault)
        entries.append((_line(path, walk_stack(sys._getframe())), str(name), what))
        return made

    language.statement = stated
    sys.path.append(os.path.dirname(os.path.abspath(path)))  # last: what lies beside the file hides nothing of ours
    try:
        runpy.run_path(path, run_name="claims")
    except BaseException as fault:
        line = _line(path, reversed(list(walk_tb(fault.__traceback__))))
        why = f"{type(fault).__name__}: {fault}"
        if isinstance(fault, SystemExit):
            why = "it exits before its end"
        elif isinstance(fault, SyntaxError) and fault.filename == path:
            line, why = fault.lineno or 0, f"SyntaxError: {fault.msg}"
        entries.append((line, None, why))
    with os.fdopen(descriptor, "w") as out:
        json.dump(entries, out)


def _line(path: str, frames: Iterable[tuple[FrameType, int]]) -> int:
    """The line that the file's own frame is at, the innermost of several, which come first; 0 without one."""
    return next((line for frame, line in frames if frame.f_code.co_filename == path), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
