"""Times to a level of runs that share one budget, some of them censored there: medians, and odds of being first.

A censored run (None) is later than every run that arrived. So the median of a sample is right-censored, +inf, where
fewer than half (of an even number: not more than half) arrived, and an end of its interval may be +inf.
"""

from collections.abc import Sequence
from math import ceil, floor, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from dynamics.statistics.estimate import LEVEL, Estimate

Times = Sequence[float | None]
DRAWS = 10_000


def median_time(times: Times) -> float:
    """The median with censored runs last; +inf where it falls on one of them."""
    return float(_medians(_array(times)[None])[0])


def median_interval(times: Times, *, confidence: float = LEVEL, draws: int = DRAWS) -> Estimate:
    """The median and its percentile bootstrap interval over runs; the ends are order statistics, never interpolated.

    Of lognormal times it covers the median in .92 to .94 of samples of 5 to 16 runs, at a confidence of .95.
    Raises ValueError: no runs, a time that is not positive, bad options.
    """
    values = _array(times)
    resampled = _medians(_resample(values, draws, np.random.default_rng(0)))
    return Estimate(median_time(times), *_ends(resampled, confidence))


def probability_faster(first: Times, second: Times, *, confidence: float = LEVEL) -> Estimate:
    """P(a run of first arrives before one of second), ties (two censored runs among them) counted by half.

    The interval is Wilson's: each p with |found - p| <= q sqrt(V(p)), V(p) = p (1 - p) (m + n + 1)/(3 m n). At p = 1/2
    V is Mann and Whitney's variance where both are of one law; q is Student's quantile with m + n - 2 degrees of
    freedom. Newcombe's fifth method (2006, Statistics in Medicine 25:559) has a smaller V near 0 and 1, and covers less
    there where outliers of one sample decide. The interval has a width where all pairs agree.
    Raises ValueError: no runs, a time that is not positive, bad options.
    """
    a, b = _array(first)[:, None], _array(second)
    share, m, n = float(((a < b) + 0.5 * (a == b)).mean()), len(a), len(b)
    quantile = float(t.ppf(1 - _tail(confidence), max(m + n - 2, 1)))
    scale = quantile**2 * (m + n + 1) / (3 * m * n)
    middle, half = share + scale / 2, sqrt(scale * (share * (1 - share) + scale / 4))
    return Estimate(share, max((middle - half) / (1 + scale), 0.0), min((middle + half) / (1 + scale), 1.0))


def _array(times: Times) -> NDArray:
    values = np.array([np.inf if time is None else time for time in times], dtype=float)
    if not values.size:
        raise ValueError("a sample needs at least one run")
    if not (values > 0).all():
        raise ValueError(f"times must be positive, got {values[~(values > 0)][0]:g}")
    return values


def _medians(samples: NDArray) -> NDArray:
    """Medians along the last axis; the mean of the middle pair, +inf if one of them is."""
    ordered, middle = np.sort(samples, axis=-1), samples.shape[-1] // 2
    upper = ordered[..., middle]
    return upper if samples.shape[-1] % 2 else (ordered[..., middle - 1] + upper) / 2


def _resample(values: NDArray, draws: int, rng: np.random.Generator) -> NDArray:
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    return values[rng.integers(0, len(values), (draws, len(values)))]


def _ends(samples: NDArray, confidence: float) -> tuple[float, float]:
    """The (1 -+ confidence)/2 quantiles, rounded outwards to an order statistic."""
    last, tail = len(samples) - 1, _tail(confidence)
    ordered = np.sort(samples)
    return float(ordered[floor(tail * last)]), float(ordered[ceil((1 - tail) * last)])


def _tail(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {confidence}")
    return (1 - confidence) / 2
