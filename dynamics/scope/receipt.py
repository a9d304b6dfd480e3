"""The sets in which the keys, values and queries of each layer lie, from the weights of a checkpoint, for receipts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dynamics.razor.weighed import Probed, Weighed, fixed_state, on_sphere
from dynamics.weights.layout import ROLES
from dynamics.weights.reader import Architecture, Checkpoint, Role, SmallTensors
from theory.alibi.rotary import pair_numbers
from theory.cache import reach
from theory.cache.reach import Reach, Values
from theory.checked import choice

ROUNDOFFS = {"float64": 2.0**-53, "float32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
SINGLE = ROUNDOFFS["float32"]
ARCHITECTURE = ("model_type", "n_layers", "n_heads", "n_kv_heads", "d_head", "d_model", "norm", "position", "slopes",
                "pairs", "scale", "max_length", "clip", "rotated", "softcap", "head_norm",
                "normed_together")  # fmt: skip
SMALL = ("gamma", "norm_bias", "query_bias", "key_bias", "value_bias", "query_gain", "key_gain", "alpha", "beta",
         "window")  # fmt: skip


def weighed(checkpoint: Checkpoint, dtype: str = "float32") -> list[Weighed]:
    """Keys, values and queries of every layer, as a model that computes in `dtype` hands them to attention.

    A projection of width d_model is taken to be off by (d_model + 16) roundings relative to ||W Gamma||_F ||z||: more
    than any order of summation makes. In half precision it is summed in single precision and rounded a few times.
    LayerNorm of states whose mean is far above their spread may be off by more.
    Raises: ValueError for another dtype, soft-capped logits, a KV shift beside biases, anything of a layer that is not
    known here, and as `Checkpoint` does.
    """
    choice("dtype", dtype, tuple(ROUNDOFFS))
    return [layer_weighed(checkpoint, layer, dtype) for layer in range(checkpoint.architecture.n_layers)]


def layer_weighed(checkpoint: Checkpoint, layer: int, dtype: str = "float32") -> Weighed:
    """`weighed` of one layer."""
    sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
    _check_known(layer, sizes, small)
    loose, counts = rounding(dtype, sizes.d_model), (sizes.n_heads, sizes.n_kv_heads, sizes.n_kv_heads)
    rows = {role: checkpoint.projection(layer, role, 0, n) for role, n in zip(ROLES, counts, strict=True)}
    if sizes.head_norm is not None and small.key_gain is None:
        raise ValueError(f"layer {layer}: queries and keys are normed without gains, which is not supported here")
    seen, asked = (_projected(rows[role], sizes, small, role, loose) for role in ("key", "query"))
    values, rotary = _values(rows["value"], sizes, small, loose), sizes.position == "rope"
    return Weighed(seen, values, asked, sizes.scale, rotary, _probed(rows, sizes, small, dtype))


def _probed(rows: Mapping[Role, np.ndarray], sizes: Architecture, small: SmallTensors, dtype: str) -> Probed:
    """What the layer makes of `fixed_state`."""
    state, found = small.gamma * on_sphere(fixed_state(sizes.d_model), sizes.norm), []
    state = state if small.norm_bias is None else state + small.norm_bias
    for role in ROLES:
        bias, gain = (getattr(small, f"{role}_{name}", None) for name in ("bias", "gain"))
        x = rows[role] @ state + (0.0 if bias is None else bias)
        if gain is not None:
            together = x.reshape(1, -1) if sizes.normed_together else x
            x = gain * on_sphere(together, sizes.head_norm or "rms").reshape(x.shape)
        found.append(x if sizes.clip is None else x.clip(-sizes.clip, sizes.clip))
    turned = (sizes.rotated or sizes.d_head) * (sizes.position == "rope")
    return Probed(*found, np.arange(sizes.d_head) < turned, dtype)


def rounding(dtype: str, d_model: int) -> float:
    """The relative error granted to a projection computed in this type; whatever the type, norms may be in single."""
    return 16 * max(ROUNDOFFS[dtype], SINGLE) + (d_model + 16) * SINGLE


def _check_known(layer: int, sizes: Architecture, small: SmallTensors) -> None:
    """Whatever else a layer may come to have, a bound that does not know of it is none."""
    if sizes.softcap is not None:
        raise ValueError(f"layer {layer} caps its logits at {sizes.softcap:g}: receipts are for a plain softmax")
    usual = Architecture._field_defaults
    for name, value in sizes._asdict().items():
        if name not in ARCHITECTURE and (name not in usual or value != usual[name]):
            raise ValueError(f"layer {layer}: receipts do not know what {name} {value!r} allows")
    for name, tensor in small._asdict().items():
        if name not in SMALL and tensor is not None:
            raise ValueError(f"layer {layer}: receipts do not know what {name} allows")


def _projected(rows: np.ndarray, sizes: Architecture, small: SmallTensors, role: Role, loose: float) -> Reach:
    """Where the keys of a layer can lie, or with role "query" its queries, not scaled; one entry a head."""
    count = len(rows)
    gain = small.query_gain if role == "query" else small.key_gain
    pairs = _pairs(sizes)
    if gain is not None:
        found = reach.normed(gain, count, pairs, loose)
        # of heads that are normed together one alone may hold all that the norm leaves
        return reach.stretched(found, math.sqrt(count)) if sizes.normed_together else found
    bias, mixture = (small.query_bias, None) if role == "query" else (small.key_bias, small.alpha)
    found = reach.projected(rows, small.gamma, small.norm_bias, bias, sizes.norm, mixture, loose)
    if sizes.clip is not None and not _within(found, sizes.clip):
        return reach.clipped(sizes.clip, count, pairs, loose)
    return reach.turned(found, pairs) if sizes.position == "rope" else found


def _within(of: Reach, clip: float) -> bool:
    """Whether no component can reach the clip."""
    heads, width = of.centre.shape
    low, high = reach.span(of, np.broadcast_to(np.eye(width), (heads, width, width)))
    return bool((-low).max() <= clip and high.max() <= clip)


def _values(rows: np.ndarray, sizes: Architecture, small: SmallTensors, loose: float) -> Values:
    """The ball of a layer's values; clamping moves no two of them apart, and puts all in a cube."""
    found = reach.values(rows, small.gamma, small.norm_bias, small.value_bias, sizes.norm, small.beta, loose)
    if sizes.clip is None:
        return found
    edge = sizes.clip * math.sqrt(sizes.d_head) * (1 + reach.OUTWARD)
    small_ball = found.radius < edge
    centre = np.where(small_ball[:, None], np.clip(found.centre, -sizes.clip, sizes.clip), 0.0)
    return Values(centre, np.minimum(found.radius, edge))


def _pairs(sizes: Architecture) -> np.ndarray:
    """The number of the pair of every coordinate; all different where nothing is turned."""
    if sizes.position != "rope":
        return np.arange(sizes.d_head)
    return pair_numbers(sizes.d_head, sizes.pairs, sizes.rotated)
