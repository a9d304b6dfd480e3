"""The sharp constants of the compensation token: kernels against 50 digits, two-point laws, enclosures."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.cache import compensation_bounds as bounds


@given(st.floats(0.01, 40), st.integers(1, 400), st.integers(1, 400))
def test_log_mass_bound_holds_for_every_two_point_law(span, low, high):
    with mp.workdps(50):
        share = mp.mpf(high) / (low + high)
        gap = float(mp.log(1 - share + share * mp.exp(span)) - share * mp.mpf(span))
    assert gap <= bounds.log_mass_bound(span) * (1 + 1e-12)


@given(st.floats(1e-6, 300))
def test_log_mass_bound_is_reached_at_the_worst_share(span):
    with mp.workdps(200):
        share = mp.mpf(float(bounds.worst_share(span)))
        gap = float(mp.log(1 - share + share * mp.exp(span)) - share * mp.mpf(span))
    assert gap == pytest.approx(bounds.log_mass_bound(span), rel=1e-9)


@given(st.floats(1e-9, 5000))
def test_log_mass_kernels_are_the_largest_gap_of_two_points_and_its_place(span):
    """The gap log(1 + s (e^r - 1)) - s r of a share s has slope 0 where 1 + s (e^r - 1) = (e^r - 1)/r."""
    with mp.workdps(80):
        growth = mp.expm1(mp.mpf(span))
        share = (growth / span - 1) / growth
        for found, truth in (
            (bounds.worst_share(span), share),
            (bounds.log_mass_bound(span), mp.log1p(share * growth) - share * span),
        ):
            assert abs(float(found) - truth) <= 2e-15 * truth


@given(st.floats(1e-200, 1e6))
def test_certified_log_mass_bound_holds_the_fast_one_in_a_narrow_enclosure(span):
    low, high = bounds.certified_log_mass_bound(span)
    assert low <= high <= low * (1 + 1e-15) or high < 1e-300
    assert bounds.log_mass_bound(span) == pytest.approx(low, rel=4e-15, abs=1e-300)


@given(st.floats(0, 60))
def test_log_mass_bound_is_below_an_eighth_of_the_square(span):
    assert 0 <= bounds.log_mass_bound(span) <= span * span / 8 * (1 + 1e-14)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bounds.log_mass_bound(-1.0), "logit_range"),
        (lambda: bounds.log_mass_bound(np.inf), "logit_range"),
        (lambda: bounds.certified_log_mass_bound(0.0), "logit_range"),
        (lambda: bounds.worst_share(0.0), "> 0"),
        (lambda: bounds.mean_gap_bound(np.nan), "logit_range"),
        (lambda: bounds.error_bound(1.0, 1.5, 1.0, 1.0), "token_mass"),
        (lambda: bounds.error_bound(1.0, 0.5, -1.0, 1.0), "kept_distance"),
        (lambda: bounds.total_error_bound(1.0, -1.0), "diameter"),
        (lambda: bounds.second_order_bound(-1.0), "logit_range"),
    ],
)
def test_compensation_bounds_refuse_bad_input_in_one_line(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
