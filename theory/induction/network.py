"""The two-layer ALiBi network of Theorem 3.2, run from its weight matrices, and its wrong variants.

Source: KV shifting, Appendix A. D = 2d; a token enters as the column (x_s, 0). Layer 1 has zero queries and keys, slope
p, a residual stream and W_V = [[0, 0], [I, 0]], so it writes y_s, a mean of the earlier tokens, under x_s. Layer 2 has
slope m, no residual, W_Q = [[0, 0], [I, 0]], W_K = [[0, 0], [0, W*]], W_V = [[I, 0], [0, 0]] and W_O = (I, 0). Print
leaves W* undefined; it is I / sigma. The construction needs columns (y = W x), a strictly causal layer 1, and a layer 2
that attends to {2..L-1}; `two_layer_variant` shows what each other choice computes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import NONNEGATIVE, POSITIVE, choice, reals, whole
from theory.records import comparable

Array = NDArray[np.float64]
FirstMask = Literal["strict", "causal"]
Support = Literal["inner", "causal", "not_current", "not_first"]
Convention = Literal["column", "row"]
KeyWeights = Literal["paper", "repaired"]

# support -> tokens left out at the start and at the end
LEFT_OUT = {"inner": (1, 1), "causal": (0, 0), "not_current": (0, 1), "not_first": (1, 0)}


@comparable
class Weights(NamedTuple):
    """Matrices of the construction, each (2d, 2d); `output` is (d, 2d); `key` may carry the batch axes of sigma."""

    first_value: Array
    query: Array
    key: Array
    value: Array
    output: Array


def checked_tokens(x: ArrayLike, least: int) -> Array:
    """Tokens as float64 (..., length, dim). Raises ValueError if not finite, too short, or without dimensions."""
    rows = reals("x", x)
    if rows.ndim < 2 or rows.shape[-2] < least or rows.shape[-1] < 1:
        raise ValueError(f"x must have shape (..., length >= {least}, dim >= 1), got {rows.shape}")
    return rows


def support_mask(length: int, support: Support) -> NDArray[np.bool_]:
    """Which of the positions 1..length the last token attends to, shape (length,)."""
    start, end = LEFT_OUT[choice("support", support, get_args(Support))]
    length = whole("length", length, 1)
    mask = np.zeros(length, dtype=bool)
    mask[start : length - end] = True
    return mask


def softmax(scores: Array, mask: NDArray[np.bool_]) -> Array:
    """Softmax over the last axis restricted to `mask`; a row without any position is zero.

    Raises ValueError where a score overflows float64.
    """
    if not np.isfinite(scores).all():
        raise ValueError("the scores overflow: sigma is too small, or the tokens or the slope too large")
    kept = np.where(mask, scores, -np.inf)
    top = np.max(kept, axis=-1, keepdims=True)
    weights = np.exp(kept - np.where(np.isfinite(top), top, 0.0))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)


def construction(dim: int, sigma: ArrayLike, copy_slope: ArrayLike, key: KeyWeights = "paper") -> Weights:
    """The matrices of Appendix A with W* = I / sigma.

    "repaired" replaces W_K by [[0, 0], [-(1 - r) W*, W*]] / r, r = e^{-p}. Under the standard mask, where
    y_s also holds x_s, it gives a mean of x_s, x_{s-1}, .. that puts more than 1 - r on x_{s-1}, so `copy_error_bound`
    holds again, but its norm grows like e^p / sigma, against Theorem 3.2's O(1, 1/sigma).
    Raises ValueError unless dim >= 1 is whole, sigma > 0, copy_slope >= 0, and where an entry overflows.
    """
    dim = whole("dim", dim, 1)
    choice("key", key, get_args(KeyWeights))
    sigma, copy_slope = reals("sigma", sigma, POSITIVE), reals("copy_slope", copy_slope, NONNEGATIVE)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = _matrices(dim, sigma, copy_slope, key)
    if not np.isfinite(found.key).all():
        raise ValueError("the key matrix overflows: sigma is too small or copy_slope too large")
    return found


def _matrices(dim: int, sigma: Array, copy_slope: Array, key: KeyWeights) -> Weights:
    zero, one = np.zeros((dim, dim)), np.eye(dim)
    scale = (1.0 / sigma)[..., None, None]
    ratio = np.exp(-copy_slope)[..., None, None]
    if key == "paper":
        lower = np.concatenate([zero, one], axis=1) * scale
    else:
        lower = np.concatenate([(ratio - 1.0) * one, one + 0.0 * ratio], axis=-1) * scale / ratio
    return Weights(
        first_value=np.block([[zero, zero], [one, zero]]),
        query=np.block([[zero, zero], [one, zero]]),
        key=np.concatenate([np.zeros_like(lower), lower], axis=-2),
        value=np.block([[one, zero], [zero, zero]]),
        output=np.concatenate([one, zero], axis=1),
    )


def two_layer_variant(
    x: ArrayLike,
    sigma: ArrayLike,
    slope: ArrayLike,
    copy_slope: ArrayLike,
    *,
    first_mask: FirstMask = "strict",
    support: Support = "inner",
    convention: Convention = "column",
    key: KeyWeights = "paper",
) -> Array:
    """Last token of the network of Appendix A, any of its masks and conventions; the defaults are the right ones.

    Args:
        x: tokens (..., length >= 3, dim); sigma > 0, slope >= 0, copy_slope >= 0 broadcast with the batch axes.
        first_mask: layer 1 sees tau < s ("strict") or tau <= s ("causal", the standard mask).
        support: layer 2 sees {2..L-1} "inner", {1..L} "causal", {1..L-1} "not_current" or {2..L} "not_first".
        convention: y = W x ("column") or the paper's Eq. 1 and 4, y = x W ("row"; layer 1 then writes nothing).
        key: W_K of the paper, or the one that suits the standard mask (see `construction`).
    Returns: (..., dim).
    Raises ValueError for input outside these domains and where a score overflows.
    """
    for name, value, kind in (
        ("first_mask", first_mask, FirstMask),
        ("support", support, Support),
        ("convention", convention, Convention),
        ("key", key, KeyWeights),
    ):
        choice(name, value, get_args(kind))
    tokens = checked_tokens(x, 3)
    sigma, slope = reals("sigma", sigma, POSITIVE), reals("slope", slope, NONNEGATIVE)
    copy_slope = reals("copy_slope", copy_slope, NONNEGATIVE)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _run(tokens, sigma, slope, copy_slope, first_mask, support, convention, key)


def copy_weights(length: int, copy_slope: ArrayLike, first_mask: FirstMask = "strict") -> Array:
    """Attention of layer 1, (..., length, length): row s averages the tokens before s, with s itself if "causal"."""
    behind = np.subtract.outer(np.arange(length), np.arange(length))
    bias = -np.asarray(copy_slope)[..., None, None] * np.abs(behind)
    return softmax(bias, behind > 0 if first_mask == "strict" else behind >= 0)


def copied_stream(x: Array, copy_slope: ArrayLike) -> Array:
    """What layer 2 reads of tokens (..., length, dim), the columns (x_s, y_s): (..., length, 2 dim)."""
    return np.concatenate([x, copy_weights(x.shape[-2], copy_slope) @ x], axis=-1)


def _run(tokens, sigma, slope, copy_slope, first_mask, support, convention, key) -> Array:
    length, dim = tokens.shape[-2:]
    weights = _matrices(dim, sigma, copy_slope, key)

    def times(matrix: Array, rows: Array) -> Array:
        return rows @ (np.swapaxes(matrix, -1, -2) if convention == "column" else matrix)

    copying = copy_weights(length, copy_slope, first_mask)
    stream = np.concatenate([tokens, np.zeros_like(tokens)], axis=-1)
    stream = stream + copying @ times(weights.first_value, stream)
    query, keys = times(weights.query, stream[..., -1:, :]), times(weights.key, stream)
    scores = (query @ np.swapaxes(keys, -1, -2))[..., 0, :] - slope[..., None] * np.arange(length - 1, -1, -1)
    attention = softmax(scores, support_mask(length, support))
    read = (attention[..., None, :] @ times(weights.value, stream))[..., 0, :]
    return read @ weights.output.T  # W_O is (d, 2d): only columns conform, so the row variant reads it out likewise
