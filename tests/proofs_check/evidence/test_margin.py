"""Margins: sign, exactness, ties and refusal to guess; both sides are kept for the record."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from proofs_check.evidence import margin as m
from proofs_check.evidence.tolerances import VISIBLE, Tolerance

FRACTIONS = st.fractions(-100, 100)
HALF = Tolerance(0.5, "round numbers", root=VISIBLE)


@given(FRACTIONS, FRACTIONS)
def test_exact_comparisons_have_the_sign_of_the_truth(a, b):
    assert (m.same(a, b).value >= 0) == (a == b)
    assert (m.different(a, b).value >= 0) == (a != b)
    assert (m.at_most(a, b).value >= 0) == (a <= b)
    assert (m.less(a, b).value >= 0) == (a < b)


def test_a_difference_too_small_for_floats_keeps_its_sign():
    tiny = Fraction(1, 10**400)
    assert m.at_most(tiny, Fraction(0)).value < 0
    assert m.same(tiny, Fraction(0)).value < 0
    assert m.less(Fraction(0), tiny).value > 0


def test_close_takes_the_largest_entry_and_refuses_empty_arrays():
    assert m.close([0.0, 3.0], [0.0, 1.0], HALF).value == -1.5
    assert m.close(1.0, 1.5, HALF).value == 0
    with pytest.raises(ValueError, match="empty"):
        m.close(np.zeros(0), np.zeros(0), HALF)


def test_apart_needs_more_than_its_tolerance():
    assert m.apart(1.0, 1.5, HALF).value < 0
    assert m.apart(1.0, 1.75, HALF).value == 0.25


def test_at_most_takes_the_smallest_entry_and_its_slack():
    assert m.at_most([0.0, 2.0], [1.0, 1.0]).value == -1.0
    assert m.at_most(1.5, 1.0, slack=HALF).value == 0.0
    assert m.less(1, 1).value < 0


def test_a_tolerance_is_kept_beside_the_error_that_it_covers():
    """Of several, the one that is closest to its tolerance; a comparison without a tolerance says nothing."""
    ball = m.ball_within(arb(1) / 4, Fraction(1, 2))
    assert ball.slack == (0.5, 0.25) and ball.value == 0.25 and m.ball_within(arb(1), Fraction(1, 2)).value < 0
    found = [m.close([0.0, 1.0], [0.0, 1.125], HALF), m.at_most(1.375, 1.0, HALF), m.at_most(1, 2), ball]
    assert [one.slack for one in found] == [(0.5, 0.125), (0.5, 0.375), None, (0.5, 0.25)]
    assert m.worst(found).slack == (0.5, 0.375)
    assert m.worst(found[2:3]).slack is None and m.at_most(1.0, 2.0, HALF).slack == (0.5, 0.0)


def test_nan_stays_nan():
    assert math.isnan(m.close(float("nan"), 0.0, HALF).value)
    assert math.isnan(m.at_most(float("nan"), 0.0).value)
    assert math.isnan(m.at_most(math.inf, math.inf).value)
    assert math.isnan(m.worst([m.Margin(-1.0, 0, 0), m.Margin(float("nan"), 0, 0), m.Margin(1.0, 0, 0)]).value)


def test_same_compares_texts_and_tuples():
    assert m.same("a", "a").value == 0
    assert m.same(("a", 1), ("a", 2)).value == -1.0
    assert m.same(7, 4).value == -3.0
    assert m.different("a", "b").value == 1.0


def test_identity_proves_and_refutes():
    x = sp.Symbol("x", real=True)
    assert m.identity((x + 1) ** 2, x**2 + 2 * x + 1).value == 0
    assert m.identity(sp.cosh(x), (sp.exp(x) + sp.exp(-x)) / 2).value == 0
    assert m.identity((x + 1) ** 2, x**2 + 2 * x).value < 0


def test_identity_that_cannot_be_settled_is_undecided():
    n = sp.Symbol("n", integer=True, positive=True)
    with pytest.raises(m.Undecided):
        m.identity(sp.Piecewise((1, n < 10**9), (0, True)), 1)


def test_ball_comparisons_are_three_valued():
    third = arb(fmpq(1, 3))
    assert m.ball_at_least(third, Fraction(1, 4)).value > 0
    assert m.ball_at_least(third, Fraction(1, 2)).value < 0
    with pytest.raises(m.Undecided):
        m.ball_at_least(third, Fraction(1, 3))
    assert m.ball_at_least(arb(0), 0).value == 0
    assert m.balls_apart(third, arb(fmpq(1, 3))).value < 0


def test_worst_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no margins"):
        m.worst([])


def test_what_balls_show_to_vanish_at_a_point_is_all_that_is_not_looked_at():
    x, y = sp.symbols("x y", positive=True)
    tiny = sp.Rational(1, 10**35)
    for difference, wanted in (
        (sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1, True), (sp.exp(x + y) - sp.exp(x) * sp.exp(y), True),
        (sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1 + tiny, False), (x - y, False),
        (sp.gamma(x + 1) - x * sp.gamma(x), False), (x / (y - y.subs(y, sp.Rational(1, 3))), False),
    ):  # fmt: skip
        vanishes = m._vanishing(difference, [x, y])
        assert vanishes({x: sp.Rational(2, 7), y: sp.Rational(1, 3)}) is wanted, difference
    assert not m._vanishing(x - sp.Symbol("x"), [x, sp.Symbol("x")])({x: sp.S.One, sp.Symbol("x"): sp.S.One})


TIE = -5e-324
x = sp.Symbol("x", real=True)


@pytest.mark.parametrize(
    ("compare", "sides"),
    [
        (m.close, (1.0, 2.0, VISIBLE)),
        (m.apart, (1.0, 2.0, VISIBLE)),
        (m.at_most, (1.0, 2.0)),
        (m.at_most, (1.0, 2.0, VISIBLE)),
        (m.at_most, (1, 2)),
        (m.less, (1.0, 2.0)),
        (m.less, (2, 2)),
        (m.same, ("a", "a")),
        (m.same, ("a", "b")),
        (m.different, ("a", "b")),
        (m.identity, (x, x)),
        (m.identity, (x, 2 * x)),
    ],
)
def test_margin_keeps_both_sides(compare, sides):
    margin = compare(*sides)
    assert (margin.printed, margin.true) == sides[:2]


@pytest.mark.parametrize(
    ("compare", "bound"),
    [(m.ball_at_least, 0), (m.ball_at_least, 2), (m.balls_apart, arb(2)), (m.balls_apart, arb(1))],
)
def test_margin_of_balls_keeps_both_sides_as_texts(compare, bound):
    margin = compare(arb(1), bound)
    assert (margin.printed, margin.true) == (str(arb(1)), str(bound))


def test_worst_is_the_smallest_by_its_value_alone():
    first, second, larger = m.Margin(1.0, "text", 0), m.Margin(1.0, 7, 0), m.Margin(2.0, 0, 0)
    assert m.worst([larger, first, second]) == first and m.worst([second, first]) == second


def test_a_tie_misses_a_strict_comparison_by_the_least_float():
    assert m.less(1, 1).value == m.different(1, 1).value == m.apart(0, VISIBLE, VISIBLE).value == TIE
    assert m.ball_at_least(arb(0), strict=True).value == TIE
    assert m.balls_apart(arb(0), arb(1), Fraction(1)).value == TIE
    assert m.signed_float(Fraction(1, 10**400)) == -TIE
    assert m.signed_float(Fraction(-1, 10**400)) == TIE


def test_small_integers_are_compared_as_floats_not_in_their_own_width():
    assert m.close(np.int8(100), np.int8(-100), VISIBLE).value == VISIBLE - 200
    assert m.at_most(np.int8([100]), np.int8([-100])).value == -200.0


def test_at_most_takes_an_exact_number_beside_a_float_and_a_slack_beside_exact_numbers():
    assert m.at_most(0, -1.0).value == -1.0
    assert m.at_most(3, 1, slack=VISIBLE).value == VISIBLE - 2


def test_same_measures_the_distance_of_numbers_only():
    assert m.same(sp.Rational(1, 2), sp.Rational(3, 4)).value == -0.25
    assert m.same(4, sp.Rational(3, 2)).value == -2.5
    assert m.same(4, "a").value == m.same("a", 4).value == -1.0
    assert m.same(True, False).value == -1.0


def test_identity_sees_differences_above_its_threshold_only():
    above, below = sp.Rational(11, 10**31), sp.Rational(9, 10**31)
    assert m.identity(x + above, x).value == pytest.approx(-1.1e-30, abs=0)
    with pytest.raises(m.Undecided):
        m.identity(x + below, x)


def test_identity_rewrites_in_exponentials_when_simplification_is_not_enough():
    left = sp.tanh(x + sp.log(2)) * (4 * sp.exp(2 * x) + 1)
    assert m.identity(left, 4 * sp.exp(2 * x) - 1).value == 0


@pytest.mark.parametrize(
    ("symbol", "values"),
    [
        (sp.Symbol("n", integer=True), {sp.Integer(k) for k in range(5, 30)}),
        (sp.Symbol("x", nonnegative=True), {sp.Rational(k, 97) for k in range(1, 200)}),
        (sp.Symbol("x", real=True), {sp.Rational(k, 97) for k in range(-199, 200) if k}),
    ],
)
def test_random_points_cover_the_domain_of_their_symbol_and_no_more(symbol, values):
    rng = np.random.default_rng(1)
    assert {m._random_value(symbol, rng) for _ in range(4000)} == values


def test_ball_at_least_needs_zero_by_default_and_gives_the_certain_end():
    assert m.ball_at_least(arb("0.5")).value == 0.5
    assert m.ball_at_least(arb("0.5"), strict=True).value == 0.5
    assert 3.9 < m.ball_at_least(arb(5, 1)).value < 4.1
    assert -4.1 < m.ball_at_least(arb(-5, 1)).value < -3.9


@pytest.mark.parametrize(("ball", "strict"), [(arb(0, 1), True), (arb(-1, 1), False), (arb(0, 0.5), True)])
def test_a_ball_around_its_bound_is_undecided(ball, strict):
    with pytest.raises(m.Undecided):
        m.ball_at_least(ball, 0, strict)


def test_balls_apart_gives_the_certain_end_and_its_resolution_counts():
    assert 3.9 < m.balls_apart(arb(5, 1), arb(0)).value < 4.1
    assert -3.1 < m.balls_apart(arb(5, 1), arb(0), Fraction(9)).value < -2.9
    assert m.balls_apart(arb(0), arb(1), Fraction(3)).value == -2.0
    with pytest.raises(m.Undecided):
        m.balls_apart(arb(0, 0.5), arb(0))
