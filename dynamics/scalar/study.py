"""Experiments with the trained scalar models: learning times against the flow's own, deviations against the width."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from dynamics.files.manifest import package_version
from dynamics.flow.descent import descend
from dynamics.flow.trajectories import gradient_flow
from dynamics.scalar.model import train_scalars
from dynamics.scalar.record import Four, LearningPair, LearningTimes, ScalarStudy, ScalarTraining, TableDeviations
from theory import landscape

Array = NDArray[np.float64]

LEVEL = 0.1  # the loss at which induction counts as learnt
HALVES: Four = (0.5, 0.5, 0.5, 0.5)
# alpha = (alpha1, 1 - alpha1), beta = (beta1, 1 - beta1) for (alpha1, beta1) = (.5, .5), (0, 1), (1, .2)
STARTS: tuple[Four, ...] = (HALVES, (0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 0.2, 0.8))
# The finer rate of each pair: 1500 to 3000 steps to learn.
RATES = {16: 0.02, 32: 0.03, 64: 0.04, 128: 0.06, 256: 0.1, 512: 0.15, 1024: 0.25}
WIDTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
TABLE_TOKENS, TABLE_TIME = 12, 6.0
_LATEST = 1.1  # runs go on to this multiple of the flow's time
_DRAWN = 25  # points of a drawn path, spread over the time; as many spread over the fall of the loss


class Plan(NamedTuple):
    """The trainings of one study; of a pair the finer rate first."""

    learning: tuple[tuple[ScalarTraining, ScalarTraining], ...]
    tables: tuple[ScalarTraining, ...]


def plan(quick: bool = False, seed: int = 0) -> Plan:
    """Every length and width, 16 to 64 and 128 runs each; quick: T to 64, d to 512, with 8 and 32 runs."""
    lengths = [(t, HALVES) for t in RATES if t <= 64 or not quick]
    if not quick:
        lengths += [(128, start) for start in STARTS[1:]]
    ends = flow_times(tuple(lengths))
    learning = [learning_settings(t, start, _LATEST * end, 8 if quick else _runs(t), seed)
                for (t, start), end in zip(lengths, ends, strict=True)]  # fmt: skip
    widths = WIDTHS[:5] if quick else WIDTHS
    return Plan(tuple(learning), tuple(table_setting(d, 32 if quick else 128, seed) for d in widths))


def _runs(n_tokens: int) -> int:
    return max(16, min(64, 2048 // n_tokens))  # more where a run costs little


def learning_settings(
    n_tokens: int, start: Four, end: float, runs: int = 16, seed: int = 0
) -> tuple[ScalarTraining, ScalarTraining]:
    """A pair under the paper's law of the position, trained until time `end`.

    The width is 8192, more for short sentences (where it is cheap), so that the shift of order 1/d hides in the noise.
    """
    rate = RATES[n_tokens]
    fine, coarse = (
        ScalarTraining(n_tokens=n_tokens, width=min(2**16, 2**23 // n_tokens), runs=runs, start=start, rate=step,
                       steps=int(np.ceil(end / step)), batch=8 if n_tokens <= 128 else 4, seed=seed + 2 * n_tokens + k)
        for k, step in enumerate((rate, 2 * rate))
    )  # fmt: skip
    return fine, coarse


def table_setting(width: int, runs: int = 128, seed: int = 0) -> ScalarTraining:
    """T = 12, interior positions (all alike at d = infinity, so that only the embeddings make noise)."""
    return ScalarTraining(n_tokens=TABLE_TOKENS, width=width, runs=runs, steps=400, rate=TABLE_TIME / 400, batch=64,
                          law="interior", seed=seed + width)  # fmt: skip


def flow_time(n_tokens: int, start: Four = HALVES) -> float:
    """When the loss of the flow under the paper's law of the position (all four scalars free) falls to `LEVEL`."""
    return flow_times(((n_tokens, start),))[0]


