"""One pass of a model over one window: attention through a function, states shown layer by layer, then the logits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dynamics.heads.rows import vocabulary
from dynamics.model import attention_function
from dynamics.model.decoder import InductionModel
from dynamics.weights.families import FAMILIES

if TYPE_CHECKING:
    from dynamics.model.attention_function import AttentionFunction

# Entries of logits that are held at once.
LOGITS = 1 << 24


class Sizes(NamedTuple):
    """Layers and heads of a model."""

    n_layers: int
    n_heads: int


def sizes(model: nn.Module) -> Sizes:
    """What a model of ours or of transformers has.

    Raises: ValueError for others, as `dynamics.hf.families.heads`, and for a model of transformers in training mode,
        whose dropout would be measured too.
    """
    if isinstance(model, InductionModel):
        return Sizes(len(model.blocks), model.blocks[0].attention.n_heads)
    from dynamics.hf import families

    found = families.heads(model)
    if model.training:
        raise ValueError("the model is in training mode: use model.eval()")
    return Sizes(found.n_layers, found.n_heads)


@contextmanager
def through(model: nn.Module, function: AttentionFunction) -> Iterator[None]:
    """All attention of the model goes through `function`, whose model it may be. Raises: ValueError as `replaced`."""
    if isinstance(model, InductionModel):
        with attention_function.replaced(model, function):
            yield
        return
    from dynamics.hf import attention

    with attention.replaced(model, function):
        yield


def blocks(model: nn.Module) -> nn.ModuleList:
    """The layers of the model, of which each takes states (batch, length, width) first and returns states first."""
    if isinstance(model, InductionModel):
        return model.blocks
    return model.base_model.get_submodule(FAMILIES[model.config.model_type].blocks)


@contextmanager
def shown(model: nn.Module, leaving: Callable[[int, Tensor], None]) -> Iterator[None]:
    """Within, leaving(layer, states) sees what each layer returns."""
    with ExitStack() as stack:
        for layer, block in enumerate(blocks(model)):
            stack.enter_context(block.register_forward_hook(_after(layer, leaving)))
        yield


def _after(layer: int, leaving: Callable[[int, Tensor], None]) -> Callable[..., None]:
    def hook(_module: nn.Module, _args: Any, out: Any) -> None:
        leaving(layer, out if isinstance(out, Tensor) else out[0])

    return hook


def headed(model: nn.Module) -> bool:
    """Whether the model has a head, by which its states become logits."""
    return isinstance(model, InductionModel) or hasattr(model, FAMILIES[model.config.model_type].head)


def device_of(model: nn.Module) -> torch.device:
    """Where the model's parameters are."""
    return next(model.parameters()).device


def features(model: nn.Module, tokens: Tensor) -> Tensor:
    """What the head of the model reads, (1, length, width), for tokens (length,)."""
    if isinstance(model, InductionModel):
        return model.features(tokens[None])
    return model.base_model(tokens[None], use_cache=False).last_hidden_state


def logits(model: nn.Module, tokens: Tensor) -> Iterator[tuple[int, Tensor]]:
    """The logits (rows, vocabulary) of tokens (length,), as `read_out` gives them. Raises: as there."""
    yield from read_out(model, features(model, tokens)[0])


def read_out(model: nn.Module, hidden: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Logits (rows, vocabulary) in at least float32 of what the head reads, (length, width), some rows at a time, each
    with the first of its rows.

    Raises: ValueError for a model without a head.
    """
    head = _head(model)
    rows = max(1, LOGITS // vocabulary(model))
    for start in range(0, len(hidden), rows):
        found = head(hidden[start : start + rows])
        yield start, found.to(torch.promote_types(found.dtype, torch.float32))


def _head(model: nn.Module) -> Callable[[Tensor], Tensor]:
    """From what the head reads to logits: some families scale or cap them after the matrix."""
    if isinstance(model, InductionModel):
        return lambda hidden: F.linear(hidden, model.unembedding)
    config, name = model.config, FAMILIES[model.config.model_type].head
    if not hasattr(model, name):
        raise ValueError(f"{type(model).__name__} has no head {name!r}, so that there are no logits to compare")
    cap, head = getattr(config, "final_logit_softcapping", None), getattr(model, name)
    if cap is not None:
        return lambda hidden: cap * torch.tanh(head(hidden) / cap)
    if config.model_type == "granite":
        return lambda hidden: head(hidden) / config.logits_scaling
    return (lambda hidden: config.logit_scale * head(hidden)) if config.model_type == "cohere" else head
