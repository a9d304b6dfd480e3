"""Llama, Mistral, Qwen2 and Qwen3: RMSNorm, three projections, RoPE in halves, grouped key-value heads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveFloat

from dynamics.weights import layout as layouts
from dynamics.weights.layout import Architecture, Config, LayerLayout, Layers, Layout, Role, Size

PREFIX = "model."
# They change the angles only; any other kind also changes the logits, and is refused or computed in rope_gain.
ANGLES_ONLY = ("default", "linear", "dynamic", "llama3")
PROJECTIONS: dict[Role, str] = {"query": "q_proj", "key": "k_proj", "value": "v_proj"}
LayerType = Literal["full_attention", "sliding_attention"]


class LlamaLike(Config):
    """The fields of config.json that shapes and logits depend on."""

    hidden_size: Size
    intermediate_size: Size
    vocab_size: Size
    num_hidden_layers: Layers
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    max_position_embeddings: Size | None = None
    attention_bias: bool = False
    mlp_bias: bool = False
    sliding_window: Size | None = None
    use_sliding_window: bool = False
    max_window_layers: int = Field(default=28, ge=0)
    layer_types: list[LayerType] | None = None


class Rope(Config):
    """The part of rope_parameters, or of rope_scaling in older files, that can change the size of logits."""

    rope_type: str | None = None
    type: str | None = None
    factor: PositiveFloat = 1.0
    attention_factor: PositiveFloat | None = None
    mscale: PositiveFloat | None = None
    mscale_all_dim: PositiveFloat | None = None
    partial_rotary_factor: float = 1.0


def layout(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read a config of model_type llama, mistral, qwen2 or qwen3.

    Mistral's window holds in every layer; that of Qwen in the layers that layer_types, or else max_window_layers,
    names. Qwen2 always has biases on query, key and value; Qwen3 has a gain on each head's query and key.
    Raises: ValueError of one line for a field that is absent, of the wrong type or out of range, heads that do not
    divide, and a rotary embedding that is partial or scales the logits in a way not known here.
    """
    config, kind = LlamaLike.of(data, path), str(data["model_type"])
    architecture = _architecture(config, kind, data, path)
    layers, required = [], {f"{prefix}embed_tokens.weight": (config.vocab_size, config.hidden_size)}
    optional: dict[str, tuple[int, ...] | None] = {"lm_head.weight": (config.vocab_size, config.hidden_size)}
    for number, window in enumerate(_windows(config, kind, path)):
        root = f"{prefix}layers.{number}."
        layers.append(_layer(architecture, root, window, kind, config.attention_bias))
        required |= attention_shapes(layers[-1])
        if config.attention_bias and kind in ("llama", "qwen3"):
            required[f"{root}self_attn.o_proj.bias"] = (config.hidden_size,)
        required |= block_shapes(root, config.hidden_size, config.intermediate_size, architecture)
        if config.mlp_bias and kind == "llama":
            for name, size in zip(("gate", "up", "down"), _mlp_rows(config), strict=True):
                required[f"{root}mlp.{name}_proj.bias"] = (size,)
        optional[f"{root}self_attn.rotary_emb.inv_freq"] = None
    required[f"{prefix}norm.weight"] = (config.hidden_size,)
    return Layout(tuple(layers), required, optional)


def _architecture(config: LlamaLike, kind: str, data: Mapping[str, Any], path: Path) -> Architecture:
    if config.num_key_value_heads is None and kind != "llama":
        raise ValueError(f"{path}: num_key_value_heads is missing")
    if config.head_dim is None and kind == "qwen3":
        raise ValueError(f"{path}: head_dim is missing")
    n_kv_heads = config.num_key_value_heads or config.num_attention_heads
    d_head = layouts.head_dim(config.hidden_size, config.num_attention_heads, n_kv_heads, path, config.head_dim)
    if d_head % 2:
        raise ValueError(f"{path}: rotary heads have an even size, got {d_head}")
    return Architecture(
        model_type=kind,
        n_layers=config.num_hidden_layers,
        n_heads=config.num_attention_heads,
        n_kv_heads=n_kv_heads,
        d_head=d_head,
        d_model=config.hidden_size,
        norm="rms",
        position="rope",
        slopes=None,
        pairs="halves",
        scale=layouts.default_scale(d_head) * rope_gain(data, path),
        max_length=config.max_position_embeddings,
    )


def _layer(
    architecture: Architecture, root: str, window: int | None, kind: str, attention_bias: bool
) -> LayerLayout:
    names, d_head = {role: f"{root}self_attn.{name}" for role, name in PROJECTIONS.items()}, architecture.d_head
    biased, gains = kind == "qwen2" or (attention_bias and kind != "mistral"), kind == "qwen3"
    return LayerLayout(
        architecture,
        layouts.separate({role: f"{name}.weight" for role, name in names.items()}, d_head),
        layouts.separate({role: f"{name}.bias" for role, name in names.items()}, d_head) if biased else {},
        gamma=f"{root}input_layernorm.weight",
        query_gain=f"{root}self_attn.q_norm.weight" if gains else None,
        key_gain=f"{root}self_attn.k_norm.weight" if gains else None,
        window=window,
    )


