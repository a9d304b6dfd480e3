"""Many models of one configuration at once: parameters with a leading model axis, batched matmuls.

One matmul over n models replaces n small ones, which is where small models spend their time. The forward pass is that
of one model (`dynamics.model.forward`). Plain `torch.func.vmap` over the module does the same (`logits_by_vmap`, the
second opinion of the tests) and is slower at every size measured.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.func import functional_call, vmap

from dynamics.model import decoder
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.forward import Heads, Parameters, States, attention, rms_norm, swiglu
from dynamics.model.positions import Layout
from dynamics.model.values import Earlier


def stack(models: Sequence[InductionModel]) -> dict[str, Tensor]:
    """Stack the parameters of models of one configuration: name -> (models, *shape), leaves that want gradients."""
    names = [name for name, _ in models[0].named_parameters()]
    every = [dict(model.named_parameters()) for model in models]
    return {name: torch.stack([of[name].detach() for of in every]).requires_grad_() for name in names}


def unstack(config: ModelConfig, parameters: Parameters, index: int) -> InductionModel:
    """Return one model of a stack, with parameters of its own."""
    model = InductionModel(config)
    for name, parameter in model.named_parameters():
        parameter.data = parameters[name].detach()[index].clone()
    return model


def logits(config: ModelConfig, parameters: Parameters, tokens: Tensor, query_index: Tensor) -> Tensor:
    """Logits of every model on its own batch, at the scored position.

    Args: parameters as from `stack`; tokens (models, batch, length), right-padded; query_index (models, batch).
    Returns: (models, batch, vocab); model n's are those of InductionModel with parameters[:, n], up to rounding.
    """
    if config.past:
        raise ValueError("models whose states are mixed with those before are not stacked: train them one by one")
    earlier, embedding = Earlier(), parameters["embedding"]
    blocks = [_block(config, within(parameters, f"blocks.{n}."), n, earlier) for n in range(config.n_layers)]
    hidden = decoder.embed(embedding, tokens)
    if "positions" in parameters:
        decoder.within_positions(tokens.shape[2], parameters["positions"].shape[1])
        own = parameters["positions"][:, : tokens.shape[2]]
        hidden = hidden + own.repeat_interleave(tokens.shape[1], dim=0)
    depth = [parameters[f"depth.{n}"] for n in range(config.n_layers) if "depth.0" in parameters]
    hidden = decoder.run(blocks, hidden, query_index.flatten(), depth)
    hidden = rms_norm(hidden, parameters["norm.weight"]).view(*tokens.shape[:2], -1)
    return decoder.scores(parameters.get("head", embedding), hidden)


def logits_by_vmap(skeleton: InductionModel, parameters: Parameters, tokens: Tensor, query_index: Tensor) -> Tensor:
    """`logits` by vmap of the module itself; skeleton gives the structure, its own weights are not used."""

    def one(mine: dict[str, Tensor], rows: Tensor, scored: Tensor) -> Tensor:
        return functional_call(skeleton, mine, (rows, scored))

    return vmap(one)(dict(parameters), tokens, query_index)


def within(parameters: Parameters, prefix: str) -> dict[str, Tensor]:
    """The parameters below a prefix, named without it."""
    return {name.removeprefix(prefix): p for name, p in parameters.items() if name.startswith(prefix)}


def _block(
    config: ModelConfig, p: Parameters, layer: int, earlier: Earlier
) -> Callable[[Tensor, Tensor | None], Tensor]:
    """A block of every model of the stack, as `Block` is one of a single model."""
    heads, of_attention, of_mlp = Heads.of(config, layer), within(p, "attention."), within(p, "mlp.")

    def attend(hidden: Tensor, rows: Tensor | None) -> Tensor:
        x = rms_norm(hidden, p["attention_norm.weight"])
        where = Layout(0, x.shape[1], x.device, rows, causal=heads.causal)
        return attention(heads, of_attention, States(x, x, x), where, earlier=earlier)

    def mlp(hidden: Tensor) -> Tensor:
        return swiglu(rms_norm(hidden, p["mlp_norm.weight"]), of_mlp)

    return partial(decoder.residual, attend=attend, mlp=mlp if config.mlp_width else None)
