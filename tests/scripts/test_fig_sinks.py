"""The figures of sinks and value residuals: what their data say, their files, and bad input in one line."""

import numpy as np
from numpy.testing import assert_allclose

from scripts.figures.heads import fig_sink_reach, fig_value_residual


def test_the_marks_of_the_worst_contexts_lie_on_the_bound():
    data = fig_sink_reach.compute(30)
    from theory import sink

    bound = sink.first_token_bound(data.marks[None], data.slopes[:, None], fig_sink_reach.RANGE)
    assert_allclose(data.reached, bound, rtol=1e-12)
    assert (np.diff(data.bound, axis=0) <= 0).all() and (np.diff(data.bound, axis=1) <= 0).all()
    assert (np.diff(data.longest, axis=1) >= 0).all()


def test_the_points_of_rest_are_where_both_curves_cross_and_the_flow_stands():
    data = fig_value_residual.compute(15)
    from theory.value_residual import drain_velocity

    first = float(data.first)
    for s, share in (*data.stable, data.saddle):
        rate, pull = drain_velocity(
            [(share - 1) * first], [first], s, fig_value_residual.VARIANCE, fig_value_residual.DECAY
        )
        assert abs(rate) < 1e-9 and abs(pull[0]) < 1e-9 * first
    assert data.stable[0, 0] < data.saddle[0] < data.stable[1, 0]
    assert "8.67" in fig_value_residual.__doc__ and round(first, 2) == 8.67
    assert_allclose(data.plain[0], data.mu**2)
