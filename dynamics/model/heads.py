"""What an attention layer is without its weights, and what it projects states through: linear maps, norms, latents.

Parameters are those of one model or of a stack of them, as `dynamics.model.forward` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from dynamics.model.config import PROJECTED, CrossLayer, Dense, Latent, ModelConfig, Own, Past, Values
from theory import alibi

Parameters = Mapping[str, Tensor]
EPS = 1e-6
COEFFICIENTS = {"key": "alpha", "value": "beta", "query": "gamma"}


class Heads(NamedTuple):
    """What an attention layer is, without its weights; the fields are those of `KVShiftAttention`."""

    n_heads: int
    n_kv_heads: int
    head_dim: int
    window: int
    parameters: str
    position: str
    rope_base: float
    scale: float
    slopes: list[float] | None
    weights: str = "softmax"
    causal: bool = True
    values: Values = Own()
    layer: int = 0
    past: tuple[Past, ...] = ()
    start: str = "zero"
    qk_norm: bool = False
    latent: Latent | None = None

    @classmethod
    def of(cls, config: ModelConfig, layer: int = 0) -> Heads:
        """The attention of a layer of a configuration."""
        head_dim = config.width // config.n_heads
        scale = (head_dim / (2 if config.weights == "differential" else 1)) ** -0.5
        slopes = alibi.slopes(config.n_heads) if config.position == "alibi" else None
        return cls(
            config.n_heads, config.n_kv_heads or config.n_heads, head_dim, config.window, config.parameters,
            config.position_in_attention, config.rope_base, scale, slopes,
            config.weights, config.causal, config.values, layer,
            tuple(past for past in config.past if past.at in PROJECTED), config.start, config.qk_norm,
            config.latent,
        )  # fmt: skip

    def reads_plainly(self, p: Parameters) -> bool:
        """Whether its values are projections of its own states, and nothing is added to them, or to what is read."""
        own = isinstance(self.values, Own | Dense) and self.latent is None and "start.value" not in p
        return own and all(past.at != "value" for past in self.past)

    @property
    def maps(self) -> int:
        """How many softmaxes a head has, each with its share of the head's queries and keys."""
        return 2 if self.weights == "differential" else 1

    @property
    def over_two(self) -> bool:
        """Whether it attends over the keys of another layer beside its own."""
        return isinstance(self.values, CrossLayer) and self.layer > 0


class States(NamedTuple):
    """What queries, keys and values are projected from, (batch, length, width) each: in most models the same."""

    query: Tensor
    key: Tensor
    value: Tensor


class Formed(NamedTuple):
    """Query, key and value as attention reads them, (batch, heads, tokens, head_dim), and what is added to its output.

    added: (batch, new tokens, n_kv_heads, head_dim), or None.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    added: Tensor | None


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """x (batch, .., inputs) times weight (outputs, inputs) transposed; of a stack, each model's weight for its rows."""
    if weight.ndim == 2:
        return F.linear(x, weight)
    return (x.reshape(len(weight), -1, x.shape[-1]) @ weight.mT).view(*x.shape[:-1], -1)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """x / sqrt(mean x^2 + EPS) * weight, as `linear` for a stack."""
    if weight.ndim == 1:
        return F.rms_norm(x, weight.shape, weight, EPS)
    normed = F.rms_norm(x, x.shape[-1:], eps=EPS).reshape(len(weight), -1, x.shape[-1])
    return (normed * weight[:, None]).view(x.shape)


def latents(heads: Heads, p: Parameters, x: Tensor) -> Tensor:
    """What a layer keeps of x (batch, length, width): c = W_D x, normed if it is to be, and W_R x behind it.

    Returns: (batch, length, size + rope); the rotated part is not rotated yet.
    """
    latent, found = heads.latent, linear(x, p["latent_proj.weight"])
    if not latent.norm:
        return found
    return torch.cat([rms_norm(found[..., : latent.size], p["latent_norm"]), found[..., latent.size :]], dim=-1)


def projected(name: str, heads: Heads, p: Parameters, x: Tensor) -> Tensor:
    """Queries, keys or values side by side, (batch, length, heads * head_dim).

    x: states (batch, length, width), or for keys and values of latent attention what `latents` gives; each head's key
    is then W_UK c with the one W_R x of all heads behind it.
    """
    latent, weight = heads.latent, p[f"{name[0]}_proj.weight"]
    if latent is None or name == "query":
        return linear(x, weight)
    found = linear(x[..., : latent.size], weight)
    if name == "value" or not latent.rope:
        return found
    own = found.unflatten(-1, (-1, heads.head_dim - latent.rope))
    shared = x[..., None, latent.size :].expand(*own.shape[:-1], -1)
    return torch.cat([own, shared], dim=-1).flatten(-2)
