"""Counterexamples that killed earlier forms of statements beyond the paper, and what those statements now leave out."""

import numpy as np
import pytest
from flint import arb
from scipy.integrate import solve_ivp

from proofs_check.kv.beyond import order as order_claims
from proofs_check.kv.beyond import slice_checks as slices
from proofs_check.kv.beyond import time_checks as times
from proofs_check.kv.trained import scalar_checks as scalars
from proofs_check.ledger.claim import Effort, Extent, Kind, points_of
from proofs_check.ledger.registry import load
from theory.landscape import learning_order as order
from theory.landscape.blow_up import blow_up_time
from theory.landscape.exact import scaled_learning_time

CLAIMS = load()
OFF = (0.95, 0.0)  # a slice start whose four-parameter flow at T = 44 takes the other route
NEAR = (1.0, 0.05)


# --- the learning time and the region R ---


def test_a_flow_from_the_box_leaves_the_region_at_44_tokens():
    assert order_claims.stays(44, start=OFF).value < 0
    assert order_claims.leaves(44, OFF).value >= 0
    assert order_claims.leaves(44, (0.5, 0.5)).value < 0


def test_lower_bound_supposes_that_the_flow_stays_and_says_so():
    claim = CLAIMS["kv.beyond.time.lower"]
    assert any("stays in R" in str(hypothesis) for hypothesis in claim.hypotheses)
    assert "flows from the slice of the box stay" not in claim.statement
    assert "alpha1 - beta1 <= 4/5" in CLAIMS["kv.beyond.time.stays"].statement


def test_gap_is_negative_on_the_slice_and_large_off_it_near_the_corner():
    on_slice, free = (times.gap_from(mode, 1000, NEAR) for mode in ("slice", "free"))
    assert -22.5 < on_slice < -21.5
    assert 10 * np.log(1000) < 137 < free < 139


@pytest.mark.parametrize("name", ["kv.beyond.time.gap", "kv.beyond.time.rate", "kv.beyond.time.stays"])
def test_claims_on_flows_name_the_starts_they_are_about(name):
    assert any("alpha1 - beta1 <= 4/5" in str(hypothesis) for hypothesis in CLAIMS[name].hypotheses)
    assert CLAIMS[name].coverage.extent is Extent.SAMPLES


def test_starts_are_the_named_ones_and_a_grid_away_from_the_corner():
    found = times.starts(10)
    assert [tuple(start) for start in found[:3]] == list(times.NAMED)
    assert (found[:, 0] - found[:, 1]).max() == pytest.approx(0.8)
    for corner in ((0, 0), (0, 1), (1, 1), (1, 0.2), (0.8, 0)):
        assert np.isclose(found, corner).all(1).any()
    assert not any(np.isclose(found, bad).all(1).any() for bad in (OFF, NEAR))


def test_grid_of_the_margin_takes_in_every_start_of_the_claim():
    learnt = order_claims._flow(44)[2]
    assert learnt.shape == (len(times.starts(order_claims.GRID)),) and np.isfinite(learnt).all()


def test_constants_of_the_lemma_are_too_small_at_42_tokens():
    assert order_claims.constants(44).value > 0 > order_claims.constants(42).value
    assert order.slack_below(44) > 0 > order.slack_below(42)


# --- the limit flow ---


def limit_flow_time(alpha2, beta1, until=30.0):
    """Time at which the limit flow has alpha2 = `until`, by scipy."""

    def far(_, state):
        return state[0] - until

    far.terminal = True
    path = solve_ivp(lambda _, z: [z[1] * np.exp(z[0]), np.exp(z[0]) - 1], (0, 50), [alpha2, beta1], events=far,
                     method="LSODA", rtol=1e-10, atol=1e-12)  # fmt: skip
    return path.t_events[0][0]


def test_integral_from_the_start_is_too_short_where_beta1_is_negative_at_first():
    """From (1, -.3) the flow turns back first; the integral from alpha2 on is the time of (1, +.3)."""
    down, up = (float(blow_up_time("1", b).mid()) for b in ("-3/10", "3/10"))
    assert limit_flow_time(1.0, -0.3) == pytest.approx(down, rel=1e-6)
    assert limit_flow_time(1.0, 0.3) == pytest.approx(up, rel=1e-6)
    assert down > 1.5 * up
    assert "beta1 >= 0" in CLAIMS["kv.beyond.time.integral"].hypotheses


@pytest.mark.parametrize("start", [(1.5, -1.1), (0.7, -0.8), (-1.5, 2.4), (-1.5, 2.0), (0.1, -0.09), (-0.1, 0.1)])
def test_sides_are_those_of_u(start):
    """u = beta1 + g(alpha2) > 0 goes up, u < 0 down, also near the curve and far from the critical point."""
    a, b = start

    def far(_, state):
        return abs(state[0]) - 6.0

    far.terminal = True
    path = solve_ivp(lambda _, z: [z[1] * np.exp(z[0]), np.exp(z[0]) - 1], (0, 1e3), start, events=far,
                     method="LSODA", rtol=1e-10, atol=1e-12)  # fmt: skip
    ((end,),) = path.y_events
    above = b + np.sign(a) * np.sqrt(2 * (a + np.exp(-a) - 1)) > 0
    assert (end[0] > 0, end[1] > 0) == (above, above)


