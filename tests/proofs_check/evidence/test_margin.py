"""Margins: sign, exactness, ties and refusal to guess; both sides are kept for the record."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from sympy import Integer, Rational, S, Symbol, cos, cosh, exp, gamma, log, sin, symbols, tanh

from proofs_check.evidence.margin import (
    Margin,
    Undecided,
    _random_value,
    _vanishing,
    apart,
    at_most,
    ball_at_least,
    ball_within,
    balls_apart,
    close,
    different,
    identity,
    less,
    same,
    signed_float,
    worst,
)
from proofs_check.evidence.tolerances import VISIBLE, Tolerance

FRACTIONS = st.fractions(-100, 100)
HALF = Tolerance(0.5, "round numbers", root=VISIBLE)


@given(FRACTIONS, FRACTIONS)
def test_exact_comparisons_have_the_sign_of_the_truth(a, b):
    assert (same(a, b).value >= 0) == (a == b)
    assert (different(a, b).value >= 0) == (a != b)
    assert (at_most(a, b).value >= 0) == (a <= b)
    assert (less(a, b).value >= 0) == (a < b)


def test_close_takes_the_largest_entry_and_refuses_empty_arrays():
    assert close([0.0, 3.0], [0.0, 1.0], HALF).value == -1.5
    assert close(1.0, 1.5, HALF).value == 0
    with pytest.raises(ValueError, match="empty"):
        close(np.zeros(0), np.zeros(0), HALF)


def test_at_most_takes_the_smallest_entry_and_its_slack():
    assert at_most([0.0, 2.0], [1.0, 1.0]).value == -1.0
    assert at_most(1.5, 1.0, slack=HALF).value == 0.0


def test_a_tolerance_is_kept_beside_the_error_that_it_covers():
    """Of several, the one that is closest to its tolerance; a comparison without a tolerance says nothing."""
    ball = ball_within(arb(1) / 4, Fraction(1, 2))
    assert ball.slack == (0.5, 0.25) and ball.value == 0.25 and ball_within(arb(1), Fraction(1, 2)).value < 0
    found = [close([0.0, 1.0], [0.0, 1.125], HALF), at_most(1.375, 1.0, HALF), at_most(1, 2), ball]
    assert [one.slack for one in found] == [(0.5, 0.125), (0.5, 0.375), None, (0.5, 0.25)]
    assert worst(found).slack == (0.5, 0.375)
    assert worst(found[2:3]).slack is None and at_most(1.0, 2.0, HALF).slack == (0.5, 0.0)


def test_nan_stays_nan():
    assert math.isnan(close(float("nan"), 0.0, HALF).value)
    assert math.isnan(at_most(float("nan"), 0.0).value)
    assert math.isnan(at_most(math.inf, math.inf).value)
    assert math.isnan(worst([Margin(-1.0, 0, 0), Margin(float("nan"), 0, 0), Margin(1.0, 0, 0)]).value)


def test_identity_proves_and_refutes():
    x = Symbol("x", real=True)
    assert identity((x + 1) ** 2, x**2 + 2 * x + 1).value == 0
    assert identity(cosh(x), (exp(x) + exp(-x)) / 2).value == 0
    assert identity((x + 1) ** 2, x**2 + 2 * x).value < 0


def test_ball_comparisons_are_three_valued():
    third = arb(fmpq(1, 3))
    assert ball_at_least(third, Fraction(1, 4)).value > 0
    assert ball_at_least(third, Fraction(1, 2)).value < 0
    with pytest.raises(Undecided):
        ball_at_least(third, Fraction(1, 3))
    assert ball_at_least(arb(0), 0).value == 0
    assert balls_apart(third, arb(fmpq(1, 3))).value < 0


def test_worst_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no margins"):
        worst([])


def test_what_balls_show_to_vanish_at_a_point_is_all_that_is_not_looked_at():
    x, y = symbols("x y", positive=True)
    tiny = Rational(1, 10**35)
    for difference, wanted in (
        (sin(x) ** 2 + cos(x) ** 2 - 1, True), (exp(x + y) - exp(x) * exp(y), True),
        (sin(x) ** 2 + cos(x) ** 2 - 1 + tiny, False), (x - y, False),
        (gamma(x + 1) - x * gamma(x), False), (x / (y - y.subs(y, Rational(1, 3))), False),
    ):  # fmt: skip
        vanishes = _vanishing(difference, [x, y])
        assert vanishes({x: Rational(2, 7), y: Rational(1, 3)}) is wanted, difference
    assert not _vanishing(x - Symbol("x"), [x, Symbol("x")])({x: S.One, Symbol("x"): S.One})


TIE = -5e-324
x = Symbol("x", real=True)


@pytest.mark.parametrize(
    ("compare", "sides"),
    [
        (close, (1.0, 2.0, VISIBLE)),
        (apart, (1.0, 2.0, VISIBLE)),
        (at_most, (1.0, 2.0)),
        (at_most, (1.0, 2.0, VISIBLE)),
        (at_most, (1, 2)),
        (less, (1.0, 2.0)),
        (less, (2, 2)),
        (same, ("a", "a")),
        (same, ("a", "b")),
        (different, ("a", "b")),
        (identity, (x, x)),
        (identity, (x, 2 * x)),
    ],
)
def test_margin_keeps_both_sides(compare, sides):
    margin = compare(*sides)
    assert (margin.printed, margin.true) == sides[:2]


@pytest.mark.parametrize(
    ("compare", "bound"),
    [(ball_at_least, 0), (ball_at_least, 2), (balls_apart, arb(2)), (balls_apart, arb(1))],
)
def test_margin_of_balls_keeps_both_sides_as_texts(compare, bound):
    margin = compare(arb(1), bound)
    assert (margin.printed, margin.true) == (str(arb(1)), str(bound))


def test_worst_is_the_smallest_by_its_value_alone():
    first, second, larger = Margin(1.0, "text", 0), Margin(1.0, 7, 0), Margin(2.0, 0, 0)
    assert worst([larger, first, second]) == first and worst([second, first]) == second


def test_a_tie_misses_a_strict_comparison_by_the_least_float():
    assert less(1, 1).value == different(1, 1).value == apart(0, VISIBLE, VISIBLE).value == TIE
    assert ball_at_least(arb(0), strict=True).value == TIE
    assert balls_apart(arb(0), arb(1), Fraction(1)).value == TIE
    assert signed_float(Fraction(1, 10**400)) == -TIE
    assert signed_float(Fraction(-1, 10**400)) == TIE


def test_small_integers_are_compared_as_floats_not_in_their_own_width():
    assert close(np.int8(100), np.int8(-100), VISIBLE).value == VISIBLE - 200
    assert at_most(np.int8([100]), np.int8([-100])).value == -200.0


def test_at_most_takes_an_exact_number_beside_a_float_and_a_slack_beside_exact_numbers():
    assert at_most(0, -1.0).value == -1.0
    assert at_most(3, 1, slack=VISIBLE).value == VISIBLE - 2


def test_same_measures_the_distance_of_numbers_only():
    assert same(Rational(1, 2), Rational(3, 4)).value == -0.25
    assert same(4, Rational(3, 2)).value == -2.5
    assert same(4, "a").value == same("a", 4).value == -1.0
    assert same(True, False).value == -1.0


def test_identity_sees_differences_above_its_threshold_only():
    above, below = Rational(11, 10**31), Rational(9, 10**31)
    assert identity(x + above, x).value == pytest.approx(-1.1e-30, abs=0)
    with pytest.raises(Undecided):
        identity(x + below, x)


def test_identity_rewrites_in_exponentials_when_simplification_is_not_enough():
    left = tanh(x + log(2)) * (4 * exp(2 * x) + 1)
    assert identity(left, 4 * exp(2 * x) - 1).value == 0


@pytest.mark.parametrize(
    ("symbol", "values"),
    [
        (Symbol("n", integer=True), {Integer(k) for k in range(5, 30)}),
        (Symbol("x", nonnegative=True), {Rational(k, 97) for k in range(1, 200)}),
        (Symbol("x", real=True), {Rational(k, 97) for k in range(-199, 200) if k}),
    ],
)
def test_random_points_cover_the_domain_of_their_symbol_and_no_more(symbol, values):
    rng = np.random.default_rng(1)
    assert {_random_value(symbol, rng) for _ in range(4000)} == values


def test_ball_at_least_needs_zero_by_default_and_gives_the_certain_end():
    assert ball_at_least(arb("0.5")).value == 0.5
    assert ball_at_least(arb("0.5"), strict=True).value == 0.5
    assert 3.9 < ball_at_least(arb(5, 1)).value < 4.1
    assert -4.1 < ball_at_least(arb(-5, 1)).value < -3.9


def test_balls_apart_gives_the_certain_end_and_its_resolution_counts():
    assert 3.9 < balls_apart(arb(5, 1), arb(0)).value < 4.1
    assert -3.1 < balls_apart(arb(5, 1), arb(0), Fraction(9)).value < -2.9
    assert balls_apart(arb(0), arb(1), Fraction(3)).value == -2.0
    with pytest.raises(Undecided):
        balls_apart(arb(0, 0.5), arb(0))
