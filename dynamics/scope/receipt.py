"""What the weights of a checkpoint say to receipts: where its keys and values can lie, layer by layer."""

from __future__ import annotations

import numpy as np

from dynamics.razor.receipt_layer import Weighed
from dynamics.weights.reader import Architecture, Checkpoint, Role, SmallTensors
from theory.alibi.rotary import pair_numbers
from theory.cache import reach
from theory.cache.reach import Reach, Values
from theory.checked import choice

ROUNDOFFS = {"float64": 2.0**-53, "float32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
SINGLE = ROUNDOFFS["float32"]


def weighed(checkpoint: Checkpoint, dtype: str = "float32") -> list[Weighed]:
    """Keys and values of every layer, as a model that computes in `dtype` hands them to attention.

    A projection of width d_model is taken to be off by (d_model + 16) roundings relative to ||W Gamma||_F ||z||: more
    than any order of summation makes. In half precision it is summed in single precision and rounded a few times.
    LayerNorm of states whose mean is far above their spread may be off by more.
    Raises: ValueError for another dtype, a KV shift beside biases, and as `plain` and `Checkpoint` do.
    """
    choice("dtype", dtype, tuple(ROUNDOFFS))
    return [layer_weighed(checkpoint, layer, dtype) for layer in range(checkpoint.architecture.n_layers)]


def layer_weighed(checkpoint: Checkpoint, layer: int, dtype: str = "float32") -> Weighed:
    """`weighed` of one layer."""
    sizes, small = plain(checkpoint, layer), checkpoint.small(layer)
    loose = rounding(dtype, sizes.d_model)
    return Weighed(keys(checkpoint, layer, "key", loose), _values(checkpoint, layer, sizes, small, loose))


def plain(checkpoint: Checkpoint, layer: int) -> Architecture:
    """What a layer computes. Raises: ValueError unless it is a plain softmax of queries and keys of normed states."""
    sizes = checkpoint.layer_architecture(layer)
    if sizes.softcap is not None:
        raise ValueError(f"layer {layer} caps its logits at {sizes.softcap:g}: receipts are for a plain softmax")
    if sizes.norm == "none" or sizes.normed_together:
        raise ValueError(f"layer {layer} projects states that are not normed: nothing bounds its values")
    if sizes.rounded_biases:
        raise ValueError(f"layer {layer} rounds its ALiBi biases: receipts are for biases of slope times distance")
    return sizes


def rounding(dtype: str, d_model: int) -> float:
    """The relative error granted to a projection computed in this type."""
    unit = ROUNDOFFS[dtype]
    return 16 * unit + (d_model + 16) * min(unit, SINGLE)


def keys(checkpoint: Checkpoint, layer: int, role: Role, loose: float) -> Reach:
    """Where the keys of a layer can lie, or with role "query" its queries, not scaled; one entry a head."""
    sizes = plain(checkpoint, layer)
    return reach.stretched(_unstretched(checkpoint, layer, role, loose), sizes.stretch)


def _unstretched(checkpoint: Checkpoint, layer: int, role: Role, loose: float) -> Reach:
    sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
    count = sizes.n_heads if role == "query" else sizes.n_kv_heads
    gain = small.query_gain if role == "query" else small.key_gain
    pairs = _pairs(sizes)
    if gain is not None:
        return reach.normed(gain, count, pairs, loose)
    if sizes.clip is not None:
        return reach.clipped(sizes.clip, count, pairs, loose)
    bias, mixture = (small.query_bias, None) if role == "query" else (small.key_bias, small.alpha)
    rows = checkpoint.projection(layer, role, 0, count)
    found = reach.projected(rows, small.gamma, small.norm_bias, bias, sizes.norm, mixture, loose)
    return reach.turned(found, pairs) if sizes.position == "rope" else found


def _values(checkpoint: Checkpoint, layer: int, sizes: Architecture, small: SmallTensors, loose: float) -> Values:
    if sizes.clip is not None:
        cube = reach.clipped(sizes.clip, sizes.n_kv_heads, np.arange(sizes.d_head), loose)
        return Values(cube.centre, cube.norm + cube.slack)
    rows = checkpoint.projection(layer, "value", 0, sizes.n_kv_heads)
    return reach.values(rows, small.gamma, small.norm_bias, small.value_bias, sizes.norm, small.beta, loose)


def _pairs(sizes: Architecture) -> np.ndarray:
    """The number of the pair of every coordinate; all different where nothing is turned."""
    if sizes.position != "rope":
        return np.arange(sizes.d_head)
    return pair_numbers(sizes.d_head, sizes.pairs, sizes.rotated)
