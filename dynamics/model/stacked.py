"""Many models of one configuration at once: parameters with a leading model axis, batched matmuls.

One matmul over n models replaces n small ones, which is where small models spend their time. The forward pass is that
of one model (`dynamics.model.forward`). Plain `torch.func.vmap` over the module does the same and was slower at every
size measured.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from dynamics.model import decoder
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.forward import Heads, Parameters, States, attention, rms_norm, swiglu
from dynamics.model.past import begun
from dynamics.model.positions import Layout
from dynamics.model.shift import document_runs
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


def logits(
    config: ModelConfig,
    parameters: Parameters,
    tokens: Tensor,
    query_index: Tensor | None = None,
    segment_ids: Tensor | None = None,
) -> Tensor:
    """Logits of every model on its own batch, at the scored position, or at all without one.

    Args: parameters as from `stack`; tokens (models, batch, length), right-padded; query_index (models, batch);
        segment_ids (models, batch, length): packed documents, each as if alone.
    Returns: (models, batch, vocab), or (models, batch, length, vocab); model n's are those of InductionModel with
        parameters[:, n], up to rounding.
    """
    runs = None if segment_ids is None else document_runs(segment_ids.flatten(0, 1))
    embedding, earlier = parameters["embedding"], Earlier()
    blocks = [_block(config, within(parameters, f"blocks.{n}."), n, earlier, runs) for n in range(config.n_layers)]
    depth = [parameters[f"depth.{n}"] for n in range(config.n_layers) if "depth.0" in parameters]
    rows = None if query_index is None else query_index.flatten()
    hidden = decoder.run(blocks, _entering(config, parameters, tokens, runs), rows, depth)
    shape = tokens.shape[:2] if rows is not None else tokens.shape
    hidden = rms_norm(hidden, parameters["norm.weight"]).view(*shape, -1)
    unembedding = parameters.get("head", embedding)
    if rows is not None:
        return decoder.scores(unembedding, hidden)
    return (hidden.flatten(1, 2) @ unembedding.mT).unflatten(1, shape[1:])


def _entering(config: ModelConfig, parameters: Parameters, tokens: Tensor, runs: Tensor | None) -> Tensor:
    """What the first layers take, as `InductionModel.entering`."""
    hidden = decoder.embed(parameters["embedding"], tokens)
    if "positions" in parameters:
        place = Layout(0, tokens.shape[2], tokens.device, runs=runs).positions()
        decoder.within_positions(int(place.max()) + 1, parameters["positions"].shape[1])
        hidden = hidden + decoder.embed(parameters["positions"], place.expand(len(hidden), -1).view(tokens.shape))
    smears = [mixing for mixing in config.past if mixing.at == "embedding"]
    if not smears:
        return hidden
    start = parameters.get("smear_start")
    return begun(smears[0], parameters["smear"], hidden, config.start, start, segment_ids=runs)


def within(parameters: Parameters, prefix: str) -> dict[str, Tensor]:
    """The parameters below a prefix, named without it."""
    return {name.removeprefix(prefix): p for name, p in parameters.items() if name.startswith(prefix)}


def _block(
    config: ModelConfig, p: Parameters, layer: int, earlier: Earlier, runs: Tensor | None
) -> Callable[[Tensor, Tensor | None], Tensor]:
    """A block of every model of the stack, as `Block` is one of a single model."""
    heads, of_attention, of_mlp = Heads.of(config, layer), within(p, "attention."), within(p, "mlp.")
    pasts = {mixing.at: mixing for mixing in config.past}

    def past(at: str, x: Tensor) -> Tensor:
        if at not in pasts:
            return x
        start = p.get(f"past_start.{at}")
        return begun(pasts[at], p[f"past.{at}"], x, config.start, start, segment_ids=runs)

    def attend(hidden: Tensor, rows: Tensor | None) -> Tensor:
        x = past("attention", rms_norm(hidden, p["attention_norm.weight"]))
        where = Layout(0, x.shape[1], x.device, rows, runs, causal=heads.causal)
        return past("output", attention(heads, of_attention, States(x, x, x), where, earlier=earlier))

    def mlp(hidden: Tensor) -> Tensor:
        x = past("mlp", rms_norm(hidden, p["mlp_norm.weight"]))
        return swiglu(x, of_mlp, partial(past, "hidden") if "hidden" in pasts else None)

    block = partial(decoder.residual, attend=attend, mlp=mlp if config.mlp_width else None)
    if not pasts.keys() & decoder.BEHIND:
        return block
    return lambda hidden, rows: decoder.at(block(hidden, None), rows)
