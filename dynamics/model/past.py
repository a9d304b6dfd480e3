"""Mixtures with the tokens before at other places than a head's own coefficients: smear, Canon layers, key offset.

The records are `dynamics.model.config.Past`. Everything starts as if there were none: a residual one at coefficients 0,
another one at (1, 0, ..).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from dynamics.model.config import Past
from dynamics.model.positions import Layout
from dynamics.model.shift import before_first, per_row, shift_mix

if TYPE_CHECKING:
    from dynamics.model.cache import KVCache


def parameter(past: Past, channels: int) -> nn.Parameter | None:
    """The coefficients as they start, (channels or 1, window); None for those that are fixed."""
    if past.fixed:
        return None
    start = torch.zeros(1 if past.per == "one" else channels, past.window)
    if not past.residual:
        start[:, 0] = 1.0
    return nn.Parameter(start)


def beginnings(kind: str, sizes: Mapping[str, int | tuple[int, int]]) -> nn.ParameterDict:
    """The vectors that stand before the first token, by place, at first zero; none unless the kind is "learnt"."""
    learnt = sizes if kind == "learnt" else {}
    return nn.ParameterDict({at: nn.Parameter(torch.zeros(size)) for at, size in learnt.items()})


def offset(past: Past, n_heads: int, head_dim: int, like: Tensor) -> Tensor:
    """The fixed coefficients, (n_heads * head_dim, 2): a share of each head's channels is that of the token before.

    The channels are those of the slowest pairs (i, i + d/2) of a rotary embedding, both of a pair; or they are all of
    some heads.
    """
    if past.heads is not None:
        moved = torch.tensor([head in past.heads for head in range(n_heads)]).repeat_interleave(head_dim)
        return torch.stack([~moved, moved], dim=1).to(like)
    half = max(1, head_dim // 2)
    moved = torch.arange(head_dim) % half >= half - round(past.offset * half)
    rows = torch.stack([~moved, moved], dim=1).to(like.dtype)
    return rows.repeat(n_heads, 1).to(like.device)


def mixed(
    past: Past, weight: Tensor, x: Tensor, cache: KVCache | None = None, segment_ids: Tensor | None = None
) -> Tensor:
    """y[t] = sum_j c_j x[t - j], and x[t] more where it is residual, of x (batch, length, channels).

    weight: (channels or 1, window), of a stack (models, channels or 1, window). cache: keeps the last tokens of x under
    the name of the place.
    """
    tokens, weights = x.unsqueeze(-1), per_row(weight.expand(*weight.shape[:-2], x.shape[-1], -1), 2, len(x))
    name = f"past.{past.at}"  # a shift of the same projection keeps its own last tokens
    previous = None if cache is None else cache.previous(name)
    out = shift_mix(tokens, weights, previous=previous, segment_ids=segment_ids).squeeze(-1)
    if cache is not None:
        cache.remember(name, tokens, past.window - 1)
    return x + out if past.residual else out


def begun(
    past: Past,
    weight: Tensor,
    x: Tensor,
    kind: str,
    start: Tensor | None,
    cache: KVCache | None = None,
    segment_ids: Tensor | None = None,
    ages: Tensor | None = None,
) -> Tensor:
    """`mixed` with what stands before a document: nothing, the document before it, or start, (channels,).

    kind: `ModelConfig.start`. ages: how many tokens of its document stand before a token, where there are pads.
    """
    previous = None if cache is None else cache.previous(f"past.{past.at}")
    out = mixed(past, weight, x, cache, None if kind == "carried" else segment_ids)
    if start is None:
        return out
    if ages is None:  # a cache that holds less than the window has seen no more
        seen = 0 if previous is None else previous.shape[1]
        ages = Layout(seen, x.shape[1], x.device, runs=segment_ids).positions()
    columns = per_row(weight.expand(*weight.shape[:-2], x.shape[-1], -1), 2, len(x))
    return out + before_first(per_row(start, 1, len(x)).unsqueeze(-1).to(x.dtype), columns, ages).squeeze(-1)
