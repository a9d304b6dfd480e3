"""Both branches of critical points on Figure 2's slice, as floats: one curve, a graph over beta1 < 0.

`proofs_check.kv.beyond.slice` proves what it can of them: the fold, single points, and where there are none.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from theory.checked import Range, reals
from theory.landscape.slice_critical import conditions, x
from theory.lowering.numeric import numeric
from theory.symbols import beta1, n_tokens

FOLD_ALPHA1, FOLD_BETA1, FOLD_TOKENS = 1.0715161376924422, -0.6348, 10.8112
_STEP, _STEPS, _CLOSE = 0.05, 30, 1e-12
_LEAST, _MOST = 1e-3, 1e3


class Branch(NamedTuple):
    """The critical point with each beta1, and the T for which it is one; all of one shape."""

    alpha1: NDArray[np.float64]
    beta1: NDArray[np.float64]
    n_tokens: NDArray[np.float64]


@cache
def _lowered():
    system = list(conditions())
    return numeric([*system, *(sp.diff(e, s) for e in system for s in (x, n_tokens))], (x, beta1, n_tokens))


def _newton(place: NDArray, beta: float) -> NDArray:
    """(x, T) at this beta1, from a point nearby."""
    for _ in range(_STEPS):
        values = _lowered()(place[0], beta, place[1])
        move = np.linalg.solve(values[2:].reshape(2, 2), values[:2])
        place = place - move
        if (np.abs(move) <= _CLOSE * np.abs(place)).all():
            return place
    raise RuntimeError(f"Newton's method did not settle at beta1 = {beta}")


def branch(beta: ArrayLike) -> Branch:
    """The critical points of the slice with these beta1: saddles for beta1 > -.6348, spurious minima below.

    Newton's method in (e^{-alpha1}, T), continued in log(-beta1) from the saddle-node at T = 10.8112.
    Raises ValueError for a beta1 outside [-1000, -0.001].
    """
    wanted = reals("beta1", beta, Range(-_MOST, -_LEAST))
    found = np.empty((2, wanted.size))
    fold = np.array([np.exp(-FOLD_ALPHA1), FOLD_TOKENS])
    ways = np.log(wanted.ravel() / FOLD_BETA1)
    for side in (ways < 0, ways >= 0):
        at, place = 0.0, fold
        for index in sorted(np.flatnonzero(side), key=lambda i: abs(ways[i])):
            for step in np.linspace(at, ways[index], 2 + int(abs(ways[index] - at) / _STEP))[1:]:
                place = _newton(place, FOLD_BETA1 * np.exp(step))
            at, found[:, index] = ways[index], place
    return Branch(-np.log(found[0]).reshape(wanted.shape), wanted, found[1].reshape(wanted.shape))