@pytest.mark.parametrize("which", times.SIDE_PIECES)
def test_pieces_of_the_sides_hold_and_fail_with_a_sign_changed(which):
    assert times.side_piece(which).value == 0
    assert times.side_piece(which, -1).value < 0


# --- deciles ---


@pytest.mark.parametrize(("ball", "counts"), [("1 +/- 0.1", True), ("1.2 +/- 0.1", False), ("0.8 +/- 0.1", True)])
def test_a_cell_that_may_lie_below_the_lower_end_is_counted(monkeypatch, ball, counts):
    """With one cell and `low` = 1 the share of s* <= 1 is below 1/2 only where the cell certainly is above."""
    monkeypatch.setattr(times, "_corner_time", lambda j, k, cells: arb(ball))
    found = times.quantile("1/2", "1", "2", 1)
    assert (found.value < 0) == counts


def test_cells_are_counted_along_a_line_as_they_are_one_by_one():
    cells, low, high = 6, "0.4", "0.9"
    corner = [[times._corner_time(j, k, cells) for k in range(cells + 1)] for j in range(cells + 1)]
    inside = [(j, k) for j in range(cells) for k in range(cells)]
    surely = sum(bool(corner[j][k] <= arb(high)) for j, k in inside)
    perhaps = sum(not corner[j + 1][k + 1] > arb(low) for j, k in inside)
    assert 0 < perhaps < surely < cells**2
    assert times.quantile(f"{surely - 1}/{cells**2}", low, high, cells).value > 0
    assert times.quantile(f"{surely}/{cells**2}", low, high, cells).value < 0
    assert times.quantile(f"{perhaps + 1}/{cells**2}", low, high, cells).value > 0
    assert times.quantile(f"{perhaps}/{cells**2}", low, high, cells).value < 0


def test_deciles_lie_in_their_brackets_and_brackets_a_little_smaller_fail():
    for point in points_of(CLAIMS["kv.beyond.time.distribution"], _quantile_points(), Effort.QUICK):
        assert times.quantile(**point).value > 0
    assert times.quantile("1/2", "0.63", "0.678", 24).value < 0
    assert times.quantile("1/2", "0.619", "0.66", 24).value < 0


def _quantile_points():
    return CLAIMS["kv.beyond.time.distribution"].evidence[0].points


# --- the slice ---


def test_infimum_of_the_slice_reaches_to_all_alpha1():
    """The slopes are known for every A > 0, A -> oo and A -> 0 among them; no truncated box is left."""
    for which in slices.SLOPE_FORMS:
        assert slices.slope_forms(which).value == 0 > slices.slope_forms(which, -1).value
    assert all(evidence.kind is not Kind.CERTIFIED for evidence in CLAIMS["kv.beyond.slice.infimum"].evidence)
    assert slices.threshold("0.34893", "0.34895").value > 0 > slices.threshold("0.3490", "0.3491").value


def test_flow_learns_from_the_corners_of_the_box_and_not_from_everywhere():
    assert slices.all_learn(15, (0.0, 1.0), (0.0, 1.0), 1).value == 0
    assert slices.all_learn(15, (-2.0, 3.0), (-6.0, 4.0), 10).value < 0


@pytest.mark.parametrize("which", ["c", "g", "alpha1"])
def test_late_limits_hold_for_every_number_of_tokens(which):
    assert slices.late_limit_symbolic(which).value == 0 > slices.late_limit_symbolic(which, 1).value


@pytest.mark.parametrize("name", ["fold", "saddle", "minimum", "two"])
def test_krawczyk_is_exact_not_certified(name):
    kinds = {evidence.kind for evidence in CLAIMS[f"kv.beyond.slice.{name}"].evidence}
    assert kinds == {Kind.EXACT}


# --- what two means of a frozen table leave ---


def test_bound_is_five_percent_where_the_derived_share_allows_it():
    found = scalars.table_remainder()
    assert found.share(512).max() < 0.036 and 0.049 < found.share(256).max() < 0.051
    assert [point["width"] for point in scalars.each_wide(Effort.QUICK)] == [512, 1024, 2048, 4096]
    assert scalars.explained(512, False).value > 0


def test_bound_refuses_a_share_between_five_and_ten_percent(monkeypatch):
    monkeypatch.setattr(scalars, "_left", lambda *_: np.array([0.01, 0.01, 0.01, 0.07]))
    assert scalars.explained(512, False).value < 0


@pytest.mark.parametrize("width", [32, 128, 4096])
def test_derived_share_needs_both_parts(width):
    assert scalars.left_over(width, False).value > 0
    assert (
        scalars.left_over(width, False, second=0.0 if width < 200 else 1.0, sampling=0.0 if width > 200 else 1.0).value
        < 0
    )


def test_learning_time_still_serves_starts_below_the_axis():
    assert scaled_learning_time(1.0, -0.3).value == pytest.approx(limit_flow_time(1.0, -0.3), rel=1e-6)
