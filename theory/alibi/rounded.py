"""ALiBi as it is run: slope times position and the logit itself are rounded to the format of the model's numbers.

A head adds fl(l t) to the logit of the token at position t and rounds the sum. With unit roundoff u the first is off by
at most u l (N - 1) in a context of N tokens, the second by u (A + (1 + u) l (N - 1)), where |scale q.k| <= A. So the
difference of two logits is off by at most twice their sum, and every bound from the range D of logits holds with that
much more of it. In bfloat16 (u = 2^-8), at slope 1/2 and 4096 tokens that is 16 + 16: more than many ranges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import NONNEGATIVE, SHARE, reals, sized, wholes

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
