"""One point of the landscape: its numbers are those of theory, its route and times those of the flow."""

import numpy as np
import pytest

from dynamics.flow.point import point
from dynamics.flow.trajectories import Status
from tests.theory.cases import refuses
from theory import landscape

HALVES = (0.5, 0.5, 0.5, 0.5)


def test_a_point_has_theorys_loss_slopes_and_bend():
    theta = (0.3, -0.2, 1.5, 0.4)
    found = point(theta, 9, "last")
    assert found.loss == landscape.loss(*theta, 9, 8) and found.excess == landscape.excess_loss(*theta, 9, 8)
    np.testing.assert_array_equal(found.gradient, landscape.gradient(*theta, 9, 8))
    assert found.eigenvalues.sum() == pytest.approx(np.trace(landscape.hessian(*theta, 9, 8)), rel=1e-12)


@pytest.mark.parametrize(("theta", "route"), [(HALVES, "induction"), ((1, 0, 0, 1), "anti-induction")])
def test_the_route_is_the_sign_of_beta1_once_it_has_learnt(theta, route):
    found = point(theta, 8)
    assert found.route == route and found.status is Status.REACHED and found.end_loss < 1e-4
    assert (found.end[2] > 0) == (route == "induction")


def test_the_time_to_learn_exceeds_its_leading_order_by_what_theory_says():
    found = point(HALVES, 100)
    assert found.learning_time - found.leading_time == pytest.approx(21.1, abs=0.05)


def test_a_flow_that_is_cut_short_has_taken_no_route():
    found = point(HALVES, 100, t_end=1.0)
    assert found.route == "neither" and np.isnan(found.learning_time)


def test_the_critical_point_is_one_and_what_lies_beside_it_is_not():
    critical = np.array(landscape.critical_point(8))
    assert point(critical, 8).kind == "critical point"
    assert point(critical + 1e-6, 8).kind == "slope"
    assert point((0, 10, 40, 0), 10).kind == "slope"  # slopes of 4e-17 where the loss is no larger


def test_leading_times_are_known_where_theory_knows_them():
    assert point((1, 0, 0, 1), 8).leading_time is None
    assert point(HALVES, 8, 3).leading_time == point(HALVES, 8).leading_time is not None
    assert "interior position" in point(HALVES, 8, "mean").no_leading_time


def test_what_is_no_point_is_refused():
    refuses(lambda: point((0, 0, 0, 0), 3), "no interior position")
    refuses(lambda: point((900, 0, 0, 0), 8), "alphas in [-500, 500]")
