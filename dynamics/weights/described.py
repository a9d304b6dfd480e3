"""Decoders of one pattern, told apart by a few words each: where the projections are, what is normed, how logits scale.

The pattern: a norm in front of attention, projections of its output, rotary positions or none. Only what attention is
made of is checked by shape; what else a layer holds - its MLP, experts, later norms - is let stand under any name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pydantic import Field, PositiveFloat

from dynamics.weights import layout as layouts
from dynamics.weights.layout import Architecture, Config, LayerLayout, Layers, Layout, Role, Size
from dynamics.weights.llama import PROJECTIONS, LayerType, attention_shapes, rope_gain


class Decoder(Config):
    """The fields that logits depend on, under the names that these families share."""

    hidden_size: Size
    num_hidden_layers: Layers
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    max_position_embeddings: Size | None = None
    sliding_window: Size | None = None
    sliding_window_pattern: Size | None = None
    use_sliding_window: bool = False
    layer_types: list[LayerType] | None = None
    no_rope_layers: list[int] | None = None
    attention_multiplier: PositiveFloat | None = None
    query_pre_attn_scalar: PositiveFloat | None = None
    attn_logit_softcapping: PositiveFloat | None = None
    clip_qkv: PositiveFloat | None = None
    partial_rotary_factor: float = Field(default=1.0, gt=0, le=1)
    rotary_pct: float | None = Field(default=None, gt=0, le=1)


class Kind(NamedTuple):
    """What distinguishes a model_type from the pattern.

    attention, norm: the names in a layer (norm "": one without parameters); layer_norm: LayerNorm in place of RMSNorm,
    norm_bias: with a bias; offset: what is added to stored gains; fused: the name of one projection for all, its heads
    "interleaved" or "concatenated"; biases: the field that says whether query, key and value have them, and what holds
    where it is absent; gains: on each head's query and key; needs: settings that are supported, with what holds where
    they are absent; rotary: False for none; pairs: of the rotation; windows: "all" layers, those of layer_types and
    else all but every n-th, or "asked" for by use_sliding_window; root: of the layers.
    """

    attention: str = "self_attn"
    norm: str = "input_layernorm"
    layer_norm: bool = False
    norm_bias: bool = False
    offset: float = 0.0
    fused: tuple[str, Literal["interleaved", "concatenated"]] | None = None
    biases: tuple[str, bool] = ("attention_bias", False)
    gains: bool = False
    needs: Mapping[str, bool] = MappingProxyType({})
    rotary: bool = True
    pairs: Literal["halves", "neighbours"] = "halves"
    windows: Literal["all", "asked"] | int | None = None
    root: str = "layers."


KINDS = {
    "cohere": Kind(layer_norm=True, pairs="neighbours", needs={"use_qk_norm": False}),
    "gemma": Kind(offset=1.0),
    "gemma2": Kind(offset=1.0, windows=2),
    "gemma3_text": Kind(offset=1.0, gains=True, windows=6, needs={"use_bidirectional_attention": False}),
    "gpt_neox": Kind("attention", layer_norm=True, norm_bias=True, fused=("query_key_value", "interleaved"),
                     biases=("attention_bias", True)),
    "granite": Kind(),
    "mixtral": Kind(windows="all"),
    "olmo": Kind(norm="", layer_norm=True),
    "opt": Kind(norm="self_attn_layer_norm", layer_norm=True, norm_bias=True, biases=("enable_bias", True),
                needs={"do_layer_norm_before": True, "layer_norm_elementwise_affine": True}, rotary=False,
                root="decoder.layers."),
    "phi3": Kind(fused=("qkv_proj", "concatenated"), windows="all"),
    "qwen3_moe": Kind(gains=True, windows="asked"),
    "smollm3": Kind(windows="asked"),
    "stablelm": Kind(layer_norm=True, norm_bias=True, biases=("use_qkv_bias", False), needs={"qk_layernorm": False}),
}  # fmt: skip


def layout(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read a config of a model_type of KINDS.

    Raises: ValueError of one line for a field that is absent, of the wrong type or out of range, a setting that changes
    attention in a way not known here, and rotary angles that do.
    """
    kind, config = KINDS[str(data["model_type"])], Decoder.of(data, path)
    for name, wanted in kind.needs.items():
        if (given := data.get(name, wanted)) is not wanted:
            raise ValueError(f"{path}: {name} is {given!r}: only {wanted!r} is supported")
    layers, required = [], {}
    for number in range(config.num_hidden_layers):
        layers.append(_layer(kind, config, data, path, f"{prefix}{kind.root}{number}.", number))
        required |= _shapes(kind, layers[-1])
    return Layout(tuple(layers), required, {}, _others(kind, len(layers), prefix))


def _others(kind: Kind, n_layers: int, prefix: str) -> str:
    """Names outside of the layers, and in a layer those that are neither of its norm nor of what attention reads."""
    here = rf"{prefix}{kind.root}(?:{'|'.join(map(str, range(n_layers)))})\."
    read = rf"{kind.attention}\.(?!o_proj|out_proj|dense|rotary_emb|bias$|masked_bias$)"
    norm = rf"|{kind.norm}\." if kind.norm else ""
    return rf"(?:{here}(?!{read}{norm})|(?!{prefix}{kind.root})).+"


