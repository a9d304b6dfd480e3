"""Induction heads with ALiBi (KV shifting, Section 3.1): the definition, the one-layer head, the two-layer network.

Positions are 1-based in the text: x has rows x_1 .. x_L, x_0 = 0 is the padding of Shift, and every function returns
the output at the last position. Leading axes of x are a batch; sigma and the slopes broadcast with them. A score is a
product divided by sigma only, without the further 1/sqrt(D) of Eq. 6.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, POSITIVE, choice, reals, sized
from theory.induction.network import Array, checked_tokens, softmax, support_mask, two_layer_variant
from theory.records import comparable

HeadSupport = Literal["causal", "inner"]


@comparable
class Discrepancy(NamedTuple):
    """How far the causal KV-shift head is from the induction head: vector = epsilon (vbar - IH)."""

    epsilon: Array  # (...), in (0, 1): attention that the causal head spends on the tokens 1 and L
    vector: Array  # (..., dim)


@sized()
def induction_head(x: ArrayLike, sigma: ArrayLike, slope: ArrayLike) -> Array:
    """IH(x) = sum_{s=2}^{L-1} softmax_s(x_L . x_{s-1} / sigma - m (L - s)) x_s.

    Source: KV shifting, Definition 3.1, Eq. 7; print has the index i for s and T > 0 for sigma > 0, and lets L < 3,
    where the sum is empty.
    Args: x: (..., length >= 3, dim); sigma > 0; slope m >= 0.
    Returns: (..., dim), a mean of x_2 .. x_{L-1}.
    Raises ValueError for input outside these domains and where a score overflows.
    """
    tokens = checked_tokens(x, 3)
    sigma, slope = reals("sigma", sigma, POSITIVE), reals("slope", slope, NONNEGATIVE)
    distances = np.arange(tokens.shape[-2] - 2, 0, -1)
    with np.errstate(over="ignore", invalid="ignore"):
        matches = (tokens[..., :-2, :] @ tokens[..., -1, :, None])[..., 0]
        scores = matches / sigma[..., None] - slope[..., None] * distances
    weights = softmax(scores, np.ones(distances.shape, dtype=bool))
    return (weights[..., None, :] @ tokens[..., 1:-1, :])[..., 0, :]


def _projected(name: str, weight: ArrayLike | None, rows: Array) -> Array:
    """y = W x of every row; without a matrix the rows themselves. Raises ValueError for another width."""
    if weight is None:
        return rows
    matrix, width = reals(name, weight), rows.shape[-1]
    if matrix.ndim != 2 or matrix.shape[1] != width or not matrix.size:
        turned = " (its transpose fits)" if matrix.ndim == 2 and matrix.shape[0] == width else ""
        raise ValueError(f"{name} must have shape (at least 1, {width}), got {matrix.shape}{turned}")
    return rows @ matrix.T


def _kv_shift(x, sigma, slope, support: HeadSupport, alpha, beta, w_q=None, w_k=None, w_v=None):
    """Attention over all L positions (zero off the support) and the mixed values, Eq. 4-6."""
    choice("support", support, get_args(HeadSupport))
    tokens = checked_tokens(x, 3 if support == "inner" else 1)
    sigma, slope = reals("sigma", sigma, POSITIVE), reals("slope", slope, NONNEGATIVE)
    mixing = np.concatenate([reals("alpha", alpha, shape=(2,)), reals("beta", beta, shape=(2,))])
    with np.errstate(over="ignore", invalid="ignore"):
        query = _projected("w_q", w_q, tokens[..., -1:, :])[..., 0, :]
        keys = _mixed(mixing[:2], _projected("w_k", w_k, tokens))
        values = _mixed(mixing[2:], _projected("w_v", w_v, tokens))
        if query.shape[-1] != keys.shape[-1]:
            raise ValueError(
                f"w_q and w_k must give as many channels as each other, got {query.shape[-1]} and {keys.shape[-1]}"
            )
        matches = (keys @ query[..., None])[..., 0]
        distances = np.arange(tokens.shape[-2] - 1, -1, -1)
        scores = matches / sigma[..., None] - slope[..., None] * distances
    return softmax(scores, support_mask(tokens.shape[-2], support)), values


def _mixed(coefficients: Array, rows: Array) -> Array:
    previous = np.concatenate([np.zeros_like(rows[..., :1, :]), rows[..., :-1, :]], axis=-2)
    return coefficients[0] * rows + coefficients[1] * previous


@sized()
def kv_shift_head(
    x: ArrayLike,
    sigma: ArrayLike,
    slope: ArrayLike,
    support: HeadSupport,
    *,
    alpha: tuple[float, float] = (0.0, 1.0),
    beta: tuple[float, float] = (1.0, 0.0),
    w_q: ArrayLike | None = None,
    w_k: ArrayLike | None = None,
    w_v: ArrayLike | None = None,
    w_o: ArrayLike | None = None,
) -> Array:
    """KVSA(x) = W_O sum_{s in support} softmax_s(q . (a1 k_s + a2 k_{s-1}) / sigma - m (L - s)) (b1 v_s + b2 v_{s-1}).

    q = W_Q x_L, k_s = W_K x_s and v_s = W_V x_s, where k_0 = v_0 = 0.
    Source: KV shifting, Eq. 4-6 and Appendix B, with tokens as columns (y = W x). The defaults are its parameters, with
    W = I and with print's "beta_0 = 1/sigma" read as a score scale. With support "inner" = {2..L-1} the defaults give
    the induction head; with "causal" = {1..L}, the mask of Eq. 6, no parameters do, and `discrepancy` is the gap.
    Args:
        x: (..., length, dim), length >= 3 for "inner", >= 1 for "causal"; sigma > 0; slope >= 0.
        w_q, w_k: (d_key, dim); w_v: (d_value, dim); w_o: (d_out, d_value); None is the identity.
    Returns: (..., d_out).
    Raises ValueError for input outside these domains, other shapes, and where a score overflows.
    """
    weights, values = _kv_shift(x, sigma, slope, support, alpha, beta, w_q, w_k, w_v)
    return _projected("w_o", w_o, (weights[..., None, :] @ values)[..., 0, :])


@sized()
def two_layer_alibi(x: ArrayLike, sigma: ArrayLike, slope: ArrayLike, copy_slope: ArrayLike) -> Array:
    """TF(x) = sum_{s=2}^{L-1} softmax_s(x_L . y_s / sigma - m (L - s)) x_s, y_s the ALiBi mean of x_1 .. x_{s-1}.

    Source: KV shifting, Theorem 3.2 and Appendix A: its matrices, W* = I / sigma, columns, layer 1 strictly causal,
    layer 2 on {2..L-1} (see `theory.induction.network`, also for what the other masks do).
    Args: x: (..., length >= 3, dim); sigma > 0; slope m >= 0; copy_slope p >= 0.
    Returns: (..., dim); within `copy_error_bound` of `induction_head`, with equality at L = 3.
    Raises ValueError for input outside these domains and where a score overflows.
    """
    return two_layer_variant(x, sigma, slope, copy_slope)


@sized()
def discrepancy(x: ArrayLike, sigma: ArrayLike, slope: ArrayLike) -> Discrepancy:
    """KVSA - IH = epsilon (vbar - IH) for the causal head, epsilon = a / (a + Z).

    a = e^{-m(L-1)} + e^{x_L . x_{L-1} / sigma} are the weights of the tokens 1 and L, vbar is their weighted mean, and
    Z = sum_{s=2}^{L-1} e^{x_L . x_{s-1} / sigma - m (L - s)}. So no coordinate is off by more than epsilon times the
    range of that coordinate.
    Source: KV shifting, Theorem 3.3 (Eq. 9), whose difference is 0 on {2..L-1} and this under the causal mask.
    Args: as `induction_head`. Raises as it does.
    """
    head = induction_head(x, sigma, slope)
    weights, values = _kv_shift(x, sigma, slope, "causal", (0.0, 1.0), (1.0, 0.0))
    first, last = weights[..., :1], weights[..., -1:]
    vector = first * (values[..., 0, :] - head) + last * (values[..., -1, :] - head)
    return Discrepancy((first + last)[..., 0], vector)
