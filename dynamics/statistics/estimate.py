"""A value with its interval: one record for every statistic, and Student's of a mean."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

LEVEL = 0.95


class Estimate(NamedTuple):
    """A value and both ends of its interval.

    NaN: not known, as the ends where there is one sample only, or a value that censoring hides altogether; +inf: beyond
    the budget of a time that is censored there.
    """

    value: float
    low: float
    high: float


def student(values: ArrayLike) -> Estimate:
    """Mean and Student's 95 % interval of numbers (n,) that are independent; NaN ends for one of them.

    Of runs that share their held-out text the interval is about another seed, not about other text.
    """
    found = np.asarray(values, dtype=float)
    mean, n = float(found.mean()), len(found)
    if n < 2:
        return Estimate(mean, math.nan, math.nan)
    half = float(t.ppf((1 + LEVEL) / 2, n - 1) * found.std(ddof=1) / math.sqrt(n))
    return Estimate(mean, mean - half, mean + half)