def _layer(kind: Kind, config: Decoder, data: Mapping[str, Any], path: Path, root: str, number: int) -> LayerLayout:
    sizes, at, norm = _architecture(kind, config, data, path, number), f"{root}{kind.attention}.", f"{root}{kind.norm}"
    field, usual = kind.biases
    return LayerLayout(
        sizes, _rows(kind, sizes, at, "weight"), _rows(kind, sizes, at, "bias") if data.get(field, usual) else {},
        gamma=f"{norm}.weight" if kind.norm else None, norm_bias=f"{norm}.bias" if kind.norm_bias else None,
        query_gain=f"{at}q_norm.weight" if kind.gains else None, key_gain=f"{at}k_norm.weight" if kind.gains else None,
        window=_window(kind, config, path, number), offset=kind.offset,
    )  # fmt: skip


def _architecture(kind: Kind, config: Decoder, data: Mapping[str, Any], path: Path, number: int) -> Architecture:
    n_heads = config.num_attention_heads
    n_kv_heads = config.num_key_value_heads or n_heads
    d_head = layouts.head_dim(config.hidden_size, n_heads, n_kv_heads, path, config.head_dim)
    rotates = kind.rotary and (config.no_rope_layers is None or bool(_entry(config.no_rope_layers, number, path)))
    scale = config.attention_multiplier or layouts.default_scale(config.query_pre_attn_scalar or d_head)
    turned, gain = _rotation(config, data, path, d_head) if rotates else (None, 1.0)
    return Architecture(
        model_type=str(data["model_type"]), n_layers=config.num_hidden_layers, n_heads=n_heads, n_kv_heads=n_kv_heads,
        d_head=d_head, d_model=config.hidden_size, norm="layer" if kind.layer_norm else "rms",
        position="rope" if rotates else "none", slopes=None, pairs=kind.pairs, scale=scale * gain,
        max_length=config.max_position_embeddings, clip=config.clip_qkv, rotated=turned,
        softcap=config.attn_logit_softcapping,
    )  # fmt: skip


def _rotation(config: Decoder, data: Mapping[str, Any], path: Path, d_head: int) -> tuple[int | None, float]:
    """How many components of a head are turned, None for all, and the factor that the rotation puts on a logit."""
    given = data.get("rope_parameters") or {}
    sets = [one for one in given.values() if isinstance(one, dict)] or [given]
    share = {one.get("partial_rotary_factor", config.rotary_pct or config.partial_rotary_factor) for one in sets}
    if len(share) > 1:
        raise ValueError(f"{path}: layers that rotate different shares of a head are not supported")
    plain = {key: value for key, value in data.items() if key not in ("rope_parameters", "partial_rotary_factor")}
    whole = [{key: value for key, value in one.items() if key != "partial_rotary_factor"} for one in sets]
    gains = {rope_gain(plain | {"rope_parameters": one}, path) for one in whole}
    turned = int(d_head * share.pop())
    if turned % 2 or not turned:
        raise ValueError(f"{path}: rotary heads turn an even number of components, got {turned}")
    return None if turned == d_head else turned, max(gains)


def _entry(values: list[Any], number: int, path: Path) -> Any:
    if number >= len(values):
        raise ValueError(f"{path}: a list by layer has {len(values)} entries, there is a layer {number}")
    return values[number]


def _window(kind: Kind, config: Decoder, path: Path, number: int) -> int | None:
    if kind.windows is None or (kind.windows == "asked" and not config.use_sliding_window):
        return None
    if config.layer_types is not None:
        slides = _entry(config.layer_types, number, path) == "sliding_attention"
    else:
        every = config.sliding_window_pattern or kind.windows
        slides = not isinstance(every, int) or (number + 1) % every != 0
    return config.sliding_window if slides else None


def _rows(kind: Kind, sizes: Architecture, at: str, ending: str) -> Mapping[Role, layouts.Rows]:
    if kind.fused is None:
        return layouts.separate({role: f"{at}{name}.{ending}" for role, name in PROJECTIONS.items()}, sizes.d_head)
    name, order = kind.fused
    if order == "interleaved":
        return layouts.interleaved(f"{at}{name}.{ending}", sizes.d_head)
    return layouts.concatenated(f"{at}{name}.{ending}", sizes.n_heads, sizes.n_kv_heads, sizes.d_head)


def _shapes(kind: Kind, layer: LayerLayout) -> dict[str, tuple[int, ...]]:
    sizes = layer.architecture
    shapes = attention_shapes(layer)
    if kind.fused is not None:
        rows = (sizes.n_heads + 2 * sizes.n_kv_heads) * sizes.d_head
        shapes[layer.weights["query"].name] = (rows, sizes.d_model)
        shapes |= {at.name: (rows,) for at in layer.biases.values()}
    return shapes | {name: (sizes.d_model,) for name in (layer.gamma, layer.norm_bias) if name}
