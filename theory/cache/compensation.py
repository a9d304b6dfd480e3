"""The compensation token: one key, one value and a log mass that stand for all dropped tokens of a head.

RazorAttention, Eq. 4 and 5: khat and vhat are plain means and the mass is N_d e^{q.khat}. Here the same token is built
from any prior weights w_i = e^{b_i + q_0.k_i}: b = 0 and q_0 = 0 is Eq. 4, b_i = -slope * distance the form for ALiBi,
q_0 the queries that are expected. It stands for the mass e^{log_mass + q.key}, which is

    log sum_i e^{b_i + q_0.k_i} + (q - q_0).k*,   k* = sum w_i k_i / sum w_i,

the tangent at q_0 of the convex function q -> log Z_D(q): never more than the dropped mass, exact at q_0 together with
its gradient and with the mean value. Queries carry the factor 1 / sqrt(d_head), which Eq. 5 omits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from theory.cache.dropped import Array, attend, checked_dropped, checked_head, odds_share
from theory.checked import elementwise, real, reals, sized
from theory.records import comparable


@comparable
class Token(NamedTuple):
    """key (..., d_k), value (..., d_v), log_mass (...): weight e^{log_mass + q.key} for a query q."""

    key: Array
    value: Array
    log_mass: Array


@comparable
class Comparison(NamedTuple):
    """One head with all tokens, without the dropped ones, and with a token in their place.

    full - truncated = mass (dropped_mean - truncated); full - compensated = (mass - token_mass) (dropped_mean -
    truncated) + token_mass (dropped_mean - token_value). Outputs have shape (d_v,).
    """

    mass: float
    token_mass: float
    full: Array
    truncated: Array
    compensated: Array
    dropped_mean: Array
    token_value: Array


def checked_keys(keys: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    """Keys (..., n, d_k), values (..., n, d_v), n >= 1, as float64. Raises ValueError otherwise."""
    k, v = reals("keys", keys), reals("values", values)
    if k.ndim < 2 or v.ndim < 2 or k.shape[:-1] != v.shape[:-1] or not k.size or not v.size:
        raise ValueError(f"keys (..., n, d_k) and values (..., n, d_v) must agree, n >= 1: got {k.shape} and {v.shape}")
    return k, v


def checked_vector(name: str, vector: ArrayLike, shape: tuple[int, ...]) -> Array:
    """`vector`, broadcast to `shape`. Raises ValueError where that fails, and for what is not a finite number."""
    array = reals(name, vector)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}") from None


def prior_weights(k: Array, biases: ArrayLike | None, centre: ArrayLike | None) -> tuple[Array, Array, Array]:
    """Softmax (..., n) of b_i + q_0.k_i, its log normaliser (...), and q_0 (..., d_k)."""
    start = checked_vector("centre", 0.0 if centre is None else centre, k.shape[:-2] + k.shape[-1:])
    added = checked_vector("biases", 0.0 if biases is None else biases, k.shape[:-1])
    scores = added + np.einsum("...nd,...d->...n", k, start)
    total = logsumexp(scores, axis=-1)
    return np.exp(scores - total[..., None]), total, start


@sized()
def token(
    keys: ArrayLike, values: ArrayLike, biases: ArrayLike | None = None, centre: ArrayLike | None = None
) -> Token:
    """The token of the dropped keys and values; without biases and centre, Eq. 4 of RazorAttention and log N_d.

    Args: keys (..., n, d_k); values (..., n, d_v); biases b (..., n), what the head adds to each logit; centre q_0
    (..., d_k), a query (scaled) near which the token is to be good. log_mass is then the entropy of the weights if
    b = 0: e^{log_mass}, at most n, is the effective number of dropped tokens.
    Raises ValueError for shapes that do not agree, no token, and numbers that are not finite.
    """
    k, v = checked_keys(keys, values)
    weights, total, start = prior_weights(k, biases, centre)
    key = np.einsum("...n,...nd->...d", weights, k)
    value = np.einsum("...n,...nd->...d", weights, v)
    return Token(key, value, total - (start * key).sum(-1))


@sized()
def log_weight(query: ArrayLike, stand_in: Token) -> Array:
    """log_mass + q.key, the logarithm of the mass that the token stands for; query (..., d_k), scaled.

    Raises ValueError where the last axes differ and for numbers that are not finite.
    """
    q = reals("query", query)
    if q.shape[-1:] != stand_in.key.shape[-1:]:
        raise ValueError(f"query must have shape (..., {stand_in.key.shape[-1]}), got {q.shape}")
    return stand_in.log_mass + (q * stand_in.key).sum(-1)


@elementwise("weight")
@sized()
def attend_with_token(logits: ArrayLike, values: ArrayLike, weight: ArrayLike, token_value: ArrayLike) -> Array:
    """Eq. 5: the kept tokens and one more, of log weight `weight` and value `token_value`.

    One more column of the logits is all it takes: `weight` is q.khat + ln N_d, so a kernel needs a bias per key, or
    one more key coordinate (ln N_d against a query coordinate of 1, zeros for the kept keys).
    Args: logits (n,) and values (n, d_v) of the kept tokens; weight (); token_value (d_v,). Returns: (d_v,).
    """
    x, v = checked_head(logits, values)
    value = checked_vector("token_value", token_value, v.shape[1:])
    return attend(np.append(x, real("weight", weight)), np.vstack([v, value]))


@sized()
def compare(logits: ArrayLike, values: ArrayLike, dropped: ArrayLike, weight: float, token_value: ArrayLike):
    """The head with all tokens, truncated and compensated: a `Comparison`.

    Args: logits (n,), values (n, d_v) of all tokens; dropped, a mask (n,) that drops and keeps at least one;
    weight, token_value: log weight and value (d_v,) of the token that replaces the dropped ones, from `log_weight`,
    or from `theory.cache.compensation_second_order` or `theory.cache.compensation_rotary`.
    Raises ValueError for shapes that do not agree, numbers that are not finite, and a mask of all or none.
    """
    x, v = checked_head(logits, values)
    mask = checked_dropped(dropped, len(x))
    mean = checked_vector("token_value", token_value, v.shape[1:])
    weight, kept = real("weight", weight), logsumexp(x[~mask])
    return Comparison(
        mass=float(odds_share(logsumexp(x[mask]) - kept)),
        token_mass=float(odds_share(weight - kept)),
        full=attend(x, v),
        truncated=attend(x[~mask], v[~mask]),
        compensated=attend_with_token(x[~mask], v[~mask], weight, mean),
        dropped_mean=attend(x[mask], v[mask]),
        token_value=mean,
    )
