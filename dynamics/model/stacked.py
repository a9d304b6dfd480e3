"""The forward pass of many models of one configuration at once: parameters with a leading model axis, batched matmuls.

One matmul over n models replaces n small ones, which is where small models spend their time. Plain `torch.func.vmap`
over the module does the same (`logits_by_vmap`, the second opinion of the tests) and is slower at every size measured.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.func import functional_call, vmap
from torch.nn import functional as F

from dynamics.model import coefficients
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.model.positions import Layout, alibi_bias, rotate
from dynamics.model.shift import shift_back
from dynamics.model.softmax import attend, probabilities
from theory import alibi

EPS = 1e-6
Parameters = Mapping[str, Tensor]


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
    embedding = parameters["embedding"]
    first = torch.arange(len(tokens), device=tokens.device) * config.vocab
    hidden = F.embedding(tokens + first[:, None, None], embedding.flatten(0, 1))
    for layer in range(config.n_layers):
        last = layer == config.n_layers - 1
        mine = {name.split(".", 2)[2]: p for name, p in parameters.items() if name.startswith(f"blocks.{layer}.")}
        hidden = _block(config, mine, hidden, query_index if last else None)
    hidden = _norm(hidden, parameters["norm.weight"]).squeeze(2)
    return (embedding @ hidden.mT).mT


def logits_by_vmap(skeleton: InductionModel, parameters: Parameters, tokens: Tensor, query_index: Tensor) -> Tensor:
    """`logits` by vmap of the module itself; skeleton gives the structure, its own weights are not used."""

    def one(mine: dict[str, Tensor], rows: Tensor, scored: Tensor) -> Tensor:
        return functional_call(skeleton, mine, (rows, scored))

    return vmap(one)(dict(parameters), tokens, query_index)


def _block(config: ModelConfig, p: Parameters, hidden: Tensor, scored: Tensor | None) -> Tensor:
    mixed = _attention(config, p, _norm(hidden, p["attention_norm.weight"]), scored)
    hidden = _at(hidden, scored) + mixed
    if not config.mlp_width:
        return hidden
    normed = _norm(hidden, p["mlp_norm.weight"])
    inner = F.silu(_linear(normed, p["mlp.gate.weight"])) * _linear(normed, p["mlp.up.weight"])
    return hidden + _linear(inner, p["mlp.down.weight"])


def _attention(config: ModelConfig, p: Parameters, x: Tensor, scored: Tensor | None) -> Tensor:
    """KVShiftAttention for x (models, batch, length, width); models and batch become one axis for the softmax."""
    scale = (config.width // config.n_heads) ** -0.5
    where = Layout(0, x.shape[2], x.device, None if scored is None else scored.flatten())
    key = _shift(_split(config, p, x, "k"), _mixture(config, p, "alpha"))
    query, key = (heads.flatten(0, 1) for heads in (_query(config, p, x, scored), key))
    if config.position == "rope":
        positions = where.positions()
        key = rotate(key, positions, config.rope_base)
        query = rotate(query, where.pick(positions), config.rope_base)
    query, key, mask = query.transpose(1, 2), key.transpose(1, 2), _mask(config, where, query.dtype)
    if scored is None:
        value = _shift(_split(config, p, x, "v"), _mixture(config, p, "beta")).flatten(0, 1).transpose(1, 2)
        heads = attend(query, key, value, mask, scale).transpose(1, 2).flatten(2).unflatten(0, x.shape[:2])
    else:
        heads = _read(config, p, x, probabilities(query, key, mask, scale).squeeze(2).unflatten(0, x.shape[:2]))
    return _linear(heads, p["attention.o_proj.weight"])


def _read(config: ModelConfig, p: Parameters, x: Tensor, attention: Tensor) -> Tensor:
    """The heads' outputs for attention (models, batch, heads, length), without forming values, as KVShiftAttention."""
    group = config.n_heads // (config.n_kv_heads or config.n_heads)
    mixture, weight = _mixture(config, p, "beta"), p["attention.v_proj.weight"]
    if mixture is not None:
        attention = shift_back(attention, mixture.repeat_interleave(group, dim=1)[:, None])
    weight = weight.unflatten(1, (-1, config.width // config.n_heads)).repeat_interleave(group, dim=1)
    return torch.einsum("nbhw,nhdw->nbhd", attention @ x, weight).flatten(2).unsqueeze(2)


def _split(config: ModelConfig, p: Parameters, x: Tensor, name: str) -> Tensor:
    """(models, batch, length, kv heads, head width): the projection of that name."""
    return _linear(x, p[f"attention.{name}_proj.weight"]).unflatten(-1, (-1, config.width // config.n_heads))


def _query(config: ModelConfig, p: Parameters, x: Tensor, scored: Tensor | None) -> Tensor:
    """Mixed queries, (models, batch, queries, heads, head_dim); for one scored position only its window is read."""
    mixture, head_dim = _mixture(config, p, "gamma"), config.width // config.n_heads
    weight = p["attention.q_proj.weight"]
    if scored is None or mixture is None:
        return _shift(_linear(_at(x, scored), weight).unflatten(-1, (-1, head_dim)), mixture)
    at = scored[..., None] - torch.arange(mixture.shape[-1], device=x.device)
    taken = x.gather(2, at.clamp(min=0)[..., None].expand(-1, -1, -1, config.width))
    raw = _linear(taken.masked_fill((at < 0)[..., None], 0.0), weight).unflatten(-1, (-1, head_dim))
    return (raw * mixture.mT[:, None, :, :, None]).sum(2, keepdim=True)


def _mixture(config: ModelConfig, p: Parameters, which: str) -> Tensor | None:
    """Effective coefficients (models, heads, window), or None where nothing is shifted."""
    parameter = p.get(f"attention.{which}")
    if parameter is None:
        return None
    return coefficients.effective(parameter.flatten(0, 1), config.parameters).unflatten(0, parameter.shape[:2])


def _shift(x: Tensor, mixture: Tensor | None) -> Tensor:
    """y[t] = sum_j mixture[.., j] x[t - j] for x (models, batch, length, heads, head_dim), x = 0 before the start."""
    if mixture is None:
        return x
    columns = mixture[:, None, None, :, :, None].unbind(-2)
    mixed = x * columns[0]
    for j in range(1, len(columns)):
        older = F.pad(x[:, :, : max(0, x.shape[2] - j)], (0, 0, 0, 0, min(j, x.shape[2]), 0))
        mixed = torch.addcmul(mixed, older, columns[j])
    return mixed


def _mask(config: ModelConfig, where: Layout, dtype: torch.dtype) -> Tensor | None:
    seen = where.visible()
    if config.position != "alibi":
        return seen
    slopes = torch.tensor(alibi.slopes(config.n_heads), dtype=dtype, device=where.device)
    if seen is None:
        seen = torch.arange(where.length, device=where.device) <= where.queries()[..., None]
    return alibi_bias(slopes, where).masked_fill(~seen, -torch.inf)


def _linear(x: Tensor, weight: Tensor) -> Tensor:
    """(models, .., inputs) times (models, outputs, inputs) transposed, one matmul a model."""
    return (x.flatten(1, -2) @ weight.mT).unflatten(1, x.shape[1:-1])


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    return F.rms_norm(x, x.shape[-1:], eps=EPS) * weight.view(len(weight), *[1] * (x.ndim - 2), -1)


def _at(hidden: Tensor, scored: Tensor | None) -> Tensor:
    """hidden[n, b, scored[n, b]] with a length axis of 1, or everything for None."""
    if scored is None:
        return hidden
    return hidden.gather(2, scored[..., None, None].expand(-1, -1, 1, hidden.shape[-1]))
