"""Means of the powers of an attention matrix with geometric weights, over finitely or infinitely many powers.

Everything stays a mean of stochastic matrices, so small lambda loses no digits, as I - A / (1 + lambda) would.
"""

from __future__ import annotations

import math

import numpy as np

from theory.value_residual.inputs import Array

_NOTHING = 1e-20  # what is left of the weights where the doubling stops, far below a rounding


def mean_power(attention: Array, lam: float, count: int) -> tuple[Array, Array]:
    """(G_count, A^count), G_m = sum_{k<m} g^k A^k / sum_{k<m} g^k with g = 1/(1 + lambda); G_0 is called I.

    One bit of count a step: G_2m = (G_m + g^m A^m G_m) / (1 + g^m), and G_{m+1} mixes I and A G_m.
    """
    identity = np.eye(len(attention))
    mean, power, m = identity, identity, 0
    for bit in f"{count:b}":
        if m:
            mean, power = _doubled(mean, power, _left(lam, m))
            m *= 2
        if bit == "1":
            fresh = _gone(lam, 1) / _gone(lam, m + 1) if lam else 1.0 / (m + 1)
            mean, power = fresh * identity + (1.0 - fresh) * (attention @ mean), attention @ power
            m += 1
    return mean, power


def limit_power(attention: Array, lam: float) -> Array:
    """G = lambda/(1 + lambda) sum_k (A/(1 + lambda))^k = lambda ((1 + lambda) I - A)^{-1}, for lambda > 0."""
    mean, power, m = np.eye(len(attention)), attention, 1
    while (left := _left(lam, m)) > _NOTHING:
        mean, power = _doubled(mean, power, left)
        m *= 2
    return mean


def layers_left(lam: float, count: int) -> tuple[float, float]:
    """(g^count, 1 - g^count), g = 1/(1 + lambda), each with its digits."""
    return _left(lam, count), _gone(lam, count)


def _doubled(mean: Array, power: Array, left: float) -> tuple[Array, Array]:
    squared = power @ power
    # Rows of A^m drift from 1 by m roundings, and m may be 2^60.
    return (mean + left * (power @ mean)) / (1.0 + left), squared / squared.sum(-1, keepdims=True)


def _left(lam: float, count: int) -> float:
    return math.exp(-count * math.log1p(lam))


def _gone(lam: float, count: int) -> float:
    return -math.expm1(-count * math.log1p(lam))
