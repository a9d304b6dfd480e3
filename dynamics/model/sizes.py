"""The costs of a model configuration: number of weights, size of its caches, operations of a forward pass."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch

from dynamics.model import decoder
from dynamics.model.config import PLACED, PROJECTED, Borrowed, ModelConfig, Neutreno, Past, Residual
from dynamics.model.heads import Heads
from dynamics.model.values import borrows, has_projection, projects, projects_keys, reads, shifted_first, shifts


@lru_cache(1024)
def parameters(config: ModelConfig) -> int:
    """The number of weights, counted in the module itself, without memory for any of them."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in decoder.build(config).parameters())


class CacheSize(NamedTuple):
    """Numbers that the caches of all layers keep of one text: of each of its tokens, and of its last few besides."""

    per_token: int
    last: int

    def bytes(self, length: int, itemsize: int = 2) -> int:
        """Bytes for a text of that many tokens, not fewer than the largest window; itemsize: bytes of a number."""
        return (self.per_token * length + self.last) * itemsize


def cache_size(config: ModelConfig) -> CacheSize:
    """Keys and values, or latents, of each token; the last raw ones of what is shifted or mixed with its past.

    Raises: ValueError for a model that keeps no cache.
    """
    if not config.causal or config.place in PLACED:
        raise ValueError("a model that is not causal, or whose shift is placed elsewhere, keeps no cache")
    layers = [Heads.of(config, layer) for layer in range(config.n_layers)]
    smears = sum((past.window - 1) * config.width for past in config.past if past.at == "embedding")
    return CacheSize(sum(map(_per_token, layers)), smears + sum(_last(config, heads) for heads in layers))


def _per_token(heads: Heads) -> int:
    summed = heads.weights == "selective"
    if not projects_keys(heads.values, heads.layer):
        return summed
    if heads.latent is not None:
        return summed + heads.latent.size + heads.latent.rope
    return summed + heads.n_kv_heads * heads.head_dim * (2 if projects(heads.values, heads.layer) else 1)


def _last(config: ModelConfig, heads: Heads) -> int:
    """Latents are mixed all anew; values that other layers shift, each its own way, are kept raw with all tokens."""
    channels, kept = _channels(config), 0
    for name in _shifted(config, heads):
        shared = name == "value" and heads.values.kind == "shared" and not shifted_first(heads.values)
        if name == "query" or (heads.latent is None and not shared):
            kept += (config.window - 1) * channels[name]
    for past in config.past:
        of_latents = past.at in ("key", "value") and heads.latent is not None
        if past.at != "embedding" and not of_latents:
            kept += (past.window - 1) * channels[past.at]
    return kept


def _shifted(config: ModelConfig, heads: Heads) -> list[str]:
    """Which of queries, keys and values the layer mixes by coefficients of its own."""
    here = {"key": projects_keys(heads.values, heads.layer), "value": shifts(heads.values, heads.layer), "query": True}
    return [name for name in PROJECTED if config.shift != "none" and name[0] in config.shift and here[name]]


def _channels(config: ModelConfig) -> dict[str, int]:
    """Channels of a token at each place of a layer."""
    of_keys = config.width // config.n_heads * (config.n_kv_heads or config.n_heads)
    states = dict.fromkeys(("attention", "output", "mlp"), config.width)
    return states | {"query": config.width, "key": of_keys, "value": of_keys, "hidden": 2 * config.mlp_width}


class Operations(NamedTuple):
    """Multiplications and additions of a forward pass, a token, by what they are done for.

    mixing: shifts, other mixing with the past, values of other layers added, and means over depth; norms, softmaxes,
    rotations and gates are left out, as is usual.
    """

    projections: int
    attention: int
    mlp: int
    mixing: int
    logits: int

    @property
    def matmuls(self) -> int:
        """Those in products of matrices."""
        return self.projections + self.attention + self.mlp + self.logits


def operations(config: ModelConfig, context: int) -> Operations:
    """Operations a token, each attending to `context` keys (of a text of as many tokens, masked ones are computed too).

    Latents are projected to keys and values once a token, as in one pass over a text: step by step the cache projects
    all of them in each step. Raises: ValueError for a shift that is placed elsewhere.
    """
    if config.place in PLACED:
        raise ValueError(f"the operations of a model whose shift is placed at {config.place!r} are not counted")
    layers = [Heads.of(config, layer) for layer in range(config.n_layers)]
    smears = sum(_mixing(past, config.width) for past in config.past if past.at == "embedding")
    return Operations(
        sum(_projections(config, heads) for heads in layers),
        sum(_attention(heads, context) for heads in layers),
        config.n_layers * 6 * config.width * config.mlp_width,
        smears + sum(_mixed(config, heads) for heads in layers),
        2 * config.width * config.vocab,
    )


def _projections(config: ModelConfig, heads: Heads) -> int:
    width, of_keys = config.width, heads.n_kv_heads * heads.head_dim
    query, keys, own = (has_projection(heads.values, heads.layer, name) for name in PROJECTED)
    source, of_key, down = width, of_keys, 0
    if heads.latent is not None and keys:
        source, down = heads.latent.size, width * (heads.latent.size + heads.latent.rope)
        of_key = of_keys - heads.n_kv_heads * heads.latent.rope
    gates = width * heads.n_heads if heads.weights == "gate" else 0
    return 2 * ((1 + query) * width * width + down + source * (of_key * keys + of_keys * own) + gates)


def _attention(heads: Heads, context: int) -> int:
    """Q K^T, and as many products of weights and values as there are softmaxes."""
    keys = context * (2 if heads.over_two else 1)
    return 2 * keys * heads.n_heads * heads.head_dim * (1 + heads.maps)


def _mixing(past: Past, channels: int) -> int:
    return 2 * channels * past.window


def _mixed(config: ModelConfig, heads: Heads) -> int:
    channels = _channels(config)
    shifts_ = sum(2 * config.window * channels[name] for name in _shifted(config, heads))
    pasts = sum(_mixing(past, channels[past.at]) for past in config.past if past.at != "embedding")
    depth = 2 * config.width * (heads.layer + 2) if config.values.kind == "dense" else 0
    count = heads.n_heads if borrows(heads.values, heads.layer, "query") else heads.n_kv_heads
    return shifts_ + pasts + depth + _added(heads) * count * heads.head_dim


def _added(heads: Heads) -> int:
    """Operations a channel for the values, or what else is read, of other layers."""
    if not reads(heads.values, heads.layer):
        return 0
    if isinstance(heads.values, Borrowed):
        return (3 if heads.values.own else 1) + 2 * (heads.values.source == "mean")
    if isinstance(heads.values, Residual | Neutreno):
        return 3
    return 2 if heads.values.kind == "identity" else 0
