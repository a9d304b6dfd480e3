"""Kernels of `theory.landscape` at one position: loss, excess, gradient and Hessian, free of overflow and cancellation.

The partition is S = m A + B + k with A = e^{alpha1}, B = e^{alpha2}, m = 2 and k = T - 2; at i = T, B stands for
e^{alpha1 + alpha2}, m = 1 and k = T - 1. With the weights a = A / S, b = B / S, o = 1 / S of a single key, each logit
less the target's is D = u beta1 + v beta2 with u and v linear in (a, b, o): a `Row`. As 1 = m a + b + k o, the slope of
a row along log A is a times a linear form without a, and along log B b times one without b, so that no slope is left
over from a cancellation; differences of two weights come from expm1.
"""

from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_OVERFLOW = 600.0  # e^600 is finite with room for the sums


class Weights(NamedTuple):
    """a, b, o and their differences (`b_less_a` is b - a), with m and k of the partition; `end` marks i = T."""

    a: Array
    b: Array
    o: Array
    a_less_o: Array
    b_less_o: Array
    b_less_a: Array
    both_less_o: Array  # a + b - o, only at i = T
    m: int
    k: Array
    end: bool


class Row(NamedTuple):
    """q = value, dq/dlog A = a along_a, dq/dlog B = b along_b, d2q/dlog A dlog B = a b (bend - 2 along_a)."""

    value: Callable[[Weights], Array]
    along_a: Callable[[Weights], Array]
    along_b: Callable[[Weights], Array]
    bend: int


class Class(NamedTuple):
    """Tokens whose logit exceeds the target's by u beta1 + v beta2 (v None: 0), and their number for T."""

    count: Callable[[Array], ArrayLike]
    u: Row
    v: Row | None


_REPEATED = Row(lambda w: 2 * w.a - w.b, lambda w: 4 * w.b + 2 * w.k * w.o, lambda w: -4 * w.a - w.k * w.o, 4)
_B_LESS_O = Row(lambda w: w.b_less_o, lambda w: -2 * w.b_less_o, lambda w: 2 * w.a + (w.k + 1) * w.o, -2)
_O_LESS_B = Row(lambda w: -w.b_less_o, lambda w: 2 * w.b_less_o, lambda w: -2 * w.a - (w.k + 1) * w.o, 2)
_A_LESS_O = Row(lambda w: w.a_less_o, lambda w: w.b + (w.k + 2) * w.o, lambda w: -w.a_less_o, 1)
_O_LESS_A = Row(lambda w: -w.a_less_o, lambda w: -w.b - (w.k + 2) * w.o, lambda w: w.a_less_o, -1)
_B_LESS_A = Row(lambda w: w.b_less_a, lambda w: -3 * w.b - w.k * w.o, lambda w: 3 * w.a + w.k * w.o, -3)
# of Eq. 10, where the target's logit stands alone
_LESS_B = Row(lambda w: -w.b, lambda w: 2 * w.b, lambda w: -2 * w.a - w.k * w.o, 2)
_LESS_O = Row(lambda w: -w.o, lambda w: 2 * w.o, lambda w: w.o, 0)
# at i = T, where the repeated token is the target
_END_U = Row(lambda w: -w.both_less_o, lambda w: -(w.k + 1) * w.o, lambda w: -(w.k + 1) * w.o, 0)
_END_EDGE = Row(lambda w: -w.b_less_a, lambda w: 2 * w.b + w.k * w.o, lambda w: -2 * w.a - w.k * w.o, 2)
_END_OTHER = Row(lambda w: -w.b_less_o, lambda w: w.b_less_o, lambda w: -w.a - (w.k + 1) * w.o, 1)

