"""Logit ranges and value diameters of a checkpoint's heads, a few at a time, with what each of them rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import numpy as np

from dynamics.weights.reader import Architecture, Checkpoint, SmallTensors
from theory import alibi
from theory.alibi import grams
from theory.alibi.grams_rotary import rotary_ranges
from theory.alibi.grams_rows import turned
from theory.alibi.rotary import rotary_range_normed
from theory.alibi.shifted import shifted_range

CHUNK_BYTES = 24 * 2**20  # weights in memory at a time, in float32
OUTWARD = 1 + 2.0**-49  # more than the scale and the shift, in floats, can round down


class Basis(Enum):
    """What the logit range of a head is."""

    ATTAINED = "attained by a query and two keys, in floats: their rounding is estimated, and proved with --certified"
    CERTIFIED = "upper end of an enclosure in ball arithmetic"
    ROTATIONS = "a bound over all relative rotations, in floats whose rounding is estimated"
    GAINS = "a bound from the gains of query and key norms"
    CLIPPED = "a bound from clipped queries and keys"


class Mixed(NamedTuple):
    """A head whose keys are a_1 k_t + a_2 k_{t-1}: the range D of raw keys' logits, a_1 (own) and a_2 (before)."""

    raw: float
    own: float
    before: float


class HeadRange(NamedTuple):
    """One query head: logit_range D over all post-norm states; value_diameter of its key-value head, inf with no norm.

    mixed: where neighbours' logits share raw keys and nothing else enters, as `theory.alibi.shifted_scope` needs it.
    product_norm ||W_Q^T W_K||_2 and spectral_range, the bound on D that follows from it: None under rotations and
    clips, where they bound nothing. sink: a learned logit that the softmax has beside those of tokens.
    """

    layer: int
    head: int
    kv_head: int
    slope: float | None
    logit_range: float
    basis: Basis
    product_norm: float | None
    spectral_range: float | None
    value_diameter: float
    sink: float | None = None
    mixed: Mixed | None = None


class Part(NamedTuple):
    """Consecutive key-value heads of a layer with their query heads; weights (heads, d_head, d_model) in float32."""

    first: int
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray


def layer_ranges(checkpoint: Checkpoint, layer: int, certified: bool = False) -> Iterator[HeadRange]:
    """All query heads of a layer in order. certified: balls where the range is attained (minutes for wide heads).

    A KV shift multiplies range and diameter by the sum of |coefficients| (`theory.alibi.shifted`).
    Raises: as `Checkpoint` does; ValueError for a shift beside biases, which its bound does not cover.
    """
    sizes, small = checkpoint.layer_architecture(layer), checkpoint.small(layer)
    shifted = small.alpha is not None or small.beta is not None
    if shifted and any(bias is not None for bias in (small.norm_bias, small.key_bias, small.value_bias)):
        raise ValueError(f"layer {layer}: a KV shift beside biases of the norm, key or value is not supported")
    for part in _parts(checkpoint, layer, sizes):
        yield from _heads(layer, part, sizes, small, certified)


