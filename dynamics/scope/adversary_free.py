"""Attack with every state free: no closed form for the keys, for contexts of a few tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dynamics.scope.adversary_ascent import ascend
from dynamics.scope.adversary_context import Context, Heads, attention, context, states

Aim = Callable[[Tensor, Tensor], Tensor]


def move_all(stack: Heads, n_tokens: int, aim: Aim, starts: int = 12, steps: int = 400, seed: int = 0) -> list[Context]:
    """For each head the context of n_tokens free states with the largest aim(weights, states) found.

    aim takes weights (heads, starts, n_tokens) and states (heads, starts, n_tokens, d_model), oldest first, and returns
    (heads, starts); `share` is one.
    """
    generator = torch.Generator().manual_seed(seed)
    raw = torch.randn(len(stack), starts, n_tokens * stack.width, generator=generator, dtype=torch.float64)
    order = torch.arange(n_tokens)

    def value(rows: Tensor) -> Tensor:
        found = states(stack, rows.unflatten(-1, (n_tokens, stack.width)))
        return aim(attention(stack, found[..., -1, :], found, order.flip(0)), found)

    raw = ascend(value, raw, steps, tolerance=1e-11)
    best = raw[torch.arange(len(stack)), value(raw).argmax(dim=1)]
    words = states(stack, best.unflatten(-1, (n_tokens, stack.width)))
    return [context(stack.head(i), words[i], order, order.flip(0)) for i in range(len(stack))]


def share(distances: Sequence[int]) -> Aim:
    """The logarithm of the odds of these distances together against all others."""

    def aim(weights: Tensor, _: Tensor) -> Tensor:
        wanted = torch.isin(torch.arange(weights.shape[-1]).flip(0), torch.tensor(list(distances)))
        return weights[..., wanted].sum(-1).log() - weights[..., ~wanted].sum(-1).log()

    return aim
