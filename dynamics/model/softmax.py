"""Softmax attention over heads: the fused kernel for outputs, the written-out one for probabilities.

And what two variants make of it: the difference of two softmaxes, and logits that earlier queries have lowered.
"""

from __future__ import annotations

import math
from collections.abc import Callable

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
        return probabilities(query, key, mask, scale, causal=causal) @ per_head(value, query)
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
    return softmax(logits(query, key, mask, scale, causal), sinks)


def logits(query: Tensor, key: Tensor, mask: Tensor | None, scale: float, causal: bool = True) -> Tensor:
    """Scale Q K^T + mask, (batch, heads, queries, keys), -inf where nothing is seen; arguments as for `attend`."""
    scores = scale * query @ per_head(key, query).transpose(2, 3)
    if mask is None and causal and query.shape[2] == key.shape[2]:
        mask = torch.ones(scores.shape[2:], dtype=torch.bool, device=scores.device).tril()
    if mask is None:
        return scores
    return scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask


def read(weights: Tensor, value: Tensor) -> Tensor:
    """Weights (batch, heads, queries, keys) times values (batch, kv_heads, keys, head_dim)."""
    return weights @ per_head(value, weights)


def selected(scores: Tensor, first: Tensor, before: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """F[i, j] = sum_{m < i} max(s[m, j], 0), which selective attention takes off the logits of all heads.

    Source: selective attention (arXiv:2410.02703), section 3: s are the logits of the first head, but 0 for a query's
    own key and that of the first token.
    Args: scores (batch, heads, queries, keys), masked, of the last queries; first (batch or 1, keys), True for a first
        token; before (batch, any), F of the first query here, 0 for keys beyond.
    Returns: F (batch, queries, keys); F of the query after the last, (batch, keys).
    """
    n_queries, n_keys = scores.shape[2:]
    own = torch.eye(n_keys, dtype=torch.bool, device=scores.device)[n_keys - n_queries :]
    found = scores[:, 0].relu().masked_fill(own | first[:, None], 0.0)
    start = found.new_zeros(len(found), n_keys) if before is None else F.pad(before, (0, n_keys - before.shape[1]))
    through = start[:, None] + found.cumsum(1)
    return torch.cat([start[:, None], through[:, :-1]], dim=1), through[:, -1]


def difference(weigh: Callable[[Tensor, Tensor], Tensor], query: Tensor, key: Tensor, factor: Tensor) -> Tensor:
    """Differential attention: weigh of the first halves of queries and keys, less factor times that of the second."""
    first, second = (weigh(*half) for half in zip(query.chunk(2, dim=-1), key.chunk(2, dim=-1), strict=True))
    return first - factor * second


def initial_share(layer: int) -> float:
    """0.8 - 0.6 e^{-0.3 layer}, layer from 0: about what differential attention's lambda is at first."""
    return 0.8 - 0.6 * math.exp(-0.3 * layer)


def share(vectors: Tensor, layer: int) -> Tensor:
    """lambda = e^{q1.k1} - e^{q2.k2} + `initial_share`, the factor on the second softmax of differential attention.

    Source: differential transformer (arXiv:2410.05258), Eq. 2 and 3, whose layers count from 1.
    Args: vectors (.., 4, head_dim / 2), in the order q1, k1, q2, k2. Returns: (..).
    """
    q1, k1, q2, k2 = vectors.unbind(-2)
    return (q1 * k1).sum(-1).exp() - (q2 * k2).sum(-1).exp() + initial_share(layer)


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


def per_head(heads: Tensor, query: Tensor) -> Tensor:
    """Each key-value head once for every query head of its group."""
    return heads.repeat_interleave(query.shape[1] // heads.shape[1], dim=1)
