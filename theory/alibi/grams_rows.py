"""The heads of a layer as they are stored, often in float32: checked, and multiplied piece by piece in float64."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.alibi.head import NORMS, Head, of_head, power_of_two, scaled
from theory.checked import choice, reals

ROWS = 16  # of a head at a time in float64: they stay in the cache
COLUMNS = 65536  # entries of as many columns at a time, likewise


class Layer(NamedTuple):
    """Weights (heads, d_head, d_model) and (kv heads, d_head, d_model) as stored; all else float64, absent as zeros.

    offsets (heads, d_head) = W_Q norm_bias + query_bias.
    """

    w_q: np.ndarray
    w_k: np.ndarray
    gamma: np.ndarray
    norm_bias: np.ndarray
    query_bias: np.ndarray
    offsets: np.ndarray
    norm: str

    @property
    def group(self) -> int:
        return len(self.w_q) // len(self.w_k)

    @property
    def d_head(self) -> int:
        return self.w_q.shape[1]

    @property
    def d_model(self) -> int:
        return self.w_q.shape[2]


@of_head()
def checked_layer(given: Head) -> Layer:
    """The arguments as arrays. Raises ValueError for a wrong shape, a number that is not finite, an unknown norm."""
    w_q, w_k, gamma, norm_bias, query_bias, norm = given
    queries, keys = _weights("w_q", w_q), _weights("w_k", w_k)
    heads, d_head, d_model = queries.shape
    if keys.shape[1:] != (d_head, d_model) or heads % len(keys):
        raise ValueError(
            f"w_k has shape {keys.shape}: expected (kv heads, {d_head}, {d_model}), kv heads a divisor of {heads}"
        )
    choice("norm", norm, NORMS)
    if norm == "layer" and d_model < 2:
        raise ValueError(f"d_model is {d_model}: LayerNorm needs at least 2")
    bias = np.zeros(d_model) if norm_bias is None else reals("norm_bias", norm_bias, shape=(d_model,))
    shift = np.zeros((heads, d_head)) if query_bias is None else reals("query_bias", query_bias, shape=(heads, d_head))
    offsets = np.stack([times(rows, bias) for rows in queries]) + shift if bias.any() else shift
    return Layer(queries, keys, reals("gamma", gamma, shape=(d_model,)), bias, shift, offsets, norm)


def room_for(layer: Layer) -> np.ndarray:
    """Room for one scaled head in float32."""
    return np.empty((layer.d_head, layer.d_model), np.float32)


class Side:
    """X = rows Gamma P of one head: its Gram matrix by float32, and products with the true one in float64."""

    def __init__(self, rows: np.ndarray, gamma: np.ndarray, norm: str, room: np.ndarray) -> None:
        self.rows, self.gamma, self.norm = rows, gamma, norm
        self.gram = gram(rows, gamma, norm, room)

    def times(self, vector: np.ndarray) -> tuple[np.ndarray, float]:
        """X X^T vector and ||X^T vector||^2, in one pass over the rows."""
        return times_gram(self.rows, self.gamma, self.norm, vector)


def gram(rows: np.ndarray, gamma: np.ndarray, norm: str, room: np.ndarray | None = None) -> np.ndarray:
    """The Gram matrix (d_head, d_head) of rows Gamma P, in float64.

    room: an array of their shape to scale them in; its precision is used then, and LayerNorm's means are taken off at
    the end: cheap, and NaN where they outweigh the rest, which would be lost.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if room is None:
            wide = scaled(rows.astype(np.float64), gamma, norm)
            wide -= wide.mean(axis=1, keepdims=True) if norm == "layer" else 0
            return wide @ wide.T
        used = room
        if rows.dtype == room.dtype and bool((gamma == 1).all()):
            used = rows
        else:
            np.multiply(rows, gamma.astype(used.dtype), out=used, casting="same_kind")
        if norm == "rms":
            return (used @ used.T).astype(np.float64)
        sums = (used @ np.ones(len(gamma), used.dtype)).astype(np.float64)
        rest = used @ used.T - np.outer(sums, sums / len(gamma))
        return rest if float(sums @ sums) / len(gamma) <= float(rest.trace()) else np.full_like(rest, np.nan)


def finite_gram(name: str, rows: np.ndarray, gamma: np.ndarray, norm: str) -> np.ndarray:
    """`gram` in float64. Raises ValueError, naming the argument, where it is not finite."""
    found = gram(rows, gamma, norm)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds a value that is not a finite number, or too large to be squared")
    return found


def near_one(rows: np.ndarray, gamma: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, float]:
    """rows in float64 over a power of two, so that the squares of rows Gamma do not overflow or vanish, and that power.

    others: what is divided by it too, and must not overflow either. What is not a finite number stays as it is.
    """
    wide = rows.astype(np.float64)
    with np.errstate(invalid="ignore"):
        size = max(float(np.abs(values).max()) for values in (wide * gamma, *others))
    return (wide, 1.0) if math.isnan(size) else (wide / power_of_two(size), power_of_two(size))


def times_gram(rows: np.ndarray, gamma: np.ndarray, norm: str, vector: np.ndarray) -> tuple[np.ndarray, float]:
    """X X^T vector and ||X^T vector||^2 for X = rows Gamma P, in float64, in one pass over the rows."""
    width = max(1, COLUMNS // len(rows))
    buffer, state = np.empty((len(rows), width)), np.empty(len(gamma))
    product, sums = np.zeros(len(rows)), np.zeros(len(rows))
    for j in range(0, len(gamma), width):
        part, gains = buffer[:, : len(gamma) - j], gamma[j : j + width]
        part[...] = rows[:, j : j + width]
        state[j : j + width] = gains * (vector @ part)
        product += part @ (gains * state[j : j + width])
        if norm == "layer":
            sums += part @ gains
    # the mean of the state is known at the end only
    mean = float(sums @ vector) / len(gamma)
    state -= mean
    return product - mean * sums, float(state @ state)


def times(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """rows @ vector in float64."""
    found = np.empty(len(rows))
    for i, part in _parts(rows):
        found[i : i + ROWS] = part @ vector
    return found


def turned(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """rows^T @ vector in float64."""
    found = np.zeros(rows.shape[1])
    for i, part in _parts(rows):
        found += vector[i : i + ROWS] @ part
    return found


def _weights(name: str, values: ArrayLike) -> np.ndarray:
    """float32 as it is, else float64; whether all numbers of float32 are finite shows in what is computed from them."""
    plain = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)
    found = values if plain and values.dtype == np.float32 else reals(name, values)
    if found.ndim != 3 or not found.size:
        raise ValueError(f"{name} has shape {found.shape}: expected (heads, d_head, d_model), each at least 1")
    return found


def _parts(rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    buffer = np.empty((ROWS, rows.shape[1]))
    for i in range(0, len(rows), ROWS):
        part = buffer[: len(rows) - i]
        part[...] = rows[i : i + ROWS]
        yield i, part