KINDS = {
    "interior": (
        Class(lambda _: 1.0, _REPEATED, _B_LESS_O),
        Class(lambda _: 2.0, _O_LESS_B, _A_LESS_O),
        Class(lambda t: t - 4.0, _O_LESS_B, None),
    ),
    "first": (
        Class(lambda _: 1.0, _REPEATED, _B_LESS_O),
        Class(lambda _: 1.0, _O_LESS_B, _A_LESS_O),
        Class(lambda t: np.maximum(t - 3.0, 0.0), _O_LESS_B, None),
    ),
    "last": (  # i = T - 1: the target mixes in the key at T + 1; at T = 2 the repeated token is the only other one
        Class(lambda _: 1.0, _REPEATED, _B_LESS_A),
        Class(lambda t: np.minimum(t - 2.0, 1.0), _O_LESS_B, None),
        Class(lambda t: np.maximum(t - 3.0, 0.0), _O_LESS_B, _O_LESS_A),
    ),
    "end": (
        Class(lambda _: 1.0, _END_U, _END_EDGE),
        Class(lambda t: t - 2.0, _END_U, _END_OTHER),
    ),
    "printed": (  # Eq. 10: e^{alpha2} for e^{alpha1} in the two edge tokens, its O(T) for all others and for T
        Class(lambda _: 1.0, _REPEATED, _B_LESS_O),
        Class(lambda _: 2.0, _O_LESS_B, _B_LESS_O),
        Class(lambda rest: rest, _LESS_B, _LESS_O),
    ),
}


def weigh(alpha1: Array, alpha2: Array, tokens: Array, end: bool) -> Weights:
    """The weights at i = T (`end`) or at another position.

    At T = 2, i = 1 no key has score 0: only alpha1 - alpha2 matters, and alpha2 is moved to 0.
    """
    if end:
        return _weights(alpha1, alpha1 + alpha2, alpha2, 1, tokens - 1.0, True)
    if (tokens == 2).any():
        alpha1, alpha2 = np.where(tokens == 2, alpha1 - alpha2, alpha1), np.where(tokens == 2, 0.0, alpha2)
    return _weights(alpha1, alpha2, alpha2 - alpha1, 2, tokens - 2.0, False)


def weigh_printed(alpha1: Array, alpha2: Array, rest_scores: Array) -> Weights:
    """The weights with any number >= 0 for T - 2; not finite where alphas below -700 are all that S consists of."""
    return _weights(alpha1, alpha2, alpha2 - alpha1, 2, rest_scores, False)


def _weights(log_a: Array, log_b: Array, gap: Array, m: int, k: Array, end: bool) -> Weights:
    """`gap` is log_b - log_a, before rounding."""
    top = np.maximum(log_a, log_b)
    shift = np.where(k > 0, np.maximum(top - _OVERFLOW, 0.0), top)
    one, a, b = np.exp(-shift), np.exp(log_a - shift), np.exp(log_b - shift)
    partition = m * a + b + k * one
    a, b, o = a / partition, b / partition, one / partition
    a_less_o, b_less_o = (
        np.where(power < _OVERFLOW, np.expm1(np.minimum(power, _OVERFLOW)) * o, weight)
        for power, weight in ((log_a, a), (log_b, b))
    )
    b_less_a = np.where(gap > 0, b, -a) * -np.expm1(-np.abs(gap))
    # o is taken from the weight that is nearer to it
    both_less_o = np.where(np.abs(log_b) < np.abs(log_a), a + b_less_o, b + a_less_o) if end else o
    return Weights(a, b, o, a_less_o, b_less_o, b_less_a, both_less_o, m, k, end)


def _differences(kind: str, w: Weights, beta1: Array, beta2: Array, tokens: Array) -> list[tuple[ArrayLike, Array]]:
    """(count, D) of each class other than the target."""
    return [
        (c.count(tokens), c.u.value(w) * beta1 + (0.0 if c.v is None else c.v.value(w) * beta2)) for c in KINDS[kind]
    ]


class Terms(NamedTuple):
    """sum_c count_c e^{D_c} = e^top (e^{-top} + sum_c count_c half_c^2), top >= 0; the halves underflow later."""

    top: Array
    counts: list[ArrayLike]
    halves: list[Array]

    def rest(self) -> Array:
        return sum(count * half * half for count, half in zip(self.counts, self.halves, strict=True))