def _parts(checkpoint: Checkpoint, layer: int, sizes: Architecture) -> Iterator[Part]:
    """Each part is overwritten by the next: memory that is given back costs as much to get anew as reading into it."""
    group = sizes.n_heads // sizes.n_kv_heads
    most = max(1, CHUNK_BYTES // (4 * (group + 2) * sizes.d_head * sizes.d_model))
    count = min(most, sizes.n_kv_heads)
    query, key, value = (np.empty((n, sizes.d_head, sizes.d_model), np.float32) for n in (count * group, count, count))
    for first in range(0, sizes.n_kv_heads, count):
        last = min(first + count, sizes.n_kv_heads)
        number = last - first
        yield Part(
            first,
            checkpoint.projection(layer, "query", first * group, last * group, query[: number * group]),
            checkpoint.projection(layer, "key", first, last, key[:number]),
            checkpoint.projection(layer, "value", first, last, value[:number]),
        )


def _heads(layer: int, part: Part, sizes: Architecture, small: SmallTensors, certified: bool) -> Iterator[HeadRange]:
    group = len(part.query) // len(part.key)
    heads = slice(part.first * group, part.first * group + len(part.query))
    kv_heads = slice(part.first, part.first + len(part.key))
    ranges, basis = _ranges(part, sizes, small, heads, kv_heads, certified)
    ranges = ranges * sizes.scale * math.sqrt(sizes.d_head)
    diameters = np.full(len(part.value), math.inf)
    if sizes.norm != "none":
        diameters = grams.value_diameters(part.value, small.gamma, sizes.norm)
    if sizes.clip is not None:  # clamping moves no two values apart, and puts all in a cube
        diameters = np.minimum(diameters, 2 * sizes.clip * math.sqrt(sizes.d_head))
    norms = None
    if basis in (Basis.ATTAINED, Basis.CERTIFIED):
        norms = grams.product_norms(part.query, part.key)
    for i, head in enumerate(range(heads.start, heads.stop)):
        kv_head = head // group
        spectral = None if norms is None else _spectral(float(norms[i]), part.key[i // group], head, sizes, small)
        yield HeadRange(
            layer,
            head,
            kv_head,
            None if sizes.slopes is None else sizes.slopes[head],
            _capped(_mixed(float(ranges[i]), small.alpha, kv_head), sizes.softcap),
            basis,
            None if norms is None else float(norms[i]),
            None if spectral is None else _mixed(spectral, small.alpha, kv_head),
            _mixed(float(diameters[i // group]), small.beta, kv_head),
            None if small.sinks is None else float(small.sinks[head]),
            _two(float(ranges[i]), basis, sizes, small.alpha, kv_head),
        )


def _capped(logit_range: float, cap: float | None) -> float:
    """2 c tanh(D/2c): c tanh(x/c) rises by no more over an interval of length D, and by this about 0; of mixed ones."""
    return logit_range if cap is None else 2 * cap * math.tanh(logit_range / (2 * cap)) * OUTWARD


def _spectral(norm: float, key: np.ndarray, head: int, sizes: Architecture, small: SmallTensors) -> float:
    """The spectral bound of the head's range, from its norms."""
    pull = 0.0
    if small.query_bias is not None:
        pull = float(np.linalg.norm(turned(key, small.query_bias[head].astype(np.float64))))
    return alibi.spectral_range_of_norms(norm * sizes.scale, pull * sizes.scale, small.gamma, small.norm_bias)


def _mixed(raw: float, coefficients: np.ndarray | None, kv_head: int) -> float:
    return raw if coefficients is None else float(shifted_range(raw, coefficients[kv_head]))


def _two(
    raw: float, basis: Basis, sizes: Architecture, coefficients: np.ndarray | None, kv_head: int
) -> Mixed | None:
    """None for unmixed keys, more than two coefficients, and rotated, clipped or capped logits."""
    plain = basis in (Basis.ATTAINED, Basis.CERTIFIED) and sizes.softcap is None
    if coefficients is None or coefficients.shape[1] != 2 or not plain:
        return None
    return Mixed(raw, *(float(c) for c in coefficients[kv_head]))


def _ranges(
    part: Part, sizes: Architecture, small: SmallTensors, heads: slice, kv_heads: slice, certified: bool
) -> tuple[np.ndarray, Basis]:
    """D (heads,) with 1/sqrt(d_head), before any shift."""
    query_bias = None if small.query_bias is None else small.query_bias[heads]
    key_bias = None if small.key_bias is None else small.key_bias[kv_heads]
    if small.query_gain is not None and small.key_gain is not None:
        return _normed(sizes, small, heads), Basis.GAINS
    if sizes.norm == "none":
        raise ValueError("neither states nor queries and keys are normed: no logit has a bound")
    state = (small.gamma, small.norm_bias)
    if sizes.clip is not None and not _never_clipped(part, sizes, small, query_bias, key_bias):
        return np.full(len(part.query), 2 * math.sqrt(sizes.d_head) * sizes.clip**2), Basis.CLIPPED
    if sizes.position == "rope":
        found = rotary_ranges(part.query, part.key, *state, query_bias, key_bias, norm=sizes.norm, pairs=sizes.pairs,
                              rotated=sizes.rotated)  # fmt: skip
        return found, Basis.ROTATIONS
    if not certified:
        return grams.logit_ranges(part.query, part.key, *state, query_bias, sizes.norm), Basis.ATTAINED
    group = len(part.query) // len(part.key)
    ends = [
        alibi.certified_logit_range(
            rows, part.key[i // group], *state, None if query_bias is None else query_bias[i], sizes.norm
        )[1]
        for i, rows in enumerate(part.query)
    ]
    return np.array(ends) * OUTWARD, Basis.CERTIFIED


def _normed(sizes: Architecture, small: SmallTensors, heads: slice) -> np.ndarray:
    """D from gains; of heads that are normed together one alone may hold all that the norm leaves."""
    asked, seen = (np.broadcast_to(gain, (count, sizes.d_head)) for gain, count in
                   ((small.query_gain, sizes.n_heads), (small.key_gain, sizes.n_kv_heads)))  # fmt: skip
    group = sizes.n_heads // sizes.n_kv_heads
    share = math.sqrt(sizes.n_heads * sizes.n_kv_heads) if sizes.normed_together else 1.0
    found = [rotary_range_normed(asked[head], seen[head // group], sizes.pairs, sizes.rotated)
             for head in range(heads.start, heads.stop)]  # fmt: skip
    return share * np.array(found) * OUTWARD


def _never_clipped(part: Part, sizes: Architecture, small: SmallTensors, *biases: np.ndarray | None) -> bool:
    """Whether no component of a query or key can reach the clip: sqrt(d) ||row Gamma|| + |offset| <= clip for each."""
    bias = np.zeros(sizes.d_model) if small.norm_bias is None else small.norm_bias.astype(np.float64)
    gamma = small.gamma.astype(np.float64)
    for weights, extra in zip((part.query, part.key), biases, strict=True):
        for i, rows in enumerate(head.astype(np.float64) for head in weights):
            offset = rows @ bias + (0.0 if extra is None else extra[i])
            reach = math.sqrt(sizes.d_model) * np.linalg.norm(rows * gamma, axis=1) + np.abs(offset)
            if float(reach.max()) * OUTWARD > sizes.clip:
                return False
    return True
