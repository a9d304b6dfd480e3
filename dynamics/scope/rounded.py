"""Scopes of a checkpoint as it is run in bfloat16 or float16: the range of its logits with every rounding in it.

transformers (5.23) rounds, and with the errors of `theory.alibi.rounded` a head's grow, in this order:
- the norm's output twice (before and after the gain), a projection once, its bias once more: `product_error` of four
  roundings times F = sqrt(d) ||W Gamma||_F + || |W| |b| + |b_q| ||, which bounds the sizes of all that is summed;
- a file in a wider format when it is loaded: one factor more for each weight, gain and bias;
- queries and keys that are normed are what their norm makes of them, off by two roundings of their size;
- clips move no two numbers apart, and the rounded clip is off by less than what reaches it; a rotation, whatever the
  angles: `turning_error`;
- a logit twice, q.k and its scaling, relative to |q| |k|; OPT scales its queries instead;
- a soft cap: `capping_error`, and no logit is beyond c (1 + u)^2;
- ALiBi's bias and the sum: `rounded_range`, its slopes: `_drift`; Falcon's logits, with biases of a table twice, the
  mask's rounded, as cast;
- beside a sink, each logit less the largest.
D' = D + 2 (all errors of one logit), or twice the largest logit where that is less. Fewer roundings, as by kernels that
keep logits in float32, only lessen the errors. Of n tokens that a query without a slope sees, each weighs between
1/(1 + (n - 1) e^D') and 1/(1 + (n - 1) e^-D'), but for the rounding of weights: exponential, sum and quotient.
Below 2^-14 a rounding to float16 is off by up to 2^-25, whatever the size: `LOST`, for each that can end there. Sums of
two of its numbers are exact there; a norm's output before the gain is off by u 2^-14 a component, as if its vector were
longer by 2^-29 of itself; gains that are cast are granted u (|g| + |g - 1|) already, and that is no less.
A norm is taken to have no mean so far above its deviations that float32 cannot hold both, and a matrix product to be
summed in float32: torch on CUDA may add parts of long sums in 16 bits unless it is told not to.
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
from theory.alibi.rounded import (
    SINGLE,
    UNITS,
    capping_error,
    product_error,
    rounded_range,
    turning_error,
    weight_growth,
)

FORMATS = tuple(UNITS)
OUTWARD = 1 + 2.0**-40
LOST = {"float16": 2.0**-25}  # half of the smallest number; that of the others can be left out


class Sizes(NamedTuple):
    """By head: the largest |q| or |k|, and how far the computed one can be off."""

    largest: NDArray[np.float64]
    error: NDArray[np.float64]


class Logits(NamedTuple):
    """Of a head as run: how far two of its logits can be apart beside positions, the largest, the logit of a sink.

    error: how far any logit can be from that of exact arithmetic at the same angles, up to what is added to all of a
    query.
    """

    spread: float
    largest: float
    sink: float | None
    error: float


def rounded_scopes(
    checkpoint: Checkpoint,
    layer: int,
    heads: Sequence[HeadScope],
    asked: Settings,
    arithmetic: str,
    logits: Sequence[Logits] | None = None,
) -> list[float]:
    """For each head of a layer the distance from which no token of the context can weigh more than eps.

    A layer's window ends it too. inf, or beyond the context: rounding leaves nothing to say. heads: those of
    `layer_scopes`; asked.context counts; logits: their `rounded_logits`, where they are known. Raises: as
    `rounded_logits`.
    """
    found = rounded_logits(checkpoint, layer, heads, asked, arithmetic) if logits is None else logits
    sizes, eps = checkpoint.layer_architecture(layer), _lowered(asked, arithmetic)
    seen = checkpoint.small(layer).window or math.inf
    if eps <= 0:
        return [seen for _ in heads]
    scopes = []
    for head, run in zip(heads, found, strict=True):
        bounds: Bounds = bounds_of(head, sizes, asked.context)._replace(sink=run.sink)
        scopes.append(min(bounds.scope(run.spread, eps, run.largest), seen))
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
        raise ValueError("rounding is not bounded where keys are a mixture of two tokens' (KV shifting)")
    asks, seen = _side(checkpoint, layer, "query", arithmetic), _side(checkpoint, layer, "key", arithmetic)
    group, found = sizes.n_heads // sizes.n_kv_heads, []
    for head in heads:
        q, k = head.head, head.head // group
        off = asks.error[q] * seen.largest[k] + asks.largest[q] * seen.error[k] + asks.error[q] * seen.error[k]
        longest = seen.largest[k] + seen.error[k]
        largest = sizes.scale * (asks.largest[q] + asks.error[q]) * longest
        scaled = LOST.get(arithmetic, 0.0) * math.sqrt(sizes.d_head) * longest  # where queries are, as OPT's
        of = float(sizes.scale * off + scaled), float(largest + scaled)
        found.append(_logits(head, sizes, *of, asked.context, arithmetic))
    return found


def _lowered(asked: Settings, arithmetic: str) -> float:
    """What a weight may be so that it is at most eps as computed."""
    grown, lost = float(weight_growth(UNITS[arithmetic], asked.context)), LOST.get(arithmetic, 0.0)
    # of a sum that is at least 1 every exponential may have lost it, then the token's own, and its quotient
    return (asked.eps - lost) * (1 - asked.context * lost) / grown - lost


def _drift(sizes: Architecture, slope: float, context: int) -> float:
    """How far a bias is off since slopes are powers, of no more than n_heads, of a base in float32."""
    return (sizes.n_heads + 4) * SINGLE * slope * (context - 1)


def _logits(head: HeadScope, sizes: Architecture, off: float, largest: float, context: int, arithmetic: str) -> Logits:
    """From the error of a scaled product and the largest of them."""
    unit, lost = UNITS[arithmetic], LOST.get(arithmetic, 0.0)
    # q.k, its scaling, and a bias or a sink
    rounding = float(product_error(unit, 2, sizes.d_head)) * largest + (sizes.scale + 2) * lost
    off, top = off + rounding, largest + rounding
    if sizes.softcap is not None:
        cap = sizes.softcap
        capping = float(capping_error(cap, top, unit)) + (cap + 1) * lost  # so small a number is its own tanh
        off, top = off + capping, min(top + capping, cap * (1 + unit) ** 2)
    spread = min(head.logit_range + 2 * off, 2 * top)
    placed = 0.0
    if sizes.slopes is not None and not sizes.rounded_biases:
        slope = sizes.slopes[head.head]
        placed = float(rounded_range(slope, 0.0, context, top, unit))
        placed += 2 * (1 + unit) ** 2 * _drift(sizes, slope, context)
    elif sizes.slopes is not None:  # in the sum once or twice, rounded in the mask, then cast
        furthest = sizes.slopes[head.head] * (1 + UNITS["bfloat16"]) ** 3 * (context - 1)
        placed = 2 * unit * (1 + unit) ** 2 * (top + 3 * furthest)
    spread, off = spread + placed, off + placed / 2
    sink = head.sink
    if sink is not None:
        sink -= unit * abs(sink)
        apart = unit * (max(sink, top) - min(sink, -top))
        # the sink's lead is off once: either it or the token is the largest, or a token is that is larger by more
        spread, off, sink = spread + 2 * apart, off + apart, sink - apart
    return Logits(spread * OUTWARD, top * OUTWARD, sink, off * OUTWARD)


def _side(checkpoint: Checkpoint, layer: int, role: Literal["query", "key"], arithmetic: str) -> Sizes:
    """Queries or keys as they meet: projected, clipped or normed, and turned."""
    sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
    unit, lost, root = UNITS[arithmetic], LOST.get(arithmetic, 0.0), math.sqrt(sizes.d_head)
    cast = not checkpoint.exact_in(arithmetic)
    count, gain = (sizes.n_heads, small.query_gain) if role == "query" else (sizes.n_kv_heads, small.key_gain)
    if gain is None:
        bias = small.query_bias if role == "query" else small.key_bias
        found = _projected(checkpoint.projection(layer, role, 0, count), bias, sizes, small, arithmetic, cast)
    else:
        together = count if sizes.normed_together else 1
        table, length = np.broadcast_to(gain, (count, sizes.d_head)), root * math.sqrt(together)
        grown = float(product_error(unit, 2 + cast, sizes.d_head * together))
        error = grown * length * _stored(table, cast).max(axis=1) + lost * root
        found = Sizes(length * _stored(table, False).max(axis=1), error)
    largest, error = found
    if sizes.clip is not None:
        # what reaches it is granted two of its own roundings or more, so that of the clip is within
        largest = np.minimum(largest, sizes.clip * root)
    if sizes.position == "rope":
        error = error + float(turning_error(unit)) * (largest + error) + 2 * lost * root
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
    unit, lost = UNITS[arithmetic], LOST.get(arithmetic, 0.0)
    rows, radius = weights.astype(np.float64), math.sqrt(sizes.d_model)
    beside = np.zeros(sizes.d_model) if small.norm_bias is None else small.norm_bias.astype(np.float64)
    shift = np.zeros(rows.shape[:2]) if bias is None else bias.astype(np.float64)
    spectral = np.array([np.linalg.norm(head, 2) for head in rows * _stored(small.gamma, False)])
    frobenius = np.linalg.norm(rows * _stored(small.gamma, cast), axis=(1, 2))
    largest = radius * spectral + np.linalg.norm(rows @ beside + shift, axis=1)
    error = radius * frobenius + np.linalg.norm(np.abs(rows) @ np.abs(beside) + np.abs(shift), axis=1)
    grown = float(product_error(unit, 4 + 2 * cast, 2 * sizes.d_model))  # sums of the norm and of the projection
    # by component: the state and what is cast of its bias, the sum and what is cast of a bias, the cast weights
    states, sums = (1 + cast) * radius * np.linalg.norm(rows, axis=(1, 2)), 1.0 + cast
    if cast:
        sums += radius * float(np.linalg.norm(small.gamma.astype(np.float64))) + float(np.abs(beside).sum())
    return Sizes(largest, grown * error + (1 + grown) * lost * (states + math.sqrt(sizes.d_head) * sums))
