"""Velocity of gradient descent on the closed-form loss, d theta / dt = -grad L, for many trajectories at once.

A state has shape (parameters, lanes): all four parameters, or (alpha1, beta1) on the slice alpha2 = 1 - alpha1,
beta2 = 1 - beta1. The interior position has a fused kernel, pinned to `theory.landscape`, which serves the others.

At an interior position D_c = (u_c beta1 + v_c beta2) / S is linear in beta, so that the mean of D_c under the softmax
weights p is beta1 g3 + beta2 g4 with g3, g4 the slopes in beta; with A = e^{alpha1}, B = e^{alpha2}, q = 1 - p_target:
    g1 = (A / S) (2 p_i beta1 + p_e beta2 - 2 mean),  g2 = (B / S) (p_i beta2 - q beta1 - mean).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from theory import landscape
from theory.landscape.exact import Position

Array = NDArray[np.float64]

_FAR = 1e6


class Field(Protocol):
    """A velocity on states of shape (dimension, lanes)."""

    dimension: int

    def velocity(self, state: Array, out: Array) -> None:
        """Writes -grad L into `out`."""

    def last_loss(self) -> Array:
        """L at the states of the latest call of `velocity`."""

    def loss(self, state: Array) -> Array: ...

    def expand(self, state: Array) -> Array:
        """All four parameters, shape (4, lanes)."""

    def take(self, lanes: NDArray[np.int_]) -> Field:
        """The same field for some of the lanes."""


def _per_lane(tokens: Array) -> Array | float:
    """One number where all lanes agree: an operand less to read."""
    return float(tokens[0]) if tokens.size and (tokens == tokens[0]).all() else tokens


class InteriorField:
    """Position 2 <= i <= T - 2, all four parameters; 5 exponentials a lane.

    No exponent overflows along a flow: each D_c is at most L, which only falls. In a trial step it may; the NaN that
    follows rejects the step.
    """

    dimension = 4

    def __init__(self, tokens: Array) -> None:
        self.tokens = tokens
        self._t = _per_lane(tokens)
        self._exp = np.empty((2, tokens.size))
        self._weight = np.empty((3, tokens.size))
        self._beta = np.empty((2, tokens.size))
        self._work = np.empty((5, tokens.size))

    def velocity(self, state: Array, out: Array) -> None:
        """Few operations, in place: each one reads and writes all lanes, which takes longer than its arithmetic."""
        a, b = np.exp(state[:2], out=self._exp)
        c1, c2 = self._beta
        w_i, w_e, w_o = weight = self._weight
        scale, m, lead, own, total = self._work
        np.subtract(a, 1.0, out=own)
        np.add(own, a, out=lead)  # 2A - 1
        np.subtract(b, 1.0, out=m)
        np.add(lead, m, out=scale)
        scale += self._t
        np.divide(-1.0, scale, out=scale)  # -1 / S
        np.multiply(state[2], scale, out=c1)
        np.multiply(state[3], scale, out=c2)
        np.multiply(c1, m, out=w_o)
        np.multiply(c2, own, out=w_e)
        np.subtract(w_o, w_e, out=w_e)
        np.multiply(c1, lead, out=w_i)
        np.subtract(w_o, w_i, out=w_i)
        np.multiply(c2, m, out=total)
        w_i -= total
        np.exp(weight, out=weight)
        w_e *= 2.0
        w_o *= self._t - 4.0
        np.add(w_i, w_e, out=total)
        total += w_o  # e^L - 1
        self._rest = total
        self._slopes(state[2], state[3], out)

    def _slopes(self, b1: Array, b2: Array, out: Array) -> None:
        a, b = self._exp
        c1, c2 = self._beta
        w_i, w_e, mean = self._weight
        scale, m, lead, own, total = self._work
        v1, v2, v3, v4 = out
        np.add(total, 1.0, out=mean)
        np.divide(scale, mean, out=mean)  # -1 / (S e^L): weights turn into -p / S
        w_i *= mean
        w_e *= mean
        np.multiply(total, mean, out=v2)  # -q / S
        np.multiply(w_i, lead, out=v3)
        np.multiply(v2, m, out=v1)
        v3 -= v1
        np.multiply(w_i, m, out=v4)
        own *= w_e
        v4 += own
        np.multiply(c1, v3, out=mean)
        np.multiply(c2, v4, out=own)
        mean += own  # the mean of D over S
        np.multiply(w_i, b1, out=v1)
        v1 += mean
        v1 += v1
        w_e *= b2
        v1 += w_e
        v1 *= a
        w_i *= b2
        v2 *= b1
        np.subtract(w_i, v2, out=v2)
        v2 += mean
        v2 *= b

    def last_loss(self) -> Array:
        return np.log1p(self._rest)

    def loss(self, state: Array) -> Array:
        return landscape.loss(*state, self.tokens)

    def expand(self, state: Array) -> Array:
        return state

    def take(self, lanes: NDArray[np.int_]) -> InteriorField:
        return InteriorField(self.tokens[lanes])


class GeneralField:
    """Any position of `theory.landscape.gradient`, all four parameters."""

    dimension = 4

    def __init__(self, tokens: Array, position: Position) -> None:
        self.tokens, self.position = tokens, position

    def velocity(self, state: Array, out: Array) -> None:
        wild = ~(np.abs(state) < _FAR).all(axis=0)  # a trial step too long; NaN rejects it
        self._state = np.where(wild, 0.0, state)
        np.negative(landscape.gradient(*self._state, self.tokens, self.position).T, out=out)
        out[:, wild] = np.nan

    def last_loss(self) -> Array:
        return self.loss(self._state)

    def loss(self, state: Array) -> Array:
        return landscape.loss(*state, self.tokens, self.position)

    def expand(self, state: Array) -> Array:
        return state

    def take(self, lanes: NDArray[np.int_]) -> GeneralField:
        return GeneralField(self.tokens[lanes], self.position)


class SliceField:
    """(alpha1, beta1) on the slice: the slope in alpha1 less that in alpha2, likewise for beta."""

    dimension = 2

    def __init__(self, inner: InteriorField | GeneralField) -> None:
        self.inner = inner
        self._state = np.empty((4, inner.tokens.size))
        self._full = np.empty((4, inner.tokens.size))

    def velocity(self, state: Array, out: Array) -> None:
        self._state[::2] = state
        np.subtract(1.0, state, out=self._state[1::2])
        self.inner.velocity(self._state, self._full)
        np.subtract(self._full[::2], self._full[1::2], out=out)

    def last_loss(self) -> Array:
        return self.inner.last_loss()

    def loss(self, state: Array) -> Array:
        return self.inner.loss(self.expand(state))

    def expand(self, state: Array) -> Array:
        return np.stack([state[0], 1.0 - state[0], state[1], 1.0 - state[1]])

    def take(self, lanes: NDArray[np.int_]) -> SliceField:
        return SliceField(self.inner.take(lanes))


def make_field(tokens: Array, position: Position, on_slice: bool) -> Field:
    """The quickest field for this position."""
    inner = InteriorField(tokens) if position is None else GeneralField(tokens, position)
    return SliceField(inner) if on_slice else inner
