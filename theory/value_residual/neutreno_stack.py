"""NeuTRENO adds lambda (V_1 - V_n) after the mixing: the fixed point of a deep stack of it, and when it is reached.

Source: ResFormer, Eq. 8, after Nguyen et al. (2023). The toy of a stack: one matrix A in all layers, the values of
layer n are the output of layer n - 1, so U_n = (A - lambda I) U_{n-1} + lambda V_1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, POSITIVE, elementwise, real, sized
from theory.value_residual.inputs import Array, agree, one_matrix, rows, stochastic
from theory.value_residual.powers import limit_power


@elementwise("lam")
@sized()
def neutreno(attention: ArrayLike, values: ArrayLike, first_values: ArrayLike, lam: float) -> Array:
    """U_n = (A_n - lambda I) V_n + lambda V_1 = A_n V_n + lambda (V_1 - V_n). Source: ResFormer, Eq. 8.

    A weight of V_n is negative where A_ii < lambda.
    Args: attention (..., length, length); values V_n and first_values V_1 (..., length, d); lam >= 0.
    Returns: (..., length, d). Raises ValueError for other shapes and numbers, and rows that do not add up to 1.
    """
    weights, value = stochastic(attention), rows("values", values)
    agree(weights, value)
    residual = rows("first_values", first_values, value.shape) - value
    return weights @ value + real("lam", lam, NONNEGATIVE) * residual


@elementwise("lam")
@sized()
def neutreno_fixed_point(attention: ArrayLike, values: ArrayLike, lam: float) -> Array:
    """U = lambda ((1 + lambda) I - A)^{-1} V_1, the only one for lambda > 0; reached from anywhere iff it is stable.

    1 + lambda is no eigenvalue, since those of A are at most 1 in size. An eigenvalue mu becomes lambda/(1+lambda-mu).
    Args: attention A (length, length); values V_1 (length, d); lam > 0. Returns: (length, d). Raises ValueError as
    `neutreno`.
    """
    weights, first = one_matrix(attention), rows("values", values)
    agree(weights, first)
    return limit_power(weights, real("lam", lam, POSITIVE)) @ first


@elementwise("lam")
@sized()
def neutreno_radius(attention: ArrayLike, lam: float) -> float:
    """max |mu - lambda| over the eigenvalues mu of A, complex ones too: the stack converges from anywhere iff < 1.

    For causal A the eigenvalues are the A_ii. Args: attention (length, length); lam >= 0. Raises ValueError as
    `neutreno`.
    """
    eigenvalues = np.linalg.eigvals(one_matrix(attention))
    return float(np.abs(eigenvalues - real("lam", lam, NONNEGATIVE)).max())


@sized()
def neutreno_threshold(attention: ArrayLike) -> float:
    """The threshold t: `neutreno_radius` is below 1 for 0 < lambda < t. It is 0 if no lambda > 0 is stable.

    (x - lambda)^2 + y^2 < 1 for mu = x + iy: lambda below x + sqrt(1 - y^2) for every mu, and above x - sqrt(1 - y^2),
    which is at most 0 since |mu| <= 1. For causal A it is 1 + min A_ii; for the swap of two tokens (mu = -1) it is 0.
    Args: attention (length, length). Raises ValueError as `neutreno`.
    """
    eigenvalues = np.linalg.eigvals(one_matrix(attention))
    # max: rounding may put |mu| above 1.
    reach = np.sqrt(np.maximum(1.0 - eigenvalues.imag**2, 0.0))
    return max(0.0, float((eigenvalues.real + reach).min()))
