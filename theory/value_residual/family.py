"""The variants of the value residual: one formula each, in attention matrices and the values of the layers so far.

Source: ResFormer, Eq. 5 to 10 and Section 4.2. Attention matrices have rows that add up to 1, values are (.., length,
d); the output projection, the MLP and the residual stream are left out, as in the paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import elementwise, real, reals, sized
from theory.value_residual.inputs import Array, agree, layers_of, one_matrix, rows, stochastic


@elementwise("lambda1", "lambda2")
@sized()
def residual_values(values: ArrayLike, first_values: ArrayLike, lambda1: float = 0.5, lambda2: float = 0.5) -> Array:
    """lambda1 V_n + lambda2 V_1: what A_n mixes. Eq. 7 has (1/2, 1/2), Section 4.2 (1, lambda), SVFormer (0, 1).

    Args: values V_n and first_values V_1 (..., length, d); two real numbers. Returns: (..., length, d).
    Raises ValueError for other shapes and numbers not finite.
    """
    value = rows("values", values)
    first = rows("first_values", first_values, value.shape)
    return real("lambda1", lambda1) * value + real("lambda2", lambda2) * first


@elementwise("lambda1", "lambda2")
@sized()
def resformer(
    attention: ArrayLike, values: ArrayLike, first_values: ArrayLike, lambda1: float = 0.5, lambda2: float = 0.5
) -> Array:
    """U_n = A_n (lambda1 V_n + lambda2 V_1), n >= 2. Source: ResFormer, Eq. 7 and Section 4.2.

    Args: attention A_n (..., length, length); else as `residual_values`, with its errors and those of shapes that do
    not agree and of rows that do not add up to 1.
    """
    weights, mixed = stochastic(attention), residual_values(values, first_values, lambda1, lambda2)
    agree(weights, mixed)
    output: Array = weights @ mixed
    return output


@sized()
def svformer(attention: ArrayLike, first_values: ArrayLike) -> Array:
    """U_n = A_n V_1: one value for all layers. Source: ResFormer, Eq. 10. Arguments and errors as `resformer`."""
    weights, first = stochastic(attention), rows("first_values", first_values)
    agree(weights, first)
    output: Array = weights @ first
    return output


@sized()
def all_layers(attention: ArrayLike, values: ArrayLike) -> Array:
    """U_n = A_n (V_1 + .. + V_n) / n. Source: ResFormer, Eq. 5: Eq. 2 over all layers with the keys of layer n.

    Args: attention A_n (length, length); values V_1 .. V_n (n_layers, length, d). Returns: (length, d).
    Raises ValueError for other shapes, numbers not finite, and rows that do not add up to 1.
    """
    weights, value = one_matrix(attention), layers_of("values", values)
    agree(weights, value)
    output: Array = weights @ (value / len(value)).sum(0)
    return output


@sized()
def identity_mapping(attention: ArrayLike, values: ArrayLike) -> Array:
    """U_n = A_n V_n + (V_1 + .. + V_{n-1}) / (n - 1), n >= 2: the weights add up to 2. Source: ResFormer, Eq. 6.

    Arguments and errors as `all_layers`; a single layer is refused, since the mean has no terms.
    """
    weights, value = one_matrix(attention), layers_of("values", values)
    agree(weights, value)
    if len(value) < 2:
        raise ValueError(f"values has shape {value.shape}: expected (n_layers, length, d) with n_layers >= 2")
    output: Array = weights @ value[-1] + (value[:-1] / (len(value) - 1)).sum(0)
    return output


@sized()
def denseformer(
    attention: ArrayLike, values: ArrayLike, coefficients: ArrayLike, embedding: ArrayLike | None = None
) -> Array:
    """U_n = sum_{i=1}^n alpha_i A_i V_i, plus alpha_0 X_0 where the embedding X_0 is given. Source: ResFormer, Eq. 9.

    DenseFormer averages over the embedding as well (Pagliardini et al., 2024); Eq. 9 leaves it out.
    Args: attention (n_layers, length, length); values (n_layers, length, d); coefficients (n_layers,), with an
    embedding X_0 (length, d) one more, alpha_0 first. Returns: (length, d). Raises ValueError for other shapes, numbers
    not finite, and rows that do not add up to 1.
    """
    value = layers_of("values", values)
    weights = stochastic(attention)
    if weights.shape[:-2] != value.shape[:1]:
        raise ValueError(f"attention has shape {weights.shape}: expected {(len(value), *value.shape[1:2] * 2)}")
    agree(weights, value)
    alpha = reals("coefficients", coefficients, shape=(len(value) + (embedding is not None),))
    outputs = weights @ value
    if embedding is not None:
        outputs = np.concatenate([rows("embedding", embedding, value.shape[1:])[None], outputs])
    return np.tensordot(alpha, outputs, 1)


@elementwise("old", "new")
@sized()
def rescaled_projections(w_v: ArrayLike, w_o: ArrayLike, old: float, new: float) -> tuple[Array, Array]:
    """(W_V new/old, W_O old/new): with them lambda = new gives what W_V, W_O give with lambda = old, for all inputs.

    A (H W_V new/old + new V_1) W_O old/new = A (H W_V + old V_1) W_O, so A (V_n + lambda V_1) W_O is one class of
    functions for all lambda other than 0, and lambda sets the start, the step sizes and the decay alone. Without a
    residual (lambda = 0) it is a limit: W_V c, W_O / c at lambda = 1 as c grows. V_1 and layer 1 stay as they are.
    Source: ResFormer, Section 4.2 (the sweep over lambda). Valid for W on either side.
    Args: w_v and w_o of any shape; old and new, real and not 0. Returns: the pair. Raises ValueError otherwise.
    """
    before, after = (_not_zero(name, value) for name, value in (("old", old), ("new", new)))
    return reals("w_v", w_v) * (after / before), reals("w_o", w_o) * (before / after)


def _not_zero(name: str, value: float) -> float:
    number = real(name, value)
    if number == 0.0:
        raise ValueError(f"{name} must be a finite number other than 0, got {value}")
    return number
