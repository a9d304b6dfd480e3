"""The compensation token as a running mean: dropped keys and values are folded in and need not be kept."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Folded(NamedTuple):
    """Weighted means (..., d_k + d_v) of the dropped keys and values, side by side, and the log of the summed weights.

    The weights are e^{prior}, prior = q_0.k - rate * distance from the last token seen; float64.
    """

    mean: Tensor
    total: Tensor


def empty(shape: tuple[int, ...], width: int, device: torch.device) -> Folded:
    """Nothing dropped yet: zero means of weight 0, for heads of this shape."""
    zeros = torch.zeros(*shape, width, dtype=torch.float64, device=device)
    return Folded(zeros, zeros.new_full(shape, -torch.inf))


def fold(before: Folded, age: Tensor, rate: Tensor, rows: Tensor, prior: Tensor) -> Folded:
    """The means for each of c queries after the tokens of the largest finite priors are folded in.

    The step of `theory.cache.compensation_alibi.advance` for any number of tokens and any prior weight.
    Args: before, (batch, heads, group); age (c,), how far each query is from where `before` stands; rate (heads,
        group), the decay of a log weight with distance; rows (batch, heads, new, d_k + d_v); prior (batch, heads,
        group, c, new), -inf for a token that the query has not dropped.
    Returns: shapes (batch, heads, group, c, ..).
    """
    aged = before.total[..., None] - rate[..., None] * age
    total = torch.logaddexp(aged, prior.logsumexp(-1))
    finite = total.masked_fill(total == -torch.inf, 0.0)
    old, new = (aged - finite).exp()[..., None], (prior - finite[..., None]).exp()
    mean = (new.flatten(2, 3) @ rows.double()).unflatten(2, new.shape[2:4])
    return Folded(old * before.mean[..., None, :] + mean, total)


def fold_one(before: Folded, rate: Tensor, row: Tensor, prior: Tensor) -> Folded:
    """The means one token later, with one more token in them: `fold` for c = new = age = 1.

    Args: row (batch, heads, 1, d_k + d_v), float64; prior broadcasts to (batch, heads, group).
    """
    total = torch.logaddexp(before.total - rate, prior)
    return Folded(before.mean.lerp(row, (prior - total).exp()[..., None]), total)
