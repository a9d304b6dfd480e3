"""Dropped mass without a positional bias (slope 0: NoPE, or RoPE logits of a known range): no distance decays.

Everything follows from e^{x_i - x_j} lying in [e^{-D}, e^D]. Logit ranges reach thousands: logarithms inside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.cache.dropped import Array, odds_share
from theory.checked import NONNEGATIVE, POSITIVE, SHARE, Range, reals, shown


def _counts(n_dropped: ArrayLike, n_kept: ArrayLike) -> tuple[Array, Array]:
    # a query sees itself
    return reals("n_dropped", n_dropped, POSITIVE), reals("n_kept", n_kept, Range(1.0))


def mass_bound(n_dropped: ArrayLike, n_kept: ArrayLike, logit_range: ArrayLike, self_gap: ArrayLike | None = None):
    """T <= N_d / (N_d + (N_k - 1) e^{-D} + e^{-D_s}); with D_s = D, N_d / (N_d + N_k e^{-D}).

    Args, which broadcast: numbers of dropped and kept tokens; logit_range D, the largest difference of two logits of a
    query; self_gap D_s <= D, the largest (logit of a token - logit of the query's own key), by default D.
    Reached, for D_s = D, when the dropped logits are all D above the kept ones.
    Raises ValueError for counts below 1, negative or infinite ranges, and self_gap > logit_range.
    """
    dropped, kept = _counts(n_dropped, n_kept)
    span = reals("logit_range", logit_range, NONNEGATIVE)
    gap = span if self_gap is None else reals("self_gap", self_gap, NONNEGATIVE)
    if (gap > span).any():
        raise ValueError(f"self_gap must be at most logit_range, got {shown(self_gap)} and {shown(logit_range)}")
    # log of (N_k - 1) e^{-D} + e^{-D_s}, with e^{-D_s} >= e^{-D} taken out
    rest = -gap + np.log1p((kept - 1.0) * np.exp(gap - span))
    return odds_share(np.log(dropped) - rest)


def mass_floor(n_dropped: ArrayLike, n_kept: ArrayLike, logit_range: ArrayLike) -> Array:
    """T >= N_d / (N_d + N_k e^{D}): a fixed window loses all of the mass as the context grows, whatever the head.

    Arguments and errors as in `mass_bound`. Reached when the dropped logits are all D below the kept ones.
    """
    dropped, kept = _counts(n_dropped, n_kept)
    return odds_share(np.log(dropped) - np.log(kept) - reals("logit_range", logit_range, NONNEGATIVE))


def log_scope(logit_range: ArrayLike, eps: ArrayLike) -> Array:
    """Logarithm of (1/eps - 1) e^D, the distance from which a single token weighs at most eps for sure.

    The limit slope -> 0 of the sharp ALiBi scope; sharp when D_s = D. Exponential in D, where ALiBi's is linear.
    Args broadcast: logit_range D >= 0; eps in (0, 1). Raises ValueError outside.
    """
    small, span = reals("eps", eps, SHARE), reals("logit_range", logit_range, NONNEGATIVE)
    # ln(1/eps - 1) vanishes at 1/2, and 1 - 2 eps is not rounded near it
    near = 2.0 * np.arctanh(1.0 - 2.0 * np.clip(small, 0.25, 0.75))
    return span + np.where(np.abs(small - 0.5) < 0.25, near, np.log1p(-small) - np.log(small))