def attention_shapes(layer: LayerLayout) -> dict[str, tuple[int, ...]]:
    """Shapes of the separate projections, their biases, and the gains of one layer."""
    sizes = layer.architecture
    rows = {"query": sizes.n_heads * sizes.d_head, "key": sizes.n_kv_heads * sizes.d_head}
    rows["value"] = rows["key"]
    shapes: dict[str, tuple[int, ...]] = {at.name: (rows[role], sizes.d_model) for role, at in layer.weights.items()}
    shapes |= {at.name: (rows[role],) for role, at in layer.biases.items()}
    return shapes | {name: (sizes.d_head,) for name in (layer.query_gain, layer.key_gain) if name}


def block_shapes(root: str, width: int, hidden: int, sizes: Architecture) -> dict[str, tuple[int, ...]]:
    """Shapes of the rest of a Llama block: output projection, MLP and two norms."""
    return {
        f"{root}self_attn.o_proj.weight": (width, sizes.n_heads * sizes.d_head),
        f"{root}mlp.gate_proj.weight": (hidden, width),
        f"{root}mlp.up_proj.weight": (hidden, width),
        f"{root}mlp.down_proj.weight": (width, hidden),
        f"{root}input_layernorm.weight": (width,),
        f"{root}post_attention_layernorm.weight": (width,),
    }


def rope_gain(data: Mapping[str, Any], path: Path) -> float:
    """The factor that a rotary embedding puts on every logit: f^2, where it multiplies cosines and sines by f.

    f = 1 but for YaRN (arXiv:2309.00071, section 3.4), where it is attention_factor or 1 + 0.1 ln factor.
    Raises: ValueError for a kind of scaling, or a partial rotation, that is not known here.
    """
    new, old = data.get("rope_parameters") or {}, data.get("rope_scaling") or {}
    if not isinstance(new, dict) or not isinstance(old, dict):
        raise ValueError(f"{path}: rope_parameters and rope_scaling must be objects")
    given = new or old
    if (new and old and new != old) or any(isinstance(value, dict) for value in given.values()):
        raise ValueError(f"{path}: one set of rotary parameters for all layers is supported, not several")
    rope = Rope.of(given, path)
    kind = rope.rope_type or rope.type or "default"
    partial = data.get("partial_rotary_factor", 1.0), rope.partial_rotary_factor
    if partial != (1.0, 1.0):
        raise ValueError(f"{path}: a partial rotation is not supported, got partial_rotary_factor {min(partial)}")
    if kind in ANGLES_ONLY:
        return 1.0
    if kind != "yarn" or rope.mscale or rope.mscale_all_dim:
        raise ValueError(f"{path}: rotary scaling of type {kind!r} is not supported here, or not with mscale")
    factor = rope.attention_factor or 1.0 + 0.1 * math.log(max(rope.factor, 1.0))
    return factor * factor


def rope_base(data: Mapping[str, Any], path: Path) -> float:
    """The base of the rotary angles, 10000 where the config names none.

    Raises: ValueError for a base that is not a number above 1, and for every kind of scaling.
    """
    rope_gain(data, path)
    given = data.get("rope_parameters") or data.get("rope_scaling") or {}
    if (given.get("rope_type") or given.get("type") or "default") != "default":
        raise ValueError(f"{path}: rotary angles that are scaled are not run here")
    base = given.get("rope_theta", data.get("rope_theta", 10000.0))
    if isinstance(base, bool) or not isinstance(base, int | float) or not 1 < base < math.inf:
        raise ValueError(f"{path}: rope_theta must be a number above 1, got {base!r}")
    return float(base)


def _windows(config: LlamaLike, kind: str, path: Path) -> list[int | None]:
    everywhere = [config.sliding_window] * config.num_hidden_layers
    if kind == "mistral":
        return everywhere
    if kind == "llama" or not config.use_sliding_window:
        return [None] * config.num_hidden_layers
    types: list[LayerType] | None = config.layer_types
    if types is None:
        full = min(config.max_window_layers, config.num_hidden_layers)
        types = ["full_attention"] * full + ["sliding_attention"] * (config.num_hidden_layers - full)
    if len(types) != config.num_hidden_layers:
        raise ValueError(f"{path}: layer_types has {len(types)} entries for {config.num_hidden_layers} layers")
    return [window if name == "sliding_attention" else None for window, name in zip(everywhere, types, strict=True)]


def _mlp_rows(config: LlamaLike) -> tuple[int, int, int]:
    return config.intermediate_size, config.intermediate_size, config.hidden_size
