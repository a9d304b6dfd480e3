"""Which tokens may be forgotten for good so that no later query can give them more than a promised share.

Logits are (q.k - slope * distance), and q.k is read as q.(k - c), c any fixed vector: a constant of each query that the
softmax does not see. Let up_j and low_j be the largest and the least q.(k_j - c) over all queries that the weights
allow. If at some time

    sum_F e^{up_j - slope distance_j} <= error / (1 - error) sum_K e^{low_i - slope distance_i},

then T <= error for the query of that time and for every later one: with each step both sides lose the factor
e^{-slope}, new tokens only add to the right, and the left grows only when something more is forgotten. The change of
the output is then at most error * diam(V) (`dropped.output_error_bound`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.cache.dropped import Array
from theory.checked import ANYTHING, SHARE, real, reals

MARGIN = 1e-9  # of a logarithm: far more than sums of float64 lose


def log_odds(error: float) -> float:
    """ln(error / (1 - error)), less a margin for rounding. Raises ValueError unless 0 < error < 1."""
    share = real("error", error, SHARE)
    return math.log(share) - math.log1p(-share) - MARGIN


def droppable(cost: ArrayLike, worth: ArrayLike, forgotten: ArrayLike, error: float) -> tuple[NDArray[np.bool_], Array]:
    """Which tokens to forget, cheapest first, as many as the promise allows, and ln of the sum over F after that.

    Args: cost, up_j - slope distance_j, and worth, low_j - slope distance_j, (..., heads, n), of the tokens held, for
    the query heads that share them, at the distances of the next query; cost inf for a token that has to stay, cost and
    worth -inf for one that is not there; forgotten, ln of the left side so far, (..., heads); error in (0, 1).
    Returns: (..., n) and (..., heads). The order is by the largest cost of any head; all heads must allow a token.
    Raises ValueError for shapes that do not agree, NaN, and an error outside.
    """
    price, kept = reals("cost", cost, ANYTHING), reals("worth", worth, ANYTHING)
    before = reals("forgotten", forgotten, ANYTHING)
    if price.shape != kept.shape or price.ndim < 2 or before.shape != price.shape[:-1]:
        raise ValueError(f"cost, worth (.., heads, n) and forgotten (.., heads) must agree, got {price.shape}, "
                         f"{kept.shape}, {before.shape}")  # fmt: skip
    if any(np.isnan(x).any() for x in (price, kept, before)):
        raise ValueError("cost, worth and forgotten must not be NaN")
    order = np.argsort(price.max(-2), axis=-1, kind="stable")
    paid = np.logaddexp.accumulate(_taken(price, order), axis=-1)
    paid = np.logaddexp(before[..., None], paid)
    rest = np.logaddexp.accumulate(_taken(kept, order)[..., ::-1], axis=-1)[..., ::-1]
    rest = np.concatenate([rest[..., 1:], np.full_like(rest[..., :1], -np.inf)], axis=-1)
    with np.errstate(invalid="ignore"):
        fits = (paid <= rest + log_odds(error)) & np.isfinite(rest)
    count = np.where(fits.all(-2), np.arange(1, fits.shape[-1] + 1), 0).max(-1)
    chosen = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(chosen, order, np.arange(order.shape[-1]) < count[..., None], axis=-1)
    lost = np.take_along_axis(paid, np.maximum(count - 1, 0)[..., None, None], axis=-1)[..., 0]
    return chosen, np.where(count[..., None] > 0, lost, before)


def _taken(x: Array, order: NDArray[np.intp]) -> Array:
    return np.take_along_axis(x, np.broadcast_to(order[..., None, :], x.shape), axis=-1)
