"""How far apart are what a head may reach and what it may forget."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import refuses
from theory import alibi
from theory.alibi.reach import reach_forget_gap

SLOPES = st.floats(1e-3, 3.0)


@given(slope=SLOPES, mass=st.floats(1e-9, 0.5), spreads=st.lists(st.floats(0.0, 400.0), min_size=2, max_size=2))
def test_gap_bounds_the_distance_of_window_and_reach_and_rises_with_the_range(slope, mass, spreads):
    apart = [alibi.window_for_mass(slope, d, mass) - alibi.scope(slope, d, 0.5) for d in sorted(spreads)]
    assert apart[0] <= apart[1] + 1e-7 / slope
    assert apart[1] <= reach_forget_gap(slope, mass) + 1e-9 / slope


@given(slope=SLOPES, mass=st.floats(1e-9, 0.5))
def test_gap_is_tight_for_large_ranges(slope, mass):
    apart = alibi.window_for_mass(slope, 60.0, mass) - alibi.scope(slope, 60.0, 0.5)
    assert apart == pytest.approx(reach_forget_gap(slope, mass), rel=1e-6, abs=1e-9 / slope)


def test_gap_of_a_slow_head():
    assert reach_forget_gap(2.0**-8, 1e-3) == pytest.approx(3188.19, abs=0.01)


def test_gap_is_wrong_where_most_of_the_mass_may_go():
    slope, mass = 0.1, 0.95  # above 1/(2 - e^-l) the distance falls to what would be the gap
    would_be = math.log((1 / mass - 1) / -math.expm1(-slope)) / slope
    assert alibi.window_for_mass(slope, 1.0, mass) - alibi.scope(slope, 1.0, 0.5) > would_be + 0.5
    refuses(lambda: reach_forget_gap(slope, mass), "mass must be at most 1/2, got")
