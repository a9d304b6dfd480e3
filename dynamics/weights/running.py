"""A folder of Baichuan-M1 as a model that runs, and models of ours as such a folder."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch
from torch import Tensor

from dynamics.files.atomic import atomic_write_bytes, atomic_write_text
from dynamics.files.strict_json import read_object
from dynamics.model.baichuan_m1 import BaichuanM1, LayerShape
from dynamics.model.decoder import InductionModel
from dynamics.weights import folder as folders
from dynamics.weights.baichuan import BaichuanM1 as Settings
from dynamics.weights.reader import Checkpoint, open_checkpoint
from dynamics.weights.rotary import rope_base

CONFIG = "config.json"
_MLP = ("gate", "up", "down")


def load_baichuan_m1(folder: str | Path, dtype: torch.dtype = torch.float32) -> BaichuanM1:
    """The model of a folder (or owner/name on the hub) of model_type baichuan_m1, ready to run.

    Every name, shape and type is checked before a weight is read (`open_checkpoint`). Weights are read as float32.
    Raises: OSError; ValueError of one line for another model_type, tied embeddings, a head that is missing, rotary
    scaling, a dtype that is not floating-point, and whatever `open_checkpoint` refuses.
    """
    if not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise ValueError(f"dtype must be a floating-point type of torch, got {dtype!r}")
    path = folders.locate(folder) / CONFIG
    checkpoint, data = open_checkpoint(folder), read_object(path)
    if data.get("model_type") != "baichuan_m1":
        raise ValueError(f"{path}: only model_type baichuan_m1 runs here, got {data.get('model_type')!r}")
    if data.get("tie_word_embeddings", False) or "lm_head.weight" not in checkpoint.names:
        raise ValueError(f"{path}: an lm_head.weight apart from the embedding is needed")
    config, eps = Settings.of(data, path), data.get("rms_norm_eps", 1e-6)
    if isinstance(eps, bool) or not isinstance(eps, int | float) or not 0 < eps < 1:
        raise ValueError(f"{path}: rms_norm_eps must be in (0, 1), got {eps!r}")
    shapes = []
    for layer in range(config.num_hidden_layers):
        sizes = checkpoint.layer_architecture(layer)
        shapes.append(LayerShape(sizes.n_heads, sizes.n_kv_heads, checkpoint.small(layer).window))
    with torch.device("meta"):
        model = BaichuanM1(config.vocab_size, config.hidden_size, config.intermediate_size, shapes,
                           rope_base(data, path), eps)  # fmt: skip
    model.load_state_dict({name: tensor.to(dtype) for name, tensor in _state(checkpoint).items()}, assign=True)
    return model


def _state(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """The state of `BaichuanM1`, tensor by tensor."""
    prefix = "model." if "model.norm.weight" in checkpoint.names else ""

    def whole(name: str) -> Tensor:
        return torch.from_numpy(checkpoint.tensor(name))

    state = {
        "embedding": whole(f"{prefix}embed_tokens.weight"), "norm.weight": whole(f"{prefix}norm.weight"),
        "head": whole("lm_head.weight"),
    }  # fmt: skip
    for layer in range(checkpoint.architecture.n_layers):
        root, block = f"{prefix}layers.{layer}.", f"blocks.{layer}."
        sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
        for role, count in (("query", sizes.n_heads), ("key", sizes.n_kv_heads), ("value", sizes.n_kv_heads)):
            rows = torch.from_numpy(checkpoint.projection(layer, role, 0, count))
            state[f"{block}attention.{role[0]}_proj.weight"] = rows.flatten(0, 1)
        state |= {f"{block}attention.alpha": torch.from_numpy(small.alpha),
                  f"{block}attention.beta": torch.from_numpy(small.beta),
                  f"{block}attention.o_proj.weight": whole(f"{root}self_attn.o_proj.weight"),
                  f"{block}attention_norm.weight": whole(f"{root}input_layernorm.weight"),
                  f"{block}mlp_norm.weight": whole(f"{root}post_attention_layernorm.weight")}  # fmt: skip
        state |= {f"{block}mlp.{name}.weight": whole(f"{root}mlp.{name}_proj.weight") for name in _MLP}
    return state


def export_baichuan_m1(model: InductionModel, folder: str | Path) -> Path:
    """Write a model of ours as a folder of Baichuan-M1 that gives the same logits; float32.

    The layout takes the rows of its head at norm 1, and ours have any norm: the width grows by the heads of one
    key-value head, in which states are 0 and the head's rows are filled up to one norm R, which the final gain carries.
    RMSNorm over the greater width D instead of d has its gains times sqrt(d / D) and its eps times d / D.
    Raises: ValueError for what the layout has no place for (a shift of queries or placed elsewhere, a window above 2,
    ALiBi or no positions, values of other layers, sinks, gates), for a folder that already holds a config, and for
    weights that are on the meta device or not finite in float32; OSError.
    """
    config, folder = model.config, Path(folder)
    if config.place != "heads" or config.shift == "qkv" or config.window > 2 or config.position != "rope":
        raise ValueError(
            "a folder of Baichuan-M1 holds rotary attention whose keys and values are shifted by one token, "
            f"got place {config.place!r}, shift {config.shift!r}, window {config.window}, position {config.position!r}"
        )
    if not config.plain:
        raise ValueError("a folder of Baichuan-M1 holds causal softmax attention over own values, embeddings tied here")
    if (folder / CONFIG).exists():
        raise ValueError(f"{folder / CONFIG} exists already")
    if any(parameter.is_meta for parameter in model.parameters()):
        raise ValueError("the model has no weights: they are on the meta device")
    data, tensors = _config(model), _tensors(model)
    arrays = {name: tensor.float().contiguous().numpy() for name, tensor in tensors.items()}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds a value that is not finite in float32")
    # The config last: a folder without one is refused, so an interruption leaves nothing that would load.
    atomic_write_bytes(folder / folders.SINGLE, safetensors.numpy.save(arrays))
    atomic_write_text(folder / CONFIG, json.dumps(data, indent=1) + "\n")
    return folder


def _sizes(model: InductionModel) -> tuple[int, int, int]:
    """n_heads and n_kv_heads of ours, and the width of the folder."""
    config, layer = model.config, model.blocks[0].attention
    more = layer.n_heads // layer.n_kv_heads * layer.head_dim
    return layer.n_heads, layer.n_kv_heads, config.width + more


def _config(model: InductionModel) -> dict[str, object]:
    config, (n_heads, n_kv_heads, wide) = model.config, _sizes(model)
    return {
        "model_type": "baichuan_m1", "architectures": ["BaichuanM1ForCausalLM"], "vocab_size": config.vocab,
        "hidden_size": wide, "intermediate_size": config.mlp_width or 1, "num_hidden_layers": config.n_layers,
        "num_attention_heads": n_heads + n_heads // n_kv_heads, "num_key_value_heads": n_kv_heads + 1,
        "conv_window": 2, "sliding_window": 8192, "sliding_window_layers": [], "hidden_act": "silu",
        "rms_norm_eps": model.norm.eps * config.width / wide, "rope_theta": config.rope_base,
        "max_position_embeddings": 32768, "tie_word_embeddings": False, "torch_dtype": "float32",
    }  # fmt: skip


def _tensors(model: InductionModel) -> dict[str, Tensor]:
    wide, width = _sizes(model)[2], model.config.width
    embedding, shrunk = model.embedding.detach().double().cpu(), math.sqrt(width / wide)
    norms = embedding.norm(dim=1)
    most = norms.max()
    filled = torch.zeros(len(norms), wide - width, dtype=torch.float64)
    filled[:, 0] = (most**2 - norms**2).clamp(min=0).sqrt()
    tensors = {
        "model.embed_tokens.weight": _padded(embedding, columns=wide),
        "model.norm.weight": _padded(_plain(model.norm.weight) * shrunk * most, rows=wide),
        "lm_head.weight": torch.cat([embedding, filled], dim=1) / most,
    }
    for number, block in enumerate(model.blocks):
        layer = _block_tensors(block, wide, shrunk)
        tensors |= {f"model.layers.{number}.{name}": tensor for name, tensor in layer.items()}
    return tensors


def _block_tensors(block, wide: int, shrunk: float) -> dict[str, Tensor]:
    attention, mlp = block.attention, block.mlp
    n_rows = wide, *[(attention.n_kv_heads + 1) * attention.head_dim] * 2
    parts = (attention.q_proj, attention.k_proj, attention.v_proj)
    packed = [_padded(_plain(part.weight), rows, wide) for part, rows in zip(parts, n_rows, strict=True)]
    gate, up, down, gain = torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1)  # adds nothing
    if mlp is not None:
        gate, up, down = (_plain(getattr(mlp, name).weight) for name in _MLP)
        gain = _plain(block.mlp_norm.weight)
    return {
        "self_attn.W_pack.weight": torch.cat(packed),
        "self_attn.o_proj.weight": _padded(_plain(attention.o_proj.weight), rows=wide, columns=wide),
        "self_attn.conv_k": _kernel(attention.alpha_mix()), "self_attn.conv_v": _kernel(attention.beta_mix()),
        "input_layernorm.weight": _padded(_plain(block.attention_norm.weight) * shrunk, rows=wide),
        "post_attention_layernorm.weight": _padded(gain * shrunk, rows=wide),
        "mlp.gate_proj.weight": _padded(gate, columns=wide), "mlp.up_proj.weight": _padded(up, columns=wide),
        "mlp.down_proj.weight": _padded(down, rows=wide),
    }  # fmt: skip


def _plain(parameter: Tensor) -> Tensor:
    return parameter.detach().double().cpu()


def _padded(tensor: Tensor, rows: int | None = None, columns: int | None = None) -> Tensor:
    """With zeros below and to the right, up to so many rows and columns."""
    out = torch.zeros(rows or tensor.shape[0], *([columns or tensor.shape[1]] if tensor.ndim == 2 else []))
    out = out.double()
    out[tuple(slice(size) for size in tensor.shape)] = tensor
    return out


def _kernel(mixture: Tensor) -> Tensor:
    """(self, previous) of each key-value head as conv_k has it, the previous token first, and one head more."""
    weights = torch.zeros(mixture.shape[0] + 1, 2, dtype=torch.float64)
    weights[:, 1] = 1.0
    weights[: mixture.shape[0], 1] = _plain(mixture[:, 0])
    if mixture.shape[1] == 2:
        weights[: mixture.shape[0], 0] = _plain(mixture[:, 1])
    return weights[None, None, :, None]
