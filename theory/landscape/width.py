"""Loss of the one-repeat sentence at finite width d: its mean and variance at order 1/d, in closed form.

Embeddings u_1 .. u_T are iid N(0, I/d) and enter the loss only through their Gram matrix G = U U^T: with the repeated
token x_i as query, scores M g, g = row i of G, attention a = softmax(M g), read-out w = V^T a, logits G w (M and V mix
token and predecessor by alpha and by beta). E G = I and Cov(G_jk, G_lm) = (1[jk = lm] + 1[jk = ml]) / d, third
cumulants are O(d^-2) and derivatives of L grow at most polynomially in G, so the delta method at G = I gives
    E L = L_inf + c1/d + O(d^-2),  c1 = sum_j d2L/dG_jj^2 + (1/2) sum_{j<k} d2L/dG_jk^2,
    Var L = v1/d + O(d^-2),        v1 = 2 sum_j (dL/dG_jj)^2 + sum_{j<k} (dL/dG_jk)^2.
The kernels run on fractions too, so that they can be compared with exact derivatives of L.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import Range, many, reals, whole, wholes
from theory.checked import position as checked_position
from theory.records import comparable

Array = NDArray[np.float64]
LIMITS = Range(-1e75, 1e75)


@comparable
class FiniteWidth(NamedTuple):
    """Order-1/d terms, both times d: of the mean of the loss over embeddings, and of its variance."""

    mean_shift: Array
    variance: Array


class _State(NamedTuple):
    """All at G = I; batch axes first, then keys (T + 1) and tokens (T)."""

    mixing: Array  # M, (..., T + 1, T)
    attention: Array  # a, (..., T + 1)
    weights: Array  # w, (..., T): the read-out, and the logits at G = I
    share: Array  # p = softmax(w)
    residual: Array  # r = p - 1[target]
    pull: Array  # c_k = a_k (g_k - sum_k a_k g_k), g = V r: the slope of L in the score of key k
    beta: tuple[Array, Array]
    query: int


def finite_width(
    alpha1: ArrayLike,
    alpha2: ArrayLike,
    beta1: ArrayLike,
    beta2: ArrayLike,
    n_tokens: ArrayLike,
    position: int | Literal["mean"] | None = None,
) -> FiniteWidth:
    """c1 and v1 of E L = L_inf + c1/d + O(d^-2) and Var L = v1/d + O(d^-2), embeddings iid N(0, 1/d).

    Args: four real parameters and n_tokens, whole T >= 2, that broadcast; position, 1..T, None for i = 2 (then T >= 4;
    unlike at d = infinity interior positions differ, by the distance of the repeat from both ends), "mean" for the
    average over 1..T-1 of either term (the variance is then that of a sentence whose position is known).
    Returns: two arrays of the broadcast shape, to 1e-16 of the squares of the parameters; to fewer than all digits only
    where the attention to one key, not just the share of one token, is all but 1. Time and memory grow as T^2 a point.
    Raises ValueError outside that domain and for parameters that are not finite or beyond 1e75 in size.
    """
    parameters = checked_parameters(alpha1, alpha2, beta1, beta2)
    if not many(n_tokens):
        return _of_length(parameters, n_tokens, position)
    *parameters, sizes = np.broadcast_arrays(*parameters, wholes("n_tokens", n_tokens, 2))
    found = np.empty((2, *sizes.shape))
    for size in np.unique(sizes):
        here = sizes == size
        found[:, here] = _of_length([values[here] for values in parameters], size, position)
    return FiniteWidth(*found)


def _of_length(parameters: list[Array], n_tokens: ArrayLike, position: int | Literal["mean"] | None) -> FiniteWidth:
    """`finite_width` at one length."""
    size, places = _places(n_tokens, position)
    parts = [width_terms(parameters, size, place) for place in places]
    shift, variance = (np.sum([part[k] for part in parts], axis=0) / len(parts) for k in range(2))
    return FiniteWidth(shift, variance)


def checked_parameters(alpha1: ArrayLike, alpha2: ArrayLike, beta1: ArrayLike, beta2: ArrayLike) -> list[Array]:
    """The four as arrays of one shape; beyond 1e75 products of four of them would overflow."""
    values = {"alpha1": alpha1, "alpha2": alpha2, "beta1": beta1, "beta2": beta2}
    return np.broadcast_arrays(*(reals(name, value, LIMITS) for name, value in values.items()))


def _places(n_tokens: int, position: int | Literal["mean"] | None) -> tuple[int, list[int]]:
    size = whole("n_tokens", n_tokens, 4 if position is None else 2)
    place = checked_position(position, size)
    return size, [2] if place is None else list(range(1, size)) if place == "mean" else [place]


def _softmax(values: Array) -> Array:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def width_terms(
    parameters: Sequence[Array], size: int, place: int, softmax: Callable[[Array], Array] = _softmax
) -> tuple[Array, Array]:
    """(c1, v1) at one position, polynomials in the parameters and in both softmaxes: attention first, then shares.

    Whole numbers stay whole: on arrays of fractions, with a rational stand-in for `softmax`, the result is exact.
    """
    state = _state(parameters, size, place, softmax)
    return _mean_shift(state), _variance(state)


def _spread(keys: Array, own: Array, previous: Array, query: int) -> Array:
    """own * (sum over keys k with x_k = m) + previous * (the same with x_{k-1} = m), keys first: V^T applied."""
    mine = keys[..., :-1, :].copy()
    mine[..., query, :] += keys[..., -1, :]
    return own * mine + previous * keys[..., 1:, :]


def _centred(values: Array, share: Array) -> Array:
    """Rows (..., n, m) less their mean under shares (..., n) of sum 1, about the row that weighs most.

    Where its share is near 1 its own distance from the mean is all that the others weigh, and keeps its digits so.
    """
    about = values - np.take_along_axis(values, share.argmax(axis=-1)[..., None, None], axis=-2)
    return about - (share[..., None] * about).sum(axis=-2, keepdims=True)


def _state(parameters: Sequence[Array], size: int, place: int, softmax: Callable[[Array], Array]) -> _State:
    a1, a2, b1, b2 = (x[..., None] for x in parameters)
    query, target = place - 1, (place if place < size else place - 1)
    own = np.eye(size, dtype=int)[[*range(size), query]]
    previous = np.vstack([np.zeros(size, dtype=int), own[:-1]])
    mixing = a1[..., None] * own + a2[..., None] * previous
    attention = softmax(mixing[..., query])
    weights = _spread(attention[..., None], b1[..., None], b2[..., None], query)[..., 0]
    share = softmax(weights)
    residual = share.copy()
    residual[..., target] = -np.delete(share, target, axis=-1).sum(axis=-1)  # p - 1, with its digits where p is near 1
    read = b1 * residual[..., [*range(size), query]]
    read[..., 1:] += b2 * residual
    pull = attention * (read - (residual * weights).sum(axis=-1, keepdims=True))
    return _State(mixing, attention, weights, share, residual, pull, (b1, b2), query)


def _variance(state: _State) -> Array:
    """v1 = |A|^2 / 2 for A = r w^T + w r^T + e_i q^T + q e_i^T, q = M^T c; dL/dG_jk = A_jk, dL/dG_jj = A_jj / 2."""
    r, w, i = state.residual, state.weights, state.query
    q = (state.pull[..., None] * state.mixing).sum(axis=-2)

    def dot(x: Array, y: Array) -> Array:
        return np.asarray((x * y).sum(axis=-1))

    square = dot(r, r) * dot(w, w) + dot(r, w) ** 2 + dot(q, q) + q[..., i] ** 2
    return np.asarray(square + 2 * (r[..., i] * dot(w, q) + w[..., i] * dot(r, q)))


def _mean_shift(state: _State) -> Array:
    """Second derivatives along G_ik (which move the attention too) and along G_jk, j, k != i (which do not)."""
    return np.asarray(_along_query(state) + _elsewhere(state))


def _along_query(state: _State) -> Array:
    """Sum over k of the second derivative along G_ik, with weight 1 for k = i and 1/2 for the others.

    Along G_ik the scores move by column k of M, so with m the centred column and d_k = V^T (a m) the logits move by
    l' = w_k e_i + [k != i] w_i e_k + d_k, and L'' = Var_p(l') + 2 (r_i d_kk + [k != i] r_k d_ik) + sum_j c_j m_j^2.
    """
    size, i = state.weights.shape[-1], state.query
    other = (np.arange(size) != i).astype(int)
    centred = state.mixing - (state.attention[..., None] * state.mixing).sum(axis=-2, keepdims=True)
    b1, b2 = (b[..., None] for b in state.beta)
    drift = _spread(state.attention[..., None] * centred, b1, b2, i)  # [..., m, k]: entry m of d_k
    own = np.diagonal(drift, axis1=-2, axis2=-1)
    slope = drift + np.eye(size, dtype=int) * (state.weights[..., i, None] * other)[..., None, :]
    slope[..., i, :] += state.weights
    bend = (state.share[..., None] * _centred(slope, state.share) ** 2).sum(axis=-2)
    bend = bend + 2 * (state.residual[..., i, None] * own + other * state.residual * drift[..., i, :])
    bend = bend + (state.pull[..., None] * centred**2).sum(axis=-2)
    return np.asarray((bend * (2 - other)).sum(axis=-1) / 2)


def _elsewhere(state: _State) -> Array:
    """sum_j Var_p(w_j e_j) + (1/2) sum_{j<k} Var_p(w_k e_j + w_j e_k) over j, k != i, the double sum written out."""
    p, w = (np.delete(x, state.query, axis=-1) for x in (state.share, state.weights))
    squares = (w**2).sum(axis=-1, keepdims=True)
    # 1 - p and the sum of p w over all others, each with its digits where one p is near 1
    others = 1 - np.eye(p.shape[-1], dtype=int)
    rest = (p[..., None, :] * others).sum(axis=-1) + state.share[..., state.query, None]
    cross = (p * w * ((p * w)[..., None, :] * others).sum(axis=-1)).sum(axis=-1)
    return np.asarray(((p * rest * (squares + w**2)).sum(axis=-1) - cross) / 2)
