"""Critical points on a plane: the ones that the ledger knows, their kinds, and separatrices that part the basins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dynamics.flow.separatrix import separatrix
from dynamics.flow.trajectories import gradient_flow
from proofs_check.kv.landscape import plane_points
from proofs_check.kv.landscape.plane_points import critical_points
from theory import landscape
from theory.landscape.planes import plane

BOX = (-1.0, 3.0, -4.0, 3.0)


def test_figure_2s_plane_has_the_saddle_and_the_minimum_of_the_claims():
    found = {point.kind: point for point in critical_points(plane(), 15, None, BOX)}
    assert set(found) == {"saddle", "minimum"}
    # kv.beyond.slice.saddle and .minimum at T = 15
    assert_allclose(found["saddle"].place, (0.9768, -0.2851), atol=5e-5)
    assert_allclose(found["minimum"].place, (1.3192, -1.7223), atol=5e-5)
    assert all(point.enclosure.width() < 1e-9 for point in found.values())


def test_there_is_none_before_the_fold():
    assert critical_points(plane(), 10, None, BOX) == []


def test_a_search_that_runs_off_to_an_overflow_ends_that_candidate_alone(monkeypatch):
    monkeypatch.setattr(plane_points, "_GRID", 21)
    steep = plane(("alpha1", "beta1"), {"alpha2": 1, "beta2": 1})
    assert critical_points(steep, 12.0, None, (-600.0, 600.0, -1e6, 1e6)) == []


@pytest.mark.parametrize("position", [None, 2, "mean", "end"])
def test_slopes_vanish_where_a_point_is_proved(position):
    tokens = 6
    surface = plane(("alpha2", "beta1"), {"alpha1": 0, "beta2": 0})
    where = {"end": tokens}.get(position, position)
    for point in critical_points(surface, tokens, where, (-3, 3, -3, 3)):
        slopes = surface.along @ landscape.gradient(*surface.at(*point.place), tokens, where)
        assert np.abs(slopes).max() < 1e-14


def test_the_plane_of_the_critical_point_holds_it():
    alpha1, alpha2, beta1, beta2 = landscape.critical_point(8)
    (found,) = critical_points(plane(("alpha2", "beta1"), {"alpha1": alpha1, "beta2": beta2}), 8, None, (-2, 2, -2, 2))
    assert found.kind == "saddle"
    assert_allclose(found.place, (alpha2, beta1), atol=1e-12)


def test_starts_on_either_side_of_a_separatrix_end_apart():
    (saddle,) = (point for point in critical_points(plane(), 15, None, BOX) if point.kind == "saddle")
    lines = separatrix(plane(), 15, None, saddle.place, BOX)
    assert [line[-1][0] for line in sorted(lines, key=lambda line: line[-1][0])] == pytest.approx(BOX[:2], abs=1e-6)
    for line in lines:  # they rise from the saddle on
        losses = landscape.loss(*plane().at(*line.T), 15)
        assert (np.diff(losses) > 0).all()
    ends = []
    for line in lines:
        middle = line[len(line) // 2]
        starts = [(middle[0], middle[1] + side) for side in (0.05, -0.05)]
        rows = np.array([[a, 1 - a, b, 1 - b] for a, b in starts])
        ends.append(gradient_flow(rows, 15, 1e4, mode="slice").theta[-1, :, 2])
    for above, below in ends:
        assert above > 1 and below == pytest.approx(-1.7223, abs=1e-3)
