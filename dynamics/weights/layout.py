"""Where an architecture stores the weights of its attention: the rows of named tensors for each head."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, ValidationError

from dynamics.files.manifest import plain_line
from dynamics.weights.safetensors_file import FLOATS, StoredTensor

Role = Literal["query", "key", "value"]
ROLES: tuple[Role, ...] = ("query", "key", "value")
PROJECTIONS: dict[Role, str] = {"query": "q_proj", "key": "k_proj", "value": "v_proj"}
Format = Literal["float64", "float32", "float16", "bfloat16", "auto"]
Size = Annotated[int, Field(ge=1, le=2**24)]
Layers = Annotated[int, Field(ge=1, le=2000)]


class Architecture(NamedTuple):
    """What one kind of layer computes: logits scale * q.k, rotated or with -slope * distance, causal.

    model_type as in config.json ("induction" for this project's own); query head h reads key-value head
    h // (n_heads // n_kv_heads); norm in front of the projections; slopes (n_heads,) for ALiBi, else None; pairs: which
    components RoPE turns together, (i, i + d_head/2) or (2i, 2i + 1); max_length the longest context trained on, where
    the file says so; clip: the bound c to which every component of q, k and v is clamped, None without;
    rotated: how many components of a head RoPE turns, the first, None for all; softcap: logits x become c tanh(x/c);
    norm "none": what is projected is not normed; head_norm: of queries and keys, each head's or, normed_together, all
    heads' as one vector; rounded_biases: whether ALiBi's biases are rounded to bfloat16, whatever the model's format.
    """

    model_type: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    d_model: int
    norm: Literal["rms", "layer", "none"]
    position: Literal["alibi", "rope", "learned", "none"]
    slopes: tuple[float, ...] | None
    pairs: Literal["halves", "neighbours"]
    scale: float
    max_length: int | None
    clip: float | None = None
    rotated: int | None = None
    softcap: float | None = None
    head_norm: Literal["rms", "layer"] | None = None
    normed_together: bool = False
    rounded_biases: bool = False


class Rows(NamedTuple):
    """Head h is rows offset + h * stride + (h // group) * skip .. + d_head of a tensor; columns, where transposed."""

    name: str
    offset: int
    stride: int
    group: int = 1
    skip: int = 0
    transposed: bool = False

    def first(self, head: int) -> int:
        """Where a head begins."""
        return self.offset + head * self.stride + head // self.group * self.skip


class LayerLayout(NamedTuple):
    """One layer: its architecture, the rows of the projections and of their biases, and the names of small tensors.

    mix turns a stored alpha or beta into (n_kv_heads, window), column 0 for the token itself; window: how many tokens
    a query sees, itself among them. gamma None: a norm without parameters; offset: added to stored gains. query_gain,
    key_gain: one tensor for all heads, or one a head. sinks: of learned sink logits, (n_heads,).
    """

    architecture: Architecture
    weights: Mapping[Role, Rows]
    biases: Mapping[Role, Rows]
    gamma: str | None
    norm_bias: str | None = None
    query_gain: tuple[str, ...] = ()
    key_gain: tuple[str, ...] = ()
    alpha: str | None = None
    beta: str | None = None
    mix: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None
    window: int | None = None
    offset: float = 0.0
    sinks: str | None = None


class Layout(NamedTuple):
    """All layers, the shape of every tensor that must be there, and of those that may be (None: any shape and type).

    others: a pattern of the names of tensors that are no part of attention, and are let stand; floats: whether they
    have to be floats too.
    """

    layers: tuple[LayerLayout, ...]
    required: Mapping[str, tuple[int, ...] | None]
    optional: Mapping[str, tuple[int, ...] | None]
    others: str = ""
    floats: bool = False


class Config(BaseModel):
    """A config.json: unknown keys are other people's business, known ones have the right type.

    eps of norms, under the names that families give it: a negative one would make states longer than is bounded.
    is_causal: transformers runs every decoder without its mask where this is false. attention_chunk_size: by it, and by
    sliding_window, its caches drop keys, whatever the masks of a family are.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, strict=True, protected_namespaces=())
    rms_norm_eps: NonNegativeFloat | None = None
    layer_norm_eps: NonNegativeFloat | None = None
    layer_norm_epsilon: NonNegativeFloat | None = None
    norm_eps: NonNegativeFloat | None = None
    dtype: Format | None = None
    torch_dtype: Format | None = None
    is_causal: Literal[True] = True
    attention_chunk_size: None = None

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


def grouped(name: str, group: int, d_head: int) -> dict[Role, Rows]:
    """One tensor: the query heads of a key-value head, its key, its value, then those of the next."""
    whole = (group + 2) * d_head
    return {
        "query": Rows(name, 0, d_head, group, 2 * d_head),
        "key": Rows(name, group * d_head, whole),
        "value": Rows(name, (group + 1) * d_head, whole),
    }


def attention_shapes(layer: LayerLayout) -> dict[str, tuple[int, ...]]:
    """Shapes of the separate projections and their biases of one layer."""
    sizes = layer.architecture
    rows = {"query": sizes.n_heads * sizes.d_head, "key": sizes.n_kv_heads * sizes.d_head}
    rows["value"] = rows["key"]
    shapes: dict[str, tuple[int, ...]] = {at.name: (rows[role], sizes.d_model) for role, at in layer.weights.items()}
    return shapes | {at.name: (rows[role],) for role, at in layer.biases.items()}


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
            strange = next((other for other in sorted(found) if other.endswith(f".{name}")), name)
            told = f"; remove {strange.removesuffix(name)!r} from the names" if strange != name else ""
            raise ValueError(f"{where}: tensor {name} is missing{told}")
    for name in sorted(found.keys() - layout.required.keys() - layout.optional.keys()):
        if not (layout.others and re.fullmatch(layout.others, name)):
            raise ValueError(f"{found[name].path}: unknown tensor {name}")
    for name, tensor in found.items():
        shape = layout.required.get(name, layout.optional.get(name))
        if shape is not None and tensor.shape != shape:
            raise ValueError(f"{tensor.path}: tensor {name} has shape {tensor.shape}, not {shape}")
        if (shape is not None or layout.floats) and tensor.dtype not in FLOATS:
            raise ValueError(f"{tensor.path}: tensor {name} has type {tensor.dtype}, not one of {', '.join(FLOATS)}")
