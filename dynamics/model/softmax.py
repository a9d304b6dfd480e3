"""Softmax attention over heads: the fused kernel for outputs, the written-out one for probabilities."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import forward_ad


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """Softmax(scale Q K^T + mask) V, of shape (batch, heads, queries, head_dim).

    Args: query (batch, heads, queries, head_dim); key, value (batch, kv_heads, keys, head_dim); mask, a bool mask (True
        is seen) or an added one - None: causal if there are as many keys as queries, else every key is seen.
    """
    # The CPU kernel has no batching rule, under vmap torch would loop over the batch, and warn; and no forward mode.
    if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        return probabilities(query, key, mask, scale) @ _repeat(value, query)
    causal = mask is None and query.shape[2] == key.shape[2]
    grouped = query.shape[1] != key.shape[1]
    return F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=grouped
    )


def probabilities(query: Tensor, key: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """Softmax(scale Q K^T + mask), (batch, heads, queries, keys); arguments as for `attend`."""
    scores = scale * query @ _repeat(key, query).transpose(2, 3)
    if mask is None and query.shape[2] == key.shape[2]:
        mask = torch.ones(scores.shape[2:], dtype=torch.bool, device=scores.device).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1)


def _repeat(heads: Tensor, query: Tensor) -> Tensor:
    """Each key-value head once for every query head of its group."""
    return heads.repeat_interleave(query.shape[1] // heads.shape[1], dim=1)
