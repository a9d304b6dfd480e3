"""Kernels of `theory.landscape` at one position: loss, excess, gradient and Hessian, free of overflow and cancellation.

With E1 = e^{alpha1} - 1, E2 = e^{alpha2} - 1 and E12 = e^{alpha1 + alpha2} - 1 the partition S and both coefficients of
each logit difference D_c = l_c - l_target = (u_c beta1 + v_c beta2) / S are affine in (1, E1, E2, E12).
"""

from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Place = int | Array | None

_OVERFLOW = 600.0  # e^600 is finite with room for the sums


class Form(NamedTuple):
    """Coefficients of (1, E1, E2, E12)."""

    one: ArrayLike = 0.0
    e1: ArrayLike = 0.0
    e2: ArrayLike = 0.0
    e12: ArrayLike = 0.0


class Class(NamedTuple):
    """`count` tokens whose logit exceeds the target's by (u beta1 + v beta2) / S."""

    count: ArrayLike
    u: Form
    v: Form


class Basis(NamedTuple):
    """E1, E2, E12 and e^{alpha1}, e^{alpha2}, e^{alpha1+alpha2}, all times e^{-shift}; `one` is e^{-shift}."""

    one: Array
    e1: Array
    e2: Array
    e12: Array
    a: Array
    b: Array
    ab: Array

    def value(self, form: Form) -> Array:
        return form.one * self.one + form.e1 * self.e1 + form.e2 * self.e2 + form.e12 * self.e12

    def along_alpha1(self, form: Form) -> Array:
        return form.e1 * self.a + form.e12 * self.ab

    def along_alpha2(self, form: Form) -> Array:
        return form.e2 * self.b + form.e12 * self.ab

    def along_both(self, form: Form) -> Array:
        return form.e12 * self.ab


def make_basis(alpha1: Array, alpha2: Array, end: Array | bool) -> Basis:
    """`end` marks where i = T; only there does e^{alpha1 + alpha2} occur (elsewhere it could overflow for nothing)."""
    both = np.where(end, alpha1 + alpha2, 0.0)
    shift = np.maximum(np.maximum(np.maximum(alpha1, alpha2), both) - _OVERFLOW, 0.0)
    one, a, b, ab = np.exp(-shift), np.exp(alpha1 - shift), np.exp(alpha2 - shift), np.exp(both - shift)
    minus_one = [
        np.where(shift > 0, scaled - one, np.expm1(np.minimum(power, _OVERFLOW)))
        for scaled, power in ((a, alpha1), (b, alpha2), (ab, both))
    ]
    return Basis(one, *minus_one, a, b, ab)


def make_table(n_tokens: Array, position: Place) -> tuple[Form, list[Class]]:
    """The partition S and the classes other than the target."""
    total = n_tokens + 1.0
    if position is None:
        return Form(total, 2.0, 1.0), [
            Class(1.0, Form(1.0, 2.0, -1.0), Form(0.0, 0.0, 1.0)),
            Class(2.0, Form(0.0, 0.0, -1.0), Form(0.0, 1.0)),
            Class(n_tokens - 4.0, Form(0.0, 0.0, -1.0), Form()),
        ]
    end = position == n_tokens
    last = np.where(position == n_tokens - 1.0, 1.0, 0.0)
    edges = np.where(end, 1.0, (position >= 2) + np.where(position <= n_tokens - 2.0, 1.0, 0.0))
    here = np.where(end, 0.0, 1.0)
    # where i = T the repeated token is the target, with its own forms; `here` and `end` switch between the two
    other_u = Form(-1.0 * end, -1.0 * end, -1.0 * here, -1.0 * end)
    return Form(total, 1.0 + here, here, 1.0 * end), [
        Class(here, Form(1.0, 2.0, -1.0), Form(0.0, -last, 1.0)),
        Class(edges, other_u, Form(0.0, np.where(end, 1.0, 1.0 - last), 0.0, -1.0 * end)),
        Class(n_tokens - 1.0 - here - edges, other_u, Form(0.0, -last, 0.0, -1.0 * end)),
    ]


def _differences(basis: Basis, beta1: Array, beta2: Array, tokens: Array, position: Place):
    """The partition, and (count, D, class) of each class other than the target."""
    form, classes = make_table(tokens, position)
    partition = basis.value(form)
    rows = [(c.count, (basis.value(c.u) * beta1 + basis.value(c.v) * beta2) / partition, c) for c in classes]
    return form, partition, rows


