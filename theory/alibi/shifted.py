"""Heads whose keys and values are mixed with those of the tokens before (KV shift), from the range of the raw head."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, real, reals, sized


@sized()
def shifted_range(raw: float, coefficients: ArrayLike) -> float:
    """(|c_1| + .. + |c_w|) D: the logit range of keys k'_t = c_1 k_t + .. + c_w k_{t-w+1}, k_t = 0 before the start.

    For one query the logits s of raw keys fill [-D/2, D/2] at most, a set that contains 0 and -s with s; so do those of
    a mixture, times sum |c_j|, the first tokens with fewer terms included. Attained: give token t - j + 1 of the target
    the key of highest logit where c_j > 0 and of lowest where c_j < 0, and those of another token the opposite. Under a
    slope it stays a bound on each difference; neighbours share raw keys, so all weights at once need not reach it.
    The same holds for the distance of two mixed values, with D their diameter, and for a bound over all rotations.
    Source: KV shifting attention, Eq. 4-6, beside RazorAttention, Appendix A.
    Valid when: raw keys have no constant part - no bias of the norm, none of the key - or else c_j x it is missing from
    the first tokens.
    Args: raw >= 0, D of the head without the shift; coefficients (..., w). Returns: (...), a float for one row.
    """
    raw = real("raw", raw, NONNEGATIVE)
    mixture = reals("coefficients", coefficients)
    if not mixture.ndim:
        raise ValueError("coefficients has shape (): expected (..., w)")
    found = raw * np.abs(mixture).sum(-1)
    return float(found) if found.ndim == 0 else found
