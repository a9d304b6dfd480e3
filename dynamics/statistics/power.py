"""Simulate the verdicts of a rule, to choose the number of seeds before any training.

TABLE is for x = 0.5 %, a spread of 1 %, at most 40 seeds, "symmetric" and c = 1/2. An effect of 2 % is found "better by
at least x" always, after 9 seeds in the mean, 14 as one of ten comparisons; one of 1 % in half, or a quarter, of the
comparisons; "no difference larger than x" needs about 80 seeds, as its interval has to be shorter than the spread. An
effect of x itself is "better, and by less than x is not excluded" in 51 % (25 % as one of ten).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.statistics.rule import VERDICTS, Rule, Verdict, stops, verdicts
from dynamics.statistics.sequence import intervals, running, symmetric_log_e

Noise = Callable[[np.random.Generator, tuple[int, int]], NDArray]
TINY = 5e-324
# effect -> for share = 1 and 0.1: P(better by at least x), P(no difference larger than x), mean number of seeds
TABLE = {
    0.0: ((0.001, 0.158, 38.6), (0.0, 0.013, 39.9)),
    0.005: ((0.015, 0.018, 39.3), (0.002, 0.001, 39.9)),
    0.01: ((0.527, 0.0, 30.2), (0.255, 0.0, 36.6)),
    0.02: ((1.0, 0.0, 9.1), (1.0, 0.0, 13.9)),
}


class Power(NamedTuple):
    """by_n: verdict -> share of comparisons that have ended with it after n = 1, .., rule.most seeds; those that no
    verdict ended are counted at rule.most by the verdict that they have there. seeds: mean number of seeds."""

    by_n: dict[Verdict, NDArray]
    seeds: float

    @property
    def at_end(self) -> dict[Verdict, float]:
        """verdict -> share of comparisons, the budget spent if need be."""
        return {verdict: float(share[-1]) for verdict, share in self.by_n.items()}


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray:
    """Standard normal noise."""
    return rng.standard_normal(shape)


def power(
    rule: Rule, effect: float, spread: float, *, draws: int = 2000, seed: int = 0, noise: Noise = normal
) -> Power:
    """Simulate comparisons whose gains are effect + spread * noise. The same arguments give the same numbers.

    effect: the true mean gain, positive for better; spread: standard deviation of a difference, > 0, where noise has 1;
    noise: (rng, (draws, rule.most)) -> that shape. A share is within 2 sqrt(p (1 - p)/draws) of its value mostly.
    Raises ValueError: draws < 1, spread <= 0.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    if not spread > 0:
        raise ValueError(f"spread must be positive, got {spread}")
    gains = effect + spread * noise(np.random.default_rng(seed), (draws, rule.most))
    codes = verdicts(rule, *_running(rule, gains))
    last = stops(rule, codes)
    said = codes[np.arange(draws), last]
    reached = last[:, None] <= np.arange(rule.most)
    by_n = {verdict: (reached & (said == code)[:, None]).mean(0) for code, verdict in enumerate(VERDICTS)}
    return Power(by_n, float((last + 1).mean()))


def _running(rule: Rule, gains: NDArray) -> tuple[NDArray, NDArray]:
    if rule.method == "gaussian":
        return running(*intervals(gains, rule.alpha, rule.method, rule.c))
    return running(_passed(rule, gains), -_passed(rule, -gains))


def _passed(rule: Rule, gains: NDArray) -> NDArray:
    """The largest of -x, 0, x that the lower end has passed: all that a verdict asks of it; -inf for none.

    E_n falls as m grows, so three values of m stand for the whole interval.
    """
    passed = np.full_like(gains, -np.inf)
    for mean in (-rule.smallest, TINY, rule.smallest):
        passed[symmetric_log_e(gains, mean, rule.c) >= -np.log(rule.alpha / 2)] = mean
    return passed
