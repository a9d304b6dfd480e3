"""From rows to a table: means over seeds, Student's intervals, and what each policy loses against the full cache."""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from dynamics.comparison.plan import FULL
from dynamics.comparison.record import Cell, Comparison
from dynamics.statistics.estimate import Estimate

LEVEL = 0.95


class Line(NamedTuple):
    """One policy at one budget. share: entries kept, of the full cache; extra and lost: against the full cache of the
    same seed on the same windows; accuracy and lost are shares of questions."""

    policy: str
    budget: str
    share: float
    bits: Estimate
    extra: Estimate
    accuracy: Estimate
    lost: Estimate


def estimate(per_seed: list[float]) -> Estimate:
    """Mean and Student's 95 % interval of numbers that are independent from seed to seed; NaN ends for one of them.

    The windows are the same for all seeds and are not resampled: the interval is about another seed, not other text.
    """
    values = np.array(per_seed, dtype=float)
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return Estimate(mean, math.nan, math.nan)
    half = float(student.ppf((1 + LEVEL) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
    return Estimate(mean, mean - half, mean + half)


def share_estimate(per_seed: list[float]) -> Estimate:
    """The same for numbers in [0, 1], where the interval ends."""
    value, low, high = estimate(per_seed)
    return Estimate(value, *np.clip((low, high), 0.0, 1.0).tolist())


def bits_of(cell: Cell) -> float:
    """Mean bits per byte of a cell's rows."""
    return float(np.mean(cell.bits))


def accuracy_of(cell: Cell, pairs: int) -> float:
    """Share of a cell's questions that were answered."""
    return float(np.mean(cell.hits)) / pairs


def lines(comparison: Comparison) -> list[Line]:
    """The table: every policy at every budget, in the order in which they were measured."""
    by_key: dict[tuple[str, str], dict[int, Cell]] = {}
    for cell in comparison.cells:
        by_key.setdefault((cell.policy, cell.budget), {})[cell.seed] = cell
    full = by_key[FULL, "1"]
    return [_line(policy, budget, cells, full, comparison) for (policy, budget), cells in by_key.items()]


def line_of(comparison: Comparison, policy: str, budget: str) -> Line:
    """One line of the table. Raises ValueError for a cell that was not measured."""
    for line in lines(comparison):
        if (line.policy, line.budget) == (policy, budget):
            return line
    raise ValueError(f"{policy!r} at {budget} was not measured")


def _line(policy: str, budget: str, cells: dict[int, Cell], full: dict[int, Cell], comparison: Comparison) -> Line:
    settings, seeds = comparison.settings, sorted(cells)
    total = settings.config.n_layers * settings.config.n_heads * settings.context
    bits = [bits_of(cells[seed]) for seed in seeds]
    accuracy = [accuracy_of(cells[seed], settings.pairs) for seed in seeds]
    whole = [(bits_of(full[seed]), accuracy_of(full[seed], settings.pairs)) for seed in seeds]
    return Line(
        policy,
        budget,
        cells[seeds[0]].entries / total,
        estimate(bits),
        estimate([b - w for b, (w, _) in zip(bits, whole, strict=True)]),
        share_estimate(accuracy),
        estimate([w - a for a, (_, w) in zip(accuracy, whole, strict=True)]),
    )
