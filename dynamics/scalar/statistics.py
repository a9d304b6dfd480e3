"""Statistics of the trained scalars, each with a seeded bootstrap interval over runs; numpy alone.

Deviations are those from the flow at d = infinity, (runs, 4). A frozen table moves them by d^(-1/2): `spread`. What is
left of their mean once the step size and the two means of each table are accounted for is of order 1/d: `shift_along`.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.statistics.estimate import Estimate

Array = NDArray[np.float64]

DRAWS, FINE_DRAWS = 4000, 20_000
SIMULTANEOUS = 1 - 0.05 / 9  # nine lengths and starts are trained: all nine intervals hold together with 95 %


def _interval(value: float, draws: Array, confidence: float = 0.95) -> Estimate:
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(float(value), float(low), float(high))


def _resampled(values: Array, rng: np.random.Generator, draws: int = DRAWS) -> Array:
    """(draws, runs, ...): runs drawn with replacement."""
    return values[rng.integers(0, len(values), (draws, len(values)))]


def extrapolated_mean(fine: ArrayLike, coarse: ArrayLike, confidence: float = SIMULTANEOUS, seed: int = 0) -> Estimate:
    """2 mean(fine) - mean(coarse): the mean at rate 0 from runs at a rate and at twice it, up to its square.

    The interval is the studentised bootstrap's: with 16 runs percentiles of the mean itself are too narrow.
    Raises ValueError for times that are not finite (a run that did not arrive has no mean), or fewer than 2 runs.
    """
    samples = [np.asarray(values, dtype=np.float64) for values in (fine, coarse)]
    if not all(values.size >= 2 and np.isfinite(values).all() for values in samples):
        raise ValueError("a mean and its error need at least two times at either rate, all of them finite")
    rng = np.random.default_rng(seed)
    value, error = _extrapolate(*samples)
    draws, errors = _extrapolate(*(_resampled(values, rng, FINE_DRAWS) for values in samples))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.sort(np.nan_to_num((draws - value) / errors, posinf=np.inf, neginf=-np.inf))
    rank = int((1 - confidence) / 2 * FINE_DRAWS)  # order statistics: of two runs, some are infinite
    low, high = ratios[rank], ratios[-1 - rank]
    return Estimate(float(value), float(value - high * error), float(value - low * error))


def _extrapolate(fine: Array, coarse: Array) -> tuple[Array, Array]:
    """The estimate and its standard error, runs on the last axis."""
    parts = [values.var(axis=-1, ddof=1) / values.shape[-1] for values in (fine, coarse)]
    return 2 * fine.mean(axis=-1) - coarse.mean(axis=-1), np.sqrt(4 * parts[0] + parts[1])


def spread(deviation: Array) -> Array:
    """Root mean square length of the deviation, over runs (the axis before the last)."""
    return np.sqrt((deviation**2).sum(axis=-1).mean(axis=-1))


def shift_along(direction: Array) -> Callable[[Array], Array]:
    """The statistic that is the mean deviation over runs, along the unit vector of `direction` (4,)."""
    unit = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    return lambda deviation: (deviation @ unit).mean(axis=-1)


def estimate(values: Array, statistic: Callable[[Array], Array], confidence: float = 0.95, seed: int = 0) -> Estimate:
    """A statistic of (runs, 4) deviations and its interval."""
    draws = statistic(_resampled(values, np.random.default_rng(seed)))
    return _interval(float(statistic(values)), draws, confidence)


def exponent(
    widths: Sequence[int], samples: Sequence[Array], statistic: Callable[[Array], Array], seed: int = 0
) -> Estimate:
    """Least-squares slope of log |statistic| in log width; runs are resampled at each width by itself."""
    rng = np.random.default_rng(seed)
    found = np.array([statistic(values) for values in samples])
    draws = np.stack([statistic(_resampled(values, rng)) for values in samples])
    place = np.log(np.asarray(widths, dtype=np.float64))
    place -= place.mean()
    slopes = place @ np.log(np.abs(np.column_stack([found, draws]))) / (place @ place)
    return _interval(slopes[0], slopes[1:])
