"""Rotary heads of a layer: the bound over all relative rotations from matrices of d_head x d_head."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from theory.alibi.grams_rows import checked_layer, finite_gram, times
from theory.alibi.rotary import pair_numbers
from theory.alibi.sphere import sphere_maximum
from theory.checked import reals, sized

STEPS = 8
Side = tuple[np.ndarray, np.ndarray]  # Gram matrix (d_head, d_head) and offset (d_head,)


@sized()
def rotary_ranges(
    w_q: ArrayLike,
    w_k: ArrayLike,
    gamma: ArrayLike,
    norm_bias: ArrayLike | None = None,
    query_bias: ArrayLike | None = None,
    key_bias: ArrayLike | None = None,
    norm: str = "rms",
    pairs: str = "halves",
    rotated: int | None = None,
) -> np.ndarray:
    """`rotary.rotary_range` of every head, with weights of the pairs from a few steps in place of a search.

    D <= 2/sqrt(d_head) sqrt(max_x sum_f w_f |q_f|^2 max_y sum_f |k_f|^2 / w_f) for any w_f > 0: steps down the slope of
    its logarithm in ln w, which is the query's share of a pair less the key's, and the smallest value met.
    Args: as `grams.logit_ranges`; key_bias (kv heads, d_head); rotated: how many components, the first, are turned,
        None for all: of the others |q_i k_i| is at most |q_i| |k_i|, a pair of one. Returns: bounds (heads,).
    Raises: ValueError also for an odd d_head, or unknown pairs.
    """
    layer = checked_layer(w_q, w_k, gamma, norm_bias, query_bias, norm)
    groups = pair_numbers(layer.d_head, pairs, rotated)
    shape = layer.w_k.shape[:2]
    shift = np.zeros(shape) if key_bias is None else reals("key_bias", key_bias, shape=shape)
    found = []
    for head, rows in enumerate(layer.w_q):
        if head % layer.group == 0:
            kv = head // layer.group
            offset = times(layer.w_k[kv], layer.norm_bias) + shift[kv]
            key = finite_gram("w_k", layer.w_k[kv], layer.gamma, norm), offset
        query = finite_gram("w_q", rows, layer.gamma, norm), layer.offsets[head]
        found.append(_least(query, key, groups, float(layer.d_model)))
    return 2 / math.sqrt(layer.d_head) * np.array(found)


def _least(query: Side, key: Side, groups: np.ndarray, radius2: float) -> float:
    """The square root of the smallest product of the two maxima: over equal weights, and steps from balanced ones."""
    asked, seen = (np.bincount(groups, np.diag(matrix) * radius2 + offset**2) for matrix, offset in (query, key))
    floor = 1e-12 * max(float(asked.max()), float(seen.max())) + 1e-300
    logs = np.log((seen + floor) / (asked + floor)) / 2
    best, _ = _product(query, key, np.zeros_like(logs)[groups], radius2)
    for step in range(STEPS):
        product, slope = _product(query, key, logs[groups], radius2)
        best = min(best, product)
        logs = logs - 2 / (1 + step) * np.bincount(groups, slope)
    return math.sqrt(best)


def _product(query: Side, key: Side, logs: np.ndarray, radius2: float) -> tuple[float, np.ndarray]:
    """max sum_i w_i q_i^2 max sum_i k_i^2 / w_i for ln w (d_head,), and the slope of its logarithm in ln w."""
    first, asked = _reach(query, np.exp(logs / 2), radius2)
    second, seen = _reach(key, np.exp(-logs / 2), radius2)
    return first * second, asked**2 / max(first, 1e-300) - seen**2 / max(second, 1e-300)


def _reach(side: Side, half: np.ndarray, radius2: float) -> tuple[float, np.ndarray]:
    """max over ||z||^2 = radius2 of ||v||^2, v = half (rows z + offset), and the v of the maximiser."""
    matrix, offset = side[0] * np.outer(half, half), side[1] * half
    if not offset.any():
        values, vectors = eigh(matrix, subset_by_index=[len(half) - 1] * 2, check_finite=False)
        value = radius2 * max(float(values[0]), 0.0)
        return value, math.sqrt(value) * vectors[:, 0]
    values, vectors = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, 0.0))
    found = sphere_maximum(roots**2, roots * (vectors.T @ offset), radius2)
    return found.value + float(offset @ offset), vectors @ (roots * found.point) + offset
