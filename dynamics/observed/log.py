"""The log of an observed training: one JSON line an observation. No line is ever half-written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynamics.files.atomic import atomic_write_text, check_target
from dynamics.files.manifest import Count, Strict
from dynamics.observed.scores import Observed

DIGITS = 6
Row = tuple[float | None, ...]
Matrix = tuple[Row, ...]
Cube = tuple[Matrix, ...]


class Scores(Strict):
    """What heads and layers did after so many updates: fields of `Observed`, None for what is not finite."""

    step: Count
    induction: Matrix
    echo: Matrix
    previous: Matrix
    sink: Matrix
    entropy: Matrix
    drain: Row
    peak: Row
    alpha: Cube | None
    beta: Cube | None


class Line(Scores):
    """One observation: all of `Observed`, and what observing has cost.

    seconds: what this observation took, without the writing of its line. trained: seconds of training since the
    observer began. share: of all observations so far, writing of earlier lines included, over trained; None before
    there is any.
    """

    seconds: float
    trained: float
    share: float | None
    first: Matrix
    head_drain: Matrix
    state_norm: Row
    copy_loss: Row | None
    text_loss: Row | None

    @classmethod
    def of(cls, step: int, found: Observed, seconds: float, trained: float, spent: float) -> Line:
        """The line of what was found; spent: seconds of all observations, this one among them."""
        scores: dict[str, Any] = {
            name: None if value is None else plain(value) for name, value in found._asdict().items()
        }
        share = spent / trained if trained > 0 else None
        return cls(step=step, seconds=seconds, trained=trained, share=share, **scores)


def write_lines(path: str | Path, lines: Sequence[Line]) -> None:
    """The whole file, one line an observation. Raises: ValueError, OSError as `atomic_write_bytes`."""
    atomic_write_text(path, "".join(line.model_dump_json() + "\n" for line in lines))


def read_lines(path: str | Path) -> list[Line]:
    """The lines of a log. Raises: OSError; ValueError of one line that names the file and its line."""
    lines = Path(path).read_bytes().splitlines()
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


def stacked(lines: Sequence[Scores], name: str) -> NDArray[np.float64]:
    """One score over the lines, (lines, ..), NaN for None. Raises: ValueError where a line has no such score."""
    found = [getattr(line, name) for line in lines]
    if any(value is None for value in found):
        raise ValueError(f"the log has no {name}")
    return np.array(found, dtype=np.float64)


def plain(value: Any, digits: int = DIGITS) -> Any:
    """Nested tuples of numbers of so many digits; None for None and for what is not finite."""
    if value is None:
        return None
    if isinstance(value, np.ndarray) and value.ndim:
        return tuple(plain(part, digits) for part in value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
