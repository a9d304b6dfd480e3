"""Attention computed a few rows at a time, each block of probabilities shown once and then forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dynamics.heads import returned
from dynamics.heads.returned import Returning
from dynamics.model import attention_function
from dynamics.model.decoder import InductionModel
from dynamics.model.softmax import softmax

if TYPE_CHECKING:
    from torch import nn

    from dynamics.model.attention_function import AttentionFunction

# Entries of the largest block, heads of a group times rows times keys: 16 MiB of float32.
BLOCK = 1 << 22

Visit = Callable[[int, slice, int, Tensor], None]
Measure = Callable[[int, Tensor], Tensor]


class Apart(NamedTuple):
    """A token that some heads, bool (n_heads,), cut off: its row sees its own key alone.

    hidden: instead no other row sees its key, and its own row is as it was.
    """

    token: int
    heads: Tensor
    hidden: bool = False


class Rule(NamedTuple):
    """Which keys a row sees, and what else stands in the denominator of its softmax.

    causal: none after it. window: only so many, its own among them. sinks: (n_heads,) learned logits whose weight goes
    nowhere. apart: a token that is cut off from the others. softcap: c, where a logit x becomes c tanh(x/c). copies:
    how many keys each token has, 2 with those of another layer; they stand side by side, all first ones before.
    """

    causal: bool = True
    window: int | None = None
    sinks: Tensor | None = None
    apart: Apart | None = None
    softcap: float | None = None
    copies: int = 1

    def of(self, heads: slice) -> Rule:
        """The same rule for some of the heads."""
        sinks = None if self.sinks is None else self.sinks[heads]
        return self._replace(sinks=sinks, apart=self.apart and self.apart._replace(heads=self.apart.heads[heads]))


Ruled = Callable[[int, Tensor, Tensor, Rule], Rule]


def watched(visit: Visit, block: int, ruled: Ruled = lambda layer, query, value, rule: rule) -> AttentionFunction:
    """Full attention that shows its probabilities on the way; no memory between calls.

    Only queries, keys and values as the model's attention reads them are used, so norms of queries and keys, rotations,
    shifts and slopes are all in, and windows and sinks, which take their share of a row. Half-precision logits are
    formed in float32.
    Args: visit(layer, heads, start, weights) gets the probabilities of the query heads `heads` of one sequence, rows
        start .. start + rows - 1 over the keys 0 .. start + rows - 1, or all where attention is not causal, shape
        (heads, rows, keys); what it reads it must copy. The weight of a token with two keys is their sum. block:
        entries of weights at most (one row at least). ruled(layer, query, value, rule): the rule that is followed.
    Raises, when called: ValueError unless queries and keys are those of a whole sequence.
    """

    def function(
        layer, query, key, value, *, scale, slopes,
        sinks=None, causal=True, window=None, softcap=None, cross_layer=False,
    ) -> Tensor:
        rule = ruled(layer, query, value, Rule(causal, window, sinks, None, softcap, 1 + cross_layer))
        if query.shape[2] * rule.copies != key.shape[2]:
            raise ValueError(f"scores need a whole sequence in one call, got {query.shape[2]} of {key.shape[2]} tokens")
        group = query.shape[1] // key.shape[1]
        out = value.new_empty(*query.shape[:3], value.shape[3])
        for sequence in range(query.shape[0]):
            for head in range(key.shape[1]):
                heads = slice(head * group, (head + 1) * group)
                part = None if slopes is None else slopes[heads]
                values = value[sequence, head].unflatten(0, (rule.copies, -1))
                found = blocks(query[sequence, heads], key[sequence, head], scale, part, rule.of(heads), block)
                for start, weights in found:
                    each = weights.unflatten(2, (rule.copies, -1))
                    visit(layer, heads, start, each.sum(2) if rule.copies > 1 else weights)
                    seen = values[:, : each.shape[3]].flatten(0, 1).to(weights.dtype)
                    out[sequence, heads, start : start + weights.shape[1]] = (weights @ seen).to(out.dtype)
        return out

    return function


def measured(model: nn.Module | Returning, prompt: np.ndarray, measure: Measure) -> Tensor:
    """Run the model's layers, not its head, on a prompt (length,) of tokens and sum measure over all blocks.

    Args: model, an `InductionModel`, a model of transformers, by `dynamics.hf.attention` or by what it returns, or a
        `Returning`; measure(start, weights) gets blocks as `watched` shows them, or whole matrices where that is what
        is returned, and returns a tensor (heads, ..).
    Returns: (n_layers, n_heads, ..).
    Raises: ValueError for a prompt longer than the model allows, and as `dynamics.heads.returned`.
    """
    limit = longest(model)
    if limit is not None and len(prompt) > limit:
        raise ValueError(f"the prompt has {len(prompt)} tokens, the model has positions for {limit}")
    tokens, returning = torch.from_numpy(prompt)[None], returned_by(model)
    with torch.no_grad():
        if returning is not None:
            return torch.stack([measure(0, weights) for weights in returning.weights(tokens)])
        return _summed(model, tokens.to(next(model.parameters()).device), measure)


def _summed(model: nn.Module, tokens: Tensor, measure: Measure) -> Tensor:
    sums: dict[tuple[int, int], Tensor] = {}

    def visit(layer: int, heads: slice, start: int, weights: Tensor) -> None:
        found = measure(start, weights)
        sums[layer, heads.start] = found + sums[layer, heads.start] if (layer, heads.start) in sums else found

    _run(model, tokens, watched(visit, BLOCK))
    n_layers = 1 + max(layer for layer, _ in sums)
    return torch.stack([torch.cat([sums[at] for at in sums if at[0] == layer]) for layer in range(n_layers)])


def _run(model: nn.Module, tokens: Tensor, function: AttentionFunction) -> None:
    if isinstance(model, InductionModel):
        with attention_function.replaced(model, function):
            model.features(tokens)
        return
    from dynamics.hf import attention

    with attention.replaced(model, function):
        model.base_model(tokens, use_cache=False)


def returned_by(model: nn.Module | Returning) -> Returning | None:
    """What the model is known by, where its attention does not go through a function; else None.

    Raises: ValueError for what is no model, and a model of transformers that returns what is not its attention.
    """
    if isinstance(model, Returning):
        return model
    if isinstance(model, InductionModel):
        return None
    returned.vocabulary(model)
    from dynamics.hf import families

    try:
        families.heads(model)
    except families.WronglyRun:
        raise
    except ValueError:
        return returned.of_transformers(model)
    return None


def longest(model: nn.Module | Returning) -> int | None:
    """Tokens of the longest prompt that the model has positions for, None where there is no limit."""
    if isinstance(model, InductionModel):
        return model.config.max_length
    return model.longest if isinstance(model, Returning) else returned.positions(model)


def vocabulary(model: nn.Module | Returning) -> int:
    """Number of tokens that the model knows."""
    if isinstance(model, InductionModel):
        return model.config.vocab
    return model.vocab if isinstance(model, Returning) else returned.vocabulary(model)


def blocks(
    query: Tensor, key: Tensor, scale: float, slopes: Tensor | None, rule: Rule, block: int
) -> Iterator[tuple[int, Tensor]]:
    """Probabilities (.., group, rows, copies * keys) from query (.., group, length, d), each block with its first row.

    Args: key, (copies * length, d) or with leading axes as the query's; slopes and the rule's sinks, (.., group).
    """
    length = query.shape[-2]
    dtype = torch.promote_types(query.dtype, torch.float32)
    key = key.to(dtype).mT.contiguous().unflatten(-1, (rule.copies, length))
    rows = max(1, block // (query[..., 0].numel() * rule.copies))
    for start in range(0, length, rows):
        stop = min(start + rows, length)
        last = stop if rule.causal else length
        logits = query[..., start:stop, :].to(dtype) @ key[..., :last].flatten(-2)
        logits *= scale
        if rule.softcap is not None:
            logits = rule.softcap * (logits / rule.softcap).tanh()
        keys = torch.arange(last, device=key.device).repeat(rule.copies)
        distance = torch.arange(start, stop, device=key.device)[:, None] - keys
        if slopes is not None:
            logits -= slopes.to(dtype)[..., None, None] * distance.abs().to(dtype)
        logits.masked_fill_(_hidden(distance, rule), -torch.inf)
        if rule.apart is not None:
            cut = ((keys if rule.apart.hidden else keys + distance) == rule.apart.token) & (distance != 0)
            logits.masked_fill_(rule.apart.heads[:, None, None] & cut, -torch.inf)
        yield start, softmax(logits, rule.sinks)


def _hidden(distance: Tensor, rule: Rule) -> Tensor:
    """Which keys (rows, keys) at these distances, negative after the row, are not seen."""
    hidden = distance < 0 if rule.causal else torch.zeros_like(distance, dtype=torch.bool)
    return hidden if rule.window is None else hidden | (distance.abs() >= rule.window)
