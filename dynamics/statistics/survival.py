"""Times to a level of runs that share one budget, some of them censored there: medians, bootstrap intervals, odds.

A censored run (None) is later than every run that arrived. So the median of a sample is right-censored, +inf, where
fewer than half (of an even number: not more than half) arrived, and an end of an interval may be +inf.
Intervals: percentile bootstrap over runs, seeded; ends are order statistics, never interpolated.
"""

from collections.abc import Sequence
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from dynamics.statistics.estimate import Estimate

Times = Sequence[float | None]
CONFIDENCE, DRAWS = 0.95, 10_000


def median_time(times: Times) -> float:
    """The median with censored runs last; +inf where it falls on one of them."""
    return float(_medians(_array(times)[None])[0])


def median_interval(times: Times, *, confidence: float = CONFIDENCE, draws: int = DRAWS, seed: int = 0) -> Estimate:
    """The median and its bootstrap interval. Raises ValueError: no runs, a time that is not positive, bad options."""
    values = _array(times)
    resampled = _medians(_resample(values, draws, np.random.default_rng(seed)))
    return Estimate(median_time(times), *_ends(resampled, resampled, confidence))


def median_ratio(
    first: Times, second: Times, *, confidence: float = CONFIDENCE, draws: int = DRAWS, seed: int = 0
) -> Estimate:
    """median(first) / median(second); where both are censored it may be anything from 0 to inf."""
    a, b = _array(first), _array(second)
    rng = np.random.default_rng(seed)
    with np.errstate(invalid="ignore"):
        value = (_medians(a[None]) / _medians(b[None]))[0]
        resampled = _medians(_resample(a, draws, rng)) / _medians(_resample(b, draws, rng))
    # A draw with both medians beyond the budget widens the interval on both sides.
    low, high = (np.where(np.isnan(resampled), end, resampled) for end in (0.0, np.inf))
    return Estimate(float(value), *_ends(low, high, confidence))


def probability_faster(
    first: Times, second: Times, *, confidence: float = CONFIDENCE, draws: int = DRAWS, seed: int = 0
) -> Estimate:
    """P(a run of first arrives before one of second), ties (two censored runs among them) counted by half."""
    a, b = _array(first), _array(second)
    rng = np.random.default_rng(seed)
    resampled = _earlier(_resample(a, draws, rng), _resample(b, draws, rng))
    return Estimate(float(_earlier(a[None], b[None])[0]), *_ends(resampled, resampled, confidence))


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


def _earlier(first: NDArray, second: NDArray) -> NDArray:
    """Share of pairs, one of each sample along the last axis, in which the first is earlier; ties by half."""
    a, b = first[..., :, None], second[..., None, :]
    return ((a < b) + 0.5 * (a == b)).mean((-2, -1))


def _resample(values: NDArray, draws: int, rng: np.random.Generator) -> NDArray:
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    return values[rng.integers(0, len(values), (draws, len(values)))]


def _ends(low: NDArray, high: NDArray, confidence: float) -> tuple[float, float]:
    """The (1 -+ confidence)/2 quantiles: of low rounded down, of high rounded up to an order statistic."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {confidence}")
    last, tail = len(low) - 1, (1 - confidence) / 2
    return float(np.sort(low)[floor(tail * last)]), float(np.sort(high)[ceil((1 - tail) * last)])
