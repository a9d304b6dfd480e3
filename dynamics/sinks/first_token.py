"""Test whether a token that is masked as in Equation 11 of the waiver paper acts as a first token in a model."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dynamics.heads.rows import Apart, Visit
from dynamics.model.attention_function import AttentionFunction
from dynamics.model.decoder import InductionModel
from dynamics.sinks import passes, positions
from dynamics.sinks.attention import Seen, reading

Around = Callable[[AttentionFunction], AttentionFunction]


def state_gaps(
    model: nn.Module,
    tokens: Tensor,
    place: int,
    layers: Collection[int] | None = None,
    around: Around | None = None,
) -> NDArray[np.float64]:
    """By layer, the largest entry by which the masked token's state differs from that of the same token alone.

    Zero, to rounding, where all layers are masked and positions enter through the logits of queries and keys alone: no
    positions, ALiBi, RoPE. Not with learnt positions, RoPE on values, shifted values, or an unmasked layer below.
    Args: model as for `dynamics.sinks.measured.measure`; tokens (length,); place in 1..length-1; layers that are masked
    (None: all); around, what is put around the attention function of both runs.
    Returns: (n_layers,). Raises: ValueError for a place outside.
    """
    _inside(tokens, place)
    masked = _states(model, tokens, place, layers, around)[:, place]
    alone = _states(model, tokens[place : place + 1], None, None, around)[:, 0]
    return (masked - alone).abs().amax(1).double().cpu().numpy()


def copy_leads(model: nn.Module, tokens: Tensor, place: int) -> NDArray[np.float64]:
    """By how much, for the last token, the logit of a masked copy of the first token at `place` leads the first one's.

    In the lowest layer, where both have one key: 0 without positions, slope times place under ALiBi, with RoPE
    `theory.sink.rotary_copy_gap`. Args: tokens (length,), of which the one at place, in 1..length-2, is replaced.
    Returns: (n_heads,). Raises: ValueError for a place outside, for a model whose states hold positions or whose keys
    are shifted, and for a last token that does not see the first.
    """
    _inside(tokens, place, last=2)
    if isinstance(model, InductionModel):
        shifted = any(past.at in ("embedding", "attention", "key") for past in model.config.past)
        if shifted or model.blocks[0].attention.alpha is not None:
            raise ValueError("a shifted key holds a part of the token before: the copy has not the first token's key")
    if positions.learned(model) is not None:
        raise ValueError("the states that enter the model hold positions: the copy has not the first token's key")
    tokens, found = tokens.clone(), {}
    tokens[place] = tokens[0]

    def visit(layer: int, heads: slice, start: int, weights: Tensor) -> None:
        if layer == 0 and start + weights.shape[1] == len(tokens):
            found[heads.start] = (weights[:, -1, place] / weights[:, -1, 0]).log()

    _states(model, tokens, place, None, None, visit)
    leads = torch.cat([found[start] for start in sorted(found)]).double().cpu().numpy()
    if not np.isfinite(leads).all():
        raise ValueError("the last token gives the first one or its copy no weight: there are no logits to compare")
    return leads


def _states(
    model: nn.Module,
    tokens: Tensor,
    place: int | None,
    layers: Collection[int] | None,
    around: Around | None,
    visit: Visit = lambda *block: None,
) -> Tensor:
    """The states behind every block, (layers, length, width), with the token at place masked."""

    def parted(layer: int, n_heads: int) -> Apart | None:
        masked = place is not None and (layers is None or layer in layers)
        return Apart(place, torch.ones(n_heads, dtype=torch.bool)) if masked else None

    function, found = reading(visit, Seen(), parted), []
    function = function if around is None else around(function)
    leaving = passes.shown(model, leaving=lambda layer, states: found.append(states[0]))
    with leaving, passes.through(model, function), torch.no_grad():
        passes.features(model, tokens)
    return torch.stack(found)


def _inside(tokens: Tensor, place: int, last: int = 1) -> None:
    if tokens.ndim != 1 or not 1 <= place <= len(tokens) - last:
        least = f"tokens must be (length,) and place in 1..length - {last}"
        raise ValueError(f"{least}, got shape {tuple(tokens.shape)} and place {place}")
