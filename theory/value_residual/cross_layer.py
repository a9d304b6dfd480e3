"""Attention to the keys and values of two layers, and the average that stands in for it.

Source: ResFormer, Eq. 1 to 4. A query of layer n has logits against the keys of its own layer, and others against the
keys of layer m; one softmax over both blocks is Eq. 2. Eq. 3 puts the keys of layer n in place of those of layer m.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, softmax

from theory.checked import choice, reals, sized
from theory.lowering.digits import odds_share
from theory.value_residual.inputs import Array, agree, rows

Mask = Literal["none", "causal"]


def masked(name: str, logits: ArrayLike, mask: Mask, shape: tuple[int, ...] | None = None) -> Array:
    """Logits (..., queries, keys), -inf where the mask hides the key: "causal" hides keys after the query.

    Raises ValueError for another shape, an unknown mask, and a causal one unless queries = keys.
    """
    choice("mask", mask, get_args(Mask))
    found = reals(name, logits, shape=shape)
    if found.ndim < 2 or not found.size:
        raise ValueError(f"{name} has shape {found.shape}: expected (..., queries, keys)")
    if mask == "none":
        return found
    if found.shape[-1] != found.shape[-2]:
        raise ValueError(f"{name} has shape {found.shape}: a causal mask needs as many queries as keys")
    return np.where(np.tri(found.shape[-1], dtype=bool), found, -np.inf)


@sized()
def attention_weights(logits: ArrayLike, mask: Mask = "none") -> Array:
    """A_n = softmax(S) over the keys, S = Q_n K_n^T / sqrt(d). Source: ResFormer, Eq. 1.

    Args: logits S (..., queries, keys); mask "none" or "causal". Returns: of the same shape, rows that add up to 1.
    Raises ValueError for another shape, numbers not finite, and a causal mask unless queries = keys.
    """
    weights: Array = softmax(masked("logits", logits, mask), axis=-1)
    return weights


@sized()
def cross_layer_attention(
    logits: ArrayLike, other_logits: ArrayLike, values: ArrayLike, other_values: ArrayLike, mask: Mask = "none"
) -> Array:
    """U_n = softmax([S, S']) [V_n; V_m], S = Q_n K_n^T / sqrt(d), S' = Q_n K_m^T / sqrt(d). Source: ResFormer, Eq. 2.

    Eq. 3 is the same with `logits` in the place of `other_logits`.
    Args: logits S and other_logits S' (..., queries, keys); values V_n and other_values V_m (..., keys, d); the mask
    hides the same keys in both blocks. Returns: (..., queries, d). Raises ValueError as `attention_weights`.
    """
    own = masked("logits", logits, mask)
    other = masked("other_logits", other_logits, mask, own.shape)
    value = rows("values", values)
    agree(own, value, "logits")
    both = np.concatenate([value, rows("other_values", other_values, value.shape)], axis=-2)
    output: Array = softmax(np.concatenate([own, other], axis=-1), axis=-1) @ both
    return output


@sized()
def averaged_attention(logits: ArrayLike, values: ArrayLike, other_values: ArrayLike, mask: Mask = "none") -> Array:
    """U_n = softmax(S) (V_n + V_m) / 2: each layer has half the mass. Source: ResFormer, Eq. 4; Eq. 7 for m = 1.

    Equal to Eq. 3, since softmax([S, S]) = [softmax(S), softmax(S)] / 2.
    Args, returns and errors as `cross_layer_attention`.
    """
    own, value = masked("logits", logits, mask), rows("values", values)
    agree(own, value, "logits")
    # Halved before they are added: the sum of two large values may overflow where their mean does not.
    mean = 0.5 * value + 0.5 * rows("other_values", other_values, value.shape)
    output: Array = softmax(own, axis=-1) @ mean
    return output


@sized()
def own_mass(logits: ArrayLike, other_logits: ArrayLike, mask: Mask = "none") -> Array:
    """p = Z_n / (Z_n + Z_m), the mass that Eq. 2 leaves on layer n's own block; Eq. 4 has 1/2 in its place.

    Eq. 2 is p softmax(S) V_n + (1 - p) softmax(S') V_m. If all differences S' - S lie in [-c, c] then
    |p - 1/2| <= tanh(c/2) / 2, reached where they all are c.
    Args: as `cross_layer_attention`. Returns: (..., queries), in [0, 1]. Raises ValueError as `attention_weights`.
    """
    own = masked("logits", logits, mask)
    other = masked("other_logits", other_logits, mask, own.shape)
    share: Array = odds_share(logsumexp(own, axis=-1) - logsumexp(other, axis=-1))
    return share
