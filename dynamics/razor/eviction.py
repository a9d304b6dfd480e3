"""Other eviction rules as attention functions without memory: windows, heavy hitters, random, SnapKV of a known query.

Each answers a whole sequence at once and gives every token what a cache of that rule would have shown it. The same
number of entries is kept by every head; the token itself is one of them.
Source: RazorAttention, Section 4 compares with StreamingLLM (Xiao et al., 2024) and H2O (Zhang et al., 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import torch
from torch import Tensor

from dynamics.model.attention_function import AttentionFunction
from dynamics.model.softmax import logits, per_head, probabilities


def causal_bias(n_tokens: int, slopes: Tensor | None, like: Tensor) -> Tensor:
    """-slope * distance, and -inf for later tokens; (heads or 1, n_tokens, n_tokens), of the type of `like`."""
    index = torch.arange(n_tokens, device=like.device)
    distance = index[:, None] - index
    bias = torch.zeros(1, n_tokens, n_tokens, dtype=like.dtype, device=like.device)
    if slopes is not None:
        bias = -slopes.to(like)[:, None, None] * distance.to(like.dtype)
    return bias.masked_fill(distance < 0, -torch.inf)


def causal_weights(query: Tensor, key: Tensor, scale: float, slopes: Tensor | None) -> Tensor:
    """Each token's attention to those up to itself, (batch, heads, n, n)."""
    return probabilities(query, key, causal_bias(query.shape[2], slopes, query), scale)


def masked(dropped: Callable[[int, Tensor, int], Tensor]) -> AttentionFunction:
    """Attention that does not see what it drops.

    Args: dropped(layer, index, n_heads), with index the positions (n,), is True for the keys that a query does not see
        besides the later ones, (n, n) or (n_heads, n, n).
    """

    def attention(layer, query, key, value, *, scale, slopes):
        index = torch.arange(key.shape[2], device=key.device)
        bias = causal_bias(len(index), slopes, query)
        bias = bias.masked_fill(dropped(layer, index, query.shape[1]), -torch.inf)
        return probabilities(query, key, bias, scale) @ per_head(value, query)

    return attention


def _between(index: Tensor, sinks: int, window: int) -> Tensor:
    """Keys that are neither among the first `sinks` nor among the query's last `window`, (n, n)."""
    return (index >= sinks) & (index[:, None] - index >= window)


def sink_window(sinks: int, window: int) -> AttentionFunction:
    """The first `sinks` tokens and the last `window`; with sinks, StreamingLLM's rule (its positions: the true ones).

    Raises: ValueError for sinks < 0 or window < 1.
    """
    return sink_window_but((), sinks, window)


def sink_window_but(whole: Collection[tuple[int, int]], sinks: int, window: int) -> AttentionFunction:
    """Sinks and a window in every head but the `whole` ones, named (layer, head), which see all; no token for the rest.

    Raises: ValueError for sinks < 0 or window < 1.
    """
    _check_window(sinks, window)

    def dropped(layer: int, index: Tensor, n_heads: int) -> Tensor:
        local = [(layer, head) not in whole for head in range(n_heads)]
        return _between(index, sinks, window) & index.new_tensor(local, dtype=torch.bool)[:, None, None]

    return masked(dropped)


def _check_window(sinks: int, window: int) -> None:
    if sinks < 0 or window < 1:
        raise ValueError(f"need sinks >= 0 and window >= 1, got {sinks} and {window}")


def known_query(ends: Tensor, observed: int, kept: int) -> AttentionFunction:
    """SnapKV without pooling: once the prompt of row i is read, tokens 0..ends[i], each head keeps the last `observed`
    of them and the `kept` earlier ones that these gave the most attention. All later tokens are kept.

    The cut is in force from the last token of the prompt on. Raises: ValueError for observed < 1 or kept < 0.
    """
    if observed < 1 or kept < 0:
        raise ValueError(f"need observed >= 1 and kept >= 0, got {observed} and {kept}")

    def attention(layer, query, key, value, *, scale, slopes):
        if query.shape[1] != key.shape[1]:
            raise ValueError("tokens are kept head by head: grouped queries are not supported")
        index, last = torch.arange(key.shape[2], device=key.device), ends.to(key.device)[:, None]
        bias = causal_bias(key.shape[2], slopes, query)
        weights = probabilities(query, key, bias, scale)
        watching = (index > last - observed) & (index <= last)  # (batch, n)
        early = index <= last - observed
        received = (weights * watching[:, None, :, None]).sum(2).masked_fill(~early[:, None], -torch.inf)
        chosen = torch.zeros_like(received, dtype=torch.bool)
        chosen.scatter_(2, received.topk(min(kept, len(index)), dim=-1).indices, True)
        gone = early[:, None] & ~chosen  # (batch, heads, n)
        cut = gone[:, :, None, :] & (index >= last)[:, None, :, None]
        return probabilities(query, key, bias.masked_fill(cut, -torch.inf), scale) @ value

    return attention