@cache
def flow_times(settings: tuple[tuple[int, Four], ...]) -> tuple[float, ...]:
    """`flow_time` of each (n_tokens, start), all in one call of the flow."""
    tokens, starts = np.array([t for t, _ in settings]), np.array([start for _, start in settings])
    end = 4.0 * tokens.max() + 60.0
    found = gradient_flow(starts, tokens, end, times=[end], position="mean", levels=[LEVEL], rtol=1e-8, atol=1e-10)
    return tuple(found.level_times[0].tolist())


def first_passage(times: Array, loss: Array, level: float = LEVEL) -> Array:
    """When each column of `loss` (times, runs) first is at most `level`, between records by a line; NaN if never."""
    below = loss <= level
    after = below.argmax(axis=0)
    before, column = np.maximum(after - 1, 0), np.arange(loss.shape[1])
    high, low = loss[before, column], loss[after, column]
    share = np.divide(high - level, high - low, out=np.zeros_like(high), where=high > low)
    found = times[before] + share * (times[after] - times[before])
    return np.where(below.any(axis=0), found, np.nan)


def learning_times(training: ScalarTraining) -> LearningTimes:
    """Train, and read the closed-form loss at the trained scalars under the same law of the position."""
    runs = train_scalars(training)
    loss = landscape.loss(*np.moveaxis(runs.theta, -1, 0), training.n_tokens, training.position)
    path = np.median(loss, axis=1)
    drawn = _drawn(path)
    return LearningTimes(
        training=training,
        times=tuple(None if np.isnan(t) else float(t) for t in first_passage(runs.times, loss)),
        path_times=tuple(round(float(t), 6) for t in runs.times[drawn]),
        path_loss=tuple(round(float(value), 6) for value in path[drawn]),
    )


def _drawn(path: Array) -> NDArray[np.int_]:
    falls = [np.argmax(path <= path[0] * share) for share in np.linspace(0.02, 0.98, _DRAWN)]
    return np.unique([*np.linspace(0, len(path) - 1, _DRAWN).astype(int), *falls])


def table_deviations(training: ScalarTraining) -> TableDeviations:
    """Train, and compare the last scalars with the flow of the interior loss."""
    runs = train_scalars(training, every=training.steps)
    away = runs.theta[-1] - flow_end(training)
    return TableDeviations(
        training=training,
        deviation=tuple(tuple(_short(x) for x in row) for row in away),
        diagonal=tuple(_short(x) for x in runs.diagonal),
        off_diagonal=tuple(_short(x) for x in runs.off_diagonal),
    )


def _short(value: float) -> float:
    """Seven digits: far below any noise, and a third of the file."""
    return float(f"{value:.6e}")


def flow_end(training: ScalarTraining) -> Array:
    """The scalars (4,) of the flow at d = infinity after all steps."""
    end = training.rate * training.steps
    return gradient_flow([training.start], training.n_tokens, end, times=[end], position=training.position).theta[-1, 0]


def step_lag(training: ScalarTraining) -> Array:
    """Gradient descent at d = infinity with the same rate and steps, less the flow: the error (4,) of the steps."""
    found = descend([training.start], training.n_tokens, training.steps, training.rate, position=training.position)
    return found.theta[-1, 0] - flow_end(training)


def run_study(trainings: Plan, report: Callable[[], object] = bool) -> ScalarStudy:
    """All trainings of a plan, one after the other; `report` is called after each."""
    learning, tables = [], []
    for pair in trainings.learning:
        fine, coarse = (_then(learning_times(training), report) for training in pair)
        learning.append(LearningPair(fine=fine, coarse=coarse))
    for training in trainings.tables:
        tables.append(_then(table_deviations(training), report))
    return ScalarStudy(
        version=package_version(), torch_version=torch.__version__, learning=tuple(learning), tables=tuple(tables)
    )


def _then(result, report: Callable[[], object]):
    report()
    return result
