"""Decoders of one pattern, told apart by a line of `kinds.KINDS` each.

The pattern: a norm in front of attention, or none, projections of its output, positions rotary, ALiBi's, or none. Only
what attention is made of is checked by shape; what else a layer holds - its MLP, experts, later norms - and whatever
stands beside the layers - heads of any task - is let stand under any name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveFloat

from dynamics.weights import layout as layouts
from dynamics.weights.kinds import KINDS, Gains, Kind
from dynamics.weights.layout import PROJECTIONS, Architecture, Config, LayerLayout, Layers, Layout, Role, Rows, Size
from dynamics.weights.rotary import rotation
from theory import alibi

LayerType = Literal["full_attention", "sliding_attention"]
# What changes logits in the families that read it, and is other people's business elsewhere.
READ = ("attention_multiplier", "query_pre_attn_scalar", "attn_logit_softcapping", "clip_qkv", "no_rope_layers",
        "sliding_window_pattern")  # fmt: skip
BESIDE = r"(?:lm_head|score|classifier|qa_outputs)\.(?:weight|bias)"  # a model whose layers are known
AFTER = ("o_proj", "out_proj", "dense", "c_proj", "rotary_emb", "bias$", "masked_bias$")


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
    max_window_layers: int = Field(default=28, ge=0)
    layer_types: list[LayerType] | None = None
    no_rope_layers: list[int] | None = None
    attention_multiplier: PositiveFloat | None = None
    query_pre_attn_scalar: PositiveFloat | None = None
    attn_logit_softcapping: PositiveFloat | None = None
    clip_qkv: PositiveFloat | None = None
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False


def layout(data: Mapping[str, Any], path: Path, prefix: str) -> Layout:
    """Read a config of a model_type of KINDS.

    Raises: ValueError of one line for a field that is absent, of the wrong type or out of range, a setting that changes
    attention in a way not known here, and rotary angles that do.
    """
    kind = KINDS[str(data["model_type"])]
    data = _inner(kind, data, path)
    kind = kind._replace(**kind.settled(data)) if kind.settled else kind
    for name, wanted in kind.needs.items():
        if (given := data.get(name, wanted)) is not wanted:
            raise ValueError(f"{path}: {name} is {given!r}: only {wanted!r} is supported")
    config = _config(kind, data, path)
    layers = []
    for number in range(config.num_hidden_layers):
        layers.append(_layer(kind, config, data, path, f"{prefix}{kind.root}{number}.", number))
    required: dict[str, tuple[int, ...] | None] = {f"{prefix}{name}": None for name in kind.ends}
    for layer in layers:
        required |= _shapes(kind, layer)
    return Layout(tuple(layers), required, {}, _others(kind, len(layers), prefix), kind.rest is not None)


def unquantised(data: Mapping[str, Any]) -> bool:
    """Whether attention is stored in floats, as far as the config says."""
    how = data.get("quantization_config")
    kind = KINDS.get(str(data["model_type"]), Kind())
    return how is None or (isinstance(how, dict) and how.get("quant_method") in kind.quantised)


def lacking(data: Mapping[str, Any], names: Iterable[str]) -> str:
    """Say in words why a family is not known: fields of the pattern that its config lacks, unknown tensors of a layer.

    Args: data, the config; names, of all tensors.
    """
    absent = [name for name, field in Decoder.model_fields.items() if field.is_required() and name not in data]
    attends = re.compile(r"(?:^|\.)0\.(?:[^.]+\.)*(?:self_)?(?:attn|attention|mixer)\.")
    first = sorted(filter(attends.search, names))
    pattern = [f"{PROJECTIONS[role]}.weight" for role in layouts.ROLES]
    usual = [name for name in first if name.endswith((*pattern, "o_proj.weight"))]
    rest = [name for name in first if name not in usual]
    told = ["its config lacks " + ", ".join(absent)] if absent else []
    told += [f"of layer 0 the usual {', '.join(pattern)} are missing"] if len(usual) < len(pattern) else []
    told += [f"not understood: {', '.join(rest[:6])}{', ..' * (len(rest) > 6)}"] if rest else []
    return "; ".join(told) or "its tensors have the usual names, what it computes from them is not known"


def _inner(kind: Kind, data: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The part of the config that is about text, with what its class takes for what it leaves out."""
    inner = data.get(kind.nested) if kind.nested else data
    if not isinstance(inner, Mapping):
        raise ValueError(f"{path}: {kind.nested} is missing")
    return {**kind.absent, **inner, "model_type": data["model_type"]}


