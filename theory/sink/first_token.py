"""Why the first token is special: where the causal mask stands, the norm of its key, and the weight of a copy of it.

Eq. 7 of the waiver paper prints the mask after the softmax. Its rows then sum to less than 1 and see the future through
their denominators; the text under Eq. 11 masks before, as models do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from theory.checked import NONNEGATIVE, SHARE, UNIT, Array, Range, reals, shown, sized
from theory.lowering.digits import turn
from theory.records import comparable
from theory.sink.shapes import agree, checked_logits, checked_square, checked_vectors, softmax

Complex = NDArray[np.complex128]

_COSINE = Range(-1.0, 1.0)


@comparable
class CopyWeights(NamedTuple):
    """The weights of the first token and of its copy, (...) each."""

    first: Array
    copy: Array


@sized()
def causal_attention(logits: ArrayLike) -> Array:
    """softmax(S + log mask), the mask before the softmax: row i is over the keys j <= i and sums to 1; A_11 = 1.

    Source: the waiver paper, the text under Eq. 11. Args: logits (..., l, l). Returns: (..., l, l). Raises ValueError
    for other shapes.
    """
    scores = checked_square("logits", logits)
    return softmax(np.where(_mask(scores), scores, -np.inf))


@sized()
def printed_causal_attention(logits: ArrayLike) -> Array:
    """mask * softmax(S), Eq. 7 of the waiver paper as printed (read with the product before V): not causal.

    Row i is 1 - leak_i times that of `causal_attention`: the mask acts as a gate that the future closes. S_11 = 0 and
    S_12 = x give A_11 = 1/(1 + e^x).
    Args: logits (..., l, l). Returns: (..., l, l). Raises ValueError for other shapes.
    """
    scores = checked_square("logits", logits)
    return np.where(_mask(scores), softmax(scores), 0.0)


@sized()
def causal_leak(logits: ArrayLike) -> Array:
    """leak_i = sum_{j > i} softmax(S)_ij, by which the sum of row i of Eq. 7 is below 1; 0 in the last row only.

    Args: logits (..., l, l). Returns: (..., l). Raises ValueError for other shapes.
    """
    scores = checked_square("logits", logits)
    return np.asarray(np.where(_mask(scores), 0.0, softmax(scores)).sum(axis=-1))


@sized()
def logit_lead(
    query_norm: ArrayLike, key_norm: ArrayLike, cosine: ArrayLike, other_norm: ArrayLike, other_cosine: ArrayLike
) -> Array:
    """||q|| (||k_w|| cos_w - ||k_j|| cos_j), by which the logit of one key exceeds another's (waiver paper, Eq. 6).

    Where both cosines are negative it is > 0 iff ||k_w|| |cos_w| < ||k_j|| |cos_j|: the smaller norm alone decides at
    equal angles, not in general. Norms 1 and 2 at cosines -1 and -1/10 give -1 < -1/5: the smaller key has the lower
    logit. Args, which broadcast: norms >= 0; cosines in [-1, 1]. Raises ValueError outside.
    """
    lengths = {"query_norm": query_norm, "key_norm": key_norm, "other_norm": other_norm}
    norms = {name: reals(name, value, NONNEGATIVE) for name, value in lengths.items()}
    one, other = reals("cosine", cosine, _COSINE), reals("other_cosine", other_cosine, _COSINE)
    agree(cosine=one.shape, other_cosine=other.shape, **{name: norm.shape for name, norm in norms.items()})
    return np.asarray(norms["query_norm"] * (norms["key_norm"] * one - norms["other_norm"] * other))


@sized()
def zero_key_weight(logits: ArrayLike) -> Array:
    """1/(1 + sum_j e^{s_j}), s_j the logits of the other keys: the weight of a token of key 0.

    The most that a key with cosine <= 0 can have, whose logit is at most 0. A weight tau takes ln sum_j e^{s_j} <=
    ln(1/tau - 1); if all s_j are equal, s_j <= -`range_for_weight(t, tau)` among t tokens, for tau > 1/t.
    Args: logits (..., keys) of the others, of any sign. Returns: (...). Raises ValueError for other shapes.
    """
    return np.asarray(np.exp(-np.logaddexp(0.0, logsumexp(checked_logits(logits), axis=-1))))


@sized()
def copy_weights(weight: ArrayLike, log_ratio: ArrayLike = 0.0, replaced: ArrayLike = 0.0) -> CopyWeights:
    """The weights of a first token, tau without the copy, and of a token with the same key (a copy).

    The waiver paper's Eq. 11 gives that key to a token of the first one's word, under positions as below.
    first = tau/(1 - a + tau e^g), copy = e^g first: the copy's logit is g above the first token's, and it takes the
    place of a token of weight a (0 if it is added). Without positions g = 0 and, for a = 0, both are tau/(1 + tau);
    under ALiBi g = slope k for a copy k places later; rotary: `rotary_copy_gap`.
    Args, which broadcast: weight tau in (0, 1); log_ratio g; replaced a in [0, 1 - tau]. Raises ValueError outside.
    """
    tau, g = reals("weight", weight, SHARE), reals("log_ratio", log_ratio)
    gone = reals("replaced", replaced, UNIT)
    agree(weight=tau.shape, log_ratio=g.shape, replaced=gone.shape)
    # the weights of one row may sum to a few units above 1
    if (gone + tau > 1 + 1e-9).any():
        raise ValueError(f"replaced must be at most 1 - weight, got {shown(replaced)} and {shown(weight)}")
    top = np.maximum(g, 0.0)
    rest = (1 - gone) * np.exp(-top) + tau * np.exp(g - top)
    return CopyWeights(tau * np.exp(-top) / rest, tau * np.exp(g - top) / rest)


@sized()
def rotary_copy_gap(
    query: ArrayLike, key: ArrayLike, distance: ArrayLike, offset: ArrayLike, frequencies: ArrayLike
) -> Array:
    """q.R_{-(n - k)} key - q.R_{-n} key: by how much a copy k places after a first token at distance n leads it.

    sum_f |q_f| |k_f| (cos(phi_f + theta_f (n - k)) - cos(phi_f + theta_f n)), phi_f the angle from k_f to q_f: of
    either sign, where ALiBi's slope k is not.
    Args: query, scaled, and key (..., 2 p) before the rotation, pairs (2i, 2i + 1); distance n and offset k (...);
    frequencies theta (p,). Returns: (...). Raises ValueError for other shapes.
    """
    q, k, rates = _rotary(query, key, frequencies)
    n, back = reals("distance", distance), reals("offset", offset)
    agree(query=q.shape[:-1], key=k.shape[:-1], distance=n.shape, offset=back.shape)
    # cos(x - y) - cos(x) = 2 sin(x - y/2) sin(y/2), without the cancellation
    half = turn(rates, back[..., None], 1)
    middle = q * np.conj(k) * turn(rates, n[..., None]) * np.conj(half)
    return np.asarray((2 * middle.imag * half.imag).sum(axis=-1))


@sized()
def rotary_copy_gap_bound(query: ArrayLike, key: ArrayLike, offset: ArrayLike, frequencies: ArrayLike) -> Array:
    """|`rotary_copy_gap`| <= 2 sum_f |q_f| |k_f| |sin(theta_f k/2)| at every distance.

    Attained by pairs whose angles are phi_f = +-pi/2 - theta_f (n - k/2). A sine below 2^-1000 counts as that.
    Args and errors as there. Returns: (...).
    """
    q, k, rates = _rotary(query, key, frequencies)
    back = reals("offset", offset)
    agree(query=q.shape[:-1], key=k.shape[:-1], offset=back.shape)
    moves = (back[..., None] != 0) & (rates != 0)
    sines = np.maximum(np.abs(turn(rates, back[..., None], 1).imag), np.where(moves, 2.0**-1000, 0.0))
    (asked, i), (seen, j) = map(_size, (q, k))
    return np.asarray(np.ldexp(2 * asked * seen * sines, i + j).sum(axis=-1))


def _size(x: Complex) -> tuple[Array, NDArray[np.int_]]:
    """|x| less a power of two, and that power: of subnormal numbers too."""
    power = np.frexp(np.maximum(np.abs(x.real), np.abs(x.imag)))[1]
    return np.hypot(np.ldexp(x.real, -power), np.ldexp(x.imag, -power)), power


def _rotary(query: ArrayLike, key: ArrayLike, frequencies: ArrayLike) -> tuple[Complex, Complex, Array]:
    """Pairs of query and key as complex numbers (..., p), and the frequencies (p,)."""
    q, k = checked_vectors(query=query, key=key)
    rates = reals("frequencies", frequencies)
    if rates.ndim != 1 or q.shape[-1] != 2 * len(rates):
        raise ValueError(f"query (..., 2 p) and frequencies (p,) must agree, got {q.shape} and {rates.shape}")
    return q[..., 0::2] + 1j * q[..., 1::2], k[..., 0::2] + 1j * k[..., 1::2], rates


def _mask(scores: Array) -> NDArray[np.bool_]:
    return np.tri(scores.shape[-1], dtype=bool)
