"""ALiBi with biases from a table: they are rounded and nondecreasing, and not multiples of the distance.

With biases b_0 <= .. <= b_{N-1} and logits that spread by at most D beside them, the query at t gives the token at k at
most 1 / (1 + e^{-D} sum_{k<i<=t} e^{b_i - b_k}). Tokens before k are not counted on: they may be masked. What holds for
b holds for any multiple c b with c >= 1, since e^{c(b_i - b_k)} >= e^{b_i - b_k}: transformers' Falcon (5.23) adds its
biases once by SDPA and twice where it computes attention itself. Everything is searched by sums of exponentials, whose
logarithms are monotone in the position; a margin covers their rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.alibi.logs import log_odds, softplus
from theory.checked import NONNEGATIVE, POSITIVE, SHARE, Range, real, reals, sized, whole

MOST = 2**24  # tokens


_LARGEST = 255 * 2.0**120  # of bfloat16


def bfloat16(values: ArrayLike) -> NDArray[np.float64]:
    """Numbers rounded to float32, then to the nearest of 8 significant bits, ties to even.

    Raises ValueError for numbers beyond the largest of bfloat16, 255 2^120.
    """
    return _rounded(reals("values", values, Range(-_LARGEST, _LARGEST)))


def _rounded(values: ArrayLike) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    return rounded.astype(np.uint32).view(np.float32).astype(np.float64)


@sized()
def rounded_biases(slope: float, n_tokens: int, scale: float = 1.0) -> NDArray[np.float64]:
    """scale fl(fl(slope) fl(t)), t = 0 .. n_tokens - 1, fl rounding to bfloat16: Falcon's ALiBi in every format.

    Args: 0 < slope < 255 2^120; scale > 0, 1/sqrt(d_head) for Falcon. Returns (n_tokens,), nondecreasing, as rounding
    is monotone.
    """
    slope, scale = real("slope", slope, Range(0.0, _LARGEST, open=True)), real("scale", scale, POSITIVE)
    places = np.arange(whole("n_tokens", n_tokens, 1, MOST))
    return scale * _rounded(_rounded(slope) * _rounded(places))


@sized(infinite=True)
def table_scope(biases: ArrayLike, logit_range: float, eps: float) -> float:
    """The distance from which no weight exceeds eps, in contexts of at most len(biases) tokens; inf where none is.

    Args: biases (n_tokens,), nondecreasing; logit_range D >= 0; eps in (0, 1).
    """
    sums, table, margin = _sums(biases)
    needed = log_odds(real("eps", eps, SHARE)) + real("logit_range", logit_range, NONNEGATIVE)
    least = np.logaddexp(sums, needed + table) + margin
    return _beyond(np.searchsorted(least, sums, side="right"))


@sized(infinite=True)
def table_window(biases: ArrayLike, logit_range: float, mass: float) -> float:
    """The window outside of which the total attention is at most mass, as `table_scope`; inf where none is."""
    sums, _, margin = _sums(biases)
    needed = log_odds(real("mass", mass, SHARE)) + real("logit_range", logit_range, NONNEGATIVE)
    return _beyond(np.searchsorted(sums, sums - softplus(needed) - margin, side="right"))


@sized()
def table_dropped_mass(biases: ArrayLike, logit_range: float, window: float) -> float:
    """Bound on the total attention to distances >= window in contexts of at most len(biases) tokens; in [0, 1]."""
    sums, _, margin = _sums(biases)
    spread, kept = real("logit_range", logit_range, NONNEGATIVE), int(real("window", window, NONNEGATIVE))
    if kept >= len(sums):
        return 0.0
    if kept == 0:
        return 1.0
    far, all_of = sums[:-kept], sums[kept:]
    ahead = np.maximum(all_of - far - margin, 1e-300)
    odds = ahead + np.log(-np.expm1(-ahead))
    return math.exp(-softplus(float(odds.min()) - spread))


def _sums(biases: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """ln sum_{i<=t} e^{b_i} for every t, b, and by how much any two of the former can be off: N steps of two units."""
    table = reals("biases", biases)
    if table.ndim != 1 or not len(table) or bool((np.diff(table) < 0).any()):
        raise ValueError(f"biases must be (n_tokens,) and nondecreasing, got shape {table.shape}")
    sums = np.logaddexp.accumulate(table)
    return sums, table, 4 * len(table) * 2.0**-52 * (1.0 + float(np.abs(sums).max()))


def _beyond(safe: NDArray[np.int64]) -> float:
    """From the number of the oldest tokens that are safe from each query: the least distance from which all are."""
    found = int((np.arange(len(safe)) - safe).max()) + 1
    return math.inf if found >= len(safe) else float(max(found, 0))
