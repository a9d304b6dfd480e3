"""BLOOM and MPT: ALiBi, LayerNorm, and one fused projection - in two different orders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat

from dynamics.weights import layout as layouts
from dynamics.weights.layout import Architecture, Config, LayerLayout, Layers, Layout, Size
from theory import alibi

PREFIX = "transformer."


class Bloom(Config):
    """The fields of config.json, each under one of its two names."""

    hidden_size: Size
    n_layer: Layers
    n_head: Size
    vocab_size: Size
    seq_length: Size | None = None


class MptAttention(Config):
    """attn_config of an MPT; the fields given as literals are refused with other values."""

    alibi: bool
    alibi_bias_max: Annotated[int, Field(ge=8, le=1000)] = 8
    clip_qkv: Annotated[float, Field(ge=0)] | None = None
    softmax_scale: PositiveFloat | None = None
    attn_type: Literal["multihead_attention"] = "multihead_attention"
    qk_ln: Literal[False] = False
    qk_gn: Literal[False] = False
    rope: Literal[False] = False
    prefix_lm: Literal[False] = False
    sliding_window_size: Literal[-1] = -1


class Mpt(Config):
    """The fields of an MPT's config.json."""

    d_model: Size
    n_layers: Layers
    n_heads: Size
    vocab_size: Size
    max_seq_len: Size | None = None
    expansion_ratio: Annotated[int, Field(ge=1, le=1000)] = 4
    no_bias: Literal[True] = True
    norm_type: Literal["layernorm", "low_precision_layernorm"] = "low_precision_layernorm"
    attn_config: MptAttention


def bloom(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read a BLOOM config: query, key and value of each head stand together in query_key_value.

    Raises: ValueError of one line for a bad field, or for two names of one field that disagree.
    """
    config = Bloom.of(_one_name(data, path), path)
    width = config.hidden_size
    d_head = layouts.head_dim(width, config.n_head, config.n_head, path)
    architecture = _architecture("bloom", config.n_layer, config.n_head, width, d_head, config.seq_length)
    layers, required = [], {f"{prefix}word_embeddings.weight": (config.vocab_size, width)}
    norms = [f"{prefix}word_embeddings_layernorm", f"{prefix}ln_f"]
    for number in range(config.n_layer):
        root = f"{prefix}h.{number}."
        fused, norm = f"{root}self_attention.query_key_value", f"{root}input_layernorm"
        layers.append(
            LayerLayout(
                architecture,
                layouts.interleaved(f"{fused}.weight", d_head),
                layouts.interleaved(f"{fused}.bias", d_head),
                gamma=f"{norm}.weight",
                norm_bias=f"{norm}.bias",
            )
        )
        norms += [norm, f"{root}post_attention_layernorm"]
        dense = {"self_attention.query_key_value": (3, 1), "self_attention.dense": (1, 1)}
        dense |= {"mlp.dense_h_to_4h": (4, 1), "mlp.dense_4h_to_h": (1, 4)}
        for name, (rows, columns) in dense.items():
            required |= {
                f"{root}{name}.weight": (rows * width, columns * width),
                f"{root}{name}.bias": (rows * width,),
            }
    required |= {f"{norm}.{kind}": (width,) for norm in norms for kind in ("weight", "bias")}
    return Layout(tuple(layers), required, {"lm_head.weight": (config.vocab_size, width)})


def mpt(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read an MPT config: all queries, all keys, all values in Wqkv; a norm without bias.

    The slopes are 2^(-alibi_bias_max h / n), as its authors compute them; the class of transformers ignores
    alibi_bias_max and alibi: false, and always takes 8: what is bounded for a larger value holds there too, for a
    smaller one it would not, and that is refused. Without ALiBi the positions are learned embeddings, which logits do
    not see.
    Raises: ValueError of one line for a bad field, biases, normed queries and keys, RoPE, a prefix mask, grouped heads.
    """
    config = Mpt.of(data, path)
    attention, width = config.attn_config, config.d_model
    d_head = layouts.head_dim(width, config.n_heads, config.n_heads, path)
    architecture = _architecture("mpt", config.n_layers, config.n_heads, width, d_head, config.max_seq_len)
    architecture = architecture._replace(
        scale=attention.softmax_scale or architecture.scale,
        clip=attention.clip_qkv or None,
        slopes=tuple(slope ** (attention.alibi_bias_max / 8) for slope in alibi.slopes(config.n_heads)),
    )
    if not attention.alibi:
        architecture = architecture._replace(position="none", slopes=None)
    layers, required = [], {f"{prefix}wte.weight": (config.vocab_size, width), f"{prefix}norm_f.weight": (width,)}
    hidden = config.expansion_ratio * width
    for number in range(config.n_layers):
        root = f"{prefix}blocks.{number}."
        fused = f"{root}attn.Wqkv.weight"
        weights = layouts.concatenated(fused, config.n_heads, config.n_heads, d_head)
        layers.append(LayerLayout(architecture, weights, {}, gamma=f"{root}norm_1.weight"))
        required |= {
            fused: (3 * width, width),
            f"{root}attn.out_proj.weight": (width, width),
            f"{root}ffn.up_proj.weight": (hidden, width),
            f"{root}ffn.down_proj.weight": (width, hidden),
            f"{root}norm_1.weight": (width,),
            f"{root}norm_2.weight": (width,),
        }
    optional: dict[str, tuple[int, ...] | None] = {"lm_head.weight": (config.vocab_size, width)}
    if not attention.alibi:
        optional[f"{prefix}wpe.weight"] = None
    return Layout(tuple(layers), required, optional)


def _architecture(kind: str, n_layers: int, n_heads: int, width: int, d_head: int, length: int | None) -> Architecture:
    return Architecture(
        model_type=kind,
        n_layers=n_layers,
        n_heads=n_heads,
        n_kv_heads=n_heads,
        d_head=d_head,
        d_model=width,
        norm="layer",
        position="alibi",
        slopes=tuple(alibi.slopes(n_heads)),
        pairs="halves",
        scale=layouts.default_scale(d_head),
        max_length=length,
    )


def _one_name(data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """BLOOM's files use either name; the heads cannot be told from the shapes, so a disagreement is an error."""
    result = dict(data)
    for name, others in {
        "hidden_size": ("n_embed",),
        "n_layer": ("num_hidden_layers",),
        "n_head": ("num_attention_heads",),
    }.items():
        given = {other: data[other] for other in (name, *others) if data.get(other) is not None}
        if len(set(map(repr, given.values()))) > 1:
            raise ValueError(f"{path}: " + " but ".join(f"{key} is {value}" for key, value in given.items()))
        if given:
            result[name] = next(iter(given.values()))
    return result
