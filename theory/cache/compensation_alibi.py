"""Compensation under ALiBi: a token whose dropped keys fade with the query's distance, and its O(1) update.

RazorAttention does not say what bias its token gets. With the mean bias -slope * (mean distance) it counts too little
even for identical keys; with weights e^{-slope * distance} it is exact for them, and it stays so as the query moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.cache.compensation import Token, checked_vector, token
from theory.cache.dropped import Array
from theory.checked import NONNEGATIVE, elementwise, real, reals, sized, whole, wholes


@elementwise("slope")
@sized()
def decayed_token(keys: ArrayLike, values: ArrayLike, distances: ArrayLike, slope: float) -> Token:
    """Token with weights e^{-slope * distance}: log_mass = log sum e^{-slope * distance}, decayed mean key and value.

    Its log mass errs by Lambda(range of q.k) at most, whatever the slope and the distances.
    Args: keys (..., n, d_k); values (..., n, d_v); distances (..., n) from the query, >= 0; slope >= 0.
    Raises ValueError for shapes that do not agree, a negative slope or distance, and numbers that are not finite.
    """
    return token(keys, values, biases=-real("slope", slope, NONNEGATIVE) * reals("distances", distances, NONNEGATIVE))


@sized()
def advance(stand_in: Token, key: ArrayLike, value: ArrayLike, window: int, slope: float) -> Token:
    """The decayed token of the next query: mass <- e^{-slope} mass + e^{-slope window}, and the means with it.

    Exact: equal to `decayed_token` of all dropped keys, at a cost that does not grow with them.
    Args: stand_in, a decayed token (centre 0) of the keys at distance >= window; key (..., d_k) and value (..., d_v)
    that now leave the window of the distances 0 .. window - 1; slope >= 0.
    Raises ValueError for window < 1, a negative slope, shapes that do not agree, and numbers that are not finite.
    """
    window, rate = whole("window", window, 1), real("slope", slope, NONNEGATIVE)
    k, v = checked_vector("key", key, stand_in.key.shape), checked_vector("value", value, stand_in.value.shape)
    aged, fresh = stand_in.log_mass - rate, -rate * window
    total = np.logaddexp(aged, fresh)
    part = np.exp(fresh - total)[..., None]
    return Token(stand_in.key + part * (k - stand_in.key), stand_in.value + part * (v - stand_in.value), total)


@sized()
def mean_bias_log_gap(n_dropped: ArrayLike, slope: ArrayLike) -> Array:
    """log(Z_D / Zhat) of identical keys at consecutive distances under the mean bias: ln[sinh(l N/2) / (N sinh(l/2))].

    0 for one key or slope 0; about l N / 2 - ln N + ln(1 / (2 sinh(l/2))) far out. Arguments broadcast: n_dropped N,
    a whole number >= 1; slope l >= 0. Raises ValueError outside.
    """
    n, rate = wholes("n_dropped", n_dropped, 1), reals("slope", slope, NONNEGATIVE)
    return np.where(rate == 0, 0.0, _log_sinhc(rate * n / 2.0) - _log_sinhc(rate / 2.0))


def _log_sinhc(t: Array) -> Array:
    """ln(sinh t / t), 0 at 0, without overflow."""
    small, large = np.minimum(t, 0.5), np.maximum(t, 0.5)
    s = small * small
    near = np.log1p(s / 6 * (1 + s / 20 * (1 + s / 42 * (1 + s / 72 * (1 + s / 110 * (1 + s / 156))))))
    return np.where(t < 0.5, near, large - np.log(2.0 * large) + np.log1p(-np.exp(-2.0 * large)))
