"""Margins: sign, exactness, and refusal to guess."""

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


def test_nan_stays_nan():
    assert math.isnan(m.close(float("nan"), 0.0, HALF).value)
    assert math.isnan(m.at_most(float("nan"), 0.0).value)
    assert math.isnan(m.at_most(math.inf, math.inf).value)
    assert math.isnan(m.worst([m.Margin(-1.0, 0, 0), m.Margin(float("nan"), 0, 0), m.Margin(1.0, 0, 0)]).value)


def test_same_refuses_floats_and_compares_texts():
    with pytest.raises(TypeError):
        m.same(0.1, Fraction(1, 10))
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
    assert m.ball_at_least(arb(0), 0, strict=True).value < 0
    assert m.balls_apart(third, arb(1)).value > 0
    assert m.balls_apart(arb(1), arb(1)).value < 0
    assert m.balls_apart(third, arb(fmpq(1, 3))).value < 0
    with pytest.raises(m.Undecided):
        m.balls_apart(arb(0, 1), arb(0))


def test_worst_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no margins"):
        m.worst([])


def test_worst_is_the_smallest():
    assert m.worst([m.Margin(2.0, 0, 0), m.Margin(1.0, 1, 1)]).value == 1.0


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
