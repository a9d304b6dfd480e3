"""Tiny checkpoints written by hand, how they are refused, and attention from nothing but what a Checkpoint gives."""

import json
import math
import os
import struct

import numpy as np
import pytest
import safetensors.numpy
import torch

from dynamics.weights import safetensors_file
from dynamics.weights.reader import open_checkpoint
from theory import alibi

LLAMA = {
    "model_type": "llama",
    "hidden_size": 8,
    "intermediate_size": 12,
    "vocab_size": 5,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
BAICHUAN = {key: LLAMA[key] for key in list(LLAMA)[1:6]} | {"model_type": "baichuan"}


def llama_shapes(config):
    """Names and shapes of a Llama without biases."""
    shapes = block_shapes(config)
    width, heads, kv_heads = (config[key] for key in ("hidden_size", "num_attention_heads", "num_key_value_heads"))
    for layer in range(config["num_hidden_layers"]):
        root = f"model.layers.{layer}.self_attn."
        shapes |= {f"{root}q_proj.weight": (width, width)}
        shapes |= {f"{root}{name}_proj.weight": (width // heads * kv_heads, width) for name in "kv"}
    return shapes


def baichuan_shapes(config, packed):
    """Names and shapes of a Baichuan whose layers have these numbers of rows in W_pack."""
    roots = [f"model.layers.{layer}.self_attn." for layer in range(config["num_hidden_layers"])]
    width = config["hidden_size"]
    fused = {f"{root}W_pack.weight": (rows, width) for root, rows in zip(roots, packed, strict=True)}
    return block_shapes(config) | fused


def block_shapes(config):
    """Everything of a Llama-like decoder but query, key and value."""
    width, hidden, vocab = (config[key] for key in ("hidden_size", "intermediate_size", "vocab_size"))
    shapes = {"model.embed_tokens.weight": (vocab, width), "lm_head.weight": (vocab, width)}
    shapes["model.norm.weight"] = (width,)
    for layer in range(config["num_hidden_layers"]):
        root = f"model.layers.{layer}."
        shapes |= {f"{root}{name}.weight": (width,) for name in ("input_layernorm", "post_attention_layernorm")}
        shapes |= {f"{root}mlp.{name}_proj.weight": (hidden, width) for name in ("gate", "up")}
        shapes |= {f"{root}mlp.down_proj.weight": (width, hidden), f"{root}self_attn.o_proj.weight": (width, width)}
    return shapes


SHAPES = llama_shapes(LLAMA)
QUERY = "model.layers.1.self_attn.q_proj.weight"
WEIGHTS = "model.safetensors"


def random_tensors(shapes, seed=0):
    """Standard normal float32 tensors."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write_config(folder, config):
    (folder / "config.json").write_text(json.dumps(config))


def write(folder, config, tensors):
    """A folder with config.json and model.safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    write_config(folder, config)
    safetensors.numpy.save_file(tensors, folder / WEIGHTS)
    return folder


def write_raw(path, header, data):
    """A safetensors file with any header and any data."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def write_zeros(folder, config, shapes):
    """A folder whose tensors are zeros in bfloat16; its model.safetensors, a sparse file."""
    header, start = {}, 0
    for name, shape in shapes.items():
        size = 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [start, start + size]}
        start += size
    path = write_raw(write(folder, config, {}) / WEIGHTS, header, b"")
    os.truncate(path, path.stat().st_size + start)
    return path


def split(path):
    """Header and data of a safetensors file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def unreadable(folder, monkeypatch, *parts):
    """Opening fails with one line that holds all parts, and no weight is read."""

    def read_rows(*_):
        pytest.fail("a weight was read")

    monkeypatch.setattr(safetensors_file, "read_rows", read_rows)
    with pytest.raises(ValueError) as caught:
        open_checkpoint(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts), message


def attention(checkpoint, layer, hidden, eps, base=10000.0, turns=None):
    """Attention weights (n_heads, length, length) and their mean values (length, n_heads, d_head), in float64.

    hidden (length, d_model) is what enters the norm. turns: the cosines and sines that a model hands to its attention,
    with the factor f that the scale of the checkpoint has to hold as f^2; None: those of this base.
    """
    sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
    states = hidden.double()
    if sizes.norm != "none":
        states = norm(states, sizes.norm, small.gamma, small.norm_bias, eps)
    heads = {}
    for role, bias in (("query", small.query_bias), ("key", small.key_bias), ("value", small.value_bias)):
        count = sizes.n_heads if role == "query" else sizes.n_kv_heads
        weight = torch.from_numpy(checkpoint.projection(layer, role, 0, count)).double()
        heads[role] = torch.einsum("td,hed->the", states, weight)
        if bias is not None:
            heads[role] += torch.from_numpy(bias)
        if sizes.clip is not None:
            heads[role] = heads[role].clamp(-sizes.clip, sizes.clip)
    for role, gain in (("query", small.query_gain), ("key", small.key_gain)):
        if gain is not None:
            flat = -2 if sizes.normed_together else -1
            parts, gain = heads[role].flatten(flat), gain.reshape(-1) if flat == -2 else gain
            heads[role] = norm(parts, sizes.head_norm, gain, None, eps).view_as(heads[role])
    for role, mixture in (("key", small.alpha), ("value", small.beta)):
        if mixture is not None:
            now, before = torch.from_numpy(mixture).double().T[:, :, None]
            earlier = torch.cat([torch.zeros_like(heads[role][:1]), heads[role][:-1]])
            heads[role] = now * heads[role] + before * earlier
    if sizes.position == "rope":
        turned = sizes.d_head if sizes.rotated is None else sizes.rotated
        factor = 1.0 if turns is None else float(turns[0][0, 0] ** 2 + turns[1][0, 0] ** 2)
        sizes = sizes._replace(scale=sizes.scale / (factor if sizes.rotated is None else max(factor, 1.0)))
        cos, sin = _angles(len(hidden), turned, base) if turns is None else (_pairs(x, turned, sizes) for x in turns)
        for role in ("query", "key"):
            heads[role] = _rotate(heads[role], sizes, cos, sin)
    group = sizes.n_heads // sizes.n_kv_heads
    own = [h // group for h in range(sizes.n_heads)]
    scores = sizes.scale * torch.einsum("the,she->hts", heads["query"], heads["key"][:, own])
    if sizes.softcap is not None:
        scores = sizes.softcap * torch.tanh(scores / sizes.softcap)
    distance = torch.arange(len(hidden))[:, None] - torch.arange(len(hidden))
    if sizes.rounded_biases:
        # transformers' eager Falcon adds its biases before it scales and again with the mask; its SDPA adds them once
        scores += 2 * rounded_biases(sizes, len(hidden))[:, None]
    elif sizes.slopes is not None:
        scores -= torch.tensor(sizes.slopes, dtype=torch.float64)[:, None, None] * distance
    hidden_keys = distance < 0
    if small.window is not None:
        hidden_keys |= distance >= small.window
    scores = scores.masked_fill(hidden_keys, -torch.inf)
    if small.sinks is not None:
        sinks = torch.from_numpy(small.sinks).double()[:, None, None].expand(-1, len(hidden), 1)
        weights = torch.cat([scores, sinks], -1).softmax(-1)[..., :-1]
    else:
        weights = scores.softmax(-1)
    return weights, torch.einsum("hts,she->the", weights, heads["value"][:, own])


def rounded_biases(sizes, length):
    """Falcon's: slopes, positions and their products in bfloat16, (n_heads, length), then scaled."""
    slopes = torch.tensor(alibi.slopes(sizes.n_heads)).float().bfloat16()
    return (slopes[:, None] * torch.arange(length)).double() / sizes.d_head**0.5


def norm(x, kind, gain, bias, eps):
    """LayerNorm or RMSNorm over the last axis."""
    x = x - x.mean(-1, keepdim=True) if kind == "layer" else x
    x = x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * torch.from_numpy(gain)
    return x if bias is None else x + torch.from_numpy(bias)


def _angles(length, turned, base):
    """Cosines and sines of each place and pair of components, (length, turned / 2)."""
    rates = base ** (-torch.arange(0, turned, 2, dtype=torch.float64) / turned)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), rates)
    return angles.cos(), angles.sin()


def _pairs(table, turned, sizes):
    """One column a pair, of a table with one a component or one a pair already."""
    if table.shape[-1] not in (turned, turned // 2):
        raise ValueError(f"{turned} components are read as turned, the model turns {table.shape[-1]}")
    if table.shape[-1] == turned // 2:
        return table
    return table[:, : turned // 2] if sizes.pairs == "halves" else table[:, ::2]


def _rotate(heads, sizes, cos, sin):
    """The first `rotated` components of (length, heads, d_head) turned, pair by pair."""
    turned = 2 * cos.shape[-1]
    part, half = heads[..., :turned], turned // 2
    halves = sizes.pairs == "halves"
    first, second = (part[..., :half], part[..., half:]) if halves else (part[..., ::2], part[..., 1::2])
    cos, sin = cos[:, None], sin[:, None]
    pair = first * cos - second * sin, second * cos + first * sin
    part = torch.cat(pair, -1) if halves else torch.stack(pair, -1).flatten(-2)
    return torch.cat([part, heads[..., turned:]], -1)
