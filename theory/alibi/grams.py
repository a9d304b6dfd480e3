"""The logit range of every head of a layer, from matrices of d_head x d_head.

On its sphere a head is known by its Gram matrices G_Q = S S^T and G_K = R R^T, S = W_Q Gamma P and R = W_K Gamma P, and
by the offset o = W_Q b + b_Q: D = 2 sqrt(d) max ||R^T (S z + o)|| / sqrt(d_head), and without biases D = 2 d
sqrt(lambda_max(G_Q G_K)) / sqrt(d_head). Gram matrices of float32 find the query z, whose spread and residual are
computed in float64 from the weights: the number returned is attained up to rounding. What it falls short by is
estimated from the residual, and the estimate is no proof (`grams_largest`). Where that is not enough - the two largest
eigenvalues too close, or cancellation in the squares - the head is computed anew in float64.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from theory.alibi import ranges
from theory.alibi.grams_largest import FLAT, Sphere, bounded, is_attained, largest
from theory.alibi.grams_rows import Layer, Side, checked_layer, finite_gram, gram, near_one, room_for, times_gram
from theory.alibi.head import Head, of_head
from theory.checked import sized

DIGITS = 1e-12  # of the square of a value diameter: one pass over one matrix more is cheap


@of_head()
@sized()
def logit_ranges(heads: Head) -> np.ndarray:
    """`alibi.logit_range` of every head, to a relative 1e-10 by an estimate of rounding: no proof, no upper end.

    `alibi.certified_logit_range` proves both ends of one head.

    Args: w_q (heads, d_head, d_model), float32 as stored or float64; w_k (kv heads, d_head, d_model), kv heads a
    divisor of heads: head h reads the keys of h // (heads // kv heads); gamma and norm_bias (d_model,);
    query_bias (heads, d_head); norm "rms" or "layer".
    Returns: (heads,), float64. Raises: ValueError for other shapes, a number that is not finite, or an unknown norm.
    """
    layer = checked_layer(heads)
    room, found = room_for(layer), []
    for head, rows in enumerate(layer.w_q):
        if head % layer.group == 0:
            key = Side(layer.w_k[head // layer.group], layer.gamma, layer.norm, room)
        query = Side(rows, layer.gamma, layer.norm, room)
        sphere = Sphere(query.gram, key.gram, layer.offsets[head], layer.d_model)
        sure = bounded(sphere, query.times, key.times)
        found.append(math.sqrt(sure.value) if sure else _anew(layer, head))
    return 2 * math.sqrt(layer.d_model / layer.d_head) * np.array(found)


@sized()
def product_norms(left: ArrayLike, right: ArrayLike) -> np.ndarray:
    """||L^T R||_2 of each head: left (heads, d_head, d_model), right (kv heads, d_head, d_model). Returns (heads,)."""
    d_head, d_model = np.shape(left)[-2:] if np.ndim(left) == 3 else (1, 1)
    return logit_ranges(left, right, np.ones(d_model)) * math.sqrt(d_head) / (2 * d_model)


@sized()
def value_diameters(w_v: ArrayLike, gamma: ArrayLike, norm: str = "rms") -> np.ndarray:
    """`dropped.value_diameter` of each head, 2 sqrt(d lambda_max(G_V)): w_v (heads, d_v, d_model)."""
    layer = checked_layer(w_v, w_v, gamma, norm=norm)
    room, found = room_for(layer), []
    identity, nowhere = np.eye(layer.d_head), np.zeros(layer.d_head)
    for rows in layer.w_q:
        side = Side(rows, layer.gamma, norm, room)
        sphere = Sphere(side.gram, identity, nowhere, layer.d_model)
        sure = bounded(sphere, side.times, lambda value: (value, float(value @ value)), DIGITS)
        found.append(math.sqrt(sure.value) if sure else math.sqrt(layer.d_model) * _norm("w_v", rows, layer))
    return 2 * np.array(found)


def _norm(name: str, rows: np.ndarray, layer: Layer) -> float:
    """||rows Gamma P||_2 from its float64 Gram matrix."""
    wide, size = near_one(rows, layer.gamma)
    top = float(np.linalg.eigvalsh(finite_gram(name, wide, layer.gamma, layer.norm))[-1])
    return size * math.sqrt(max(top, 0.0))


def _anew(layer: Layer, head: int) -> float:
    """The same maximum from float64 Gram matrices or, where these cancel or deceive, from orthogonal factors."""
    w_q, w_k, offset = layer.w_q[head], layer.w_k[head // layer.group], layer.offsets[head]
    query, key = (gram(rows, layer.gamma, layer.norm) for rows in (w_q, w_k))
    sphere = Sphere(query, key, offset, layer.d_model)
    top = largest(sphere)
    asked, seen = (partial(times_gram, rows, layer.gamma, layer.norm) for rows in (w_q, w_k))
    if top is not None and top.flatness > FLAT and is_attained(top, sphere, asked, seen):
        return math.sqrt(top.value)
    shift = layer.query_bias[head]
    wide = ranges.logit_range(w_q, w_k, layer.gamma, layer.norm_bias, shift, layer.norm)
    return float(wide) / (2 * math.sqrt(layer.d_model / layer.d_head))
