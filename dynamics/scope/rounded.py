"""Scopes of a checkpoint as it is run in bfloat16 or float16: the range of its logits with every rounding in it.

With u the unit roundoff, an operation's result is off by at most u of itself; sums over n terms are in float32, so off
by n 2^-24 of the sum of sizes. transformers (5.23) rounds, and a head's errors grow, in this order:
- the norm's output twice (before and after the gain), a projection once, its bias once more, so that each product
  W_ij x_j, W_ij b_j and b_i has up to four factors 1 + u: |dq| <= ((1 + u)^4 (1 + d 2^-24)^2 - 1) F with
  F = sqrt(d) ||W Gamma||_F + || |W| |b| + |b_q| ||, and keys alike; clips move no two numbers apart, and are rounded;
- queries and keys that are normed are what their norm makes of them, so off by (1 + u)^2 - 1 of their size only;
- a rotation rounds cosine and sine, four products and two sums: with c = u + 2^-20 its matrix is off by c, products by
  sqrt(2) u of the length, so a vector by ((1 + c)(1 + sqrt(2) u)(1 + u) - 1) of its length, whatever the angles;
- a logit twice, q.k and its scaling, relative to |q| |k|; OPT scales its queries instead;
- a soft cap three times: ((1 + u)^4 - 1) c tanh(x/c), and no logit is beyond c (1 + u)^2;
- ALiBi's bias and the sum (`theory.alibi.rounded`); Falcon's logits, with biases of a table twice and in the mask;
- beside a sink, each logit less the largest.
A file in a wider format is rounded when it is loaded: one factor more for each weight, gain and bias.
D' = D + 2 (all errors of one logit), or twice the largest logit where that is less. Fewer roundings, as by kernels that
keep logits in float32, only lessen the errors. Of n tokens that a query without a slope sees, each weighs between
1/(1 + (n - 1) e^D') and 1/(1 + (n - 1) e^-D'), but for the rounding of weights: exponential, sum and quotient.
A norm is taken to have no mean so far above its deviations that float32 cannot hold both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.scope.bounded import Bounds, bounds_of
from dynamics.scope.heads import HeadScope, Settings
from dynamics.weights.reader import Architecture, Checkpoint, SmallTensors
from theory.alibi.rounded import UNITS, rounded_range

FORMATS = tuple(UNITS)
OUTWARD = 1 + 2.0**-40
SMALLEST = {"float16": 2.0**-24}  # below it nothing is relative; that of the others can be left out


class Sizes(NamedTuple):
    """By head: the largest |q| or |k|, and how far the computed one can be off."""

    largest: NDArray[np.float64]
    error: NDArray[np.float64]


class Logits(NamedTuple):
    """Of a head as run: how far two of its logits can be apart beside positions, the largest, the logit of a sink."""

    spread: float
    largest: float
    sink: float | None


def rounded_scopes(
    checkpoint: Checkpoint, layer: int, heads: Sequence[HeadScope], asked: Settings, arithmetic: str
) -> list[float]:
    """For each head of a layer the distance from which no token of the context can weigh more than eps.

    inf, or beyond the context: rounding leaves nothing to say. heads: those of `layer_scopes`; asked.context counts.
    Raises: as `rounded_logits`.
    """
    sizes = checkpoint.layer_architecture(layer)
    found, eps = rounded_logits(checkpoint, layer, heads, asked, arithmetic), _lowered(asked, arithmetic)
    if eps <= 0:
        return [math.inf for _ in heads]
    scopes = []
    for head, logits in zip(heads, found, strict=True):
        bounds: Bounds = bounds_of(head, sizes, asked.context)._replace(sink=logits.sink)
        scopes.append(bounds.scope(logits.spread, eps, logits.largest))
    return scopes


def rounded_logits(
    checkpoint: Checkpoint, layer: int, heads: Sequence[HeadScope], asked: Settings, arithmetic: str
) -> list[Logits]:
    """For each head of a layer what its logits can be as run, in a context no longer than asked.

    Raises: ValueError for another format, and for shifted queries and keys.
    """
    if arithmetic not in UNITS:
        raise ValueError(f"arithmetic must be one of {', '.join(FORMATS)}, got {arithmetic!r}")
    sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
    if small.alpha is not None:
        raise ValueError("rounding is bounded for heads without a shift")
    asks, seen = _side(checkpoint, layer, "query", arithmetic), _side(checkpoint, layer, "key", arithmetic)
    group, found = sizes.n_heads // sizes.n_kv_heads, []
    for head in heads:
        q, k = head.head, head.head // group
        off = asks.error[q] * seen.largest[k] + asks.largest[q] * seen.error[k] + asks.error[q] * seen.error[k]
        largest = sizes.scale * (asks.largest[q] + asks.error[q]) * (seen.largest[k] + seen.error[k])
        found.append(_logits(head, sizes, sizes.scale * float(off), float(largest), asked.context, arithmetic))
    return found


def rounding_of_weights(arithmetic: str, n_tokens: int) -> float:
    """How many times its true size a weight can be as computed: exponential, sum and quotient, n_tokens in float32."""
    unit = UNITS[arithmetic]
    return (1 + unit) ** 2 / (1 - unit) * (1 + (n_tokens + 256) * 2.0**-24)


def _lowered(asked: Settings, arithmetic: str) -> float:
    """What a weight may be so that it is at most eps as computed."""
    return (asked.eps - 3 * SMALLEST.get(arithmetic, 0.0)) / rounding_of_weights(arithmetic, asked.context)


def _logits(
    head: HeadScope, sizes: Architecture, off: float, largest: float, context: int, arithmetic: str
) -> Logits:
    """From the error of a scaled product and the largest of them."""
    unit, least = UNITS[arithmetic], SMALLEST.get(arithmetic, 0.0)
    rounding = ((1 + unit) ** 2 * (1 + sizes.d_head * 2.0**-24) - 1) * largest + 3 * least
    off, top = off + rounding, largest + rounding
    if sizes.softcap is not None:
        cap = sizes.softcap
        capping = ((1 + unit) ** 4 - 1) * cap * math.tanh(top * (1 + unit) / cap) + 3 * least
        off, top = off + capping, min(top + capping, cap * (1 + unit) ** 2)
    spread = min(head.logit_range + 2 * off, 2 * top)
    if sizes.slopes is not None and not sizes.rounded_biases:
        spread = float(rounded_range(sizes.slopes[head.head], spread, context, top, unit))
    elif sizes.slopes is not None:  # in the sum once or twice, rounded in the mask, then cast
        furthest = sizes.slopes[head.head] * (1 + UNITS["bfloat16"]) ** 3 * (context - 1)
        spread += 2 * unit * (1 + unit) ** 2 * (top + 3 * furthest)
    sink = head.sink
    if sink is not None:
        sink -= unit * abs(sink)
        apart = unit * (max(sink, top) - min(sink, -top))
        spread, top, sink = spread + 2 * apart, top + apart, sink - apart
    return Logits(spread * OUTWARD, top * OUTWARD, sink)


def _side(checkpoint: Checkpoint, layer: int, role: Literal["query", "key"], arithmetic: str) -> Sizes:
    """Queries or keys as they meet: projected, clipped or normed, and turned."""
    sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
    unit, least, root = UNITS[arithmetic], SMALLEST.get(arithmetic, 0.0), math.sqrt(sizes.d_head)
    cast = not checkpoint.exact_in(arithmetic)
    count, gain = (sizes.n_heads, small.query_gain) if role == "query" else (sizes.n_kv_heads, small.key_gain)
    if gain is None:
        bias = small.query_bias if role == "query" else small.key_bias
        found = _projected(checkpoint.projection(layer, role, 0, count), bias, sizes, small, arithmetic, cast)
    else:
        together = count if sizes.normed_together else 1
        table, length = np.broadcast_to(gain, (count, sizes.d_head)), root * math.sqrt(together)
        grown = (1 + unit) ** (2 + cast) * (1 + (sizes.d_head * together + 8) * 2.0**-24) - 1
        error = grown * length * _stored(table, cast).max(axis=1) + 2 * least * root
        found = Sizes(length * _stored(table, False).max(axis=1), error)
    largest, error = found
    if sizes.clip is not None:
        largest, error = np.minimum(largest, sizes.clip * root), error + unit * sizes.clip * root
    if sizes.position == "rope":
        turn = (1 + unit + 2.0**-20) * (1 + math.sqrt(2) * unit) * (1 + unit) - 1
        error = error + turn * (largest + error) + 4 * least * root
    return Sizes(largest, error)


def _stored(gain: NDArray[np.float32], cast: bool) -> NDArray[np.float64]:
    """|gain|, and where it was rounded that of what may be stored in its place, gain - 1, as well."""
    wide = gain.astype(np.float64)
    return np.abs(wide) + np.abs(wide - 1) if cast else np.abs(wide)


def _projected(
    weights: NDArray[np.float32],
    bias: NDArray[np.float32] | None,
    sizes: Architecture,
    small: SmallTensors,
    arithmetic: str,
    cast: bool,
) -> Sizes:
    unit, least = UNITS[arithmetic], SMALLEST.get(arithmetic, 0.0)
    rows, radius = weights.astype(np.float64), math.sqrt(sizes.d_model)
    beside = np.zeros(sizes.d_model) if small.norm_bias is None else small.norm_bias.astype(np.float64)
    shift = np.zeros(rows.shape[:2]) if bias is None else bias.astype(np.float64)
    spectral = np.array([np.linalg.norm(head, 2) for head in rows * _stored(small.gamma, False)])
    frobenius = np.linalg.norm(rows * _stored(small.gamma, cast), axis=(1, 2))
    largest = radius * spectral + np.linalg.norm(rows @ beside + shift, axis=1)
    error = radius * frobenius + np.linalg.norm(np.abs(rows) @ np.abs(beside) + np.abs(shift), axis=1)
    grown = (1 + unit) ** (4 + 2 * cast) * (1 + (sizes.d_model + 8) * 2.0**-24) ** 2 - 1
    lost = least * (2 * radius * np.linalg.norm(rows, axis=(1, 2)) + 2 * math.sqrt(sizes.d_head))
    return Sizes(largest, grown * error + lost)
