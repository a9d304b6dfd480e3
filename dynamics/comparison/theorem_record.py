"""Theorem 3.4's loss beside the loss of models while they train: the record, its statistics and the verdict. No torch.

The theorem's loss, at the coordinates that a model has at a step, is held against what the model loses there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator
from scipy.stats import rankdata

from dynamics.files.hashed import read_hashed, write_hashed
from dynamics.files.manifest import Count, Strict
from dynamics.files.shipped import FOLDER
from dynamics.model.config import ModelConfig
from dynamics.scalar.record import ScalarTraining
from dynamics.statistics.estimate import Estimate, student
from dynamics.training.settings import TrainConfig

SHIPPED = FOLDER / "comparison" / "theorem.json"
# Written down before the eight seeds were trained; one seed of two settings had been seen.
LEAST_RANK = 0.8  # the lower end of the interval of the mean rank correlation
SLOPES = RATIOS = (0.5, 2.0)  # the interval of the mean slope; the mean ratio of times at half of the guess
SHARES = (0.5, 0.1)  # of the guess: the levels whose times are compared
JUDGED = "row"  # the stage that is judged, as the theorem's softmax is over the row's own tokens


class Run(Strict):
    """One seed: the theorem's loss and the measured ones, in nats, at each recorded step, by the names of `STAGES`."""

    predicted: tuple[float, ...]
    measured: dict[str, tuple[float, ...]]


class Setting(Strict):
    """What was trained from several seeds. config: None for the scalar model; guess: mean of log T, in nats."""

    config: ModelConfig | None
    training: TrainConfig | ScalarTraining
    guess: float
    steps: tuple[Count, ...]
    runs: tuple[Run, ...]

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        curves = [curve for run in self.runs for curve in (run.predicted, *run.measured.values())]
        if len(self.runs) < 2 or {len(curve) for curve in curves} != {len(self.steps)}:
            raise ValueError("two runs or more, and one loss a step of each, are needed")
        return self


class TheoremStudy(Strict):
    """All settings by name, with what trained them."""

    version: str
    torch_version: str
    device: str
    settings: dict[str, Setting]


class Line(NamedTuple):
    """A setting at one stage: means over seeds with Student's intervals.

    slope: of the measured on the predicted loss over steps, by least squares; rank: Spearman's correlation of both;
    other_slope, other_rank: the same with the next seed's prediction; gain: rank less other_rank. ratios, reached: by
    share of the guess, measured over predicted time, None where fewer than two seeds have both, and how many have.
    order: Spearman's correlation over seeds of predicted and measured time at half of the guess, NaN for fewer than 3.
    """

    slope: Estimate
    rank: Estimate
    other_slope: Estimate
    other_rank: Estimate
    gain: Estimate
    ratios: tuple[Estimate | None, ...]
    reached: tuple[int, ...]
    order: float


def slope(predicted: ArrayLike, measured: ArrayLike) -> float:
    """The least-squares slope, with an intercept, of measured on predicted, both (steps,)."""
    both = np.cov(predicted, measured)
    return float(both[0, 1] / both[0, 0])


def rank_correlation(one: ArrayLike, other: ArrayLike) -> float:
    """Spearman's rank correlation of two sequences (n,), ties sharing their mean rank."""
    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


def stays_below(steps: Sequence[int], losses: Sequence[float], level: float) -> float | None:
    """The step from which a curve stays at or below a level, between records by a line; None where it ends above."""
    above = np.flatnonzero(np.asarray(losses) > level)
    if not len(above):
        return float(steps[0])
    last = above[-1]
    if last + 1 == len(steps):
        return None
    share = (losses[last] - level) / (losses[last] - losses[last + 1])
    return steps[last] + share * (steps[last + 1] - steps[last])


def line(setting: Setting, stage: str = JUDGED) -> Line:
    """The statistics of a setting at a stage."""
    found = [(run.predicted, run.measured[stage]) for run in setting.runs]
    others = [(setting.runs[n - len(found) + 1].predicted, measured) for n, (_, measured) in enumerate(found)]
    slopes, ranks = ([[of(*pair) for pair in pairs] for pairs in (found, others)] for of in (slope, rank_correlation))
    times = [_times(setting, found, share * setting.guess) for share in SHARES]
    ratios = [[measured / predicted for predicted, measured in pairs if predicted > 0] for pairs in times]
    return Line(
        student(slopes[0]), student(ranks[0]), student(slopes[1]), student(ranks[1]),
        student(np.subtract(*ranks)), tuple(student(one) if len(one) > 1 else None for one in ratios),
        tuple(len(pairs) for pairs in times),
        rank_correlation(*zip(*times[0], strict=True)) if len(times[0]) > 2 else math.nan,
    )  # fmt: skip


def _times(setting: Setting, curves: Sequence[Sequence[Sequence[float]]], level: float) -> list[tuple[float, float]]:
    """Predicted and measured time of each seed whose two curves both come to stay at or below the level."""
    found = [tuple(stays_below(setting.steps, curve, level) for curve in pair) for pair in curves]
    return [(one, other) for one, other in found if one is not None and other is not None]


def failures(found: Line, seeds: int) -> list[str]:
    """What a setting fails, in words; nothing where training and theorem agree."""
    half = found.ratios[0]
    reached = half is not None and found.reached[0] == seeds
    fails = {
        "rank": not found.rank.low >= LEAST_RANK,
        "slope": not (SLOPES[0] <= found.slope.low and found.slope.high <= SLOPES[1]),
        "time": not (reached and half is not None and RATIOS[0] <= half.value <= RATIOS[1]),
    }
    return [name for name, failed in fails.items() if failed]


def write_theorem(path: str | Path, study: TheoremStudy) -> None:
    """Write a study atomically, a line a run, and its hash beside it."""
    write_hashed(path, study.model_dump_json().replace("},{", "},\n{") + "\n")


def read_theorem(path: str | Path = SHIPPED) -> TheoremStudy:
    """Read a study and check its hash; default, the one that comes with the package.

    Raises OSError: a file is missing. ValueError, one plain line: not a study, a value out of range, or changed since.
    """
    return TheoremStudy.parsed(read_hashed(path), str(path))
