"""Compensation under RoPE: the error of averaging rotated keys, and a token that averages them before the rotation.

A head's pair i of dimensions (2i, 2i + 1) turns by frequency_i * position. Eq. 4 of RazorAttention averages keys after
the rotation: the mean of a turning pair goes to 0, so that even identical keys are counted too little, by a factor that
tends to prod_i I_0(A_i), A_i = |q_i| |k_i|, where frequencies and pi are independent over the rationals (Weyl).
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import i0e, logsumexp

from theory.cache.compensation import checked_vector
from theory.cache.dropped import Array
from theory.checked import NONNEGATIVE, elementwise, reals, sized, whole
from theory.lowering.digits import turn

_BESSEL = [0.0, *(1 / factorial(k) ** 2 for k in range(1, 11))]  # of I_0 - 1 in reach^2 / 4


@sized()
def rotate(vectors: ArrayLike, positions: ArrayLike, frequencies: ArrayLike) -> Array:
    """R_position x for vectors (..., 2 p): pair i turned by frequency_i * position; positions (...), frequencies (p,).

    Raises ValueError where the last axis of vectors is not twice the number of frequencies.
    """
    x, rates = reals("vectors", vectors), reals("frequencies", frequencies)
    if rates.ndim != 1 or x.ndim < 1 or x.shape[-1] != 2 * len(rates):
        raise ValueError(f"vectors (..., 2 p) and frequencies (p,) must agree, got {x.shape} and {rates.shape}")
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * turn(rates, reals("positions", positions)[..., None])
    return np.stack([turned.real, turned.imag], -1).reshape(*turned.shape[:-1], -1)


@elementwise("n_dropped")
@sized()
def mean_turn(n_dropped: int, frequencies: ArrayLike) -> Array:
    """The length of a rotary pair's mean over n consecutive places: |sin(n theta / 2) / (n sin(theta / 2))|.

    It is |mean of e^{i theta m}| for a pair of length 1 that turns by theta a place, and at most
    1 / (n |sin(theta / 2)|). Args: n_dropped >= 1; frequencies theta, any shape. Raises ValueError for n < 1.
    """
    n_dropped = whole("n_dropped", n_dropped, 1)
    rates = reals("frequencies", frequencies)
    still, turned = rates / 2.0 == 0, turn(rates, float(n_dropped), 1).imag
    once = np.where(still, 1.0, turn(rates, 1.0, 1).imag)
    return np.where(still, 1.0, np.minimum(np.abs(turned / n_dropped / once), 1.0))


@sized()
def log_gap_limit(query: ArrayLike, key: ArrayLike) -> Array:
    """sum_i ln I_0(|q_i| |k_i|), the limit of ln(Z_D / Zhat) for identical keys at ever more positions.

    As a correction, add it to ln N_d for the pairs that turn many times within the dropped positions: exact for
    identical keys in the limit, while their part of khat tends to 0.
    Args: query, scaled, and key (..., 2 p) before the rotation. Raises ValueError for other shapes.
    """
    q, k = reals("query", query), reals("key", key)
    if q.shape[-1:] != k.shape[-1:] or q.ndim < 1 or q.shape[-1] % 2:
        raise ValueError(f"query and key must have an equal and even last axis, got {q.shape} and {k.shape}")
    reach = np.hypot(q[..., 0::2], q[..., 1::2]) * np.hypot(k[..., 0::2], k[..., 1::2])
    # ln I_0 is near reach^2 / 4 for small ones, where the sum of the other branch cancels
    square = np.minimum(reach, 1.0) ** 2 / 4
    small = np.log1p(np.polynomial.polynomial.polyval(square, _BESSEL))
    return np.where(reach < 1, small, np.log(i0e(reach)) + reach).sum(-1)


@sized()
def unrotated_log_weight(query: ArrayLike, mean_key: ArrayLike, distances: ArrayLike, frequencies: ArrayLike) -> Array:
    """ln sum_m e^{q.R_{-distance_m} kbar}: the mass of a token that stores the mean key kbar before the rotation.

    Exact for identical keys at any positions. In general its error lies between the least and the largest
    q.R_{-distance_m} (k_m - kbar), of either sign; it costs one product a distance and query, and no stored key.
    Args: query (2 p,), scaled, before its rotation; mean_key (2 p,); distances (n,) >= 0, n >= 1; frequencies (p,).
    Raises ValueError for shapes that do not agree, no distance, a negative one, and numbers that are not finite.
    """
    away = reals("distances", distances, NONNEGATIVE)
    if away.ndim != 1 or not away.size:
        raise ValueError(f"distances must have shape (n,), n >= 1, got {away.shape}")
    key = reals("mean_key", mean_key)
    q = checked_vector("query", query, key.shape)
    return logsumexp(rotate(np.broadcast_to(key, (away.size, *key.shape)), -away, frequencies) @ q)
