"""Rotary heads of a layer: the bound over all relative rotations from matrices of d_head x d_head."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.alibi.grams_largest import Sphere, bounded, factor_of, moderate
from theory.alibi.grams_rows import Layer, Side, checked_layer, finite_gram, near_one, room_for, times
from theory.alibi.head import Head, of_head
from theory.alibi.rotary import pair_numbers
from theory.alibi.sphere import sphere_maximum
from theory.checked import reals, sized

STEPS = 8
LOOSE = 1e-9  # the bound is an upper end, and no more digits of it are paid for
CLIMBS = 10  # from one step's maximiser towards the next one's


class Reach(NamedTuple):
    """One side of a head over size: factor L of its Gram matrix L L^T (d_head, d_head), by float32 where it will do."""

    name: str
    side: Side
    factor: np.ndarray
    offset: np.ndarray
    radius2: float
    size: float


@of_head("w_q w_k gamma norm_bias query_bias key_bias norm pairs rotated")
@sized()
def rotary_ranges(
    heads: Head, key_bias: ArrayLike | None = None, pairs: str = "halves", rotated: int | None = None
) -> np.ndarray:
    """`rotary.rotary_range` of every head, with weights of the pairs from a few steps in place of a search.

    D <= 2/sqrt(d_head) sqrt(max_x sum_f w_f |q_f|^2 max_y sum_f |k_f|^2 / w_f) for any w_f > 0: steps down the slope of
    its logarithm in ln w, which is the query's share of a pair less the key's, and the w that seemed best on the way;
    with it both maxima are computed to their upper ends.
    Args: as `grams.logit_ranges`; key_bias (kv heads, d_head); rotated: how many components, the first, are turned,
        None for all: of the others |q_i k_i| is at most |q_i| |k_i|, a pair of one.
    Returns: (heads,), upper ends where the estimate of rounding holds, which is no proof (`grams_largest`).
    Raises: ValueError also for an odd d_head, or unknown pairs.
    """
    layer = checked_layer(heads)
    groups = pair_numbers(layer.d_head, pairs, rotated)
    shape = layer.w_k.shape[:2]
    shift = np.zeros(shape) if key_bias is None else reals("key_bias", key_bias, shape=shape)
    room, found = room_for(layer), []
    for head, rows in enumerate(layer.w_q):
        if head % layer.group == 0:
            kv = head // layer.group
            offset = times(layer.w_k[kv], layer.norm_bias) + shift[kv]
            key = _side("w_k", layer.w_k[kv], offset, layer, room)
        query = _side("w_q", rows, layer.offsets[head], layer, room)
        logs = _balanced(query, key, groups)[groups]
        product = _largest(query, np.exp(logs)) * _largest(key, np.exp(-logs))
        found.append(query.size * key.size * math.sqrt(product))
    return 2 / math.sqrt(layer.d_head) * np.array(found)


def _side(name: str, rows: np.ndarray, offset: np.ndarray, layer: Layer, room: np.ndarray) -> Reach:
    side, size = Side(rows, layer.gamma, layer.norm, room), 1.0
    if not moderate(side.gram):
        wide, size = near_one(rows, layer.gamma, offset)
        side, offset = Side(wide, layer.gamma, layer.norm, room), offset / size
    matrix = side.gram if moderate(side.gram) else finite_gram(name, side.rows, side.gamma, side.norm)
    return Reach(name, side, factor_of(matrix), offset, float(layer.d_model), size)


def _balanced(query: Reach, key: Reach, groups: np.ndarray) -> np.ndarray:
    """ln w of the pairs: of equal weights, and of steps from balanced ones, those with the smallest product of maxima.

    The maximisers are followed by ascent, which may stop short: whatever the weights, they give a bound.
    """
    sizes = [np.bincount(groups, (at.factor**2).sum(1) * at.radius2 + at.offset**2) for at in (query, key)]
    floor = 1e-12 * max(float(size.max()) for size in sizes) + 1e-300
    balanced = np.log((sizes[1] + floor) / (sizes[0] + floor)) / 2
    points = [_on_sphere(at.factor.sum(0), at) for at in (query, key)]
    logs, least, chosen = np.zeros_like(balanced), math.inf, balanced
    for step in range(STEPS + 1):
        shares, product = [], 1.0
        for i, (at, sign) in enumerate(((query, 1), (key, -1))):
            weights = np.exp(sign * logs[groups])
            points[i] = _climbed(at, weights, points[i])
            squares = weights * (at.factor @ points[i] + at.offset) ** 2
            product *= float(squares.sum())
            shares.append(np.bincount(groups, squares) / max(float(squares.sum()), 1e-300))
        if product < least:
            least, chosen = product, logs
        logs = balanced if step == 0 else logs - 2 / step * (shares[0] - shares[1])
    return chosen


def _climbed(at: Reach, weights: np.ndarray, point: np.ndarray) -> np.ndarray:
    """The best of the points that a few steps of y -> gradient span, for sum_i w_i v_i^2, v = L y + offset."""
    points = np.empty((CLIMBS + 1, len(point)))
    points[0] = point
    for i in range(CLIMBS):
        points[i + 1] = _on_sphere((weights * (at.factor @ points[i] + at.offset)) @ at.factor, at)
    half = np.sqrt(weights)
    basis, _ = np.linalg.qr(points.T)
    rows, offset = half[:, None] * (at.factor @ basis), half * at.offset
    values, vectors = np.linalg.eigh(rows.T @ rows)
    if not offset.any():
        return math.sqrt(at.radius2) * (basis @ vectors[:, -1])
    return basis @ (vectors @ sphere_maximum(values, vectors.T @ (rows.T @ offset), at.radius2, 1e-3).point)


def _on_sphere(point: np.ndarray, at: Reach) -> np.ndarray:
    return point * (math.sqrt(at.radius2) / max(math.sqrt(float(point @ point)), 1e-300))


def _largest(at: Reach, weights: np.ndarray) -> float:
    """An upper end by the estimate of max over ||z||^2 = radius2 of sum_i w_i v_i^2, v = rows z + offset, to LOOSE."""
    sphere = Sphere(at.side.gram, np.diag(weights), at.offset, at.radius2)
    sure = bounded(sphere, at.side.times, lambda v: (weights * v, float(weights @ v**2)), LOOSE)
    if sure:
        return sure.upper
    half = np.sqrt(weights)
    matrix = finite_gram(at.name, at.side.rows, at.side.gamma, at.side.norm) * np.outer(half, half)
    values, vectors = np.linalg.eigh(matrix)
    roots, offset = np.sqrt(np.maximum(values, 0.0)), at.offset * half
    return sphere_maximum(roots**2, roots * (vectors.T @ offset), at.radius2).value + float(offset @ offset)
