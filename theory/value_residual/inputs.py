"""Checks of the arguments of this room: attention matrices, values and logits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import NONNEGATIVE, reals

Array = NDArray[np.float64]

_ROUNDING = 1e-6  # rows of float32 attention add up to 1 no better


def stochastic(attention: ArrayLike) -> Array:
    """Attention matrices (..., length, length), rows divided by their sums, which must be 1 to 1e-6.

    Raises ValueError for another shape, a negative entry and other sums.
    """
    found = reals("attention", attention, NONNEGATIVE)
    if found.ndim < 2 or found.shape[-1] != found.shape[-2] or not found.size:
        raise ValueError(f"attention has shape {found.shape}: expected (..., length, length)")
    totals = found.sum(-1, keepdims=True)
    wrong = np.abs(totals - 1.0) > _ROUNDING
    if wrong.any():
        raise ValueError(f"attention must have rows that add up to 1, got a sum of {float(totals[wrong][0])!r}")
    normed: Array = found / totals
    return normed


def one_matrix(attention: ArrayLike) -> Array:
    """One attention matrix (length, length). Raises ValueError as `stochastic`."""
    found = stochastic(attention)
    if found.ndim != 2:
        raise ValueError(f"attention has shape {found.shape}: expected (length, length)")
    return found


def rows(name: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """Values (..., length, d) without an empty axis, of this shape if one is given. Raises ValueError."""
    found = reals(name, values, shape=shape)
    if found.ndim < 2 or not found.size:
        raise ValueError(f"{name} has shape {found.shape}: expected (..., length, d)")
    return found


def layers_of(name: str, values: ArrayLike) -> Array:
    """Values (n_layers, length, d) of one layer or more. Raises ValueError."""
    found = rows(name, values)
    if found.ndim != 3:
        raise ValueError(f"{name} has shape {found.shape}: expected (n_layers, length, d)")
    return found


def agree(weights: Array, values: Array, name: str = "attention") -> None:
    """Raises ValueError unless (..., queries, keys) times (..., keys, d) is defined."""
    try:
        np.broadcast_shapes(weights.shape[:-2], values.shape[:-2])
    except ValueError:
        raise ValueError(_disagreement(name, weights, values)) from None
    if weights.shape[-1] != values.shape[-2]:
        raise ValueError(_disagreement(name, weights, values))


def _disagreement(name: str, weights: Array, values: Array) -> str:
    return f"{name} (..., queries, keys) and values (..., keys, d) must agree: got {weights.shape} and {values.shape}"
