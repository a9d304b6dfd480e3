"""Velocity of gradient descent on the closed-form loss, d theta / dt = -grad L, for many trajectories at once.

A state has shape (parameters, lanes): all four parameters, or (alpha1, beta1) on the slice alpha2 = 1 - alpha1,
beta2 = 1 - beta1. An interior position has the fused kernel of `theory.landscape.fused`, the others the general ones.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from theory import landscape
from theory.landscape.exact import Position
from theory.landscape.fused import Interior

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


class InteriorField(Interior):
    """Position 2 <= i <= T - 2, all four parameters.

    No exponent overflows along a flow: each D_c is at most L, which only falls. In a trial step it may; the NaN that
    follows rejects the step.
    """

    dimension = 4

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
