"""One step of the Runge-Kutta pair DOP853 for many autonomous systems at once, each with a step of its own.

Source: Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", II.5 and II.6, with the coefficients that
`scipy.integrate.DOP853` holds. States have shape (dimension, lanes). Rates are stored as (slot, dimension, lanes) in an
order that makes the rates of each stage neighbours, so that a stage is one product of a row with a matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

Array = NDArray[np.float64]
Velocity = Callable[[Array, Array], None]

STAGES = DOP853.n_stages
_ORDER = (1, 2, 0, *range(3, STAGES))  # no stage after the fourth uses rates 1 and 2
_SLOT = {rate: slot for slot, rate in enumerate(_ORDER)}
FIRST = _SLOT[0]  # where the rate at the start of the step lies
SAFETY, SHORTEST, LONGEST = 0.9, 0.2, 10.0


class _Row(NamedTuple):
    """Weights of the rates in the slots `span`."""

    weights: Array
    span: slice


def _row(coefficients: Array) -> _Row:
    """The shortest span of slots that holds all rates with a weight."""
    used = sorted(_SLOT[rate] for rate in np.flatnonzero(coefficients))
    step = 2 if used == [0, 2] else 1  # the third stage uses rates 0 and 1 only
    span = slice(used[0], used[-1] + 1, step)
    return _Row(np.array([coefficients[_ORDER[slot]] for slot in range(*span.indices(STAGES))]), span)


_STAGE_ROWS = [_row(np.pad(DOP853.A[stage, :stage], (0, STAGES - stage))) for stage in range(1, STAGES)]
_STEP_ROW, _ERROR5, _ERROR3 = (_row(row) for row in (DOP853.B, DOP853.E5[:STAGES], DOP853.E3[:STAGES]))


class Stepper:
    """Rates and work arrays for some number of lanes."""

    def __init__(self, dimension: int, lanes: int) -> None:
        self.rates = np.zeros((STAGES, dimension, lanes))
        self._sum = np.empty((dimension, lanes))
        self._trial = np.empty((dimension, lanes))
        self._errors = np.empty((2, dimension, lanes))

    def _combine(self, row: _Row, out: Array) -> Array:
        np.matmul(row.weights, self.rates.reshape(STAGES, -1)[row.span], out=out.reshape(-1))
        return out

    def step(self, velocity: Velocity, state: Array, length: Array, rtol: float, atol: float) -> tuple[Array, Array]:
        """The state after `length` (one entry a lane) and the error norm, which accepts the step where it is <= 1.

        `rates[FIRST]` must hold the velocity at `state`.
        """
        for stage, row in enumerate(_STAGE_ROWS, 1):
            trial = self._combine(row, self._trial)
            trial *= length
            trial += state
            velocity(trial, self.rates[_SLOT[stage]])
        new = self._combine(_STEP_ROW, np.empty(state.shape))
        new *= length
        new += state
        return new, self._error(state, new, length, rtol, atol)

    def _error(self, state: Array, new: Array, length: Array, rtol: float, atol: float) -> Array:
        """h |e5|^2 / sqrt(n (|e5|^2 + |e3|^2 / 100)), each component relative to atol + rtol |y|."""
        scale = np.maximum(np.abs(state, out=self._trial), np.abs(new, out=self._sum), out=self._trial)
        scale *= rtol
        scale += atol
        for row, error in zip((_ERROR5, _ERROR3), self._errors, strict=True):
            self._combine(row, error)
            error /= scale
            error *= error
        five, three = self._errors.sum(axis=1)
        bottom = np.sqrt((five + 0.01 * three) * len(state))
        return np.abs(length) * five / np.where(bottom > 0, bottom, 1.0)


def error_root(error: Array) -> Array:
    """error^(1/8) between 0.09 and 4.5; a NaN counts as infinite."""
    root = np.fmin(np.sqrt(np.sqrt(np.sqrt(error))), SAFETY / SHORTEST)
    return np.maximum(root, SAFETY / LONGEST, out=root)


def next_factor(root: Array, trend: Array | float = 1.0) -> Array:
    """By how much to change the step: 0.9 / root, less by `trend` where that is below 1; between 1/5 and 10.

    The trend (h / h') (root' / root), with primes for the step before, foresees that the error goes on growing as it
    has (Gustafsson, ACM TOMS 20, 1994): a quarter of the steps towards an abrupt fall of the loss would be in vain.
    """
    return np.maximum(SAFETY / root * np.minimum(trend, 1.0), SHORTEST)


class Dense:
    """The solution of order 7 inside a step, for the lanes that need it."""

    def __init__(self, velocity: Velocity, rates: Array, state: Array, new: Array, new_rate: Array, length: Array):
        """`rates` in slot order; three more evaluations of `velocity`."""
        all_rates = np.empty((STAGES + 4, *state.shape))
        all_rates[list(_ORDER)] = rates
        all_rates[STAGES] = new_rate
        for stage, row in enumerate(DOP853.A_EXTRA, STAGES + 1):
            velocity(state + length * np.tensordot(row[:stage], all_rates[:stage], 1), all_rates[stage])
        rise = new - state
        start = length * all_rates[0]
        head = np.stack([rise, start - rise, 2 * rise - length * (new_rate + all_rates[0])])
        self._parts = np.concatenate([head, length * np.tensordot(DOP853.D, all_rates, 1)])
        self._state = state

    def __call__(self, where: Array) -> Array:
        """States at the fraction `where` in [0, 1] of the step, one entry a lane."""
        total = np.zeros_like(self._state)
        for index, part in enumerate(self._parts[::-1]):
            total += part
            total *= (1 - where) if index % 2 else where
        return total + self._state

    def take(self, lanes: NDArray[np.bool_]) -> Dense:
        """The same for some of the lanes."""
        part = object.__new__(Dense)
        part._parts, part._state = self._parts[..., lanes], self._state[:, lanes]
        return part
