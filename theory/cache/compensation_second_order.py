"""Second-order compensation: the curvature of q -> log Z_D(q) kept beside the tangent, a value that turns with q.

    log mass  log Z_D(q_0) + (q - q_0).k* + (q - q_0)^T Sigma (q - q_0) / 2,     value  v* + C (q - q_0),

k*, v*, Sigma and C = Cov(v, k) under the softmax weights at q_0. The output is exact at q_0 together with its gradient,
for every kept set; the log mass errs by at most `compensation_bounds.second_order_bound` of the range of (q - q_0).k.
It costs d_k^2 + d_k d_v numbers a head, and unlike a tangent may count too much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.cache.compensation import Token, checked_keys, checked_vector, prior_weights
from theory.cache.dropped import Array
from theory.checked import sized
from theory.records import comparable


@comparable
class SecondOrderToken(NamedTuple):
    """centre q_0 (..., d_k); token, the tangent there; key_covariance (..., d_k, d_k); value_key_covariance
    (..., d_v, d_k)."""

    centre: Array
    token: Token
    key_covariance: Array
    value_key_covariance: Array


@sized()
def second_order_token(
    keys: ArrayLike, values: ArrayLike, biases: ArrayLike | None = None, centre: ArrayLike | None = None
) -> SecondOrderToken:
    """Means and covariances of the dropped keys and values; arguments and errors as in `compensation.token`."""
    k, v = checked_keys(keys, values)
    weights, total, start = prior_weights(k, biases, centre)
    key = np.einsum("...n,...nd->...d", weights, k)
    value = np.einsum("...n,...nd->...d", weights, v)
    around = k - key[..., None, :]
    return SecondOrderToken(
        start,
        Token(key, value, total - (start * key).sum(-1)),
        np.einsum("...n,...nd,...ne->...de", weights, around, around),
        np.einsum("...n,...nd,...ne->...de", weights, v - value[..., None, :], around),
    )


def _step(query: ArrayLike, stand_in: SecondOrderToken) -> Array:
    q = checked_vector("query", query, stand_in.centre.shape)
    return q - stand_in.centre


@sized()
def second_order_log_weight(query: ArrayLike, stand_in: SecondOrderToken) -> Array:
    """Log mass at `query` (..., d_k), scaled. Raises ValueError for another shape and numbers that are not finite."""
    step = _step(query, stand_in)
    tangent = stand_in.token.log_mass + ((stand_in.centre + step) * stand_in.token.key).sum(-1)
    return tangent + 0.5 * np.einsum("...d,...de,...e->...", step, stand_in.key_covariance, step)


@sized()
def second_order_value(query: ArrayLike, stand_in: SecondOrderToken) -> Array:
    """Value (..., d_v) at `query`. Raises as `second_order_log_weight`."""
    turn = np.einsum("...ve,...e->...v", stand_in.value_key_covariance, _step(query, stand_in))
    return stand_in.token.value + turn