def _renamed(kind: Kind, data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The config under the usual names, without what the class ignores; two names of one field must agree."""
    for names in kind.given:
        if all(data.get(name) is None for name in names.split("|")):
            raise ValueError(f"{path}: {names.replace('|', ' or ')} is missing")
    result = {name: value for name, value in data.items() if name not in READ or name in kind.reads}
    for usual, names in kind.fields.items():
        found = {name: data[name] for name in names if data.get(name) is not None}
        if len(set(map(repr, found.values()))) > 1:
            raise ValueError(f"{path}: " + " but ".join(f"{name} is {value}" for name, value in found.items()))
        result |= {usual: next(iter(found.values()))} if found else {}
    if kind.kv_heads != "given":
        result["num_key_value_heads"] = 1 if kind.kv_heads == "one" else None
    return result


def _config(kind: Kind, data: Mapping[str, Any], path: Path) -> Decoder:
    """The fields of this config. Raises: ValueError for a window that is in no mask of the family, but in its cache."""
    config = Decoder.of(_renamed(kind, data, path), path)
    dropping = config.layer_types is None or "sliding_attention" in config.layer_types
    if kind.windows is None and config.sliding_window is not None and dropping:
        told = f"{data['model_type']} has no window in its masks, and its cache would drop keys"
        raise ValueError(f"{path}: sliding_window is {config.sliding_window}: {told}")
    return config


def _others(kind: Kind, n_layers: int, prefix: str) -> str:
    """Names outside of the layers, and in a layer those that are neither of its norm nor of what attention reads."""
    here = rf"{prefix}{kind.root}(?:{'|'.join(map(str, range(n_layers)))})\."
    read = rf"{kind.attention}\.(?!{'|'.join(AFTER)})"
    norm = rf"|{kind.norm}\." if kind.norm else ""
    if kind.rest is not None:
        return rf"{here}(?:{kind.rest})|{BESIDE}"
    return rf"(?!.*\.lora_)(?:{here}(?!{read}{norm})|(?!{prefix}{kind.root})).+"


def _layer(kind: Kind, config: Decoder, data: Mapping[str, Any], path: Path, root: str, number: int) -> LayerLayout:
    sizes, at, norm = _architecture(kind, config, data, path, number), f"{root}{kind.attention}.", f"{root}{kind.norm}"
    field, usual = kind.biases
    gains = _asked(kind, data)
    return LayerLayout(
        sizes, _rows(kind, sizes, at, "weight"), _rows(kind, sizes, at, "bias") if data.get(field, usual) else {},
        gamma=f"{norm}.weight" if kind.norm else None, norm_bias=f"{norm}.bias" if kind.norm_bias else None,
        query_gain=_named(gains, at, "query", sizes.n_heads), key_gain=_named(gains, at, "key", sizes.n_kv_heads),
        window=_window(kind, config, path, number), offset=kind.offset,
        sinks=f"{at}{kind.sinks}" if kind.sinks else None,
    )  # fmt: skip


def _asked(kind: Kind, data: Mapping[str, Any]) -> Gains | None:
    gains = kind.gains
    return None if gains is None or (gains.asked and not data.get(gains.asked, False)) else gains


def _named(gains: Gains | None, at: str, role: Literal["query", "key"], count: int) -> tuple[str, ...]:
    """The tensors of gains, in the order of the heads."""
    if gains is None:
        return ()
    name = at + getattr(gains, role)
    return tuple(name.format(head) for head in range(count)) if "{}" in name else (name,)


def _architecture(kind: Kind, config: Decoder, data: Mapping[str, Any], path: Path, number: int) -> Architecture:
    n_heads = config.num_attention_heads
    n_kv_heads = config.num_key_value_heads or n_heads
    d_head = layouts.head_dim(config.hidden_size, n_heads, n_kv_heads, path, config.head_dim)
    position = kind.position
    if config.no_rope_layers is not None and not _entry(config.no_rope_layers, number, path):
        position = "none"
    turned, gain = None, 1.0
    if position == "rope":
        of: LayerType = "sliding_attention" if _slides(kind, config, path, number) else "full_attention"
        turned, gain = rotation(data, path, d_head, kind.share, kind.share_name, of if kind.rope_by_type else None)
    gains, slopes = _asked(kind, data), None
    if position == "alibi":  # Falcon adds its biases before it scales
        slopes = tuple(slope / (math.sqrt(d_head) if kind.rounded else 1.0) for slope in alibi.slopes(n_heads))
    return Architecture(
        model_type=str(data["model_type"]), n_layers=config.num_hidden_layers, n_heads=n_heads, n_kv_heads=n_kv_heads,
        d_head=d_head, d_model=config.hidden_size,
        norm="none" if kind.norm is None else "layer" if kind.layer_norm else "rms", position=position, slopes=slopes,
        pairs=kind.pairs, scale=_scale(kind, config, d_head, number) * gain, max_length=config.max_position_embeddings,
        clip=config.clip_qkv, rotated=turned, softcap=config.attn_logit_softcapping,
        head_norm=None if gains is None else "layer" if gains.layer_norm else "rms",
        normed_together=gains is not None and gains.over == "width", rounded_biases=kind.rounded and slopes is not None,
    )  # fmt: skip


def _scale(kind: Kind, config: Decoder, d_head: int, number: int) -> float:
    if kind.scale == "gpt2":
        scale = layouts.default_scale(d_head) if config.scale_attn_weights else 1.0
        return scale / (number + 1) if config.scale_attn_by_inverse_layer_idx else scale
    return config.attention_multiplier or layouts.default_scale(config.query_pre_attn_scalar or d_head)


def _entry(values: Sequence[Any], number: int, path: Path) -> Any:
    if number >= len(values):
        raise ValueError(f"{path}: a list by layer has {len(values)} entries, there is a layer {number}")
    return values[number]


def windows(data: Mapping[str, Any], path: Path) -> tuple[int | None, ...]:
    """By layer, how many tokens a query sees, itself among them; None for all. Raises: as `layout`."""
    kind = KINDS[str(data["model_type"])]
    config = _config(kind, _inner(kind, data, path), path)
    return tuple(_window(kind, config, path, number) for number in range(config.num_hidden_layers))


def _window(kind: Kind, config: Decoder, path: Path, number: int) -> int | None:
    return config.sliding_window if _slides(kind, config, path, number) else None


def _slides(kind: Kind, config: Decoder, path: Path, number: int) -> bool:
    """Whether a layer has the sliding window, as the masks of transformers have it."""
    if kind.windows is None or (kind.windows in ("asked", "qwen") and not config.use_sliding_window):
        return False
    if kind.typed and config.layer_types is not None:
        if len(config.layer_types) != config.num_hidden_layers:
            count = f"{len(config.layer_types)} entries for {config.num_hidden_layers} layers"
            raise ValueError(f"{path}: layer_types has {count}")
        return config.layer_types[number] == "sliding_attention"
    if kind.windows == "qwen":
        return number >= config.max_window_layers
    if kind.windows == "unrotated":
        return config.use_sliding_window and not _entry(config.no_rope_layers or (), number, path)
    return not isinstance(kind.windows, int) or (number + 1) % (config.sliding_window_pattern or kind.windows) != 0


def _rows(kind: Kind, sizes: Architecture, at: str, ending: str) -> Mapping[Role, Rows]:
    if kind.fused is None:
        return layouts.separate({role: f"{at}{name}.{ending}" for role, name in PROJECTIONS.items()}, sizes.d_head)
    (fused, order), d_head = kind.fused, sizes.d_head
    name = f"{at}{fused}.{ending}"
    if order == "interleaved":
        return layouts.interleaved(name, d_head)
    if order == "grouped":
        return layouts.grouped(name, sizes.n_heads // sizes.n_kv_heads, d_head)
    rows = layouts.concatenated(name, sizes.n_heads, sizes.n_kv_heads, d_head)
    across = kind.transposed and ending == "weight"
    return {role: place._replace(transposed=across) for role, place in rows.items()}


def _shapes(kind: Kind, layer: LayerLayout) -> dict[str, tuple[int, ...] | None]:
    sizes = layer.architecture
    shapes: dict[str, tuple[int, ...] | None] = dict(layouts.attention_shapes(layer))
    if kind.fused is not None:
        rows = (sizes.n_heads + 2 * sizes.n_kv_heads) * sizes.d_head
        weight = layer.weights["query"]
        shapes[weight.name] = (sizes.d_model, rows) if weight.transposed else (rows, sizes.d_model)
        shapes |= {at.name: (rows,) for at in layer.biases.values()}
    for names, count in ((layer.query_gain, sizes.n_heads), (layer.key_gain, sizes.n_kv_heads)):
        own = kind.gains is not None and kind.gains.own
        whole = (count, sizes.d_head) if own and len(names) == 1 else (sizes.d_head,)
        shapes |= {name: (count * sizes.d_head,) if sizes.normed_together else whole for name in names}
        if own and len(names) == count == 1:  # one head: a list of one, or a table of one row
            shapes |= {name: None for name in names}
    shapes |= {layer.sinks: (sizes.n_heads,)} if layer.sinks else {}
    return shapes | {name: (sizes.d_model,) for name in (layer.gamma, layer.norm_bias) if name}
