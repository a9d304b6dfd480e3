"""Checkpoints of others, read head by head: their files are checked as a whole, then opened anew for every read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.files.strict_json import read_object
from dynamics.weights import described, own, safetensors_file
from dynamics.weights import folder as folders
from dynamics.weights import layout as layouts
from dynamics.weights.families import FAMILIES, READ
from dynamics.weights.layout import ROLES, Architecture, LayerLayout, Layout, Role, Rows
from dynamics.weights.safetensors_file import FLOATS, StoredTensor
from theory.checked import index
from theory.records import comparable

PREFIXES = ("transformer.", "model.language_model.")  # of heads for questions, and of text beside images
EXACT = {"bfloat16": ("BF16",), "float16": ("F16",), "float32": ("BF16", "F16", "F32")}

__all__ = ["Architecture", "Checkpoint", "SmallTensors", "open_checkpoint"]


@comparable
class SmallTensors(NamedTuple):
    """What a layer has beside its projections, in float32; None where the architecture has no such thing.

    gamma, norm_bias (d_model,): of the norm in front of attention. query_bias (n_heads, d_head), key_bias, value_bias
    (n_kv_heads, d_head). query_gain, key_gain (n_heads or n_kv_heads, d_head): of the norm on each head's query and
    key. alpha, beta (n_kv_heads, 2): KV shift, columns (self, previous); a model of ours with a longer window has more
    columns. window: how many tokens a query sees, itself among them; None for all. sinks (n_heads,): learned logits of
    a sink that every query sees beside its tokens.
    """

    gamma: NDArray[np.float32]
    norm_bias: NDArray[np.float32] | None = None
    query_bias: NDArray[np.float32] | None = None
    key_bias: NDArray[np.float32] | None = None
    value_bias: NDArray[np.float32] | None = None
    query_gain: NDArray[np.float32] | None = None
    key_gain: NDArray[np.float32] | None = None
    alpha: NDArray[np.float32] | None = None
    beta: NDArray[np.float32] | None = None
    window: int | None = None
    sinks: NDArray[np.float32] | None = None


class Checkpoint:
    """A checkpoint whose names, shapes and types hold; weights are read when asked for and not kept.

    architecture describes the layers; where they differ (Baichuan-M1: heads of its windowed layers) it is that of the
    layers without a window, and layer_architecture(layer) is that of one layer. rounded: whether a file holds float64,
    which reading rounds to float32.
    """

    def __init__(self, layout: Layout, tensors: Mapping[str, StoredTensor]) -> None:
        self._layers, self._tensors = layout.layers, tensors
        whole = [layer for layer in layout.layers if layer.window is None]
        self.architecture = (whole or layout.layers)[0].architecture
        self.rounded = any(tensor.dtype == "F64" for tensor in tensors.values())

    @property
    def names(self) -> frozenset[str]:
        """The names of all tensors."""
        return frozenset(self._tensors)

    def tensor(self, name: str) -> NDArray[np.float32]:
        """A whole tensor by its name in the file. Raises: ValueError for another name, and as projection."""
        if name not in self._tensors:
            raise ValueError(f"there is no tensor {name!r}")
        return safetensors_file.read(self._tensors[name])

    def exact_in(self, arithmetic: str) -> bool:
        """Whether bfloat16, float16 or float32 holds the weights as they are stored."""
        return all(tensor.dtype in EXACT[arithmetic] for tensor in self._tensors.values() if tensor.dtype in FLOATS)

    def layer_architecture(self, layer: int) -> Architecture:
        """The architecture with the head counts, head width and scale of this layer."""
        return self._layer(layer).architecture

    def projection(
        self, layer: int, role: Role, first_head: int, last_head: int, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """W_query, W_key or W_value of heads first_head .. last_head - 1 (of key-value heads for key and value).

        Returns: (last_head - first_head, d_head, d_model) in float32, so that head h computes W[h] @ x: exact for
        float16, bfloat16 and float32 files, rounded to the nearest for float64. Only these rows are read, or of a
        tensor that is stored transposed all. out: a contiguous array of this shape and type, which is filled and
        returned.
        Raises: ValueError for a layer, role or head out of range, another out, a value that is not finite, a file that
        changed.
        """
        chosen = self._layer(layer)
        if role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(ROLES)}, got {role!r}")
        sizes = chosen.architecture
        n_heads = sizes.n_heads if role == "query" else sizes.n_kv_heads
        if not 0 <= index("first_head", first_head) < index("last_head", last_head) <= n_heads:
            raise ValueError(f"heads must be 0 <= first < last <= {n_heads}, got {first_head} and {last_head}")
        return self._rows(chosen.weights[role], sizes.d_head, first_head, last_head, out)

    def small(self, layer: int) -> SmallTensors:
        """Norm, biases, gains, KV shift and window of a layer. Raises: as projection."""
        chosen = self._layer(layer)
        sizes = chosen.architecture
        counts: dict[Role, int] = {"query": sizes.n_heads, "key": sizes.n_kv_heads, "value": sizes.n_kv_heads}
        biases = {role: self._rows(at, sizes.d_head, 0, counts[role]) for role, at in chosen.biases.items()}
        gamma = self._gain(chosen.gamma, chosen.offset)
        return SmallTensors(
            np.ones(sizes.d_model, np.float32) if gamma is None else gamma,
            self._whole(chosen.norm_bias),
            biases.get("query"),
            biases.get("key"),
            biases.get("value"),
            self._gains(chosen.query_gain, chosen.offset, sizes.n_heads, sizes.d_head),
            self._gains(chosen.key_gain, chosen.offset, sizes.n_kv_heads, sizes.d_head),
            self._mixture(chosen, chosen.alpha),
            self._mixture(chosen, chosen.beta),
            chosen.window,
            self._whole(chosen.sinks),
        )

    def _layer(self, layer: int) -> LayerLayout:
        if not 0 <= index("layer", layer) < len(self._layers):
            raise ValueError(f"layer must be in 0..{len(self._layers) - 1}, got {layer}")
        return self._layers[layer]

    def _rows(
        self, at: Rows, d_head: int, first: int, last: int, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        tensor = self._tensors[at.name]
        shape = (last - first, d_head, *(tensor.shape[:1] if at.transposed else tensor.shape[1:]))
        out = np.empty(shape, np.float32) if out is None else out
        if out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise ValueError(f"out has shape {out.shape} of {out.dtype}: expected {shape} of float32, contiguous")
        if at.transposed:
            columns = safetensors_file.read(tensor)[:, at.first(first) : at.first(last)]
            out[...] = columns.T.reshape(shape)
            return out
        if at.stride == d_head and not at.skip:
            safetensors_file.read_rows(tensor, at.first(first), out)
            return out
        for head, rows in enumerate(out, first):
            safetensors_file.read_rows(tensor, at.first(head), rows)
        return out

    def _whole(self, name: str | None) -> NDArray[np.float32] | None:
        return None if name is None else safetensors_file.read(self._tensors[name])

    def _gain(self, name: str | None, offset: float) -> NDArray[np.float32] | None:
        """A stored gain with what its family adds to it."""
        stored = self._whole(name)
        return stored if stored is None or not offset else stored + np.float32(offset)

    def _gains(self, names: tuple[str, ...], offset: float, count: int, width: int) -> NDArray[np.float32] | None:
        """Gains of every head, (count, width): stored head by head, for all heads in one tensor, or once for all."""
        if not names:
            return None
        stored = np.concatenate([safetensors_file.read(self._tensors[name]).reshape(-1, width) for name in names])
        return np.broadcast_to(stored + np.float32(offset), (count, width)).copy()

    def _mixture(self, layer: LayerLayout, name: str | None) -> NDArray[np.float32] | None:
        stored = self._whole(name)
        return stored if stored is None or layer.mix is None else layer.mix(stored)


def open_checkpoint(path_or_hub_id: str | Path, sha256: Mapping[str, str] | None = None) -> Checkpoint:
    """Check a checkpoint's config and the name, shape, type and place of every tensor; read no weight.

    Understood: the model_types of `families.READ`, in safetensors (one file or an index), and the folders that
    `dynamics.training.checkpoint.save` writes, whose recorded hash is compared.
    Args: a folder, or "owner/name" on the hub; sha256: hashes of files by name, compared before anything else. Without
    one, a flipped bit that leaves a weight finite cannot be seen: these files carry no checksum.
    Raises: OSError; ValueError of one line that names the file, and the tensor or field, for anything that is missing,
    unknown, of another shape or type, cut off, pickled, or not supported.
    """
    folder = folders.locate(path_or_hub_id)
    folders.check_hashes(folder, sha256 or {})
    if own.is_own(folder):
        layout, digest = own.layout(folder)
        weights = folder / own.WEIGHTS
        folders.check_hashes(folder, {own.WEIGHTS: digest})
        found = safetensors_file.tensors(weights)
        layouts.check(layout, found, weights)
        return Checkpoint(layout, found)
    config_path = folder / "config.json"
    if not config_path.is_file():
        raise ValueError(f"{folder}: config.json is missing")
    data = read_object(config_path)
    kind = data.get("model_type")
    if not isinstance(kind, str) or kind not in READ:
        raise ValueError(f"{config_path}: model_type {kind!r} is not one of {', '.join(READ)}{_why(data, folder)}")
    if not described.unquantised(data):
        raise ValueError(f"{config_path}: quantised weights are not supported")
    found = folders.stored_tensors(folder)
    family = FAMILIES[kind]
    prefixes = (one for one in (family.prefix, *PREFIXES) if any(name.startswith(one) for name in found))
    layout = family.layout(data, config_path, next(prefixes, ""))
    layouts.check(layout, found, folder)
    return Checkpoint(layout, found)


def _why(data: Mapping[str, object], folder: Path) -> str:
    """What a family that is not known lacks, if its weights are there to be looked at."""
    try:
        return f": {described.lacking(data, folders.stored_tensors(folder))}"
    except (ValueError, OSError):
        return ""
