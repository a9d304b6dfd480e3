"""A batch of prompts through a causal model: the weights of each layer, and losses where some heads put out nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dynamics.heads.returned import Returning
from dynamics.heads.rows import Rule, blocks, returned_by, vocabulary
from dynamics.model import attention_function
from dynamics.model.decoder import InductionModel

if TYPE_CHECKING:
    from torch import nn

    from dynamics.model.attention_function import AttentionFunction

Heads = Collection[tuple[int, int]]
Integers = NDArray[np.int64]
# Entries of weights, or of logits, that are held at once.
ENTRIES = 1 << 24


def written_out(visit: Callable[[int, Tensor], None], without: Heads) -> AttentionFunction:
    """Causal attention of whole sequences whose weights (batch, heads, rows, keys) visit(layer, weights) sees.

    without: heads (layer, head) whose output is zero. Raises, when called: ValueError where tokens see later ones.
    """

    def function(
        layer, query, key, value, *, scale, slopes,
        sinks=None, causal=True, window=None, softcap=None, cross_layer=False,
    ) -> Tensor:
        check_causal(causal)
        groups = key.shape[1], -1
        slopes, sinks = (one if one is None else one.view(groups) for one in (slopes, sinks))
        rule = Rule(window=window, sinks=sinks, softcap=softcap, copies=1 + cross_layer)
        [(_, weights)] = blocks(query.unflatten(1, groups), key[:, :, None], scale, slopes, rule, sys.maxsize)
        visit(layer, weights.flatten(1, 2).unflatten(3, (rule.copies, -1)).sum(3))
        out = (weights @ value.to(weights.dtype)[:, :, None]).flatten(1, 2).to(value.dtype)
        out[:, [head for at, head in without if at == layer]] = 0.0
        return out

    return function


def check_causal(causal: bool) -> None:
    """Raise ValueError where it is False."""
    if not causal:
        raise ValueError("every token of this model sees all (an encoder): heads are scored of causal models only")


def show(model: nn.Module | Returning, tokens: Integers, visit: Callable[[slice, int, Tensor], None]) -> None:
    """visit(prompts, layer, weights) sees the weights (prompts, heads, length, length) of every layer.

    Raises: ValueError as `dynamics.heads.returned`, and for a model whose tokens see those after them.
    """
    returning = returned_by(model)
    chunk = 1 if returning else max(1, ENTRIES // (tokens.shape[1] ** 2 * 64))
    for start in range(0, len(tokens), chunk):
        part = slice(start, start + chunk)
        if returning is None:
            _run(model, tokens[part], lambda layer, weights, part=part: visit(part, layer, weights))
            continue
        with torch.no_grad():
            found = returning.weights(torch.from_numpy(tokens[part]))
        for layer, weights in enumerate(found):
            check_causal(not weights.triu(1).any())
            visit(part, layer, weights[None])


def losses(model: nn.Module, tokens: Integers, prompts: Integers, rows: Integers, without: Heads = ()) -> Tensor:
    """Cross-entropy in nats of the token after each row of each prompt, (n,) float64 for prompts and rows (n,).

    without: heads whose outputs are zero; none of a model that is known by what it returns.
    """
    chunk = max(1, ENTRIES // (tokens.shape[1] * vocabulary(model)))
    out = torch.empty(len(rows), dtype=torch.float64)
    for start in range(0, len(tokens), chunk):
        at = (start <= prompts) & (prompts < start + chunk)
        logits = _run(model, tokens[start : start + chunk], without=without)
        found = logits[prompts[at] - start, rows[at]].double().log_softmax(-1).cpu()
        out[at] = -found[np.arange(len(found)), tokens[prompts[at], rows[at] + 1]]
    return out


@torch.no_grad()
def _run(model: nn.Module, tokens: Integers, visit: Callable | None = None, without: Heads = ()) -> Tensor:
    """Logits (prompts, length, vocabulary), or the states before them where only the weights are looked at."""
    ids = torch.from_numpy(tokens).to(next(model.parameters()).device)
    if isinstance(model, InductionModel):
        call, replaced = (model.features if visit else model), attention_function.replaced
    else:
        from dynamics.hf.attention import replaced

        call = partial(model.base_model if visit else model, use_cache=False, return_dict=False)
    with replaced(model, written_out(visit or (lambda *_: None), without)) if visit or without else nullcontext():
        out = call(ids)
    return out if isinstance(out, Tensor) else out[0]


def shuffled(model: nn.Module, seed: int) -> nn.Module:
    """A copy of a model with the entries of each matrix permuted; embeddings, vectors and coefficients are kept."""
    copy, generator = deepcopy(model), torch.Generator().manual_seed(seed)
    embeddings = {id(one.weight) for one in copy.modules() if isinstance(one, torch.nn.Embedding)}
    for name, parameter in copy.named_parameters():
        if parameter.ndim > 1 and name.endswith("weight") and id(parameter) not in embeddings:
            order = torch.randperm(parameter.numel(), generator=generator).to(parameter.device)
            parameter.data = parameter.data.flatten()[order].view_as(parameter)
    return copy
