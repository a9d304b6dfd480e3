"""MPT: ALiBi, LayerNorm without a bias, and one fused projection; its settings stand in a config of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat

from dynamics.weights import layout as layouts
from dynamics.weights.layout import Architecture, Config, LayerLayout, Layers, Layout, Size
from theory import alibi

NAMES = {"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"}  # of transformers
HEADS = r"(?:score|classifier|qa_outputs)\..+"  # of other tasks


class MptAttention(Config):
    """attn_config of an MPT; the fields given as literals are refused with other values."""

    alibi: bool
    alibi_bias_max: Annotated[int, Field(ge=8, le=1000)] = 8
    clip_qkv: NonNegativeFloat | None = None
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
    max_seq_len: Annotated[Size, Field(ge=2)] | None = None  # biases of 1 place would serve every place
    sliding_window: None = None
    expansion_ratio: Annotated[int, Field(ge=1, le=1000)] = 4
    no_bias: Literal[True] = True
    norm_type: Literal["layernorm", "low_precision_layernorm"] = "low_precision_layernorm"
    attn_config: MptAttention


def layout(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read an MPT config: all queries, all keys, all values in Wqkv; a norm without bias.

    The slopes are 2^(-alibi_bias_max h / n), as its authors compute them; the class of transformers ignores
    alibi_bias_max and alibi: false, and always takes 8: what is bounded for a larger value holds there too, for a
    smaller one it would not, and that is refused. Without ALiBi the positions are learned embeddings, which logits do
    not see.
    Raises: ValueError of one line for a bad field, biases, normed queries and keys, RoPE, a prefix mask, grouped heads.
    """
    for other, name in NAMES.items():
        if other in data and data[other] != data.get(name):
            raise ValueError(f"{path}: {name} is {data.get(name)} but {other} is {data[other]}")
    config = Mpt.of(data, path)
    attention, width = config.attn_config, config.d_model
    d_head = layouts.head_dim(width, config.n_heads, config.n_heads, path)
    slopes = tuple(slope ** (attention.alibi_bias_max / 8) for slope in alibi.slopes(config.n_heads))
    architecture = Architecture(
        model_type="mpt", n_layers=config.n_layers, n_heads=config.n_heads, n_kv_heads=config.n_heads, d_head=d_head,
        d_model=width, norm="layer", position="alibi" if attention.alibi else "learned",
        slopes=slopes if attention.alibi else None, pairs="halves",
        scale=attention.softmax_scale or layouts.default_scale(d_head), max_length=config.max_seq_len,
        clip=attention.clip_qkv or None,
    )  # fmt: skip
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
    return Layout(tuple(layers), required, optional, HEADS)


