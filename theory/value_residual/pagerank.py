"""The value residual as personalised PageRank: a stack of attention layers that keeps coming back to V_1.

The toy: projections are the identity, so the values of layer n are the output of layer n - 1, and

    U_1 = A_1 V_1,    U_n = A_n (U_{n-1} + lambda V_1) / (1 + lambda),    n >= 2.

Each U_n is a mean of products of attention matrices applied to V_1; lambda = 0 leaves the longest product, A_n .. A_1,
alone, and lambda = 1 is Eq. 7 of ResFormer. For one matrix A in all layers the limit is a walk that goes back to the
start with probability lambda / (1 + lambda) at every step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, POSITIVE, Range, elementwise, real, sized, whole
from theory.value_residual.inputs import Array, agree, one_matrix, rows, stochastic
from theory.value_residual.powers import layers_left, limit_power, mean_power

EIGENVALUE = Range(-1.0, 1.0)


@elementwise("lam")
@sized()
def residual_stack(attention: ArrayLike, values: ArrayLike, lam: float) -> Array:
    """U_1 .. U_n by the recursion, from the matrices A_1 .. A_n. Source: ResFormer, Eq. 7 (lambda = 1).

    Args: attention (n_layers, length, length); values V_1 (length, d); lam >= 0. Returns: (n_layers, length, d).
    Raises ValueError for other shapes and numbers, and for rows that do not add up to 1.
    """
    weights, first = stochastic(attention), rows("values", values)
    if weights.ndim != 3 or first.ndim != 2:
        raise ValueError(
            f"attention (n_layers, length, length) and values (length, d) expected: got {weights.shape}, {first.shape}"
        )
    agree(weights, first)
    lam = real("lam", lam, NONNEGATIVE)
    found = [weights[0] @ first]
    for matrix in weights[1:]:
        found.append(matrix @ (found[-1] + lam * first) / (1.0 + lam))
    return np.array(found)


@elementwise("lam", "n_layers")
@sized()
def constant_stack(attention: ArrayLike, values: ArrayLike, lam: float, n_layers: int) -> Array:
    """U_n of one matrix A in n layers: lambda/(1+lambda) sum_{k=0}^{n-2} B^k A V_1 + B^{n-1} A V_1, B = A/(1+lambda).

    With G = lambda/(1+lambda) (I - B)^{-1} that is G A V_1 + B^{n-1} (I - G) A V_1. About log2(n) products.
    Args: attention A (length, length); values V_1 (length, d); lam >= 0; n_layers >= 1. Returns: (length, d).
    Raises ValueError for other shapes and numbers, and for rows that do not add up to 1.
    """
    weights, first = _walk(attention, values)
    lam, steps = real("lam", lam, NONNEGATIVE), whole("n_layers", n_layers, 1) - 1
    mean, power = mean_power(weights, lam, steps)
    left, gone = layers_left(lam, steps)
    return (gone * mean + left * power) @ (weights @ first)


@elementwise("lam")
@sized()
def stack_limit(attention: ArrayLike, values: ArrayLike, lam: float) -> Array:
    """The limit of `constant_stack` as n grows: lambda/(1+lambda) A (I - A/(1+lambda))^{-1} V_1.

    A times the fixed point of NeuTRENO. Args as `constant_stack`, but lam > 0. Raises ValueError as there.
    """
    weights, first = _walk(attention, values)
    return limit_power(weights, real("lam", lam, POSITIVE)) @ (weights @ first)


@elementwise("mu", "lam", "n_layers")
@sized()
def spectral_map(mu: float, lam: float, n_layers: int | None = None) -> float:
    """The eigenvalue of the stack that belongs to an eigenvalue mu of A: mu lambda / (1 + lambda - mu) in the limit.

    After n layers: mu (lambda/(1+lambda) (1 - b^{n-1})/(1 - b) + b^{n-1}), b = mu/(1+lambda); mu^n without a residual.
    For mu in (0, 1) it increases in lambda, from 0 to mu (SVFormer). mu = 1 stays 1.
    Args: mu real, in [-1, 1]; lam >= 0, > 0 for the limit; n_layers >= 1, None for the limit. Raises ValueError.
    """
    return real("mu", mu, EIGENVALUE) * kept(mu, lam, n_layers)


def kept(mu: float, lam: float, n_layers: int | None) -> float:
    """`spectral_map` over mu. Arguments and errors as there."""
    mu, lam = real("mu", mu, EIGENVALUE), real("lam", lam, POSITIVE if n_layers is None else NONNEGATIVE)
    # lambda / (1 + lambda - mu) without 1 + lambda, which rounds a small lambda away and overflows for none
    limit = 1.0 if mu == 1.0 else lam / (lam + (1.0 - mu))
    if n_layers is None:
        return limit
    steps = whole("n_layers", n_layers, 1) - 1
    left = math.exp(-steps * math.log1p(lam)) * mu**steps
    return limit + left * (1.0 - limit)


def _walk(attention: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    weights, first = one_matrix(attention), rows("values", values)
    if first.ndim != 2:
        raise ValueError(f"values has shape {first.shape}: expected (length, d)")
    agree(weights, first)
    return weights, first
