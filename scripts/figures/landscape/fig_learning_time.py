"""Every length learns at one scaled time; trained scalar models keep the flow's to half a percent (kv.beyond.time.*).

From alpha = beta = (.5, .5), law of the position as in the paper's generator. (a) L / log T against t / (s* T); (b) the
same after the limit: the logarithmic axis tells the lengths apart and shows a tenth of a percent; (c) what the time to
loss 0.1 exceeds its limit s* T by, and the 10 log T below which it is claimed to stay; (d) trained less the flow's own
time, 95 % together, behind the line from other starts.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.flow.trajectories import gradient_flow
from dynamics.scalar.record import read_study
from dynamics.scalar.statistics import extrapolated_mean
from dynamics.scalar.study import HALVES, flow_time, flow_times
from theory.landscape.exact import loss, scaled_learning_time

from ..trained.scalar_panels import draw_learning

TOKENS = (64, 256, 1024, 10_000, 100_000)  # the trained ones first
FARTHEST = 1.6  # of t / (s* T) in the first two panels
QUICK_SIZE, FULL_SIZE = 8, 25  # lengths of the third
UNIT = "lengths in the third panel"
draw = draw_learning


class Data(NamedTuple):
    """Losses are divided by log T and times by s* T in the first two panels; `excess` is t - s* T."""

    limit: NDArray  # s*
    tokens: NDArray  # of the curves
    scaled_time: NDArray  # (curve, times)
    scaled_loss: NDArray
    trained_tokens: NDArray
    trained_time: NDArray  # (training, times), as the curves
    trained_loss: NDArray
    lengths: NDArray  # of the third panel
    excess: NDArray
    flow_times: NDArray  # of each trained length
    estimate: NDArray  # (training, 3): trained time, ends of its interval
    others: NDArray  # (start, 6): T, alpha2, beta1 of other starts, estimate over flow time


def compute(size: int = FULL_SIZE) -> Data:
    """Flows of the closed form, and the shipped results of the trained models."""
    limit = scaled_learning_time(0.5, 0.5).value
    curves = [_curve(tokens, limit) for tokens in TOKENS]
    lengths = np.unique(np.rint(np.geomspace(16, TOKENS[-1], size)).astype(int))
    excess = np.array(flow_times(tuple((int(tokens), HALVES) for tokens in lengths))) - limit * lengths
    pairs = read_study().learning
    ours = [pair for pair in pairs if pair.fine.training.start == HALVES]
    paths = [_path(pair.fine, limit) for pair in ours]
    trained = np.array([pair.fine.training.n_tokens for pair in ours])
    others = [_other(pair) for pair in pairs if pair.fine.training.start != HALVES]
    return Data(
        np.array(limit), np.array(TOKENS), *(np.stack(rows) for rows in zip(*curves, strict=True)),
        trained, *_padded(paths), lengths, excess,
        np.array(flow_times(tuple((int(tokens), HALVES) for tokens in trained))),
        np.array([_estimate(pair) for pair in ours]), np.array(others),
    )  # fmt: skip


def _curve(tokens: int, limit: float) -> tuple[NDArray, NDArray]:
    """(t / (s* T), L / log T) of one flow, closer where the loss falls."""
    after = 1 + np.geomspace(1e-6, FARTHEST - 1, 200)[:-1]
    grid = np.sort(np.concatenate([np.linspace(0, FARTHEST, 151), after]))
    times = grid * limit * tokens
    flow = gradient_flow([HALVES], tokens, times[-1], times=times, position="mean", rtol=1e-8, atol=1e-10)
    return grid, loss(*flow.theta[:, 0].T, tokens, "mean") / np.log(tokens)


def _padded(paths: list[tuple[NDArray, NDArray]]) -> list[NDArray]:
    """Paths of unequal length as the rows of two arrays, filled up with NaN."""
    longest = max(len(time) for time, _ in paths)
    return [np.array([np.pad(path[k], (0, longest - len(path[k])), constant_values=np.nan) for path in paths])
            for k in range(2)]  # fmt: skip


def _path(times, limit: float) -> tuple[NDArray, NDArray]:
    tokens = times.training.n_tokens
    return np.array(times.path_times) / (limit * tokens), np.array(times.path_loss) / np.log(tokens)


def _estimate(pair) -> tuple[float, ...]:
    return tuple(extrapolated_mean(pair.fine.times, pair.coarse.times))


def _other(pair) -> tuple[float, ...]:
    setting = pair.fine.training
    flow = flow_time(setting.n_tokens, setting.start)
    return setting.n_tokens, setting.start[1], setting.start[2], *(value / flow for value in _estimate(pair))
