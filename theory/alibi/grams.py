"""The logit range of every head of a layer, from matrices of d_head x d_head.

On its sphere a head is known by its Gram matrices G_Q = S S^T and G_K = R R^T, S = W_Q Gamma P and R = W_K Gamma P, and
by the offset o = W_Q b + b_Q: D = 2 sqrt(d) max ||R^T (S z + o)|| / sqrt(d_head), and without biases
D = 2 d sqrt(lambda_max(G_Q G_K)) / sqrt(d_head). Gram matrices of float32 find the query z; the number returned is its
own spread, computed in float64 from the weights, whose error is of second order in that of z. Where that is not enough
- the two largest eigenvalues too close, or cancellation in the squares - the head is computed anew in float64.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from theory.alibi import ranges
from theory.alibi.grams_rows import Layer, centred, checked_layer, finite_gram, gram, times, turned
from theory.alibi.sphere import sphere_maximum
from theory.checked import sized

CLOSE = 1e-10  # the relative error that float32 may leave, by its estimate
ROUNDING = 1e-8  # of Gram matrices in float32, relative to their norms
FLAT = 1e-4  # lambda_max(G_Q G_K) over bounds of the spectral norms of both, below which the squares cancel


class Largest(NamedTuple):
    """max over ||z||^2 = d of ||R^T (S z + o)||^2 from Gram matrices, and where.

    value; direction (d_head,): the maximiser is along S^T direction; gap from the largest eigenvalue of G_Q G_K to the
    next, over the largest; flatness, the largest over bounds of the norms of G_Q and G_K; lead of the multiplier
    over the largest eigenvalue, over the latter (inf without offset), near 0 where z and its mirror image in the top
    direction are nearly as good; bend, the least curvature along the sphere at the maximiser, over the same.
    """

    value: float
    direction: np.ndarray
    gap: float
    flatness: float
    lead: float
    bend: float


@sized()
def logit_ranges(
    w_q: ArrayLike,
    w_k: ArrayLike,
    gamma: ArrayLike,
    norm_bias: ArrayLike | None = None,
    query_bias: ArrayLike | None = None,
    norm: str = "rms",
) -> np.ndarray:
    """`alibi.logit_range` of every head, to a relative 1e-10.

    Args: w_q (heads, d_head, d_model), float32 as stored or float64; w_k (kv heads, d_head, d_model), kv heads a
    divisor of heads: head h reads the keys of h // (heads // kv heads); gamma and norm_bias (d_model,);
    query_bias (heads, d_head); norm "rms" or "layer".
    Returns: (heads,), float64. Raises: ValueError for other shapes, a number that is not finite, or an unknown norm.
    """
    layer = checked_layer(w_q, w_k, gamma, norm_bias, query_bias, norm)
    tops, spreads = [], []
    room = np.empty((layer.d_head, layer.d_model), np.float32)
    for head, rows in enumerate(layer.w_q):
        if head % layer.group == 0:
            key = gram(layer.w_k[head // layer.group], layer.gamma, norm, room)
        tops.append(largest(gram(rows, layer.gamma, norm, room), key, layer.offsets[head], layer.d_model))
        spreads.append(_spread(layer, head, tops[-1].direction))
    found = np.array(spreads)
    for head in np.flatnonzero(~_trusted(tops, found)):
        found[head] = _anew(layer, head)
    return 2 * math.sqrt(layer.d_model / layer.d_head) * found


@sized()
def product_norms(left: ArrayLike, right: ArrayLike) -> np.ndarray:
    """||L^T R||_2 of each head: left (heads, d_head, d_model), right (kv heads, d_head, d_model). Returns (heads,)."""
    d_head, d_model = np.shape(left)[-2:] if np.ndim(left) == 3 else (1, 1)
    return logit_ranges(left, right, np.ones(d_model)) * math.sqrt(d_head) / (2 * d_model)


@sized()
def value_diameters(w_v: ArrayLike, gamma: ArrayLike, norm: str = "rms") -> np.ndarray:
    """`truncation.value_diameter` of each head, 2 sqrt(d lambda_max(G_V)): w_v (heads, d_v, d_model)."""
    layer = checked_layer(w_v, w_v, gamma, norm=norm)
    tops = [np.linalg.eigvalsh(finite_gram("w_v", rows, layer.gamma, norm))[-1] for rows in layer.w_q]
    return 2 * np.sqrt(layer.d_model * np.maximum(tops, 0.0))


def largest(query: np.ndarray, key: np.ndarray, offset: np.ndarray, radius2: float) -> Largest:
    """The maximum from Gram matrices (d_head, d_head) and the offset (d_head,), all float64."""
    if not (_moderate(query) and _moderate(key)):
        return Largest(math.nan, np.zeros_like(offset), 0.0, 0.0, 0.0, 0.0)
    factor = _factor(query)
    form = factor.T @ key @ factor
    size = len(form)
    if offset.any():
        spectrum, vectors = eigh(form, check_finite=False)
        pull = key @ offset
        found = sphere_maximum(spectrum, vectors.T @ (factor.T @ pull), radius2)
        value, point = found.value + float(offset @ pull), vectors @ found.point
    else:
        spectrum, vectors = eigh(form, subset_by_index=[max(size - 2, 0), size - 1], check_finite=False)
        value, point = radius2 * float(spectrum[-1]), vectors[:, -1]
    top = max(float(spectrum[-1]), 1e-300)
    gap = 1 - float(spectrum[-2]) / top if size > 1 else 1.0
    lead, bend = math.inf, gap
    if offset.any():
        # a unit tangent has at most 1 - z_1^2 / ||z||^2 of its square along the top direction
        lead = found.multiplier / top - 1
        bend = lead + gap * float(found.point[-1]) ** 2 / radius2
    # where the derivative vanishes z is along S^T G_K (S z + o)
    direction = key @ (factor @ point + offset)
    flatness = top / (_size(query) * _size(key))
    return Largest(value, direction, gap, flatness, lead, bend)


def _spread(layer: Layer, head: int, direction: np.ndarray) -> float:
    """||R^T (S z + o)|| of the query z along S^T direction, ||z||^2 = d, in float64."""
    w_q, gamma = layer.w_q[head], layer.gamma
    with np.errstate(over="ignore", invalid="ignore"):
        # any z is a query: float32 will do
        z = centred(gamma * (direction.astype(w_q.dtype) @ w_q), layer.norm)
        z *= math.sqrt(layer.d_model) / max(float(np.linalg.norm(z)), 1e-300)
        query = times(w_q, gamma * z) + layer.offsets[head]
        return float(np.linalg.norm(centred(gamma * turned(layer.w_k[head // layer.group], query), layer.norm)))


def _trusted(tops: list[Largest], spreads: np.ndarray) -> np.ndarray:
    """Whether the spreads (heads,) are maxima to a relative CLOSE.

    An error E of the matrices, seen in the values, turns the maximiser by E / bend: E^2 / bend are lost. One head's
    value may be right by chance: E is at least what rounding makes of this flatness, and the largest of those that look
    like rounding counts for all of the layer. E turns the top direction by E / gap: the lead must be larger, or the
    maximiser may be the mirror image.
    """
    values, _, gaps, flatness, leads, bends = (np.array(part) for part in zip(*tops, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(spreads**2 / values - 1)
        shared = 4 * float(np.max(errors, initial=2.5e-8, where=errors < 1e-4))
        largest_error = np.maximum(np.maximum(shared, 4 * errors), ROUNDING / flatness)
        return (largest_error**2 / bends < CLOSE) & (largest_error < gaps * leads) & (flatness > FLAT)


def _anew(layer: Layer, head: int) -> float:
    """The same maximum from float64 Gram matrices or, where these cancel, from orthogonal factors."""
    w_q, w_k, offset = layer.w_q[head], layer.w_k[head // layer.group], layer.offsets[head]
    top = largest(*(gram(w, layer.gamma, layer.norm) for w in (w_q, w_k)), offset, layer.d_model)
    if top.flatness > FLAT:
        return math.sqrt(top.value)
    shift = layer.query_bias[head]
    wide = ranges.logit_range(w_q, w_k, layer.gamma, layer.norm_bias, shift, layer.norm)
    return float(wide) / (2 * math.sqrt(layer.d_model / layer.d_head))


def _moderate(matrix: np.ndarray) -> bool:
    """Whether the squares neither overflow nor vanish in float32; False for NaN."""
    return 1e-20 < float(matrix.trace()) < 1e20


def _size(matrix: np.ndarray) -> float:
    """A bound on the spectral norm, which is what the rounding of a Gram matrix is measured by."""
    return min(float(np.linalg.norm(matrix)), float(np.abs(matrix).sum(axis=1).max()))


def _factor(matrix: np.ndarray) -> np.ndarray:
    """L with L L^T = the matrix: Cholesky's, or from eigenvectors where it is singular."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return vectors * np.sqrt(np.maximum(values, 0.0))
