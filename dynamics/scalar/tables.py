"""Trained scalars over many frozen tables of embeddings, taken apart: step size, the table's two means, the rest."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.scalar.prediction import Response, response
from dynamics.scalar.record import TableDeviations
from dynamics.scalar.study import HALVES, TABLE_TIME, TABLE_TOKENS, step_lag

Array = NDArray[np.float64]


class TableSample(NamedTuple):
    """Each array (runs, 4). deviation: trained scalars less the flow's; explained: what the two means g0, g1 of the
    run's own table account for, to first order; unexplained: the deviation less that and less the error of the steps.
    """

    deviation: Array
    explained: Array
    unexplained: Array


@cache
def table_response() -> Response:
    """The prediction for the trainings of `study.table_setting`, at the end of training (one time)."""
    return response(HALVES, TABLE_TOKENS, [TABLE_TIME], "interior")


@cache
def _lag(result: TableDeviations) -> Array:
    return step_lag(result.training)


def table_sample(result: TableDeviations) -> TableSample:
    """The parts of the trained deviations of one width."""
    predicted = table_response()
    means = np.column_stack([result.diagonal, result.off_diagonal])
    explained = means @ np.stack([predicted.along_diagonal[-1], predicted.along_off_diagonal[-1]])
    deviation = np.array(result.deviation)
    return TableSample(deviation, explained, deviation - explained - _lag(result))
