"""Attention weights as a model itself returns them, for models that `dynamics.weights.families` does not know.

Whole matrices of all layers at once, not rows that are forgotten. A model of transformers is run with its eager
attention, the only one that returns weights, and what it returns is taken only if the model's states are then those
that it has by default: of Falcon, say, transformers returns attention that is not the model's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Tokens of a prompt that is nobody's choice: 12 layers of 12 heads are then .6 GB of float32.
USUAL = 1024
# A share of the states' norm that means other attention, not rounding: 24 random layers leave 5e-6 of it in float32,
# .02 in float16, .11 in bfloat16.
DIFFERENT = {torch.float16: 0.05, torch.bfloat16: 0.2}
DIFFERENT_SINGLE = 1e-3
# Rows of weights sum to at most 1, in bfloat16 to about 1; logits do not.
SLACK = 2.0**-6


class Returning(NamedTuple):
    """Any model or function that returns its attention.

        head_scores(Returning(lambda tokens: mine(tokens, weights=True)[1], vocab=256, longest=1024))

    attentions: takes tokens (1, length), int64 in 0 .. vocab - 1, on `device`, and returns by layer the weights
    (1, heads, length, length) of queries over keys, none below 0 and no row above 1 in sum: less where a sink that is
    no token takes its share. longest: tokens that it can take, None where there is no limit.
    """

    attentions: Callable[[Tensor], Sequence[Tensor]]
    vocab: int
    longest: int | None = None
    device: str | torch.device = "cpu"

    def weights(self, tokens: Tensor) -> list[Tensor]:
        """The weights (heads, length, length) of every layer. Raises: ValueError for what is no such attention."""
        found = list(self.attentions(tokens.to(self.device)))
        for layer, weights in enumerate(found):
            _check(layer, weights, tokens.shape[1])
        if len({len(weights[0]) for weights in found}) != 1:
            heads = ", ".join(str(len(weights[0])) for weights in found)
            raise ValueError(f"layers must return attention of equally many heads each, got {heads or 'no layers'}")
        return [weights[0] for weights in found]


def _check(layer: int, weights: object, length: int) -> None:
    wanted = f"layer {layer} must return weights of shape (1, heads, {length}, {length})"
    if not isinstance(weights, Tensor):
        raise ValueError(f"{wanted}, got {type(weights).__name__}")
    if weights.ndim != 4 or (weights.shape[0], *weights.shape[2:]) != (1, length, length):
        raise ValueError(f"{wanted}, got {tuple(weights.shape)}")
    least, most = float(weights.min()), float(weights.sum(-1, dtype=torch.float64).max())
    if not (least >= 0 and most <= 1 + SLACK):
        told = f"a least of {least:.3g} and rows that sum to {most:.3g}"
        raise ValueError(f"layer {layer} must return weights, none below 0 and no row above 1, got {told}")


def of_transformers(model: PreTrainedModel) -> Returning:
    """A model of transformers by the attention that it returns, of the layers that return one.

    Raises: ValueError for one that takes no tokens, an encoder with a decoder, in training mode; when it is called,
        for one that returns no attention, or attention that is not what it runs by default.
    """
    name, body = type(model).__name__, model.base_model
    known = inspect.signature(body.forward).parameters
    if "input_ids" not in known:
        raise ValueError(f"{name} takes no tokens (input_ids)")
    if "decoder_input_ids" in known:
        raise ValueError(f"{name} is an encoder with a decoder: score one of them, as model.get_encoder()")
    if model.training:
        raise ValueError("the model is in training mode: use model.eval()")
    device = next(model.parameters()).device
    return Returning(lambda tokens: _attentions(model, body, tokens), vocabulary(model), positions(model), device)


def _attentions(model: PreTrainedModel, body: nn.Module, tokens: Tensor) -> Sequence[Tensor]:
    from dynamics.hf import versions

    name = type(model).__name__
    own, default = _called(name, body, tokens), versions.chosen(model)
    with versions.eager(model):
        out = _called(name, body, tokens, output_attentions=True)
    found = getattr(out, "attentions", None)
    if not found or any(weights is None for weights in found):
        raise ValueError(f"{name} returns no attention, with output_attentions=True and eager attention")
    apart = float((out[0] - own[0]).double().norm() / own[0].double().norm())
    if not apart <= DIFFERENT.get(out[0].dtype, DIFFERENT_SINGLE):
        raise ValueError(
            f"{name} returns attention that is not what it runs: by it, its states are {apart:.2g} of their norm away "
            f"from those by its {default} attention; with attn_implementation='eager' from the start they are the same"
        )
    return found


def _called(name: str, body: nn.Module, tokens: Tensor, **more: Any) -> Any:
    # Not narrower: a model of any family says in its own way that it cannot take a prompt; nothing of ours runs here.
    try:
        return body(input_ids=tokens, **more)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{name} cannot run {tokens.shape[1]} tokens ({type(error).__name__}: {reason})") from error


def _text_config(model: nn.Module) -> Any:
    config = getattr(model, "config", None)
    if not hasattr(config, "get_text_config"):
        raise ValueError(
            f"{type(model).__name__} is neither a model of ours nor of transformers: "
            "give what returns its attention, as dynamics.heads.returned.Returning"
        )
    return config.get_text_config()


def vocabulary(model: nn.Module) -> int:
    """Tokens that a model of transformers knows. Raises: ValueError for another, and where its config does not say."""
    found = getattr(_text_config(model), "vocab_size", None)
    if not isinstance(found, int):
        raise ValueError(f"the config of {type(model).__name__} names no vocab_size: it takes no tokens")
    return found


def positions(model: nn.Module) -> int | None:
    """Tokens of the longest prompt of a model of transformers, None where its config names no limit.

    A table of learned positions may have less room than it has rows, as RoBERTa's: some are a pad's, or left unused.
    """
    told = getattr(_text_config(model), "max_position_embeddings", None)
    if not isinstance(told, int) or told < 1:
        return None
    tables = [found for name, found in model.named_modules() if "position" in name and isinstance(found, nn.Embedding)]
    return min([told, *(_room(table) for table in tables if table.num_embeddings >= told)])


def _room(table: nn.Embedding) -> int:
    before = getattr(table, "offset", 0) if table.padding_idx is None else table.padding_idx + 1
    return table.num_embeddings - before
