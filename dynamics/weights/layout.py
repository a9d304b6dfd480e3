"""Where an architecture keeps what attention is made of: rows of named tensors, head by head."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dynamics.files.manifest import plain_line
from dynamics.weights.safetensors_file import FLOATS, StoredTensor

Role = Literal["query", "key", "value"]
ROLES: tuple[Role, ...] = ("query", "key", "value")
Size = Annotated[int, Field(ge=1, le=2**24)]
Layers = Annotated[int, Field(ge=1, le=2000)]


class Architecture(NamedTuple):
    """What one kind of layer computes: logits scale * q.k, rotated or with -slope * distance, causal.

    model_type as in config.json ("induction" for this project's own); query head h reads key-value head
    h // (n_heads // n_kv_heads); norm in front of the projections; slopes (n_heads,) for ALiBi, else None; pairs: which
    components RoPE turns together, (i, i + d_head/2) or (2i, 2i + 1); max_length the longest context trained on, where
    the file says so; clip: the bound c to which every component of q, k and v is clamped, None without;
    rotated: how many components of a head RoPE turns, the first, None for all; softcap: logits x become c tanh(x/c).
    """

    model_type: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    d_model: int
    norm: Literal["rms", "layer"]
    position: Literal["alibi", "rope", "none"]
    slopes: tuple[float, ...] | None
    pairs: Literal["halves", "neighbours"]
    scale: float
    max_length: int | None
    clip: float | None = None
    rotated: int | None = None
    softcap: float | None = None


class Rows(NamedTuple):
    """Head h is rows offset + h * stride .. + d_head of a tensor."""

    name: str
    offset: int
    stride: int


class LayerLayout(NamedTuple):
    """One layer: its architecture, the rows of the projections and of their biases, and the names of small tensors.

    mix turns a stored alpha or beta into (n_kv_heads, window), column 0 for the token itself; window: how many tokens
    a query sees, itself among them. gamma None: a norm without parameters; offset: added to stored gains.
    """

    architecture: Architecture
    weights: Mapping[Role, Rows]
    biases: Mapping[Role, Rows]
    gamma: str | None
    norm_bias: str | None = None
    query_gain: str | None = None
    key_gain: str | None = None
    alpha: str | None = None
    beta: str | None = None
    mix: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None
    window: int | None = None
    offset: float = 0.0


class Layout(NamedTuple):
    """All layers, the shape of every tensor that must be there, and of those that may be (None: any shape).

    others: a pattern of the names of tensors that are no part of attention, and are let stand.
    """

    layers: tuple[LayerLayout, ...]
    required: Mapping[str, tuple[int, ...]]
    optional: Mapping[str, tuple[int, ...] | None]
    others: str = ""


class Config(BaseModel):
    """A config.json: unknown keys are other people's business, known ones have the right type."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, strict=True, protected_namespaces=())

    @classmethod
    def of(cls, data: Mapping[str, Any], path: Path) -> Self:
        """Validate data. Raises: ValueError of one line that names the file, the field and the value."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ValueError(plain_line(str(path), error)) from None


def separate(names: Mapping[Role, str], d_head: int) -> dict[Role, Rows]:
    """Three tensors, heads one after the other."""
    return {role: Rows(name, 0, d_head) for role, name in names.items()}


def concatenated(name: str, n_heads: int, n_kv_heads: int, d_head: int) -> dict[Role, Rows]:
    """One tensor: all query heads, then all key heads, then all value heads."""
    key = n_heads * d_head
    return {
        "query": Rows(name, 0, d_head),
        "key": Rows(name, key, d_head),
        "value": Rows(name, key + n_kv_heads * d_head, d_head),
    }


def interleaved(name: str, d_head: int) -> dict[Role, Rows]:
    """One tensor: query, key and value of head 0, then those of head 1, and so on."""
    return {role: Rows(name, place * d_head, 3 * d_head) for place, role in enumerate(ROLES)}


def head_dim(d_model: int, n_heads: int, n_kv_heads: int, path: Path, given: int | None = None) -> int:
    """Width of a head. Raises: ValueError where heads do not divide the width, or one another."""
    if n_heads % n_kv_heads:
        raise ValueError(f"{path}: {n_heads} heads are not a multiple of {n_kv_heads} key-value heads")
    if given is None and d_model % n_heads:
        raise ValueError(f"{path}: width {d_model} is not a multiple of {n_heads} heads")
    return d_model // n_heads if given is None else given


def default_scale(d_head: int) -> float:
    """1 / sqrt(d_head)."""
    return 1.0 / math.sqrt(d_head)


def check(layout: Layout, found: Mapping[str, StoredTensor], where: Path) -> None:
    """Refuse missing, unknown, wrongly shaped and not-float tensors, naming file and tensor of the first."""
    for name in layout.required:
        if name not in found:
            raise ValueError(f"{where}: tensor {name} is missing")
    for name in sorted(found.keys() - layout.required.keys() - layout.optional.keys()):
        if not (layout.others and re.fullmatch(layout.others, name)):
            raise ValueError(f"{found[name].path}: unknown tensor {name}")
    for name, tensor in found.items():
        shape = layout.required.get(name, layout.optional.get(name))
        if shape is not None and tensor.shape != shape:
            raise ValueError(f"{tensor.path}: tensor {name} has shape {tensor.shape}, not {shape}")
        if shape is not None and tensor.dtype not in FLOATS:
            raise ValueError(f"{tensor.path}: tensor {name} has type {tensor.dtype}, not one of {', '.join(FLOATS)}")
