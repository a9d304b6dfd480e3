"""Checks of the statements beyond the paper, against counterexamples and integrals that share no code with them."""

import itertools

import numpy as np
import pytest

from dynamics.scalar.remainder import Remainder
from proofs_check.evidence.margin import Margin, Undecided
from proofs_check.kv.beyond import order as order_claims
from proofs_check.kv.beyond import slice_checks
from proofs_check.kv.beyond import time as times
from proofs_check.kv.trained import scalar
from proofs_check.kv.trained import scalar_checks as scalars
from proofs_check.ledger.claim import Effort
from theory.lowering.box import Box

OFF = (0.95, 0.0)  # a slice start whose four-parameter flow at T = 44 takes the other route
NEAR = (1.0, 0.05)


# --- the learning time and the region R ---


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


# --- what two means of a frozen table leave ---


def test_bound_is_five_percent_where_the_derived_share_allows_it():
    """By the numbers that the claim has, and that its evidence derives."""
    (claim,) = (claim for claim in scalar.CLAIMS if claim.id == "kv.beyond.width.trained_table")
    sampling, second = (np.array(point["printed"]) for point in claim.evidence[2].points)
    found = Remainder(sampling, second, second)
    assert found.share(512).max() < 0.036 and 0.049 < found.share(256).max() < 0.051
    assert [point["width"] for point in scalars.each_wide(Effort.QUICK)] == [512, 1024, 2048, 4096]


def test_bound_refuses_a_share_between_five_and_ten_percent(monkeypatch):
    monkeypatch.setattr(scalars, "_left", lambda *_: np.array([0.01, 0.01, 0.01, 0.07]))
    assert scalars.explained(512, False).value < 0


# --- boxes of the slice ---


def test_a_box_less_a_hole_leaves_out_nothing_but_the_hole():
    sides, cut = {"x": (0, 4), "y": (-2, 2), "t": (1, 3)}, [(-1, 5), (-1, 0), (1, 3), (2, 5), (4, 6), (-3, -2)]
    for first, second in itertools.product(cut, cut):
        box, hole = Box(sides), Box({"y": second, "x": first})
        parts = slice_checks.without(box, hole)
        for x, y in itertools.product((0, 1, 2, 3, 4), (-2, -1, 0, 1, 2)):
            here = {"x": x, "y": y, "t": 2}
            inside = first[0] < x < first[1] and second[0] < y < second[1]
            assert any(part.contains(here) for part in parts) is not inside
        area = sum(part.width("x") * part.width("y") for part in parts)
        met = [max(0, min(high, b) - max(low, a)) for (a, b), (low, high) in ((first, (0, 4)), (second, (-2, 2)))]
        assert area == 16 - met[0] * met[1]
        assert all(part["t"] == (1, 3) for part in parts)


def test_no_box_with_a_critical_point_has_none_and_two_that_may_be_one_are_not_counted(monkeypatch):
    known, other = (
        Box({**{name: (low, high) for name, low, high in slice_checks._around(*place).sides}, "n_tokens": (t, t)})
        for t, *place in (slice_checks.KNOWN[0], (50, "0.9830", "-0.0836"))
    )
    assert slice_checks.none_on(known).value < 0
    with pytest.raises(Undecided):
        slice_checks.none_on(other)
    monkeypatch.setattr(slice_checks, "none_on", lambda box: Margin(1.0, "none", "seen"))
    with pytest.raises(Undecided, match="may be one"):
        slice_checks.only_two.__wrapped__(15, 14, ("0.9768", "-0.2851"), ("0.9760", "-0.2840"))
