"""From rows to a table: means over seeds, Student's intervals, and what each policy loses against the full cache."""

from typing import NamedTuple

import numpy as np

from dynamics.comparison.plan import FULL
from dynamics.comparison.record import Cell, Comparison
from dynamics.statistics.estimate import Estimate, student


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


def share_estimate(per_seed: list[float]) -> Estimate:
    """Mean and Student's 95 % interval of numbers in [0, 1], where the interval ends."""
    value, low, high = student(per_seed)
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
        student(bits),
        student([b - w for b, (w, _) in zip(bits, whole, strict=True)]),
        share_estimate(accuracy),
        student([w - a for a, (_, w) in zip(accuracy, whole, strict=True)]),
    )
