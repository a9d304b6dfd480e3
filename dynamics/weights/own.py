"""Models trained here, read like any other checkpoint: weights.safetensors with the hash that manifest.json records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynamics.files import manifest as manifests
from dynamics.model.config import ModelConfig
from dynamics.weights import layout as layouts
from dynamics.weights.layout import PROJECTIONS, Architecture, LayerLayout, Layout, attention_shapes
from theory import alibi

WEIGHTS, MANIFEST = "weights.safetensors", "manifest.json"


def is_own(folder: Path) -> bool:
    """Whether a folder holds a model of this project rather than one of transformers."""
    return (folder / MANIFEST).is_file() and not (folder / "config.json").is_file()


def layout(folder: Path) -> tuple[Layout, str]:
    """The layout that manifest.json describes, and the SHA-256 that it records.

    Raises: OSError; ValueError of one line for a manifest that does not hold, or mixed queries (shift "qkv"), which
    no reader of these layouts accounts for.
    """
    manifest = manifests.read(folder / MANIFEST)
    config = ModelConfig.checked(manifest.config, f"{folder / MANIFEST}: config")
    if config.shift == "qkv":
        raise ValueError(f"{folder / MANIFEST}: shift 'qkv' mixes queries, which is not supported here")
    if config.place != "heads":
        raise ValueError(f"{folder / MANIFEST}: a shift placed at {config.place!r} is not supported here")
    if not config.plain:
        raise ValueError(f"{folder / MANIFEST}: only causal softmax attention over own values is supported here")
    n_kv_heads = config.n_kv_heads or config.n_heads
    architecture = Architecture(
        model_type="induction",
        n_layers=config.n_layers,
        n_heads=config.n_heads,
        n_kv_heads=n_kv_heads,
        d_head=config.width // config.n_heads,
        d_model=config.width,
        norm="rms",
        position=config.position,
        slopes=tuple(alibi.slopes(config.n_heads)) if config.position == "alibi" else None,
        pairs="halves",
        scale=layouts.default_scale(config.width // config.n_heads),
        max_length=None,
    )
    layers = tuple(_layer(f"blocks.{number}.", architecture, config) for number in range(config.n_layers))
    required = {"embedding": (config.vocab, config.width), "norm.weight": (config.width,)}
    for number, layer in enumerate(layers):
        required |= _shapes(f"blocks.{number}.", layer, config)
    return Layout(layers, required, {}), manifest.sha256


def _layer(root: str, architecture: Architecture, config: ModelConfig) -> LayerLayout:
    shifted = "" if config.shift == "none" else config.shift
    names = {role: f"{root}attention.{name}.weight" for role, name in PROJECTIONS.items()}
    return LayerLayout(
        architecture,
        layouts.separate(names, architecture.d_head),
        {},
        gamma=f"{root}attention_norm.weight",
        alpha=f"{root}attention.alpha" if "k" in shifted else None,
        beta=f"{root}attention.beta" if "v" in shifted else None,
        mix=lambda stored: _effective(stored, config.parameters),
    )


def _shapes(root: str, layer: LayerLayout, config: ModelConfig) -> dict[str, tuple[int, ...]]:
    width, hidden = config.width, config.mlp_width
    columns = 1 if config.parameters == "gate" else config.window
    shapes = attention_shapes(layer)
    shapes |= {name: (layer.architecture.n_kv_heads, columns) for name in (layer.alpha, layer.beta) if name}
    shapes |= {f"{root}attention_norm.weight": (width,), f"{root}attention.o_proj.weight": (width, width)}
    if hidden:
        shapes |= {f"{root}mlp_norm.weight": (width,), f"{root}mlp.down.weight": (width, hidden)}
        shapes |= {f"{root}mlp.{name}.weight": (hidden, width) for name in ("gate", "up")}
    return shapes


def _effective(stored: NDArray[np.float32], kind: str) -> NDArray[np.float32]:
    import torch  # here only: reading a checkpoint of others needs no torch

    from dynamics.model import coefficients

    return coefficients.effective(torch.from_numpy(stored), kind).numpy()
