"""Monte-Carlo margins of the claims on finite width, over fresh Gaussian embeddings."""

from functools import cache

import numpy as np

from proofs_check.evidence.margin import Margin, at_most, close, worst
from proofs_check.evidence.tolerances import STANDARD_ERRORS
from proofs_check.ledger.claim import Effort
from proofs_check.oracles.width import Estimate, argmax_accuracy, pilot_count, simulate
from theory.landscape.width import finite_width

QUICK_SEEDS = range(4)


def random_point(seed: int) -> tuple[int, int, tuple[float, ...]]:
    """T, i and the four parameters of one of the Monte-Carlo points."""
    rng = np.random.default_rng(seed)
    tokens = int(rng.integers(4, 13))
    position = int(rng.integers(1, tokens + 1))
    return tokens, position, (*rng.uniform(-0.5, 1.5, size=2), *rng.uniform(-1.0, 2.0, size=2))


@cache
def _simulated(seed: int, width: int) -> Estimate:
    tokens, position, parameters = random_point(seed)
    target = 0.07 * abs(float(finite_width(*parameters, tokens, position).mean_shift))
    count = pilot_count(parameters, position, tokens, width, target, seed)
    return simulate(parameters, position, tokens, width, count, seed)


def monte_carlo(seed: int, width: int, mean_factor: float = 1.0, variance_factor: float = 1.0) -> Margin:
    """Both estimates within three standard errors of `finite_width`, each error at most a tenth of the prediction."""
    tokens, position, parameters = random_point(seed)
    mean_shift, variance = (float(term) for term in finite_width(*parameters, tokens, position))
    found = _simulated(seed, width)
    return worst(
        [
            close(found.mean, mean_factor * mean_shift, STANDARD_ERRORS.times(found.mean_error)),
            close(found.variance, variance_factor * variance, STANDARD_ERRORS.times(found.variance_error)),
            at_most(found.mean_error, abs(mean_shift) / 10),
            at_most(found.variance_error, variance / 10),
        ]
    )


def monte_carlo_points(effort: Effort) -> list[dict[str, int]]:
    seeds = QUICK_SEEDS if effort is Effort.QUICK else range(10)
    return [{"seed": seed, "width": width} for seed in seeds for width in (256, 1024)]


def accuracy(tokens: int, width: int, expected: float, count: int = 1000, slack: float = 0.01) -> Margin:
    """Share of sentences (i uniform on 1..T-1) that the head alpha = (0, 1), beta = (1, 0) gets right by argmax."""
    share = argmax_accuracy((0.0, 1.0, 1.0, 0.0), tokens, width, count, seed=width)
    error = np.sqrt(max(expected * (1 - expected), 0.25 / count) / count)
    return at_most(abs(share - expected), STANDARD_ERRORS * float(error) + slack)
