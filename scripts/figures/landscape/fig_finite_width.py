"""Finite width moves trained scalars by d^(-1/2), their mean over tables by 1/d, as theory says (kv.beyond.width.*).

T = 12, interior positions, from alpha = beta = (.5, .5). (a) Loss of a sentence along the flow, fresh
embeddings of width 64: mean and standard deviation, which is short where few sentences hold most of the loss: there
the next order counts. (b) Trained scalars at t = 6 less the flow's, over frozen tables.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from dynamics.flow.trajectories import gradient_flow
from dynamics.scalar import statistics
from dynamics.scalar.model import ScalarModel, draw_batch, draw_gram
from dynamics.scalar.record import ScalarTraining, read_study
from dynamics.scalar.study import HALVES, TABLE_TOKENS
from dynamics.scalar.tables import table_response, table_sample
from theory.landscape.exact import loss
from theory.landscape.width import finite_width

from ..trained.scalar_panels import draw_width

WIDTH, T_END = 64, 24.0
QUICK_SIZE, FULL_SIZE = 400, 4000  # sentences a time
UNIT = "sentences a time"
draw = draw_width


class Data(NamedTuple):
    """Losses in nats; `spread` and `shift` are lengths in the space of the four scalars, with interval ends."""

    times: NDArray  # of the curves
    loss: NDArray  # at d = infinity
    mean: NDArray  # predicted at width 64
    deviation: NDArray
    sample_times: NDArray
    samples: NDArray  # (times, 3): mean, its standard error, standard deviation
    widths: NDArray
    spread: NDArray  # (widths, 3): value, low, high
    shift: NDArray
    exponents: NDArray  # of both, (2, 3); of the shift over d >= 64, as terms of order 1/d^2 show at 32
    predicted: NDArray  # both at width 1


def compute(size: int = FULL_SIZE) -> Data:
    """The theory along the flow, Monte Carlo beside it, and the shipped results of the trained models."""
    times = np.linspace(0, T_END, 97)
    theta = gradient_flow([HALVES], TABLE_TOKENS, T_END, times=times).theta[:, 0]
    inside = range(2, TABLE_TOKENS - 1)
    terms = [finite_width(*theta.T, TABLE_TOKENS, place) for place in inside]
    shift, variance = (np.mean([term[k] for term in terms], axis=0) for k in range(2))
    level = loss(*theta.T, TABLE_TOKENS)
    drawn = np.arange(0, len(times), 8)
    samples = np.array([_sampled(theta[k], size, int(k)) for k in drawn])
    return Data(
        times, level, level + shift / WIDTH, np.sqrt(variance / WIDTH), times[drawn], samples, *_trained()
    )  # fmt: skip


def _sampled(theta: NDArray, size: int, seed: int) -> tuple[float, ...]:
    """Mean loss of `size` sentences with own embeddings, its standard error, their deviation."""
    settings = ScalarTraining(n_tokens=TABLE_TOKENS, width=WIDTH, runs=size, steps=1, rate=1.0, batch=1, law="interior")
    generator = torch.Generator().manual_seed(seed)
    model = ScalarModel(torch.tensor(theta), draw_gram(settings, generator))
    with torch.no_grad():
        values = model.losses(draw_batch(settings, generator)).numpy().ravel()
    deviation = values.std(ddof=1)
    return values.mean(), deviation / np.sqrt(size), deviation


def _trained() -> tuple[NDArray, ...]:
    results, direction = read_study().tables, table_response().shift[-1]
    widths, samples = [result.training.width for result in results], [table_sample(result) for result in results]
    away, kept = [sample.deviation for sample in samples], [sample.unexplained for sample in samples]
    along = statistics.shift_along(direction)
    rows = [[statistics.estimate(values, f) for values in sample]
            for sample, f in ((away, statistics.spread), (kept, along))]  # fmt: skip
    slopes = [statistics.exponent(widths, away, statistics.spread), statistics.exponent(widths[1:], kept[1:], along)]
    sizes = np.linalg.norm(table_response().deviation[-1]), np.linalg.norm(direction)
    return np.array(widths), np.array(rows[0]), np.array(rows[1]), np.array(slopes), np.array(sizes)
