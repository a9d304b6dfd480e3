"""Attention of some queries over the tokens of their key-value heads: logits with slopes, a cap and learned sinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

BLOCK = 128  # queries at a time: what bounds the memory of their scores


class Logits(NamedTuple):
    """What a layer makes of a query and a key: cap(scale q.k) - rate * distance, cap(x) = softcap tanh(x / softcap).

    rates, sinks: (1, n_kv_heads, group), or None; a sink is a logit whose weight goes nowhere.
    """

    scale: float
    rates: Tensor | None = None
    sinks: Tensor | None = None
    softcap: float | None = None

    @property
    def plain(self) -> bool:
        return self.sinks is None and self.softcap is None

    def of(self, select: Callable[[Tensor], Tensor]) -> Logits:
        """Those of some key-value heads, which `select` takes of (any, n_kv_heads, ..)."""
        if self.rates is None and self.sinks is None:
            return self
        rates, sinks = (None if x is None else select(x) for x in (self.rates, self.sinks))
        return Logits(self.scale, rates, sinks, self.softcap)

    def cap(self, products: Tensor) -> Tensor:
        """The cap of scale q.k, which a model may not have."""
        return products if self.softcap is None else self.softcap * (products / self.softcap).tanh()

    def bias(self, distance: Tensor, kind: torch.dtype) -> Tensor | None:
        """-rate * distance, (n_kv_heads, group, ..)."""
        return None if self.rates is None else self.rates[0].to(kind)[(..., *[None] * distance.ndim)] * -distance


def weigh(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, logits: Logits) -> Tensor:
    """Outputs (batch, heads, m, d_v) of m queries (batch, heads, m, d_k) of each key-value head, group by group.

    key, value (batch, heads, n, d); bias broadcasts to (batch, heads, m, n), at least float32.
    """
    if logits.plain:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=logits.scale)
    found = scores(query, key, bias, logits)
    return read(found, value, logits).to(query.dtype)


def scores(query: Tensor, key: Tensor, bias: Tensor | None, logits: Logits) -> Tensor:
    """The logits themselves, (batch, heads, m, n), at least float32; arguments as for `weigh`."""
    products = logits.cap((logits.scale * query @ key.transpose(2, 3)).to(wide(query)))
    return products if bias is None else products + bias


def shares(found: Tensor, logits: Logits) -> Tensor:
    """Softmax of logits (batch, heads, m, n), with the sinks' share left out."""
    if logits.sinks is None:
        return found.softmax(-1)
    sinks = logits.sinks.to(found.dtype).repeat_interleave(found.shape[2] // logits.sinks.shape[2], dim=2)
    return torch.cat([found, sinks[..., None].expand(*found.shape[:3], 1)], dim=-1).softmax(-1)[..., :-1]


def read(found: Tensor, value: Tensor, logits: Logits) -> Tensor:
    """What these logits read of the values (batch, heads, n, d_v)."""
    return shares(found, logits).to(value.dtype) @ value


def whole(query: Tensor, key: Tensor, value: Tensor, logits: Logits) -> Tensor:
    """Each of the last c of n tokens sees all up to itself: (batch, heads, group, c, d_v).

    query (batch, heads, group, c, d_k), key and value (batch, heads, n, d).
    """
    group, count, n_keys = query.shape[2], query.shape[3], key.shape[2]
    if logits.plain and logits.rates is None and count == n_keys:
        found = F.scaled_dot_product_attention(
            query.flatten(1, 2), key, value, is_causal=True, scale=logits.scale, enable_gqa=group > 1
        )
        return found.unflatten(1, (-1, group))
    output = query.new_empty(*query.shape[:-1], value.shape[-1])
    for first in range(0, count, BLOCK):
        block = query[:, :, :, first : first + BLOCK]
        seen = n_keys - count + first + block.shape[3]
        at = torch.arange(seen - block.shape[3], seen, device=query.device)[:, None]
        bias = block_bias(at, torch.arange(seen, device=query.device), at.new_zeros(()), logits, wide(query))
        found = weigh(block.flatten(2, 3), key[:, :, :seen], value[:, :, :seen], packed(bias, group), logits)
        output[:, :, :, first : first + BLOCK] = found.unflatten(2, (group, -1))
    return output


def block_bias(at: Tensor, position: Tensor, start: Tensor, logits: Logits, kind: torch.dtype) -> Tensor:
    """-rate * distance from queries at (c, 1) to keys at (n,), -inf outside [start, at]; (heads, group, c, n)."""
    bias = logits.bias(at - position, kind)
    if bias is None:
        bias = torch.zeros(1, 1, len(at), len(position), dtype=kind, device=at.device)
    return bias.masked_fill((position > at) | (position < start), -torch.inf)


def packed(bias: Tensor, group: int) -> Tensor:
    """(heads, group or 1, c, n) as (heads, group * c, n)."""
    return bias.expand(-1, group, -1, -1).flatten(1, 2)


def wide(like: Tensor) -> torch.dtype:
    """The type of logits: at least single precision."""
    return torch.float64 if like.dtype == torch.float64 else torch.float32
