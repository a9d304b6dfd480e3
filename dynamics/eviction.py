"""What other caches keep, as attention functions without memory: a window, sinks and a window, heavy hitters.

Each answers a whole sequence at once and gives every token what a cache of that rule would have shown it. The same
number of entries is kept by every head; the token itself is one of them.
Source: RazorAttention, Section 4 compares with StreamingLLM (Xiao et al., 2024) and H2O (Zhang et al., 2023).
"""

from __future__ import annotations

import torch
from torch import Tensor

from dynamics.attention_function import AttentionFunction
from dynamics.softmax import probabilities


def causal_bias(n_tokens: int, slopes: Tensor | None, like: Tensor) -> Tensor:
    """-slope * distance, and -inf for later tokens; (heads or 1, n_tokens, n_tokens), of the type of `like`."""
    index = torch.arange(n_tokens, device=like.device)
    distance = index[:, None] - index
    bias = torch.zeros(1, n_tokens, n_tokens, dtype=like.dtype, device=like.device)
    if slopes is not None:
        bias = -slopes.to(like)[:, None, None] * distance.to(like.dtype)
    return bias.masked_fill(distance < 0, -torch.inf)


def sink_window(sinks: int, window: int) -> AttentionFunction:
    """The first `sinks` tokens and the last `window`; with sinks, StreamingLLM's rule (its positions: the true ones).

    Raises: ValueError for sinks < 0 or window < 1.
    """
    if sinks < 0 or window < 1:
        raise ValueError(f"need sinks >= 0 and window >= 1, got {sinks} and {window}")

    def attention(
        layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        index = torch.arange(key.shape[2], device=key.device)
        dropped = (index >= sinks) & (index[:, None] - index >= window)
        bias = causal_bias(key.shape[2], slopes, query).masked_fill(dropped, -torch.inf)
        return probabilities(query, key, bias, scale) @ _per_head(value, query)

    return attention


def heavy_hitters(heavy: int, recent: int) -> AttentionFunction:
    """H2O: the last `recent` tokens, and of those before the `heavy` with the largest attention received so far.

    Greedy, head by head: a new token makes room by evicting, for good, the least attended of the older ones. What
    an evicted token would have received later is never known. Raises: ValueError for heavy < 0 or recent < 1.
    """
    if heavy < 0 or recent < 1:
        raise ValueError(f"need heavy >= 0 and recent >= 1, got {heavy} and {recent}")

    def attention(
        layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        if query.shape[1] != key.shape[1]:
            raise ValueError("heavy hitters are kept head by head: grouped queries are not supported")
        n_tokens, budget = key.shape[2], heavy + recent
        scores = scale * query @ key.transpose(2, 3) + causal_bias(n_tokens, slopes, query)
        start = min(budget, n_tokens)  # until then nothing is evicted
        weights = torch.zeros_like(scores)
        weights[:, :, :start] = scores[:, :, :start].softmax(-1)
        received, evicted = weights.sum(2), torch.zeros((*scores.shape[:2], n_tokens), dtype=torch.bool)
        evicted = evicted.to(scores.device)
        for t in range(start, n_tokens):
            old = received[..., : t - recent + 1].masked_fill(evicted[..., : t - recent + 1], torch.inf)
            evicted.scatter_(2, old.argmin(-1, keepdim=True), True)
            weights[:, :, t] = scores[:, :, t].masked_fill(evicted, -torch.inf).softmax(-1)
            received += weights[:, :, t]
        return weights @ value

    return attention


def _per_head(value: Tensor, query: Tensor) -> Tensor:
    return value.repeat_interleave(query.shape[1] // value.shape[1], dim=1)
