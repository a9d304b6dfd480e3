"""Baichuan and Baichuan2 (ALiBi at 13B, RoPE at 7B) and the KV-shift layout of Baichuan-M1; all with a fused W_pack."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from dynamics.files.manifest import Count
from dynamics.weights import layout as layouts
from dynamics.weights.layout import Architecture, Config, LayerLayout, Layers, Layout, Size
from dynamics.weights.rotary import rope_gain
from theory import alibi

ROPE_WIDTH, ALIBI_WIDTH = 4096, 5120  # of the published 7B and 13B models


class Baichuan(Config):
    """The fields of config.json of Baichuan, Baichuan2 and Baichuan-M1."""

    hidden_size: Size
    intermediate_size: Size
    vocab_size: Size
    num_hidden_layers: Layers
    num_attention_heads: Size
    max_position_embeddings: Size | None = None
    model_max_length: Size | None = None


class BaichuanM1(Baichuan):
    """With grouped heads, and other head counts in the windowed layers."""

    num_key_value_heads: Size
    num_swa_attention_heads: Size | None = None
    num_swa_key_value_heads: Size | None = None
    sliding_window: Size | None = None
    sliding_window_layers: list[Count] = Field(default_factory=list)
    conv_window: Literal[2]


def baichuan(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read a Baichuan or Baichuan2 config. The 7B models rotate and the 13B ones have ALiBi under one model_type.

    Which: the width of the published models, 4096 and 5120; at any other width, max_position_embeddings is a field of
    the 7B code and model_max_length alone one of the 13B code. Raises: ValueError of one line where neither tells.
    """
    config = Baichuan.of(data, path)
    rope = _rotates(config, path)
    n_heads = config.num_attention_heads
    architecture = _architecture("baichuan", config, n_heads, n_heads, path)
    if rope:
        architecture = architecture._replace(scale=architecture.scale * rope_gain(data, path))
    else:
        architecture = architecture._replace(position="alibi", slopes=tuple(alibi.slopes(n_heads)))
    layers = [
        LayerLayout(architecture, _packed(root, architecture), {}, gamma=f"{root}input_layernorm.weight")
        for root in _roots(config, prefix)
    ]
    return _layout(config, prefix, layers)


def baichuan_m1(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read a Baichuan-M1 config: KV shift by conv_k and conv_v, (1, 1, n_kv_heads, 1, 2), index 0 the previous token.

    Layers in sliding_window_layers see sliding_window tokens and have num_swa_* heads; the shift comes before RoPE.
    Raises: ValueError of one line for a bad field, a window other than 2, or a windowed layer that is not there.
    """
    config = BaichuanM1.of(data, path)
    if not set(config.sliding_window_layers) <= set(range(config.num_hidden_layers)):
        raise ValueError(f"{path}: sliding_window_layers names layers beyond {config.num_hidden_layers - 1}")
    if config.sliding_window_layers and config.sliding_window is None:
        raise ValueError(f"{path}: sliding_window is missing")
    n_heads, n_kv_heads = config.num_attention_heads, config.num_key_value_heads
    everywhere = _architecture("baichuan_m1", config, n_heads, n_kv_heads, path)
    n_heads, n_kv_heads = config.num_swa_attention_heads or n_heads, config.num_swa_key_value_heads or n_kv_heads
    windowed = _architecture("baichuan_m1", config, n_heads, n_kv_heads, path)
    gain, layers = rope_gain(data, path), []
    for number, root in enumerate(_roots(config, prefix)):
        local = number in config.sliding_window_layers
        architecture = windowed if local else everywhere
        architecture = architecture._replace(scale=architecture.scale * gain)
        layers.append(
            LayerLayout(
                architecture,
                _packed(root, architecture),
                {},
                gamma=f"{root}input_layernorm.weight",
                alpha=f"{root}self_attn.conv_k",
                beta=f"{root}self_attn.conv_v",
                mix=_self_first,
                window=config.sliding_window if local else None,
            )
        )
    return _layout(config, prefix, layers)


def _rotates(config: Baichuan, path: Path) -> bool:
    if config.hidden_size in (ROPE_WIDTH, ALIBI_WIDTH):
        return config.hidden_size == ROPE_WIDTH
    if config.max_position_embeddings is None and config.model_max_length is None:
        raise ValueError(
            f"{path}: RoPE or ALiBi? hidden_size {config.hidden_size} is neither {ROPE_WIDTH} nor {ALIBI_WIDTH}, and "
            "neither max_position_embeddings nor model_max_length is given"
        )
    return config.max_position_embeddings is not None


def _architecture(kind: str, config: Baichuan, n_heads: int, n_kv_heads: int, path: Path) -> Architecture:
    d_head = layouts.head_dim(config.hidden_size, n_heads, n_kv_heads, path)
    return Architecture(
        model_type=kind,
        n_layers=config.num_hidden_layers,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        d_head=d_head,
        d_model=config.hidden_size,
        norm="rms",
        position="rope",
        slopes=None,
        pairs="halves",
        scale=layouts.default_scale(d_head),
        max_length=config.max_position_embeddings or config.model_max_length,
    )


def _roots(config: Baichuan, prefix: str) -> list[str]:
    return [f"{prefix}layers.{number}." for number in range(config.num_hidden_layers)]


def _packed(root: str, sizes: Architecture) -> dict[layouts.Role, layouts.Rows]:
    return layouts.concatenated(f"{root}self_attn.W_pack.weight", sizes.n_heads, sizes.n_kv_heads, sizes.d_head)


def _block_shapes(root: str, width: int, hidden: int, sizes: Architecture) -> dict[str, tuple[int, ...]]:
    """Shapes of the rest of a block: output projection, MLP and two norms."""
    return {
        f"{root}self_attn.o_proj.weight": (width, sizes.n_heads * sizes.d_head),
        f"{root}mlp.gate_proj.weight": (hidden, width),
        f"{root}mlp.up_proj.weight": (hidden, width),
        f"{root}mlp.down_proj.weight": (width, hidden),
        f"{root}input_layernorm.weight": (width,),
        f"{root}post_attention_layernorm.weight": (width,),
    }


def _self_first(stored: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.ascontiguousarray(stored.reshape(-1, 2)[:, ::-1])


def _layout(config: Baichuan, prefix: str, layers: list[LayerLayout]) -> Layout:
    width = config.hidden_size
    required: dict[str, tuple[int, ...]] = {f"{prefix}embed_tokens.weight": (config.vocab_size, width)}
    optional: dict[str, tuple[int, ...] | None] = {"lm_head.weight": (config.vocab_size, width)}
    for root, layer in zip(_roots(config, prefix), layers, strict=True):
        sizes = layer.architecture
        required |= _block_shapes(root, width, config.intermediate_size, sizes)
        required[layer.weights["query"].name] = ((sizes.n_heads + 2 * sizes.n_kv_heads) * sizes.d_head, width)
        required |= {name: (1, 1, sizes.n_kv_heads, 1, 2) for name in (layer.alpha, layer.beta) if name}
        optional[f"{root}self_attn.rotary_emb.inv_freq"] = None
    required[f"{prefix}norm.weight"] = (width,)
    return Layout(tuple(layers), required, optional)
