"""What each subject is, written out in float64; nothing here is shared with `theory` or `dynamics`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import wraps

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Yes = NDArray[np.bool_]
_silent = [False]


@contextmanager
def silent() -> Iterator[None]:
    """While an adapter answers: what is expected is no business of its own."""
    _silent[0] = True
    try:
        yield
    finally:
        _silent[0] = False


def own(formula):
    """A formula that no adapter may ask. Raises RuntimeError if one does."""

    @wraps(formula)
    def asked(*given, **more):
        if _silent[0]:
            raise RuntimeError(f"the adapter asks the suite itself for {formula.__name__}")
        return formula(*given, **more)

    return asked


@own
def slopes(n_heads: int) -> Array:
    """ALiBi's slopes as models are trained with them, for any number of heads.

    Source: Press et al. (arXiv:2108.12409): 2^(-8h/n), n a power of two; otherwise, in the authors' code, those of the
    power of two below, and then the first, third, .. of twice that power.
    """
    power = 1
    while 2 * power <= n_heads:
        power *= 2
    both = slopes_of_the_sentence(power), slopes_of_the_sentence(2 * power)[::2]
    return np.concatenate(both)[:n_heads]


def slopes_of_the_sentence(n_heads: int) -> Array:
    """2^(-8h/n) for every n: the paper's sentence ("in general"), which the authors' code follows at powers of two."""
    return 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)


def bias(n_heads: int, n_queries: int, n_keys: int) -> Array:
    """-slope times the distance from the query, (heads, queries, keys): queries are the last tokens of keys."""
    at = np.arange(n_keys - n_queries, n_keys)
    return -slopes(n_heads)[:, None, None] * (at[:, None] - np.arange(n_keys))


def seen(
    n_queries: int,
    n_keys: int,
    mask: Yes | None = None,
    segments: NDArray[np.int64] | None = None,
    window: int | None = None,
    first: int | None = None,
) -> Yes:
    """Which keys a query sees, (batch or 1, queries, keys): its own and earlier ones; no pad, no other document, and of
    a window the last ones, its own among them. mask, segments (batch, keys); first: where the first query is counted
    to stand, by default so that the last one is the last key."""
    own, key = np.arange(n_keys - n_queries, n_keys), np.arange(n_keys)
    back = (own if first is None else first + np.arange(n_queries))[:, None] - key
    found = (back >= 0)[None]
    if window is not None:
        found = found & (back < window)
    if mask is not None:
        found = found & mask[:, None, :]
    if segments is not None:
        found = found & (segments[:, own, None] == segments[:, None, :])
    return found


@own
def attention(q: Array, k: Array, v: Array, sees: Yes, added: Array | None = None, sinks: Array | None = None) -> Array:
    """Softmax(q.k / sqrt(d) + added) over the keys seen, times v; zero for a query that sees none.

    Args: q (batch, heads, queries, d); k, v (batch, groups, keys, d), head h reads group h // (heads / groups); sees
        (batch or 1, [heads or 1,] queries, keys); added (heads, queries, keys); sinks (heads,), logits without a value.
    """
    group = np.arange(q.shape[1]) * k.shape[1] // q.shape[1]
    logits = q @ np.swapaxes(k[:, group], 2, 3) / np.sqrt(q.shape[3]) + (0 if added is None else added)
    logits = np.where(sees[:, None] if sees.ndim == 3 else sees, logits, -np.inf)
    sink = -np.inf if sinks is None else sinks[:, None, None]
    top = np.maximum(logits.max(3, keepdims=True), sink)
    top[np.isneginf(top)] = 0.0  # of a query that sees none, and whose powers are all zero
    powers = np.exp(logits - top)
    total = powers.sum(3, keepdims=True) + np.exp(sink - top)
    return powers @ v[:, group] / np.where(total, total, 1.0)


@own
def shifted(x: Array, weights: Sequence[float], segments: NDArray | None = None, mask: Yes | None = None) -> Array:
    """y[t] = sum_j weights[j] x[t - j]: nothing before the first token, of another document or of a pad; x (batch,
    length, ..)."""
    out = np.zeros_like(x)
    for b, t in np.ndindex(x.shape[:2]):
        for j, weight in enumerate(weights):
            if j > t or (mask is not None and not mask[b, t - j]):
                break
            if segments is not None and segments[b, t - j] != segments[b, t]:
                break
            out[b, t] += weight * x[b, t - j]
    return out


def in_half(positions: NDArray[np.int64], dtype: str) -> Array:
    """Whole numbers as so many bits of them are kept: 8 of bfloat16, 11 of float16, half to even."""
    bits = {"bfloat16": 8, "float16": 11}[dtype]
    unit = 2.0 ** np.maximum(0, np.floor(np.log2(np.maximum(positions, 1))) + 1 - bits)
    return np.round(positions / unit) * unit


@own
def rotated(x: Array, positions: NDArray[np.int64], base: float, pairs: str, dims: int | None = None) -> Array:
    """Turn pair i of the first `dims` channels by position * base^(-2i/dims); x (batch, heads, length, d).

    Source: RoFormer (arXiv:2104.09864), Eq. 15. Pairs: "halves" (i, i + dims/2), "neighbours" (2i, 2i + 1).
    """
    dims = x.shape[3] if dims is None else dims
    out = x.copy()
    for i in range(dims // 2):
        first, second = (i, i + dims // 2) if pairs == "halves" else (2 * i, 2 * i + 1)
        angle = positions[:, None] * base ** (-2 * i / dims)
        cos, sin = np.cos(angle), np.sin(angle)
        out[..., first] = x[..., first] * cos - x[..., second] * sin
        out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out


@own
def with_first(values: Sequence[Array], own: float, first: float) -> list[Array]:
    """What each layer reads: V_1 in the first, own V_n + first V_1 after it (ResFormer, arXiv:2410.17897, Eq. 7)."""
    return [values[0], *(own * layer + first * values[0] for layer in values[1:])]


@own
def razor(q: Array, k: Array, v: Array, sinks: int, window: int, whole: Yes, compensated: bool) -> Array:
    """RazorAttention, layers first: groups in `whole` see all, the others `sinks` first and `window` last tokens.

    Source: RazorAttention (arXiv:2407.15891), Section 3.2, Eq. 4 and 5. compensated: the N_d dropped tokens stand
    together as one, the mean of their keys and of their values, which counts N_d times. So each of them has the mean of
    their logits: N_d exp(q.mean(k)) mean(v) = sum_d exp(mean(q.k)) v_d.
    """
    at, group = np.arange(q.shape[3]), np.arange(q.shape[2]) * k.shape[2] // q.shape[2]
    back = at[:, None] - at
    gone = (at >= sinks) & (back >= window) & ~whole[:, None, group, None, None]
    logits = q @ np.swapaxes(k[:, :, group], 3, 4) / np.sqrt(q.shape[4])
    mean = (logits * gone).sum(4, keepdims=True) / np.maximum(gone.sum(4, keepdims=True), 1)
    logits = np.where(gone, mean if compensated else -np.inf, logits)
    logits = np.where(back >= 0, logits, -np.inf)
    powers = np.exp(logits - logits.max(4, keepdims=True))
    return powers @ v[:, :, group] / powers.sum(4, keepdims=True)