def heavy_hitters(
    heavy: int, recent: int, watch: Callable[[int, int, Tensor], None] | None = None
) -> AttentionFunction:
    """H2O: the last `recent` tokens, and of those before the `heavy` with the largest attention received so far.

    Greedy, one key-value head at a time: a new token makes room by evicting, for good, the least attended of the older
    ones, where all query heads of a group add what they give. What an evicted token would have received later is never
    known. watch(layer, t, evicted), (batch, n_kv_heads, n) bool, is called for each query t from the first eviction on.
    Raises: ValueError for heavy < 0 or recent < 1.
    """
    return _evicting(heavy, recent, watch)


def random_eviction(older: int, recent: int, seed: Sequence[int]) -> AttentionFunction:
    """The last `recent` tokens, and of those before `older` drawn evenly, for each key-value head by itself.

    Each token draws a number when it comes, from the seed and the layer; the older token with the least number goes.
    Raises: ValueError for older < 0 or recent < 1.
    """

    def drawn(layer: int, n_kv_heads: int, n_tokens: int) -> Tensor:
        return torch.from_numpy(np.random.default_rng([*seed, layer]).random((n_kv_heads, n_tokens)))

    return _evicting(older, recent, drawn=drawn)


def _evicting(
    kept: int,
    recent: int,
    watch: Callable[[int, int, Tensor], None] | None = None,
    drawn: Callable[[int, int, int], Tensor] | None = None,
) -> AttentionFunction:
    """The last `recent` tokens, and of those before the `kept` of the largest worth: attention received, or drawn."""
    if kept < 0 or recent < 1:
        raise ValueError(f"need heavy >= 0 and recent >= 1, got {kept} and {recent}")

    def attention(layer, query, key, value, *, scale, slopes):
        (n_kv_heads, n_tokens), most = key.shape[1:3], kept + recent
        scores = logits(query, key, causal_bias(n_tokens, slopes, query), scale).unflatten(1, (n_kv_heads, -1))
        start = min(most, n_tokens)  # until then nothing is evicted
        weights = torch.zeros_like(scores)
        weights[..., :start, :] = scores[..., :start, :].softmax(-1)
        worth = weights.sum((2, 3))
        if drawn is not None:
            worth = drawn(layer, n_kv_heads, n_tokens).to(worth.device).expand(len(query), -1, -1)
        evicted = torch.zeros(worth.shape, dtype=torch.bool, device=worth.device)
        for t in range(start, n_tokens):
            old = worth[..., : t - recent + 1].masked_fill(evicted[..., : t - recent + 1], torch.inf)
            evicted.scatter_(2, old.argmin(-1, keepdim=True), True)
            weights[..., t, :] = scores[..., t, :].masked_fill(evicted[:, :, None], -torch.inf).softmax(-1)
            if drawn is None:
                worth = worth + weights[..., t, :].sum(2)
            if watch is not None:
                watch(layer, t, evicted)
        return weights.flatten(1, 2) @ per_head(value, query)

    return attention


def renumbered(sinks: int, window: int) -> AttentionFunction:
    """Sinks and a window that count positions in the cache, StreamingLLM's rule: query t stands at min(t, sinks +
    window - 1), so that it is nearer to the sinks; the distances inside the window are those of the text.

    A model that rotates its queries reads the tokens twice, as a batch of two: with the positions of the text, and with
    these. The queries of the second row read the sinks, and both rows get the same outputs.
    Raises: ValueError for sinks < 0 or window < 1.
    """
    _check_window(sinks, window)

    def attention(layer, query, key, value, *, scale, slopes):
        index = torch.arange(key.shape[2], device=key.device)
        bias = causal_bias(len(index), slopes, query)
        if slopes is not None:
            moved = (index - index.clamp(max=sinks + window - 1))[:, None] * (index < sinks)
            bias = bias + slopes.to(query)[:, None, None] * moved
        near, far = (logits(one[None], key[:1], bias, scale) for one in (query[0], query[-1]))
        dropped = _between(index, sinks, window)
        weights = torch.where(index < sinks, far, near).masked_fill(dropped, -torch.inf).softmax(-1)
        return (weights @ per_head(value[:1], query)).expand(len(query), -1, -1, -1)

    return attention