def _terms(rows: list[tuple[ArrayLike, Array]]) -> Terms:
    # a count below 1 (none, or of a T that is not whole) goes into the exponent, and must not set `top` by its D alone
    powers = [d + np.log(np.minimum(count, 1.0)) if np.less(count, 1).any() else d for count, d in rows]
    top = reduce(np.maximum, powers, 0.0)
    return Terms(top, [np.maximum(count, 1.0) for count, _ in rows], [np.exp((power - top) / 2) for power in powers])


def _log_sum(terms: Terms) -> Array:
    return terms.top + np.log1p(np.expm1(-terms.top) + terms.rest())


def loss_at(kind: str, w: Weights, beta1: Array, beta2: Array, tokens: Array) -> Array:
    return _log_sum(_terms(_differences(kind, w, beta1, beta2, tokens)))


def excess_at(kind: str, w: Weights, beta1: Array, beta2: Array, tokens: Array) -> Array:
    rows = _differences(kind, w, beta1, beta2, tokens)
    mean = sum(count * np.expm1(d) for count, d in rows) / tokens
    if kind == "last" and (tokens == 3).any():
        mean = np.where(tokens == 3, _mean_of_three(w, beta1, beta2, rows, mean), mean)
    near = np.abs(mean) < 0.5
    return np.where(near, np.log1p(np.where(near, mean, 0.0)), _log_sum(_terms(rows)) - np.log(tokens))


def _pair(half_sum: Array, half_gap: Array) -> Array:
    """expm1(x) + expm1(y) by (x + y) / 2 and (x - y) / 2, where the former may be far below the latter."""
    return 2 * np.expm1(half_sum) * np.cosh(half_gap) + 4 * np.sinh(half_gap / 2) ** 2


def _mean_of_three(w: Weights, beta1: Array, beta2: Array, rows: list[tuple[ArrayLike, Array]], mean: Array) -> Array:
    """(1/3) (expm1(D_r) + expm1(D_e)) at T = 3, i = 2, where D_r + D_e = (beta2 - 2 beta1) (b - a) + beta1 o.

    Both factors of the first part vanish as alpha1 = alpha2 grow, whatever beta: no other position has such a place.
    """
    (_, repeated), (_, edge), _ = rows
    small = np.maximum(np.abs(repeated), np.abs(edge)) < 0.5
    total = (beta2 - 2 * beta1) * w.b_less_a + beta1 * w.o
    return np.where(small, _pair(total / 2, np.where(small, repeated - edge, 0.0) / 2) / 3, mean)


def excess_over_three(w: Weights, beta1: Array, beta2: Array) -> Array:
    """Mean excess at T = 3 over i = 1 and 2, where the leading parts beta2 (a - o) cancel; nan unless all |D| < 1/2.

    D = r, e + z at i = 1 and r - z, e at i = 2 with z = beta2 (a - o). Twice the mean is the logarithm of the product
    of both sums over 9.
    """
    r, e = _REPEATED.value(w) * beta1 + w.b_less_o * beta2, -w.b_less_o * beta1
    z, m = w.a_less_o * beta2, (r + e) / 2
    product = np.expm1(r) + np.expm1(e) + 2 * np.expm1(2 * m) + _pair(m, z + (e - r) / 2) + _pair(2 * m, z + e - r)
    # beyond, neither part of a pair is small beside the other, and cosh may overflow
    near = np.maximum(np.abs(z), np.maximum(np.abs(r), np.abs(e))) < 0.5
    return np.where(near, np.log1p(np.where(near, product, 0.0) / 9) / 2, np.nan)


def _mix(c: Class, along: Callable[[Row], Array | int], beta1: Array, beta2: Array) -> Array:
    """What `along` says of D = u beta1 + v beta2."""
    return along(c.u) * beta1 + (0.0 if c.v is None else along(c.v) * beta2)


def _slopes(c: Class, w: Weights, beta1: Array, beta2: Array) -> list[Array]:
    """dD / d(log A, log B), without their factors a and b, and dD / d(beta1, beta2)."""
    along = [_mix(c, lambda row: row.along_a(w), beta1, beta2), _mix(c, lambda row: row.along_b(w), beta1, beta2)]
    return [*along, c.u.value(w), np.zeros(()) if c.v is None else c.v.value(w)]


