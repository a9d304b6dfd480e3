"""How to split an error budget over the ALiBi heads of a layer so that their windows are shortest in total."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from theory.cache.dropped import Array
from theory.checked import NONNEGATIVE, POSITIVE, elementwise, real, reals, sized
from theory.lowering.digits import excess


def _heads(slopes: ArrayLike, costs: ArrayLike | None) -> tuple[Array, Array]:
    slope = reals("slopes", slopes, POSITIVE)
    if slope.ndim != 1 or not slope.size:
        raise ValueError(f"slopes must have shape (n_heads,), got {slope.shape}")
    cost = np.ones_like(slope) if costs is None else reals("costs", costs, POSITIVE)
    if cost.shape != slope.shape:
        raise ValueError(f"costs must have the shape of slopes, {slope.shape}, got {cost.shape}")
    return slope, cost


@elementwise("budget")
@sized()
def split_budget(
    slopes: ArrayLike, budget: float, costs: ArrayLike | None = None, logit_ranges: ArrayLike | None = None
) -> Array:
    """Dropped masses delta_h with sum_h c_h delta_h = budget that make sum_h W_h(delta_h) smallest.

    Without logit_ranges W_h is the simple window (D_h + ln 1/delta_h) / l_h, whatever D_h:
    delta_h = budget / (c_h l_h sum_j 1/l_j). With them it is the sharp one, ln[1 + (1/delta_h - 1) e^{D_h}] / l_h, for
    which c_h l_h delta_h (1 - (1 - e^{-D_h}) delta_h) is the same for all heads.
    Args: slopes l (n_heads,) > 0; budget > 0; costs c (n_heads,) > 0, the value diameter of each head, by default 1;
    logit_ranges D (n_heads,) >= 0. Returns: (n_heads,).
    Valid when: each delta_h < 1 (simple) or <= 1/2 (sharp: there W_h is convex, so the stationary point is the
    minimum). Raises ValueError for a budget that would need more, and for arguments outside their domains.
    """
    slope, cost = _heads(slopes, costs)
    total = real("budget", budget, POSITIVE)
    simple = total / (cost * slope * (1.0 / slope).sum())
    if logit_ranges is None:
        if (simple >= 1).any():
            raise ValueError(f"budget {total:g} is too large: a head would have to drop a mass of {simple.max():g}")
        return simple
    bend = -np.expm1(-reals("logit_ranges", logit_ranges, NONNEGATIVE))
    if bend.shape != slope.shape:
        raise ValueError(f"logit_ranges must have the shape of slopes, {slope.shape}, got {bend.shape}")
    return _sharp_split(cost, cost * slope, bend, total)


def _sharp_split(cost: Array, rate: Array, bend: Array, total: float) -> Array:
    """Solve rate delta (1 - bend delta) = level for each head, and for the level that spends the budget."""

    def masses(level: float) -> Array:
        share = level / rate
        return 2.0 * share / (1.0 + np.sqrt(np.maximum(1.0 - 4.0 * bend * share, 0.0)))

    highest = float((rate * (0.5 - bend / 4.0)).min())  # there the first head reaches a mass of 1/2
    if float(cost @ masses(highest)) < total:
        raise ValueError(f"budget {total:g} is too large: a head would have to drop a mass above 1/2")
    # masses(level) >= level / rate, so the budget is spent at or below this level (up to rounding)
    start = min(highest, (1.0 + 1e-12) * total / float((cost / rate).sum()))
    level = brentq(lambda level: float(cost @ masses(level)) - total, 0.0, start, xtol=1e-300, rtol=1e-15, maxiter=4000)
    return masses(level)


@sized()
def budget_saving(slopes: ArrayLike) -> float:
    """Tokens saved by `split_budget` (simple windows) against equal shares c_h delta_h: (sum 1/l) KL(p || uniform).

    p_h is 1/l_h over its sum. Args: slopes (n_heads,) > 0. Raises ValueError otherwise.
    """
    slope, _ = _heads(slopes, None)
    reach = 1.0 / slope
    # 1/l_h over the mean, less 1: the mean of 1/l_h - 1/l_j by slopes, whose small differences are not rounded
    apart = (slope - slope[:, None]) / np.maximum(slope, slope[:, None]) * np.maximum(reach, reach[:, None])
    return float(reach.mean() * excess(apart.sum(-1) / reach.sum()).sum())
