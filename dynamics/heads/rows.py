"""Causal attention computed a few rows at a time, each block of probabilities shown once and then forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dynamics.model import attention_function
from dynamics.model.decoder import InductionModel

if TYPE_CHECKING:
    from torch import nn

    from dynamics.model.attention_function import AttentionFunction

# Entries of the largest block, heads of a group times rows times keys: 16 MiB of float32.
BLOCK = 1 << 22

Visit = Callable[[int, slice, int, Tensor], None]
Measure = Callable[[int, Tensor], Tensor]


def watched(visit: Visit, block: int) -> AttentionFunction:
    """Full causal attention that shows its probabilities on the way; no memory between calls.

    Only queries, keys and values as the model's attention reads them are used, so norms of queries and keys, rotations,
    shifts and slopes are all in. Half-precision logits are formed in float32.
    Args: visit(layer, heads, start, weights) gets the probabilities of the query heads `heads` of one sequence, rows
        start .. start + rows - 1 over the keys 0 .. start + rows - 1, shape (heads, rows, keys); what it reads it must
        copy. block: entries of weights at most (one row at least).
    """

    def function(
        layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        if query.shape[2] != key.shape[2]:
            raise ValueError(f"scores need a whole sequence in one call, got {query.shape[2]} of {key.shape[2]} tokens")
        group = query.shape[1] // key.shape[1]
        out = value.new_empty(*query.shape[:3], value.shape[3])
        for sequence in range(query.shape[0]):
            for head in range(key.shape[1]):
                heads = slice(head * group, (head + 1) * group)
                part = None if slopes is None else slopes[heads]
                blocks = _blocks(query[sequence, heads], key[sequence, head], scale, part, block)
                for start, weights in blocks:
                    stop = weights.shape[2]
                    visit(layer, heads, start, weights)
                    seen = value[sequence, head, :stop].to(weights.dtype)
                    out[sequence, heads, start:stop] = (weights @ seen).to(out.dtype)
        return out

    return function


def measured(model: nn.Module, prompt: np.ndarray, measure: Measure) -> Tensor:
    """Run the model's layers, not its head, on a prompt (length,) of tokens and sum measure over all blocks.

    Args: model, an `InductionModel` or a model of transformers that `dynamics.hf.attention` knows; measure(start,
        weights) gets blocks as `watched` shows them and returns a tensor (heads, ..).
    Returns: (n_layers, n_heads, ..).
    Raises: ValueError for a prompt longer than the model's config allows.
    """
    sums: dict[tuple[int, int], Tensor] = {}

    def visit(layer: int, heads: slice, start: int, weights: Tensor) -> None:
        found = measure(start, weights)
        sums[layer, heads.start] = found + sums[layer, heads.start] if (layer, heads.start) in sums else found

    with torch.no_grad():
        _run(model, torch.from_numpy(prompt)[None].to(next(model.parameters()).device), watched(visit, BLOCK))
    n_layers = 1 + max(layer for layer, _ in sums)
    return torch.stack([torch.cat([sums[at] for at in sums if at[0] == layer]) for layer in range(n_layers)])


def _run(model: nn.Module, tokens: Tensor, function: AttentionFunction) -> None:
    if isinstance(model, InductionModel):
        with attention_function.replaced(model, function):
            model.features(tokens)
        return
    from dynamics.hf import attention

    limit = longest(model)
    if limit is not None and tokens.shape[1] > limit:
        raise ValueError(f"the prompt has {tokens.shape[1]} tokens, max_position_embeddings of the model is {limit}")
    with attention.replaced(model, function):
        model.base_model(tokens, use_cache=False)


def longest(model: nn.Module) -> int | None:
    """Tokens of the longest prompt that the model's config allows, None where it names no limit."""
    return None if isinstance(model, InductionModel) else getattr(model.config, "max_position_embeddings", None)


def vocabulary(model: nn.Module) -> int:
    """Number of tokens that the model knows."""
    return model.config.vocab if isinstance(model, InductionModel) else model.config.vocab_size


def _blocks(
    query: Tensor, key: Tensor, scale: float, slopes: Tensor | None, block: int
) -> Iterator[tuple[int, Tensor]]:
    """Probabilities (group, rows, keys) of one key-value head, from query (group, length, d) and key (length, d)."""
    group, length, _ = query.shape
    dtype = torch.promote_types(query.dtype, torch.float32)
    key = key.to(dtype).T.contiguous()
    rows = max(1, block // (group * length))
    for start in range(0, length, rows):
        stop = min(start + rows, length)
        logits = query[:, start:stop].to(dtype) @ key[:, :stop]
        logits *= scale
        distance = torch.arange(start, stop, device=key.device)[:, None] - torch.arange(stop, device=key.device)
        if slopes is not None:
            logits -= slopes.to(dtype)[:, None, None] * distance.to(dtype)
        yield start, logits.masked_fill_(distance < 0, -torch.inf).softmax(-1)
