"""Softmax attention over heads: the fused kernel for outputs, the written-out one for probabilities."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import forward_ad


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    sinks: Tensor | None = None,
    causal: bool = True,
) -> Tensor:
    """Softmax(scale Q K^T + mask) V, of shape (batch, heads, queries, head_dim).

    Args: query (batch, heads, queries, head_dim); key, value (batch, kv_heads, keys, head_dim); mask, a bool mask (True
        is seen) or an added one - None: if causal, and there are as many keys as queries, those up to the query's own,
        else every key is seen; sinks (heads,), logits whose weight goes nowhere (`theory.sink.sink_softmax`).
    """
    if sinks is not None:
        key, value, mask = _with_sink(query, key, value, mask, sinks, causal)
    # The CPU kernel has no batching rule, under vmap torch would loop over the batch, and warn; and no forward mode.
    if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        return probabilities(query, key, mask, scale, causal=causal) @ _repeat(value, query)
    causal = causal and mask is None and query.shape[2] == key.shape[2]
    grouped = query.shape[1] != key.shape[1]
    return F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=grouped
    )


def probabilities(
    query: Tensor, key: Tensor, mask: Tensor | None, scale: float, sinks: Tensor | None = None, causal: bool = True
) -> Tensor:
    """Softmax(scale Q K^T + mask), (batch, heads, queries, keys); arguments as for `attend`.

    With sinks the rows sum to 1 less the sink's share.
    """
    scores = scale * query @ _repeat(key, query).transpose(2, 3)
    if mask is None and causal and query.shape[2] == key.shape[2]:
        mask = torch.ones(scores.shape[2:], dtype=torch.bool, device=scores.device).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
    return softmax(scores, sinks)


def softmax(scores: Tensor, sinks: Tensor | None) -> Tensor:
    """e^x / (e^s + sum e^x) over the last axis of scores (.., heads, queries, keys), s of sinks (.., heads) if any."""
    if sinks is None:
        return scores.softmax(-1)
    logits = sinks.to(scores.dtype)[..., None, None].expand(*scores.shape[:-1], 1)
    return torch.cat([scores, logits], dim=-1).softmax(-1)[..., :-1]


def _with_sink(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, sinks: Tensor, causal: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """One more key, which is zero, so that what the mask adds is its logit; its value is zero."""
    key, value = F.pad(key, (0, 0, 0, 1)), F.pad(value, (0, 0, 0, 1))
    n_queries, n_keys = query.shape[2], key.shape[2] - 1
    if mask is None:
        mask = torch.ones(n_queries, n_keys, dtype=torch.bool, device=query.device)
        mask = mask.tril() if causal and n_queries == n_keys else mask
    if mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(~mask, -torch.inf)
    logits = sinks.to(query.dtype)[..., None, None].expand(query.shape[0], query.shape[1], n_queries, 1)
    return key, value, torch.cat([mask.expand(query.shape[0], query.shape[1], n_queries, n_keys), logits], dim=-1)


def _repeat(heads: Tensor, query: Tensor) -> Tensor:
    """Each key-value head once for every query head of its group."""
    return heads.repeat_interleave(query.shape[1] // heads.shape[1], dim=1)
