"""What theory predicts for the trained scalars: the flow at finite width, its spread over frozen tables and its mean.

The flow of L_inf + c1/d + g0 s0 + g1 s1 (`theory.landscape.frozen_table`) is followed by scipy, with the gradient of
the three corrections by central differences. Its derivatives in 1/d, g0 and g1 at 0 turn the law of the table into a
law of the trained scalars: a standard deviation of order d^(-1/2) and a shift of the mean of order 1/d.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from theory import landscape
from theory.landscape.frozen_table import Law, table_deviation, table_terms

Array = NDArray[np.float64]

_STEP = 1e-3  # of the central differences in the scalars; their relative error 1e-6 is far below what is compared
_NUDGE = 2e-3  # of those in g0 and g1, and, divided by T, in 1/d


class Response(NamedTuple):
    """At each time, how the scalars move to leading order at width d; each array (times, 4).

    theta, the flow at d = infinity; deviation, d^(1/2) times the standard deviation over tables; shift, d times the
    shift of the mean; along_diagonal, along_off_diagonal, derivatives in the two means of one table.
    """

    theta: Array
    deviation: Array
    shift: Array
    along_diagonal: Array
    along_off_diagonal: Array


def corrected_flows(
    start: Sequence[float], n_tokens: int, times: ArrayLike, corrections: ArrayLike, law: Law = "mean"
) -> Array:
    """d theta / dt = -grad(L_inf + c1 x + s0 g0 + s1 g1) for each row (x = 1/d, g0, g1) of `corrections`, (n, 3).

    Returns the states (times, n, 4) at `times`, which increase from 0.
    Raises ValueError as `theory.landscape.frozen_table.positions` does.
    """
    weights = np.asarray(corrections, dtype=np.float64)
    grid = np.asarray(times, dtype=np.float64)
    position = None if law == "interior" else "mean"

    def velocity(_: float, flat: Array) -> Array:
        theta = flat.reshape(-1, 4)
        slope = landscape.gradient(*theta.T, n_tokens, position)
        return -(slope + _correction(theta, n_tokens, law, weights)).ravel()

    first = np.tile(np.asarray(start, dtype=np.float64), len(weights))
    found = solve_ivp(velocity, (0.0, grid[-1]), first, method="DOP853", t_eval=grid, rtol=1e-9, atol=1e-11)
    return found.y.T.reshape(grid.size, -1, 4)


def _correction(theta: Array, n_tokens: int, law: Law, weights: Array) -> Array:
    """Gradient (n, 4) of the weighted corrections by central differences, all neighbours of all rows in one call."""
    moves = _STEP * np.concatenate([np.eye(4), -np.eye(4)])
    terms = table_terms(*np.moveaxis(theta[:, None] + moves, -1, 0), n_tokens, law)
    values = np.einsum("nk,knm->nm", weights, np.stack(terms))
    return (values[:, :4] - values[:, 4:]) / (2 * _STEP)


def response(start: Sequence[float], n_tokens: int, times: ArrayLike, law: Law = "mean") -> Response:
    """The flow and its leading corrections at finite width; arguments as for `corrected_flows`.

    With R_00 and R_11 the second derivatives in g0 and g1, of variances 2/(d T) and 2/(d T (T - 1)), the mean moves by
    (d theta / d(1/d) + R_00 / T + R_11 / (T (T - 1))) / d.
    """
    sizes = np.array([_NUDGE / n_tokens, _NUDGE, _NUDGE])
    rows = np.concatenate([np.zeros((1, 3)), np.diag(sizes), -np.diag(sizes)])
    states = np.moveaxis(corrected_flows(start, n_tokens, times, rows, law), 1, 0)
    theta, up, down = states[0], states[1:4], states[4:]
    first = (up - down) / (2 * sizes[:, None, None])
    second = (up + down - 2 * theta) / sizes[:, None, None] ** 2
    spread = np.array(table_deviation(n_tokens, 1))
    deviation = np.hypot(spread[0] * first[1], spread[1] * first[2])
    shift = first[0] + (spread[0] ** 2 * second[1] + spread[1] ** 2 * second[2]) / 2
    return Response(theta, deviation, shift, first[1], first[2])
