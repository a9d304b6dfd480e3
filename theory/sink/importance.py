"""Token importance, the column means of an attention matrix, and how its entropy measures concentration.

ResFormer, Section 4.1.3 prints the mean over the other index, and calls a higher entropy more clustered. A row of A
sums to 1: the printed vector is 1/l, and its entropy (Eq. 11) ln l, for every A. A lower entropy is the more clustered.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from theory.checked import UNIT, Array, elementwise, real, reals, sized, whole
from theory.sink.shapes import checked_square

_ROWS = 1e-6  # the rounding of a float32 softmax
_LONGEST = 10**6  # tokens that are summed one by one


@sized()
def token_importance(attention: ArrayLike) -> Array:
    """a_j = (1/l) sum_i A_ij, the mean of column j: the weight of token j, averaged over the queries. Sums to 1.

    Source: what ResFormer, Eq. 11 needs. For a causal A, the first k tokens have sum_{j<=k} a_j >= k/l: the first k
    rows have all of their mass there. So a_1 >= 1/l, whatever the head.
    Args: attention (..., l, l), rows of weights. Returns: (..., l).
    Raises ValueError for other shapes, weights outside [0, 1], and rows that do not sum to 1 within 1e-6.
    """
    return np.asarray(_weights(attention).mean(axis=-2))


@sized()
def printed_importance(attention: ArrayLike) -> Array:
    """a_i = (1/l) sum_j A_ij as ResFormer, Section 4.1.3 prints it: 1/l for every A. Args as `token_importance`."""
    return np.asarray(_weights(attention).mean(axis=-1))


@sized()
def importance_entropy(attention: ArrayLike) -> Array:
    """e = -sum_j a_j ln a_j of the column means, in nats: from 0, all on one token, to ln l.

    Source: ResFormer, Eq. 11. e = ln l iff every a_j = 1/l; for a causal A iff A = I, that is where nothing is mixed:
    only row l reaches column l, so a_l = 1/l makes that row e_l, then only row l - 1 reaches column l - 1, and so on.
    e = 0 for a causal A iff every row is e_1.
    Args: attention (..., l, l), rows of weights. Returns: (...). Raises ValueError as `token_importance` does.
    """
    return np.asarray(entr(token_importance(attention)).sum(axis=-1))


@elementwise("length")
@sized()
def uniform_causal_entropy(length: int) -> float:
    """Entropy of a_j = (H_l - H_{j-1})/l, the importance where every token attends evenly to all up to itself.

    It lies in (ln l - (1 - gamma_E), ln l], and ln l - e tends to 1 - gamma_E = 0.42278..: even heads look clustered.
    Proof: H_l - H_{j-1} is the mean of the j-th largest of l exponential variables X; with phi(t) = t ln t convex,
    ln l - e = (1/l) sum_j phi(l a_j) < E phi(X) = Gamma'(2) = 1 - gamma_E.
    Args: length in 1..10^6. Raises ValueError otherwise.
    """
    length = whole("length", length, 1, _LONGEST)
    tails = np.cumsum(1.0 / np.arange(length, 0, -1))  # H_l - H_{j-1} for j = l..1, small terms first
    return float(entr(tails / length).sum())


@elementwise("length", "first_importance")
@sized()
def entropy_bound(length: int, first_importance: float) -> float:
    """e <= h(a_1) + (1 - a_1) ln(l - 1), h the binary entropy: what the first token's importance leaves.

    Equality iff the other importances are equal. Attained by a causal A for every a_1 in [1/l, 1]: row 1 is e_1, row i
    has 1 - p on itself and p on the first token, with a_1 = (1 + (l - 1) p)/l.
    Args: length >= 1; first_importance a_1 in [1/length, 1], where every causal A has it.
    Raises ValueError outside.
    """
    length, first = whole("length", length, 1), real("first_importance", first_importance, UNIT)
    # a computed column mean may be a few units short
    if first * length < 1 - 1e-9:
        raise ValueError(f"first_importance must be at least 1/length = {1 / length!r}, got {first!r}")
    spread = (1 - first) * math.log(length - 1) if length > 1 else 0.0
    return float(entr(first) + entr(1 - first)) + spread


def _weights(attention: ArrayLike) -> Array:
    weights = checked_square("attention", reals("attention", attention, UNIT))
    off = np.abs(weights.sum(axis=-1) - 1)
    if off.size and off.max() > _ROWS:
        raise ValueError(f"every row of attention must sum to 1 within {_ROWS:g}, got one that is {off.max():.3g} off")
    return weights