def _largest(rows) -> Array:
    """The largest D_c of a class that has members, at least 0 (the target's own)."""
    return reduce(np.maximum, [np.where(np.greater(count, 0), np.maximum(d, 0.0), 0.0) for count, d, _ in rows])


def loss_at(basis: Basis, beta1: Array, beta2: Array, tokens: Array, position: Place) -> Array:
    _, _, rows = _differences(basis, beta1, beta2, tokens, position)
    top = _largest(rows)
    rest = sum(count * np.exp(np.minimum(d - top, 0.0)) for count, d, _ in rows)
    return top + np.log1p(np.expm1(-top) + rest)


def excess_at(basis: Basis, beta1: Array, beta2: Array, tokens: Array, position: Place) -> Array:
    _, _, rows = _differences(basis, beta1, beta2, tokens, position)
    mean = sum(count * np.expm1(np.minimum(d, 1.0)) for count, d, _ in rows) / tokens
    near = (np.abs(mean) < 0.5) & (_largest(rows) < 1.0)
    far = loss_at(basis, beta1, beta2, tokens, position) - np.log(tokens)
    return np.where(near, np.log1p(np.where(near, mean, 0.0)), far)


def _probabilities(rows) -> list[Array]:
    """Softmax weight of each class (all its members together)."""
    top = _largest(rows)
    weights = [count * np.exp(np.minimum(d - top, 0.0)) for count, d, _ in rows]
    total = np.exp(-top) + sum(weights)
    return [weight / total for weight in weights]


def _slopes(basis: Basis, c: Class, form: Form, d: Array, partition: Array, beta1: Array, beta2: Array) -> list[Array]:
    """dD / d(alpha1, alpha2, beta1, beta2) for D = (u beta1 + v beta2) / S."""
    along = (basis.along_alpha1, basis.along_alpha2)
    alphas = [(step(c.u) * beta1 + step(c.v) * beta2 - d * step(form)) / partition for step in along]
    return [*alphas, basis.value(c.u) / partition, basis.value(c.v) / partition]


def gradient_at(basis: Basis, beta1: Array, beta2: Array, tokens: Array, position: Place) -> Array:
    """sum_c p_c dD_c, last axis 4."""
    form, partition, rows = _differences(basis, beta1, beta2, tokens, position)
    parts = np.zeros((4, *np.broadcast(partition, beta1, beta2).shape))
    for share, (_, d, c) in zip(_probabilities(rows), rows, strict=True):
        for index, slope in enumerate(_slopes(basis, c, form, d, partition, beta1, beta2)):
            parts[index] += share * slope
    return np.moveaxis(parts, 0, -1)


def hessian_at(basis: Basis, beta1: Array, beta2: Array, tokens: Array, position: Place) -> Array:
    """sum_c p_c d2D_c + sum_c p_c dD_c dD_c^T - (sum_c p_c dD_c)(sum_c p_c dD_c)^T, last two axes (4, 4)."""
    form, partition, rows = _differences(basis, beta1, beta2, tokens, position)
    shape = np.broadcast(partition, beta1, beta2).shape
    mean, second = np.zeros((4, *shape)), np.zeros((4, 4, *shape))
    for share, (_, d, c) in zip(_probabilities(rows), rows, strict=True):
        slopes = _slopes(basis, c, form, d, partition, beta1, beta2)
        bends = _bends(basis, c, form, d, partition, beta1, beta2, slopes)
        for i in range(4):
            mean[i] += share * slopes[i]
            for j in range(4):
                second[i, j] += share * (bends[i][j] + slopes[i] * slopes[j])
    return np.moveaxis(second - mean[:, None] * mean[None, :], (0, 1), (-2, -1))


def _bends(basis: Basis, c: Class, form: Form, d, partition, beta1, beta2, slopes) -> list[list[Array]]:
    """Second derivatives of D: from N = D S, d2N = d2D S + dD dS + dS dD + D d2S; N is linear in beta."""
    first = (basis.along_alpha1, basis.along_alpha2)
    twice = [[basis.along_alpha1, basis.along_both], [basis.along_both, basis.along_alpha2]]
    rise = [step(form) for step in first]
    bends = [[np.zeros(()) for _ in range(4)] for _ in range(4)]
    for i in range(2):
        for j in range(2):
            top = twice[i][j](c.u) * beta1 + twice[i][j](c.v) * beta2
            cross = slopes[i] * rise[j] + slopes[j] * rise[i] + d * twice[i][j](form)
            bends[i][j] = (top - cross) / partition
        for k, part in ((2, c.u), (3, c.v)):
            bends[i][k] = bends[k][i] = (first[i](part) - basis.value(part) / partition * rise[i]) / partition
    return bends
