"""Scopes of a checkpoint as it is run in bfloat16 or float16: rounding of states, queries, keys, biases and logits in.

With u the unit roundoff, a norm's output x is off by u |x|. Queries are sums in float32 of products with exact weights,
then rounded, and once more if a bias is added: |dq| <= (3.1 u + d 2^-24) F with
F = sqrt(d) ||W_q Gamma||_F + || |W_q| |b| + |b_q| ||, and keys alike. What is left is `theory.alibi.rounded`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.scope.heads import HeadScope, Settings
from dynamics.weights.reader import Architecture, Checkpoint, SmallTensors
from theory import alibi
from theory.alibi.rounded import UNITS, rounded_range

FORMATS = tuple(UNITS)


class Sizes(NamedTuple):
    """By head: the largest |q| or |k|, and how far the computed one can be off."""

    largest: NDArray[np.float64]
    error: NDArray[np.float64]


def rounded_scopes(
    checkpoint: Checkpoint, layer: int, heads: Sequence[HeadScope], asked: Settings, arithmetic: str
) -> list[float]:
    """For each ALiBi head of a layer the distance from which no token of the context can weigh more than eps.

    inf, or beyond the context: rounding leaves nothing to say. heads: those of `layer_scopes`; asked.context counts.
    Raises: ValueError for another format, for heads without a slope, and for shifted or clipped queries and keys.
    """
    if arithmetic not in UNITS:
        raise ValueError(f"arithmetic must be one of {', '.join(FORMATS)}, got {arithmetic!r}")
    sizes, small, unit = checkpoint.layer_architecture(layer), checkpoint.small(layer), UNITS[arithmetic]
    if sizes.slopes is None or small.alpha is not None or sizes.clip is not None:
        raise ValueError("rounding is bounded for ALiBi heads without a shift and without clips")
    group = sizes.n_heads // sizes.n_kv_heads
    asks = _sizes(checkpoint.projection(layer, "query", 0, sizes.n_heads), small.query_bias, sizes, small, unit)
    seen = _sizes(checkpoint.projection(layer, "key", 0, sizes.n_kv_heads), small.key_bias, sizes, small, unit)
    found = []
    for head in heads:
        q, k = head.head, head.head // group
        off = asks.error[q] * seen.largest[k] + asks.largest[q] * seen.error[k] + asks.error[q] * seen.error[k]
        largest = (asks.largest[q] + asks.error[q]) * (seen.largest[k] + seen.error[k])
        spread = rounded_range(head.slope, head.logit_range + 2 * sizes.scale * off, asked.context,
                               sizes.scale * largest, unit)  # fmt: skip
        found.append(alibi.scope(head.slope, float(spread), asked.eps / (1 + unit)))  # weights are rounded as well
    return found


def _sizes(
    weights: NDArray[np.float32],
    bias: NDArray[np.float32] | None,
    sizes: Architecture,
    small: SmallTensors,
    unit: float,
) -> Sizes:
    rows, gamma = weights.astype(np.float64), small.gamma.astype(np.float64)
    beside = np.zeros(sizes.d_model) if small.norm_bias is None else small.norm_bias.astype(np.float64)
    shift = np.zeros(rows.shape[:2]) if bias is None else bias.astype(np.float64)
    radius = math.sqrt(sizes.d_model)
    scaled = rows * gamma
    spectral = np.array([np.linalg.norm(head, 2) for head in scaled])
    frobenius = np.array([np.linalg.norm(head) for head in scaled])
    largest = radius * spectral + np.linalg.norm(rows @ beside + shift, axis=1)
    error = radius * frobenius + np.linalg.norm(np.abs(rows) @ np.abs(beside) + np.abs(shift), axis=1)
    return Sizes(largest, (3.1 * unit + sizes.d_model * 2.0**-24) * error)
