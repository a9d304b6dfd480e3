"""Gradient descent on the closed-form loss from many starts at once, to see how far the flow models training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.flow.velocity import Array, make_field
from theory import landscape
from theory.landscape.exact import Position


class Descent(NamedTuple):
    """steps (recorded,), whole numbers from 0; theta (recorded, n, 4); loss (recorded, n)."""

    steps: NDArray[np.int_]
    theta: Array
    loss: Array


def log_steps(steps: int) -> NDArray[np.int_]:
    """0 and about 20 whole numbers a decade up to `steps`."""
    number = 2 + int(20 * np.log10(max(steps, 1)))
    return np.unique(np.concatenate([[0], np.rint(np.geomspace(1, max(steps, 1), number)), [steps]]).astype(int))


def descend(
    starts: ArrayLike,
    n_tokens: ArrayLike,
    steps: int,
    learning_rate: float = 0.1,
    *,
    position: Position = None,
) -> Descent:
    """theta <- theta - learning_rate grad L, the flow at time learning_rate * step.

    Args: starts (n, 4), rows (alpha1, alpha2, beta1, beta2); n_tokens one for all or one a start. Returns the states at
    `log_steps(steps)`; a run that diverges stays at NaN from there on.
    Raises ValueError for no steps, a rate that is not positive, and as `theory.landscape.loss` does.
    """
    rows = np.array(starts, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"starts must have shape (n, 4), got {rows.shape}")
    if steps != int(steps) or steps < 1 or not 0 < learning_rate < np.inf:
        raise ValueError(f"need a whole number of steps >= 1 and a rate > 0, got {steps} and {learning_rate:g}")
    tokens = np.broadcast_to(np.asarray(n_tokens, dtype=np.float64), len(rows)).copy()
    landscape.loss(*rows.T, tokens, position)  # refuses what it cannot take
    recorded = log_steps(int(steps))
    with np.errstate(over="ignore", invalid="ignore"):
        theta = _states(np.ascontiguousarray(rows.T), tokens, recorded, learning_rate, position)
    finite = np.isfinite(theta).all(axis=-1)
    known = landscape.loss(*np.moveaxis(np.where(finite[..., None], theta, 0.0), -1, 0), tokens, position)
    return Descent(recorded, theta, np.where(finite, known, np.nan))


def _states(state, tokens, recorded, rate, position) -> Array:
    field = make_field(tokens, position, on_slice=False)
    theta, down = np.empty((recorded.size, tokens.size, 4)), np.empty_like(state)
    theta[0], at = state.T, 1
    for step in range(1, int(recorded[-1]) + 1):
        field.velocity(state, down)
        state = state + rate * down
        if step == recorded[at]:
            theta[at] = state.T
            at += 1
    return theta
