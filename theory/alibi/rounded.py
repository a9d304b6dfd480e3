"""Heads as they are run: what rounding to the format of the model's numbers adds to the range of logits.

With unit roundoff u each result is off by at most u of itself, and a sum of n terms in float32 by n 2^-24 of the sum of
their sizes. A product of r rounded factors is off by (1 + u)^r - 1 of itself, a sum of such by that of their sizes.

ALiBi adds fl(l t) to the logit of the token at position t and rounds the sum. With unit roundoff u the first is off by
at most u l (N - 1) in a context of N tokens, the second by u (A + (1 + u) l (N - 1)), where |scale q.k| <= A. So the
difference of two logits is off by at most twice their sum, and every bound from the range D of logits holds with that
much more of it. In bfloat16 (u = 2^-8), at slope 1/2 and 4096 tokens that is 16 + 16: more than many ranges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import NONNEGATIVE, POSITIVE, SHARE, reals, sized, wholes
from theory.lowering.digits import product

SINGLE = 2.0**-24  # the unit roundoff of float32
UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24}


@sized()
def rounded_range(
    slope: ArrayLike, logit_range: ArrayLike, n_tokens: ArrayLike, largest_logit: ArrayLike, unit: ArrayLike
) -> NDArray[np.float64]:
    """D + 2 u (l (N - 1) (2 + u) + A): the range that bounds need where biases and logits are rounded.

    Args: logit_range D and largest_logit A of scale q.k as computed, without the bias; n_tokens, of the context; unit,
    the unit roundoff u, in (0, 1), half the distance from 1 to the next number. Source: ours, beside RazorAttention's
    Theorem 1. Numbers must not overflow: float16 ends at 65504. Raises ValueError for an argument outside its range.
    """
    slope, spread = reals("slope", slope, NONNEGATIVE), reals("logit_range", logit_range, NONNEGATIVE)
    count, size = wholes("n_tokens", n_tokens, 1), reals("largest_logit", largest_logit, NONNEGATIVE)
    u = reals("unit", unit, SHARE)
    return spread + 2 * u * (slope * (count - 1.0) * (2 + u) + size)


@sized()
def product_error(unit: ArrayLike, roundings: ArrayLike, terms: ArrayLike) -> NDArray[np.float64]:
    """(1 + u)^r (1 + (n + 8) 2^-24) - 1: how far a sum of n products is off, as a share of the sum of their sizes.

    Args: unit u in (0, 1); roundings r >= 0 to it, of each product; terms n >= 1, summed in float32, as often as such
    sums follow one another. 8 for what a norm or a scale does beside. Raises ValueError for another number.
    """
    u, count = reals("unit", unit, SHARE), wholes("terms", terms, 1)
    return np.expm1(wholes("roundings", roundings, 0) * np.log1p(u) + np.log1p((count + 8) * SINGLE))


@sized()
def turning_error(unit: ArrayLike) -> NDArray[np.float64]:
    """(1 + c)(1 + sqrt(2) u)(1 + u) - 1, c = u + 2^-20: how far a rotated vector is off, as a share of its length.

    Cosine and sine are rounded, each off by c of itself and the matrix by c; the products x cos and y sin by u, and
    (|x cos| + |y sin|, |y cos| + |x sin|) is at most sqrt(2) times as long as (x, y); the sums by u. 2^-20 for cosines
    and sines of float32. Args: unit u in (0, 1).
    """
    u = reals("unit", unit, SHARE)
    return np.expm1(np.log1p(u + 2.0**-20) + np.log1p(np.sqrt(2.0) * u) + np.log1p(u))


@sized()
def capping_error(cap: ArrayLike, largest_logit: ArrayLike, unit: ArrayLike) -> NDArray[np.float64]:
    """((1 + u)^4 - 1) c tanh(A (1 + u) / c): how far c tanh(x/c) is off for |x| <= A, its three steps rounded.

    The quotient moves tanh by u / (1 - u) of itself, as y tanh'(y) <= tanh(y); tanh and the product are off by u; the
    fourth factor is for the float32 in which they are computed. Args: cap c > 0; largest_logit A >= 0; u in (0, 1).
    """
    c, size = reals("cap", cap, POSITIVE), reals("largest_logit", largest_logit, NONNEGATIVE)
    u = reals("unit", unit, SHARE)
    grown = np.expm1(4 * np.log1p(u))
    with np.errstate(over="ignore"):  # tanh is 1 there
        share = size / c
        # for small shares c tanh(x/c) is x
        return np.where(share < 1e-9, product(grown, 1 + u, size), product(grown, np.tanh(share * (1 + u)), c))[()]


@sized()
def weight_growth(unit: ArrayLike, n_tokens: ArrayLike) -> NDArray[np.float64]:
    """(1 + u)^2 / (1 - u) (1 + (N + 256) 2^-24): how many times its true size a weight can be as computed.

    The exponential, the sum of N of them in float32 and the quotient are rounded. Args: u in (0, 1); n_tokens >= 1.
    """
    u, count = reals("unit", unit, SHARE), wholes("n_tokens", n_tokens, 1)
    return (1 + u) ** 2 / (1 - u) * (1 + (count + 256) * SINGLE)
