"""The log of an observed training: one JSON line an observation. Only whole lines are read."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynamics.files.atomic import atomic_write_text, check_target
from dynamics.files.manifest import Count, Strict

DIGITS = 6
Row = tuple[float | None, ...]
Matrix = tuple[Row, ...]
Cube = tuple[Matrix, ...]


class Line(Strict):
    """One observation after so many updates. A field is None where it was not looked at, a number where not finite.

    From prompts and text, fields of `dynamics.observed.scores.Observed`: copy_loss is the mean loss of each repeat of
    the prompts, text_loss that of the text. From rows of a task (`dynamics.observed.task`): accuracy; losses, one a
    stage of `dynamics.heads.theorem.STAGES`, the first alone where a model has no gains; successor, the attention to
    x_{i+1}, (layers, heads); gain (heads, 2), key and value. alpha, beta: from either. seconds: what this observation
    took, without the writing of its line. trained: seconds of training since the observer began. share: of all
    observations so far, writing of earlier lines included, over trained; None before there is any.
    """

    step: Count
    alpha: Cube | None = None
    beta: Cube | None = None
    induction: Matrix | None = None
    echo: Matrix | None = None
    previous: Matrix | None = None
    first: Matrix | None = None
    sink: Matrix | None = None
    entropy: Matrix | None = None
    drain: Row | None = None
    head_drain: Matrix | None = None
    peak: Row | None = None
    state_norm: Row | None = None
    copy_loss: Row | None = None
    text_loss: float | None = None
    accuracy: float | None = None
    losses: Row | None = None
    successor: Matrix | None = None
    gain: Matrix | None = None
    seconds: float | None = None
    trained: float | None = None
    share: float | None = None

    @classmethod
    def of(cls, step: int, found: Mapping[str, Any], digits: int = DIGITS, **cost: float | None) -> Line:
        """The line of what was found; losses keep six digits."""
        kept: dict[str, Any] = dict(cost)
        for name, value in found.items():
            kept[name] = plain(value, DIGITS if "loss" in name else digits)
        return cls(step=step, **kept)


def write_lines(path: str | Path, lines: Sequence[Line]) -> None:
    """The whole file, one line an observation. Raises: ValueError, OSError as `atomic_write_bytes`."""
    atomic_write_text(path, "".join(line.model_dump_json() + "\n" for line in lines))


def append_line(path: str | Path, line: Line) -> None:
    """One more line of a log, in one write: no wait for the disk, which would cost more than the rest.

    Raises: ValueError as `check_target`; OSError, with path as its filename, for a full disk: no part of it then stays.
    """
    path, data = check_target(path), line.model_dump_json().encode() + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    with os.fdopen(descriptor, "wb", buffering=0) as stream:
        before = os.fstat(descriptor).st_size
        try:
            if stream.write(data) < len(data):  # what there was room for
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(descriptor, before)
            raise OSError(error.errno, error.strerror, str(path)) from error


def read_lines(path: str | Path) -> list[Line]:
    """The whole lines of a log: one that is being written has no end yet.

    Raises: OSError; ValueError of one line that names the file and its line.
    """
    data = Path(path).read_bytes()
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    return [Line.parsed(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def begun(path: str | Path, step: int | None) -> list[Line]:
    """The lines that a log starts with: none for a new run, and those before `step` for a run that resumes there.

    Raises: ValueError for a file that is there already where nothing goes on (None), or that is no log.
    """
    path = check_target(path)
    if not path.exists():
        return []
    if step is None:
        raise ValueError(f"{path} exists already: name another file, or say after which step the run goes on")
    return [line for line in read_lines(path) if line.step < step]


def stacked(lines: Sequence[Line], name: str) -> NDArray[np.float64]:
    """One score over the lines, (lines, ..), NaN for None. Raises: ValueError where a line has no such score."""
    found = [getattr(line, name) for line in lines]
    if any(value is None for value in found):
        raise ValueError(f"the log has no {name}")
    return np.array(found, dtype=np.float64)


def plain(value: Any, digits: int = DIGITS) -> Any:
    """Nested tuples of numbers of so many digits; None for None and for what is not finite."""
    if value is None:
        return None
    if np.ndim(value):
        return tuple(plain(part, digits) for part in value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