def both_at(kind: str, w: Weights, beta1: Array, beta2: Array, tokens: Array) -> Array:
    """L and its gradient, last axis 5."""
    terms = _terms(_differences(kind, w, beta1, beta2, tokens))
    parts = _gradient(kind, w, beta1, beta2, tokens, terms)
    return np.concatenate([np.broadcast_to(_log_sum(terms), parts.shape[1:])[..., None], np.moveaxis(parts, 0, -1)], -1)


def gradient_at(kind: str, w: Weights, beta1: Array, beta2: Array, tokens: Array) -> Array:
    """The gradient, last axis 4."""
    terms = _terms(_differences(kind, w, beta1, beta2, tokens))
    return np.moveaxis(_gradient(kind, w, beta1, beta2, tokens, terms), 0, -1)


def _gradient(kind: str, w: Weights, beta1: Array, beta2: Array, tokens: Array, terms: Terms) -> Array:
    """sum_c p_c dD_c, first axis 4."""
    total = np.exp(-terms.top) + terms.rest()
    parts = np.zeros((4, *np.broadcast(w.a, beta1, beta2, tokens).shape))
    for c, count, half in zip(KINDS[kind], terms.counts, terms.halves, strict=True):
        share = count * half / total
        for k, slope in enumerate(_slopes(c, w, beta1, beta2)):
            parts[k] += slope * share * half
    parts[0] *= w.a
    parts[1] *= w.b
    if w.end:
        parts[0] += parts[1]
    return parts


def hessian_at(kind: str, w: Weights, beta1: Array, beta2: Array, tokens: Array) -> Array:
    """sum_c p_c d2D_c + sum_c p_c (dD_c - m) (dD_c - m)^T + p_t m m^T, m = sum_c p_c dD_c; last two axes (4, 4)."""
    terms = _terms(_differences(kind, w, beta1, beta2, tokens))
    total = np.exp(-terms.top) + terms.rest()
    shares = [count * half * half / total for count, half in zip(terms.counts, terms.halves, strict=True)]
    slopes = [_slopes(c, w, beta1, beta2) for c in KINDS[kind]]
    for slope in slopes:
        slope[0], slope[1] = w.a * slope[0], w.b * slope[1]
    mean = [sum(share * slope[k] for share, slope in zip(shares, slopes, strict=True)) for k in range(4)]
    found = np.empty((4, 4, *np.broadcast(w.a, beta1, beta2, tokens).shape))
    bends = [_bends(c, w, beta1, beta2) for c in KINDS[kind]]
    for i, j in zip(*np.triu_indices(4), strict=True):
        found[i, j] = np.exp(-terms.top) / total * mean[i] * mean[j]
        for share, slope, bend in zip(shares, slopes, bends, strict=True):
            found[i, j] += share * ((slope[i] - mean[i]) * (slope[j] - mean[j]) + bend.get((i, j), 0.0))
        found[j, i] = found[i, j]
    if w.end:
        found[0] += found[1]
        found[:, 0] += found[:, 1]
    return np.moveaxis(found, (0, 1), (-2, -1))


def _bends(c: Class, w: Weights, beta1: Array, beta2: Array) -> dict[tuple[int, int], Array]:
    """Second derivatives of D in log A, log B, beta1, beta2 that are not 0, above the diagonal and on it."""
    # 1 - 2 m a and 1 - 2 b, as 1 = m a + b + k o
    room_a, room_b = w.b + w.k * w.o - w.m * w.a, w.m * w.a + w.k * w.o - w.b
    bends = {
        (0, 0): w.a * room_a * _mix(c, lambda row: row.along_a(w), beta1, beta2),
        (0, 1): w.a * w.b * _mix(c, lambda row: row.bend - 2 * row.along_a(w), beta1, beta2),
        (1, 1): w.b * room_b * _mix(c, lambda row: row.along_b(w), beta1, beta2),
    }
    for column, row in ((2, c.u), (3, c.v)):
        if row is not None:
            bends[0, column], bends[1, column] = w.a * row.along_a(w), w.b * row.along_b(w)
    return bends
