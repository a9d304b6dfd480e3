"""Greedy continuation by an InductionModel, with the cache of its own attention or of one put in its place."""

from __future__ import annotations

from contextlib import nullcontext

import torch
from torch import Tensor

from dynamics.model.attention_function import AttentionFunction, replaced
from dynamics.model.cache import KVCache
from dynamics.model.decoder import InductionModel


@torch.no_grad()
def greedy(
    model: InductionModel,
    prompt: Tensor,
    count: int,
    function: AttentionFunction | None = None,
    chunk: int | None = None,
    stop: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Continue each row of the prompt by the most likely token, `count` times.

    Args: prompt (batch, length) integers; function, one with memory that has seen nothing yet, or None for the model's
        own attention; chunk, tokens of the prompt at a time (default: all); stop, a token after which a row is of no
        interest: once every row has had it, fewer than `count` are made.
    Returns: the new tokens (batch, count) and the logits they were taken from (batch, count, vocab).
    Raises: ValueError for count or chunk below 1, and an empty prompt.
    """
    if count < 1 or (chunk is not None and chunk < 1) or prompt.ndim != 2 or not prompt.numel():
        raise ValueError(
            "count and chunk must be at least 1 and the prompt (batch, length >= 1), "
            f"got {count}, {chunk} and shape {tuple(prompt.shape)}"
        )
    caches, logits = [KVCache() for _ in model.blocks], []
    with nullcontext() if function is None else replaced(model, function):
        for part in prompt.split(chunk or prompt.shape[1], dim=1):
            last = model(part, caches=caches)[:, -1]
        open_rows = torch.ones(len(prompt), dtype=torch.bool, device=prompt.device)
        for _ in range(count - 1):
            chosen = last.argmax(-1, keepdim=True)
            if stop is not None and not (open_rows := open_rows & (chosen[:, 0] != stop)).any():
                break
            logits.append(last)
            last = model(chosen, caches=caches)[:, -1]
    logits.append(last)
    found = torch.stack(logits, dim=1)
    return found.argmax(-1), found
