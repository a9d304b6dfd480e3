"""The compensation token as a running mean: dropped keys and values are folded in and need not be kept."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Folded(NamedTuple):
    """Weighted means of the dropped keys (..., d_k) and values (..., d_v), and the log of the summed weights (...).

    The weights are e^{prior}, prior = q_0.k - rate * distance from the last token seen; float64.
    """

    key: Tensor
    value: Tensor
    total: Tensor


def empty(shape: tuple[int, ...], key: Tensor, value: Tensor) -> Folded:
    """Nothing dropped yet: zero means of weight 0, for heads of this shape."""

    def zeros(*size: int) -> Tensor:
        return torch.zeros(*shape, *size, dtype=torch.float64, device=key.device)

    return Folded(zeros(key.shape[-1]), zeros(value.shape[-1]), zeros() - torch.inf)


def fold(before: Folded, age: Tensor, rate: Tensor, key: Tensor, value: Tensor, prior: Tensor) -> Folded:
    """The means for each of c queries after the tokens of the largest finite priors are folded in.

    The step of `theory.cache.compensation_alibi.advance` for any number of tokens and any prior weight.
    Args: before, (batch, heads, group); age (c,), how far each query is from where `before` stands; rate (heads,
        group), the decay of a log weight with distance; key, value (batch, heads, new, d); prior (batch, heads, group,
        c, new), -inf for a token that the query has not dropped.
    Returns: shapes (batch, heads, group, c, ..).
    """
    aged = before.total[..., None] - rate[..., None] * age
    total = torch.logaddexp(aged, prior.logsumexp(-1))
    finite = total.masked_fill(total == -torch.inf, 0.0)
    old, new = (aged - finite).exp()[..., None], (prior - finite[..., None]).exp()
    return Folded(
        old * before.key[..., None, :] + torch.einsum("bhgcn,bhnd->bhgcd", new, key.double()),
        old * before.value[..., None, :] + torch.einsum("bhgcn,bhnd->bhgcd", new, value.double()),
        total,
    )
