"""The mixing coefficients of a model as it trained, beside the gradient flow of the theorem's loss from one start.

The theorem's model has W_Q W_K = W_V W_O = I, a trained head its own gains, and the coefficients a gauge
(`dynamics.heads.named`): what can be compared are directions, and in which cell a head ends, |alpha2| > |alpha1| and
|beta1| > |beta2| that of induction. Where all but four scalars are frozen, so that times can be compared too, it is
`dynamics.scalar.model.train_scalars` that trains, and `scripts.scalar` that sets it beside the flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.flow.trajectories import Trajectory, gradient_flow
from dynamics.heads.coupling import fixed
from dynamics.observed.log import Scores, stacked
from theory.records import comparable

Array = NDArray[np.float64]


@comparable
class MixingPath(NamedTuple):
    """steps (lines,); theta (lines, heads, 4), alpha1, alpha2, beta1, beta2 of each key-value head of one layer."""

    steps: NDArray[np.int64]
    theta: Array


def mixing_path(lines: Sequence[Scores], layer: int = 0) -> MixingPath:
    """The coefficients over a log. Raises: ValueError for a model that does not shift with window 2, or no lines."""
    if not lines:
        raise ValueError("the log has no lines")
    alpha, beta = stacked(lines, "alpha"), stacked(lines, "beta")
    if alpha.shape[-1] != 2:
        raise ValueError(f"the flow is that of window 2, the log has window {alpha.shape[-1]}")
    if not 0 <= layer < alpha.shape[1]:
        raise ValueError(f"layer must be in 0..{alpha.shape[1] - 1}, got {layer}")
    steps = np.array([line.step for line in lines])
    return MixingPath(steps, np.concatenate([alpha[:, layer], beta[:, layer]], axis=-1))


def flow_beside(path: MixingPath, n_tokens: int, t_end: float = 1e4) -> Trajectory:
    """The flow of the one-repeat loss over sentences of n_tokens, from where each head began; position "mean".

    Raises: ValueError as `dynamics.flow.trajectories.gradient_flow`.
    """
    return gradient_flow(path.theta[0], n_tokens, t_end, position="mean")


def directions(theta: Array) -> Array:
    """Each pair (alpha1, alpha2) and (beta1, beta2) with |c1| + |c2| = 1 and the larger one positive, (.., 4).

    It is the one point of its gauge orbit that `dynamics.heads.named.fix_gauge` picks.
    """
    rows = [np.concatenate(fixed(tuple(row[:2]), tuple(row[2:]))) for row in theta.reshape(-1, 4)]
    return np.array(rows, dtype=np.float64).reshape(theta.shape)


def is_induction(theta: Array) -> NDArray[np.bool_]:
    """Whether keys look back and values stay, |alpha2| > |alpha1| and |beta1| > |beta2| in every gauge, (..)."""
    sizes = np.abs(theta)
    return (sizes[..., 1] > sizes[..., 0]) & (sizes[..., 2] > sizes[..., 3])
