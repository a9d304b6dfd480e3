"""One new token for a layer of the Razor cache: written in place, and read with everything that is then stored.

What a single query does not see has left the cache, so nothing is masked. The compensation tokens stand among the rows
that are read: their log weights are added to the logits of those.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dynamics.razor.logits import Logits, weigh, wide
from dynamics.razor.token import Folded, fold_one
from dynamics.razor.tokens import Tokens, merged

if TYPE_CHECKING:
    from dynamics.razor.layer import RazorLayer


def step(layer: RazorLayer, query: Tensor, key: Tensor, value: Tensor, logits: Logits, start: int) -> Tensor:
    """The outputs (batch, n_kv_heads, group, d_v) of a query (batch, n_kv_heads, group, d_k), its window from `start`.

    key, value (batch, n_kv_heads, 1, d).
    """
    full, local = layer.full, layer.local
    if not local.index:
        return _full(layer, full, query, key, value, logits)
    if not full.index:
        return _local(layer, local, query, key, value, logits, start)
    whole = _full(layer, full, *map(full.select, (query, key, value)), logits.of(full.select))
    rest = _local(layer, local, *map(local.select, (query, key, value)), logits.of(local.select), start)
    return merged([(full, whole), (local, rest)])


def _full(layer: RazorLayer, tokens: Tokens, query: Tensor, key: Tensor, value: Tensor, logits: Logits) -> Tensor:
    tokens.ready(True, False)
    tokens.put(key, value, False, False)
    bias = None
    if logits.rates is not None:
        distance = torch.arange(-layer.n_tokens, 1, device=query.device)
        bias = logits.rates.to(wide(query)).unsqueeze(-1) * distance
    held = tokens.read(False)
    return weigh(query, held[0], held[1], bias, logits)


def _local(
    layer: RazorLayer, tokens: Tokens, query: Tensor, key: Tensor, value: Tensor, logits: Logits, start: int
) -> Tensor:
    placed, leaves = logits.rates is not None, start > tokens.sinks + tokens.dropped
    fresh = tokens.ready(not leaves, placed)
    if fresh and layer.folded is not None:
        layer.folded = Folded(*(x.clone() for x in layer.folded))  # which is changed in place
    token = start > tokens.sinks and layer.folded is not None
    if token:
        advance(layer, tokens, logits, start, leaves, fresh)
    tokens.put(key, value, leaves, placed)
    keys, values, column = tokens.read(token)
    found = weigh(query, keys, values, added(layer, logits, column, start, token), logits)
    if layer.n_tokens < layer.plan.prompt:
        layer.advance(query[:, :, :, None], logits, range(layer.n_tokens, layer.n_tokens + 1))
    return found


def advance(layer: RazorLayer, tokens: Tokens, logits: Logits, start: int, leaves: bool, fresh: bool) -> None:
    """The means one token later, with the token in them that leaves; and their rounded copies in the header."""
    folded, row = layer.folded, tokens.store.narrow(2, tokens.row(True), 1)
    if layer.plan.compensation == "mean":
        if leaves:
            folded.mean.lerp_(row.double(), 1 / (start - tokens.sinks))
        if leaves or fresh:
            placed = logits.rates is not None  # at the mean of the positions, for the mean of the biases
            tokens.head[1].fill_((tokens.sinks + start - 1) / 2 if placed else log(start - tokens.sinks))
    else:
        rate = layer.decay(logits)
        if leaves:
            prior = -rate * (layer.n_tokens - tokens.sinks - tokens.dropped)
            if layer.centre is not None:
                prior = prior + logits.cap((layer.centre * row[..., : tokens.width].double()).sum(-1))
            layer.folded = fold_one(folded, rate, row.double(), prior)
        else:
            layer.folded = folded._replace(total=folded.total - rate)
    if leaves or fresh:
        tokens.head[0].copy_(layer.folded.mean)


def added(layer: RazorLayer, logits: Logits, column: Tensor, start: int, token: bool) -> Tensor | None:
    """What is added to the products of one query, the header first; broadcasts to (batch, heads, group, rows)."""
    rates, t, sinks = logits.rates, layer.n_tokens, layer.plan.sinks
    if layer.plan.compensation == "mean" and rates is None:
        return column if token else None
    bias = None if rates is None else rates.to(column.dtype).unsqueeze(-1) * (column - t)
    if token and layer.plan.compensation == "mean":
        bias.narrow(-1, 0, 1).add_(log(start - sinks))
    elif token:
        return _own(layer, logits, bias)
    return bias


def _own(layer: RazorLayer, logits: Logits, bias: Tensor | None) -> Tensor:
    """As `added` where each query head has its own token: it sees none of the group's others."""
    tokens, weight = layer.local, layer.folded.total
    if layer.centre is not None:
        weight = weight - logits.cap((layer.centre * layer.folded.mean[..., : tokens.width]).sum(-1))
    rows, kind = tokens.header + tokens.count, wide(tokens.store)
    shape = (*weight.shape, rows)
    found = torch.zeros(shape, dtype=kind, device=weight.device) if bias is None else bias.expand(shape).clone()
    own = found[..., : tokens.header]
    own.fill_(-torch.inf).diagonal(dim1=-2, dim2=-1).copy_(weight)
    return found
