"""Gradient flow of the closed-form loss, many trajectories at once: d theta / dt = -grad L.

Each trajectory has its own step, error and end, so that none hides behind the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.flow.block import Run, Settings
from dynamics.flow.velocity import Array, make_field
from theory import landscape
from theory.landscape.exact import Position

Mode = Literal["free", "slice", "box", "cube"]

BLOCK = 10_000  # lanes: enough to hide numpy's cost a call
PER_DECADE = 8
_FIRST_TIME = 0.1
_FARTHEST = 500.0  # of a start's alphas
_ON_SLICE = 1e-12
_SIDES = {"free": (False, None), "slice": (True, None), "box": (True, (0.0, 1.0)), "cube": (False, (0.0, 1.0))}


class Status(Enum):
    """How a trajectory ended."""

    REACHED = "it reached t_end"
    RESTS = "every coordinate is held at a wall of the box, where the projected flow rests"
    STUCK = "the step fell below the resolution of the time, or max_steps was used up: loosen rtol, or allow more steps"


@dataclass(frozen=True)
class Trajectory:
    """`n` trajectories at common times.

    times (times,), from 0 to t_end; theta (times, n, 4); status, n members of `Status`; level_times (levels, n), when
    the loss first was at or below each level, NaN if never; rest_times (n,), when a projected trajectory came to rest
    at a corner, NaN if never; rises (n,), steps along which the loss rose by more than 16 ulps of 1 + L (the Lyapunov
    check: zeros for a sound computation); steps (n,), attempted.
    """

    times: Array
    theta: Array
    status: tuple[Status, ...]
    level_times: Array
    rest_times: Array
    rises: NDArray[np.int_]
    steps: NDArray[np.int_]

    @property
    def violations(self) -> int:
        """Lyapunov violations over all trajectories."""
        return int(self.rises.sum())


def log_times(t_end: float) -> Array:
    """0 and eight times a decade from 0.1 to t_end."""
    first = min(_FIRST_TIME, t_end / 10)
    number = max(2, 1 + int(np.ceil(PER_DECADE * np.log10(t_end / first))))
    return np.concatenate([[0.0], np.geomspace(first, t_end, number)[:-1], [t_end]])


def gradient_flow(
    starts: ArrayLike,
    n_tokens: ArrayLike,
    t_end: float = 1e7,
    *,
    times: ArrayLike | None = None,
    rtol: float = 2e-9,
    atol: float = 2e-11,
    mode: Mode = "free",
    position: Position = None,
    levels: Sequence[float] = (),
    max_steps: int = 100_000,
) -> Trajectory:
    """d theta / dt = -grad L from each start until t_end.

    Args:
        starts: (n, 4), rows (alpha1, alpha2, beta1, beta2).
        n_tokens: T, one for all or one a start.
        times: increasing, in [0, t_end]; t_end is added where it is missing. Default: `log_times(t_end)`.
        rtol, atol: tolerances of DOP853 on each trajectory by itself; as they stand, the largest error over 10,000
            starts in [0, 1]^4 at T = 100, t = 200 is 4e-8.
        mode: "free", all four parameters; "slice", (alpha1, beta1) with alpha2 = 1 - alpha1 and beta2 = 1 - beta1
            moving along, by the gradient of the loss as a function of those two; "box", the same projected on
            [0, 1]^2 (the flow of Figure 2); "cube", all four projected on [0, 1]^4.
        position: as in `theory.landscape`; None, an interior one, has the fast kernel.
        levels: losses whose first times are wanted.
    Raises ValueError for starts that are not (n, 4), not finite, off the slice or out of the box where the mode needs
    that, or with a loss or an alpha beyond 500; for times that are not increasing; and as `theory.landscape.loss` does.
    """
    rows = _check_starts(starts, mode)
    tokens = _check_tokens(rows, n_tokens, position)
    grid = _check_times(times, t_end)
    wanted = np.asarray(levels, dtype=np.float64).reshape(-1)
    if not (np.isfinite([rtol, atol]).all() and rtol >= 1e-13 and atol > 0):
        raise ValueError(f"need rtol >= 1e-13 and atol > 0, got {rtol:g} and {atol:g}")
    on_slice, walls = _SIDES[mode]
    settings = Settings(float(t_end), grid[:-1], rtol, atol, wanted, walls, max_steps)
    runs = []
    for first in range(0, len(rows), BLOCK):
        block = slice(first, first + BLOCK)
        field = make_field(tokens[block], position, on_slice)
        run = Run(field, np.ascontiguousarray(rows[block, ::2].T if on_slice else rows[block].T), settings)
        run.go()
        runs.append(run)
    return Trajectory(
        grid,
        np.concatenate([run.theta for run in runs], axis=1),
        tuple(status for run in runs for status in _statuses(run)),
        np.concatenate([run.level_times for run in runs], axis=1),
        *(np.concatenate([getattr(run, name) for run in runs]) for name in ("rest_times", "rises", "steps")),
    )


def _statuses(run: Run) -> list[Status]:
    rests = ~np.isnan(run.rest_times)
    return [
        Status.RESTS if rest else Status.REACHED if end else Status.STUCK
        for rest, end in zip(rests, run.finished, strict=True)
    ]


def _check_starts(starts: ArrayLike, mode: str) -> Array:
    if mode not in _SIDES:
        raise ValueError(f"mode must be one of {', '.join(_SIDES)}, got {mode!r}")
    rows = np.array(starts, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 4 or not len(rows):
        raise ValueError(f"starts must have shape (n, 4) with n >= 1, got {rows.shape}")
    if not np.isfinite(rows).all() or (np.abs(rows[:, :2]) > _FARTHEST).any():
        raise ValueError(f"starts must be finite, with alphas in [-{_FARTHEST:g}, {_FARTHEST:g}]")
    on_slice, walls = _SIDES[mode]
    if on_slice and not (np.abs(rows[:, ::2] + rows[:, 1::2] - 1.0) <= _ON_SLICE).all():
        raise ValueError("a start on the slice needs alpha1 + alpha2 = 1 and beta1 + beta2 = 1")
    if walls is not None and not ((rows >= walls[0]) & (rows <= walls[1])).all():
        raise ValueError("a start of a projected flow must lie in the box, each parameter in [0, 1]")
    return rows


def _check_tokens(rows: Array, n_tokens: ArrayLike, position: Position) -> Array:
    tokens = np.broadcast_to(np.asarray(n_tokens, dtype=np.float64), len(rows)).copy()
    worst = np.max(landscape.loss(*rows.T, tokens, position))
    if not worst <= _FARTHEST:
        raise ValueError(f"the loss at a start must be at most {_FARTHEST:g}, got {worst:g}")
    return tokens


def _check_times(times: ArrayLike | None, t_end: float) -> Array:
    if not 0 < t_end < np.inf:
        raise ValueError(f"t_end must be a positive number, got {t_end:g}")
    if times is None:
        return log_times(float(t_end))
    grid = np.asarray(times, dtype=np.float64).reshape(-1)
    if not np.isfinite(grid).all() or (np.diff(grid) <= 0).any() or (grid < 0).any() or (grid > t_end).any():
        raise ValueError(f"times must increase and lie in [0, t_end = {t_end:g}]")
    return grid if grid.size and grid[-1] == t_end else np.append(grid, t_end)
