"""How far apart are what a head may reach and what it may forget."""

import math

from tests.theory.cases import refuses
from theory import alibi
from theory.alibi.reach import reach_forget_gap


def test_gap_is_wrong_where_most_of_the_mass_may_go():
    slope, mass = 0.1, 0.95  # above 1/(2 - e^-l) the distance falls to what would be the gap
    would_be = math.log((1 / mass - 1) / -math.expm1(-slope)) / slope
    assert alibi.window_for_mass(slope, 1.0, mass) - alibi.scope(slope, 1.0, 0.5) > would_be + 0.5
    refuses(lambda: reach_forget_gap(slope, mass), "mass must be at most 1/2, got")
