"""Heads with rotary positions: the range of the raw weights bounds nothing; a bound over all relative rotations does.

W_Q = [[1, 0], [0, 0]] and W_K = [[0, 0], [1, 0]] have product 0 - all unrotated logits vanish - while a quarter turn
makes the logit x_1 y_1. A rotation by any angle acts on each pair of coordinates as a complex factor of size 1, so
|q . R k| <= sum_f |q_f| |k_f| over the pairs f.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from theory.alibi.head import Head, checked, of_head, on_sphere, power_of_two
from theory.alibi.sphere import sphere_maximum
from theory.checked import choice, reals, sized, whole

PAIRS = ("halves", "neighbours")


@of_head("w_q w_k gamma norm_bias query_bias key_bias norm pairs")
@sized()
def rotary_range(head: Head, key_bias: ArrayLike | None = None, pairs: str = "halves") -> float:
    """A bound on the difference of any two logits of one query, over all post-norm states and relative rotations.

    D <= 2/sqrt(d_head) max sum_f |q_f| |k_f| <= 2/sqrt(d_head) sqrt(max_x sum_f w_f |q_f|^2 max_y sum_f |k_f|^2 / w_f)
    for any weights w_f > 0 of the pairs; the logarithm of the right side is convex in ln w without biases, and the best
    w found is used (w = 1 gives the product of the two spectral norms). The key bias counts: it turns with the key.
    Args: as `alibi.logit_range`, key_bias (d_head,); pairs "halves" (i, i + d_head/2) or "neighbours" (2i, 2i + 1).
    Returns: a bound but for rounding in float64, not claimed to be attained unless d_head = 2.
    Raises: ValueError also for an odd d_head.
    """
    weights = checked(head)
    d_head = len(weights.w_q)
    groups = pair_numbers(d_head, pairs)
    shift = np.zeros(d_head) if key_bias is None else reals("key_bias", key_bias, shape=(d_head,))
    seen = on_sphere(weights)
    queries, asked = _balanced(*_reduced(seen.query, seen.offset))
    keys, answered = _balanced(*_reduced(seen.key, weights.w_k @ weights.norm_bias + shift))

    def log_bound(logs: np.ndarray) -> float:
        half = np.exp(np.append(logs, 0.0) / 2)[groups]
        first = _largest(queries[0] * half[:, None], queries[1] * half, seen.radius2)
        second = _largest(keys[0] / half[:, None], keys[1] / half, seen.radius2)
        return math.log(first) + math.log(second) if first > 0 and second > 0 else -math.inf

    flat = np.zeros(d_head // 2 - 1)
    best = log_bound(flat)
    if len(flat) and math.isfinite(best):
        found = minimize(log_bound, flat, method="Powell", bounds=[(-12, 12)] * len(flat), options={"maxiter": 4})
        best = min(best, float(found.fun))
    return 2 * math.exp(best / 2) * seen.scale * asked * answered


@sized()
def rotary_range_normed(
    query_gain: ArrayLike, key_gain: ArrayLike, pairs: str = "halves", rotated: int | None = None
) -> float:
    """The same bound for heads that normalise queries and keys to ||.||^2 = d_head before the rotation (QK-norm).

    D <= 2 sqrt(d_head) max_f g_f h_f, with g_f and h_f the largest |gain| of query and key in the pair f; whatever the
    weights, the norm before attention and its bias. Attained where the weights reach such queries and keys.
    Args: query_gain, key_gain (d_head,); rotated: how many components, the first, are turned, None for all.
    """
    queries, keys = np.abs(reals("query_gain", query_gain)), np.abs(reals("key_gain", key_gain))
    if queries.ndim != 1 or queries.shape != keys.shape:
        raise ValueError(f"query_gain has shape {queries.shape}, key_gain {keys.shape}: expected (d_head,) for both")
    groups = pair_numbers(len(queries), pairs, rotated)
    tops = [max(queries[groups == f]) * max(keys[groups == f]) for f in range(groups.max() + 1)]
    return 2 * math.sqrt(len(queries)) * float(max(tops))


def pair_numbers(d_head: int, pairs: str, rotated: int | None = None) -> np.ndarray:
    """The number of the pair of every coordinate, (d_head,); of those after the first `rotated` each is by itself."""
    choice("pairs", pairs, PAIRS)
    d_head = whole("d_head", d_head, 1)
    turned = d_head if rotated is None else whole("rotated", rotated, 1)
    if turned % 2 or turned > d_head:
        raise ValueError(f"d_head is {turned}: rotary positions need an even number of at least 2")
    count = np.arange(turned)
    found = count % (turned // 2) if pairs == "halves" else count // 2
    return np.append(found, turned // 2 + np.arange(d_head - turned))


def _reduced(rows: np.ndarray, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows in a basis of their own span: the maximum of a norm sees nothing else."""
    return np.linalg.qr(rows.T, mode="r").T, offset


def _balanced(rows: np.ndarray, offset: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """Both divided by a power of two to lie near 1, and that power."""
    size = power_of_two(max(float(np.abs(rows).max()), float(np.abs(offset).max())))
    return (rows / size, offset / size), size


def _largest(rows: np.ndarray, offset: np.ndarray, radius2: float) -> float:
    """max over ||z||^2 = radius2 of ||rows z + offset||^2."""
    left, values, _ = np.linalg.svd(rows)
    inside = (left.T @ offset)[: len(values)]
    return sphere_maximum(values**2, values * inside, radius2).value + float(offset @ offset)
