"""Which shapes of logits, values and matrices the functions of this room take."""

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import Array, reals


def checked_logits(logits: ArrayLike) -> Array:
    """Logits (..., keys), keys >= 1, as float64. Raises ValueError otherwise."""
    x = reals("logits", logits)
    if x.ndim < 1 or not x.shape[-1]:
        raise ValueError(f"logits has shape {x.shape}: expected (..., keys), keys >= 1")
    return x


def checked_head(logits: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    """Logits (..., keys) and values (..., keys, d_v) whose axes agree. Raises ValueError otherwise."""
    x, v = checked_logits(logits), reals("values", values)
    if v.ndim < 2 or v.shape[-2] != x.shape[-1] or not v.shape[-1]:
        raise ValueError(f"logits (..., keys) and values (..., keys, d_v) must agree, got {x.shape} and {v.shape}")
    agree(logits=x.shape[:-1], values=v.shape[:-2])
    return x, v


def checked_square(name: str, matrix: ArrayLike) -> Array:
    """Matrices (..., l, l), l >= 1, as float64. Raises ValueError otherwise."""
    found = reals(name, matrix)
    if found.ndim < 2 or found.shape[-1] != found.shape[-2] or not found.shape[-1]:
        raise ValueError(f"{name} has shape {found.shape}: expected (..., l, l), l >= 1")
    return found


def checked_vectors(**vectors: ArrayLike) -> list[Array]:
    """Vectors (..., d) of one d >= 1 as float64. Raises ValueError otherwise."""
    found = [reals(name, value) for name, value in vectors.items()]
    sizes = {value.shape[-1] if value.ndim else 0 for value in found}
    if len(sizes) != 1 or 0 in sizes:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in zip(vectors, found, strict=True))
        raise ValueError(f"the vectors must be (..., d) of one d >= 1, got {shapes}")
    return found


def agree(**shapes: tuple[int, ...]) -> None:
    """Raises ValueError unless the shapes broadcast."""
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"the shapes do not broadcast: {told}") from None


def softmax(x: Array) -> Array:
    """Over the last axis, of which one entry at least is finite."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
