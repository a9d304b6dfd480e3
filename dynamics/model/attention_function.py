"""Attention as a function that may be put in place of a model's own: what comes before and after it stays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from dynamics.model.config import PLACED
from dynamics.model.positions import Layout, alibi_bias
from dynamics.model.softmax import attend

if TYPE_CHECKING:
    from dynamics.model.decoder import InductionModel


class AttentionFunction(Protocol):
    """Causal attention of one layer: softmax(scale q.k - slope * distance) over the keys of a group, times the values.

    A function without memory sees a whole sequence in one call. One with memory is called chunk after chunk, counts
    positions itself, and says so by an attribute `stateful` that is True; of one with a method n_tokens(layer), own
    models check that it has seen as many tokens as their `KVCache`.
    """

    def __call__(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, *, scale: float, slopes: Tensor | None
    ) -> Tensor:
        """The heads' outputs, (batch, n_heads, new, value_dim).

        A model with learned sink logits hands over `sinks` too, (n_heads,), and one in which a token sees those after
        it `causal=False`; a layer of cross-layer attention `cross_layer=True`, whose keys and values are its own and
        behind them as many of another layer. A function that has no such parameter is refused then (`special`).

        Args:
            layer: 0-based.
            query: (batch, n_heads, new, head_dim).
            key, value: (batch, n_kv_heads, new, head_dim), normed, shifted and rotated; query head h reads key-value
                head h // (n_heads // n_kv_heads).
            slopes: (n_heads,) of ALiBi, > 0, or None; not to be written to, since all layers and calls share them.
        """
        ...


def special(
    function: Callable[..., Tensor], sinks: Tensor | None = None, causal: bool = True, cross_layer: bool = False
) -> dict[str, Any]:
    """The arguments that only some models hand over. Raises ValueError for a function without such a parameter."""
    needed = ({} if sinks is None else {"sinks": sinks}) | ({} if causal else {"causal": False})
    needed |= {"cross_layer": True} if cross_layer else {}
    if needed:
        known = inspect.signature(function).parameters
        for name in needed:
            if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
                raise ValueError(f"this model's attention has {name!r}, which the attention function does not take")
    return needed


def full_attention(
    layer: int,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    slopes: Tensor | None,
    sinks: Tensor | None = None,
    causal: bool = True,
) -> Tensor:
    """Every token sees all tokens up to itself, or all: an `AttentionFunction` without memory."""
    if slopes is None:
        return attend(query, key, value, None, scale, sinks, causal)
    where = Layout(0, query.shape[2], query.device)
    bias = alibi_bias(slopes.to(query.dtype), where)
    if causal:
        future = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).triu(1)
        bias = bias.masked_fill(future, -torch.inf)
    return attend(query, key, value, bias, scale, sinks, causal)


@contextmanager
def replaced(model: InductionModel, function: AttentionFunction) -> Iterator[InductionModel]:
    """Let all attention of the model go through `function`; what was there before comes back on exit.

    A `KVCache` of a layer then holds its length and raw tokens only: keys and values belong to the function.
    Raises: ValueError for a model that does not call its attention layers (`dynamics.model.places`).
    """
    place = getattr(getattr(model, "config", None), "place", None)
    if place in PLACED:
        raise ValueError(f"the attention of a model whose shift is placed at {place!r} cannot be replaced")
    layers = [block.attention for block in model.blocks]
    before = [attention.function for attention in layers]
    try:
        for index, attention in enumerate(layers):
            attention.function = partial(function, index)
        yield model
    finally:
        for attention, earlier in zip(layers, before, strict=True):
            attention.function = earlier
