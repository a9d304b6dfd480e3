"""SGD and Adam on the closed-form loss, many starts at once: where the flow stops being a model of training."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.flow.velocity import Array, make_field
from theory import landscape
from theory.landscape.exact import Position

Rule = Literal["sgd", "adam"]


class Descent(NamedTuple):
    """steps (recorded,), whole numbers from 0; theta (recorded, n, 4); loss (recorded, n)."""

    steps: NDArray[np.int_]
    theta: Array
    loss: Array


def log_steps(steps: int, per_decade: int = 20) -> NDArray[np.int_]:
    """0 and about `per_decade` whole numbers a decade up to `steps`."""
    number = 2 + int(per_decade * np.log10(max(steps, 1)))
    return np.unique(np.concatenate([[0], np.rint(np.geomspace(1, max(steps, 1), number)), [steps]]).astype(int))


def descend(
    starts: ArrayLike,
    n_tokens: ArrayLike,
    steps: int,
    rule: Rule = "sgd",
    learning_rate: float = 0.1,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    position: Position = None,
) -> Descent:
    """theta <- theta - learning_rate grad L ("sgd"; the flow at time learning_rate * step), or Adam (Kingma, Ba 2015).

    Args: starts (n, 4), rows (alpha1, alpha2, beta1, beta2); n_tokens one for all or one a start; betas and epsilon are
    Adam's. Returns the states at `log_steps(steps)`; a run that diverges stays at NaN from there on.
    Raises ValueError for another rule, no steps, a rate that is not positive, and as `theory.landscape.loss` does.
    """
    rows = np.array(starts, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"starts must have shape (n, 4), got {rows.shape}")
    if rule not in ("sgd", "adam"):
        raise ValueError(f"rule must be sgd or adam, got {rule!r}")
    if steps != int(steps) or steps < 1 or not 0 < learning_rate < np.inf:
        raise ValueError(f"need a whole number of steps >= 1 and a rate > 0, got {steps} and {learning_rate:g}")
    tokens = np.broadcast_to(np.asarray(n_tokens, dtype=np.float64), len(rows)).copy()
    landscape.loss(*rows.T, tokens, position)  # refuses what it cannot take
    recorded = log_steps(int(steps))
    with np.errstate(over="ignore", invalid="ignore"):
        theta = _states(np.ascontiguousarray(rows.T), tokens, recorded, rule, learning_rate, betas, epsilon, position)
    finite = np.isfinite(theta).all(axis=-1)
    known = landscape.loss(*np.moveaxis(np.where(finite[..., None], theta, 0.0), -1, 0), tokens, position)
    return Descent(recorded, theta, np.where(finite, known, np.nan))


def _states(state, tokens, recorded, rule, rate, betas, epsilon, position) -> Array:
    field = make_field(tokens, position, on_slice=False)
    theta, down = np.empty((recorded.size, tokens.size, 4)), np.empty_like(state)
    mean, square = np.zeros_like(state), np.zeros_like(state)
    theta[0], at = state.T, 1
    for step in range(1, int(recorded[-1]) + 1):
        field.velocity(state, down)
        if rule == "adam":
            mean = betas[0] * mean + (1 - betas[0]) * down
            square = betas[1] * square + (1 - betas[1]) * down**2
            down = mean / (1 - betas[0] ** step) / (np.sqrt(square / (1 - betas[1] ** step)) + epsilon)
        state = state + rate * down
        if step == recorded[at]:
            theta[at] = state.T
            at += 1
    return theta
