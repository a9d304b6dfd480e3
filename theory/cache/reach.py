"""Sets that hold all keys, queries and values of a layer for every text, from its weights, and bounds on the logits.

A raw vector is W x + b of a post-norm state x = gamma z + beta with ||z||^2 <= d: an ellipsoid about W beta + b. Mixed
with those before (KV shift), normed (QK-norm), clipped or turned (RoPE), it lies in a set whose products with a given
vector are bounded here. The sets are larger by `slack`, a ball for what the model's own arithmetic may add.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.cache.dropped import Array
from theory.checked import NONNEGATIVE, POSITIVE, choice, real, reals, sized
from theory.records import comparable

OUTWARD = 2.0**-44  # what float64 may round off a factor or a norm here, relative to it


@comparable
class Reach(NamedTuple):
    """Vectors x of each head: |a.(x - centre)| is at most ||factor a||, sum_f |a_f| cap_f and ||a|| norm, each where it
    is given, plus ||a|| slack. centre (heads, d); factor (heads, m, d); cap (heads, pairs), a_f the coordinates of
    `pairs` (d,) number f; norm and slack (heads,).
    """

    centre: Array
    slack: Array
    factor: Array | None = None
    cap: Array | None = None
    pairs: Array | None = None
    norm: Array | None = None


def span(reach: Reach, vectors: ArrayLike) -> tuple[Array, Array]:
    """Least and largest product of each vector with what is in reach: vectors (..., heads, n, d), both (..., heads, n).

    Raises ValueError for vectors of another width or number of heads.
    """
    a = reals("vectors", vectors)
    if a.ndim < 3 or (a.shape[-3], a.shape[-1]) != reach.centre.shape:
        heads, width = reach.centre.shape
        raise ValueError(f"vectors must have shape (.., {heads}, n, {width}), got {a.shape}")
    size, halves = np.linalg.norm(a, axis=-1), []
    if reach.factor is not None:
        halves.append(np.linalg.norm(a @ np.swapaxes(reach.factor, -1, -2), axis=-1))
    if reach.cap is not None and reach.pairs is not None:
        inside = reach.pairs[:, None] == np.arange(reach.cap.shape[-1])  # (d, pairs)
        halves.append((np.sqrt((a * a) @ inside) * reach.cap[:, None, :]).sum(-1))
    if reach.norm is not None:
        halves.append(size * reach.norm[:, None])
    half = np.minimum.reduce(halves) * (1 + OUTWARD) + size * reach.slack[:, None]
    middle = (a * reach.centre[:, None, :]).sum(-1)
    return middle - half, middle + half


@sized()
def projected(
    weights: ArrayLike,
    gamma: ArrayLike,
    norm_bias: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    norm: str = "rms",
    mixture: ArrayLike | None = None,
    rounding: float = 0.0,
) -> Reach:
    """The reach of W x + b: centre W beta + b, factor sqrt(d) R with R^T R = W Gamma P Gamma W^T, times sum |c_j|.

    Args: weights (heads, d_head, d_model); gamma, norm_bias (d_model,); bias (heads, d_head); norm "rms" or "layer";
    mixture (heads, w), the coefficients of a KV shift, beside which no bias is allowed; rounding >= 0, relative to
    ||W Gamma||_F sqrt(d) and ||centre||: what the arithmetic of the model may add.
    Raises ValueError for shapes that do not agree, numbers that are not finite, and a mixture beside biases.
    """
    scaled, centre, size = _scaled(weights, gamma, norm_bias, bias, norm)
    gain = _gain(mixture, centre)
    small = real("rounding", rounding, NONNEGATIVE) + OUTWARD
    radius = gain * math.sqrt(scaled.shape[-1])
    factor = np.stack([np.linalg.qr(rows.T, mode="r") for rows in scaled]) * radius[:, None, None]
    slack = small * (radius * size + np.linalg.norm(centre, axis=-1))
    return Reach(centre, slack, factor)


@sized()
def turned(raw: Reach, pairs: ArrayLike) -> Reach:
    """What is in reach after rotations by any angle of each pair of coordinates: centre 0, caps and norm instead.

    |a.R x| <= sum_f |a_f| |x_f|, |x_f| <= ||centre_f|| + ||factor_f||_2. Args: raw with a factor or caps; pairs (d,),
    the number of the pair of each coordinate. Raises ValueError for pairs of another length.
    """
    at = reals("pairs", pairs, shape=raw.centre.shape[1:])
    groups = [np.flatnonzero(at == f) for f in np.unique(at)]
    if raw.factor is None:
        raise ValueError("turned needs a reach with a factor")


    def longest(at: Array) -> Array:
        return np.linalg.norm(raw.centre[:, at], axis=-1) + np.linalg.norm(raw.factor[:, :, at], 2, axis=(1, 2))

    caps, norm = [longest(g) for g in groups], longest(np.arange(at.size))
    numbers = np.searchsorted(np.unique(at), at).astype(np.float64)
    outward = 1 + OUTWARD
    return Reach(np.zeros_like(raw.centre), raw.slack, None, np.stack(caps, -1) * outward, numbers, norm * outward)


@sized()
def stretched(of: Reach, factor: float) -> Reach:
    """The same vectors times a factor > 0, as YaRN puts it on turned queries and keys."""
    by = real("factor", factor, POSITIVE)
    parts = {name: x if x is None or name == "pairs" else x * by for name, x in of._asdict().items()}
    return Reach(**parts)


@sized()
def normed(gains: ArrayLike, heads: int, pairs: ArrayLike, rounding: float = 0.0) -> Reach:
    """Vectors g * x with ||x||^2 <= d (QK-norm), turned or not: caps sqrt(d) max |g_i| over each pair.

    Args: gains (d,), or (heads, d); pairs (d,), all different where nothing is turned; rounding as `projected`.
    """
    at = reals("pairs", pairs)
    gain = np.broadcast_to(np.abs(reals("gains", gains)), (heads, at.size))
    caps = math.sqrt(at.size) * np.stack([gain[:, at == f].max(1) for f in np.unique(at)], -1) * (1 + OUTWARD)
    return _capped(caps, at, caps.max(1), rounding)


@sized()
def clipped(bound: float, heads: int, pairs: ArrayLike, rounding: float = 0.0) -> Reach:
    """Vectors in the cube [-c, c]^d, turned or not: caps c sqrt(size of the pair), norm c sqrt(d)."""
    at, edge = reals("pairs", pairs), real("bound", bound, POSITIVE)
    caps = edge * np.sqrt(np.array([(at == f).sum() for f in np.unique(at)])) * (1 + OUTWARD)
    norm = np.full(heads, edge * math.sqrt(at.size) * (1 + OUTWARD))
    return _capped(np.tile(caps, (heads, 1)), at, norm, rounding)


@comparable
class Values(NamedTuple):
    """Values of each key-value head lie within `radius` (heads,) of `centre` (heads, d)."""

    centre: Array
    radius: Array


@sized()
def values(
    weights: ArrayLike,
    gamma: ArrayLike,
    norm_bias: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    norm: str = "rms",
    mixture: ArrayLike | None = None,
    rounding: float = 0.0,
) -> Values:
    """The ball around W beta + b of radius sqrt(d) ||W Gamma P||_2 sum |c_j|: half of `dropped.value_diameter`.

    Arguments and errors as in `projected`.
    """
    of = projected(weights, gamma, norm_bias, bias, norm, mixture, rounding)
    assert of.factor is not None
    return Values(of.centre, np.linalg.norm(of.factor, 2, axis=(1, 2)) * (1 + OUTWARD) + of.slack)


def _scaled(weights, gamma, norm_bias, bias, norm) -> tuple[Array, Array, Array]:
    """W Gamma P (heads, d_head, d_model), W beta + b (heads, d_head), and ||W Gamma||_F (heads,), without P: rounding
    is of the products that are summed, whatever a mean takes from them."""
    choice("norm", norm, ("rms", "layer"))
    rows, gain = reals("weights", weights), reals("gamma", gamma)
    if rows.ndim != 3 or not rows.size or gain.shape != rows.shape[2:]:
        shapes = f"got {rows.shape}, {gain.shape}"
        raise ValueError(f"weights (heads, d_head, d_model) and gamma (d_model,) must agree, {shapes}")
    centre = np.zeros(rows.shape[:2]) if bias is None else reals("bias", bias, shape=rows.shape[:2])
    if norm_bias is not None:
        centre = centre + rows @ reals("norm_bias", norm_bias, shape=gain.shape)
    scaled = rows * gain
    size = np.linalg.norm(scaled, axis=(1, 2))
    return (scaled - scaled.mean(axis=-1, keepdims=True) if norm == "layer" else scaled), centre, size


def _gain(mixture: ArrayLike | None, centre: Array) -> Array:
    """sum |c_j| of each head."""
    if mixture is None:
        return np.ones(len(centre))
    if centre.any():
        raise ValueError("a KV shift beside biases of the norm, key or value is not supported")
    found = np.abs(reals("mixture", mixture)).sum(-1)
    if found.shape != centre.shape[:1]:
        raise ValueError(f"mixture must have shape ({len(centre)}, w), got {np.shape(mixture)}")
    return found


def _capped(caps: Array, pairs: Array, norm: Array, rounding: float) -> Reach:
    numbers = np.searchsorted(np.unique(pairs), pairs).astype(np.float64)
    slack = (real("rounding", rounding, NONNEGATIVE) + OUTWARD) * np.linalg.norm(caps, axis=-1)
    return Reach(np.zeros((len(caps), len(pairs))), slack, None, caps, numbers, norm)
