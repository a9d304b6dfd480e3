"""How wrong a causal head must be: its least error on sentences of one nonzero token (KV shifting, Theorem 3.3).

Let x have one token, e_1 at the place j < L, and 0 elsewhere. The query x_L is 0, so attention is a_s = e^{-m(L-s)}/A
whatever alpha and the matrices are, and the output is a_j U + a_{j+1} V = C e^{mj}, U = beta1 M e_1, V = beta2 M e_1:
one number C for all j, where IH has 0 at j = 1 and e^{-m(L-j)}/S at 2..L-1. The best C misses both ends alike. With
U = 0 the sentence whose token is the last one is right as well, so that the error stated is reached.
"""

from __future__ import annotations

from math import log, log1p

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, elementwise, reals, sized, whole, wholes
from theory.induction.network import Array


@sized()
def one_token_error(length: ArrayLike, slope: ArrayLike) -> Array:
    """w/(1 + e^{m(L-2)}), w = (1 - e^{-m})/(1 - e^{-m(L-2)}): the least, over heads of slope m, of the largest error.

    w is IH's weight on x_{L-1}, 1/(L - 2) at m = 0. At L = 3 it is 1/(1 + e^m): of 0 and 1, wanted at (1, 0, 0) and
    (0, 1, 0), the head gives y and e^m y.
    Source: how far KV shifting's Theorem 3.3 fails under the causal mask. Raises ValueError unless length >= 3,
    slope >= 0.
    """
    length, slope = wholes("length", length, 3), reals("slope", slope, NONNEGATIVE)
    with np.errstate(invalid="ignore", over="ignore"):
        span = slope * (length - 2.0)
        share = np.where(span > 0, np.expm1(-slope) / np.expm1(-span), 1.0 / (length - 2.0))
    return share * np.exp(-np.logaddexp(0.0, span))


@elementwise("length")
@sized()
def one_token_error_any_slope(length: int) -> float:
    """t/(L - 2), t^{L-3} (1 + t) = (1 - t)^{L-2}: as `one_token_error` at IH's slope 0, the head's own slope free.

    The head gives y, y r, .., y r^{L-2} where 0, 1/(L-2), .., 1/(L-2) are wanted. At L = 3 the infimum, 0, is not
    reached.
    Raises ValueError unless length >= 3.
    """
    n = whole("length", length, 3)
    low, high = 0.0, 0.5
    for _ in range(60 if n > 3 else 0):
        t = (low + high) / 2
        over = (n - 3) * log(t) + log1p(t) - (n - 2) * log1p(-t) > 0
        low, high = (low, t) if over else (t, high)
    return low / (n - 2)
