"""Loss against parameters: a power law a seed, and what differs between variants that were trained at all sizes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynamics.statistics.estimate import Estimate, student


class Law(NamedTuple):
    """loss = scale (parameters / middle)^-exponent, middle the geometric mean of the sizes; intervals over seeds."""

    exponent: Estimate
    scale: Estimate
    middle: float


def fit(parameters: ArrayLike, losses: ArrayLike) -> Law:
    """Fit log loss by a line in log parameters, seed by seed.

    parameters: (sizes,), at least two different ones; losses: (seeds, sizes), at least two seeds. The intervals are
    Student's, 95 % each, of the means of exponent and log scale over seeds; two numbers a seed through three sizes say
    nothing of a floor below the losses, and nothing beyond the sizes. Raises: ValueError for other shapes.
    """
    sizes, losses = np.asarray(parameters, dtype=float), np.asarray(losses, dtype=float)
    if sizes.ndim != 1 or len(set(sizes.tolist())) < 2 or losses.ndim != 2 or losses.shape[1:] != sizes.shape:
        raise ValueError(f"need (sizes,) and (seeds, sizes), two sizes or more, got {sizes.shape} and {losses.shape}")
    middle = float(np.exp(np.log(sizes).mean()))
    slope, level = lines(sizes / middle, losses)
    scale = student(level)
    return Law(student(-slope), Estimate(*np.exp(scale).tolist()), middle)


def lines(sizes: NDArray, losses: NDArray) -> tuple[NDArray, NDArray]:
    """Slope and level, (seeds,) each, of log losses (seeds, sizes) in log sizes, by least squares."""
    slope, level = np.polyfit(np.log(sizes), np.log(losses).T, 1)
    return slope, level
