"""What a comparison refuses: every way in which one side could drop what the other is compared with."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st
from sympy import Abs, I, Integer, Max, Rational, Symbol, SympifyError, erf, exp, log, sqrt

from proofs_check.evidence import sides
from proofs_check.evidence.margin import (
    Undecided,
    apart,
    at_most,
    ball_at_least,
    balls_apart,
    close,
    different,
    identity,
    less,
    same,
)
from proofs_check.evidence.tolerances import NOISE, ROUNDING, VISIBLE, Tolerance

FLOATS = (lambda a, b: close(a, b, VISIBLE), lambda a, b: apart(a, b, VISIBLE),
          lambda a, b: at_most(a, b, VISIBLE), at_most, less)  # fmt: skip
EXACT = (same, different)

NO_NUMBER = {
    "a ball": arb(0, 1),
    "a complex ball": acb(1),
    "a complex number": 1 + 0j,
    "a bool": True,
    "a numpy bool": np.bool_(True),
    "a text": "1",
    "nothing": None,
    "a decimal": Decimal("1"),
    "a symbol": Symbol("x"),
    "the imaginary unit": I,
    "a masked array": np.ma.array([1.0, 2.0], mask=[False, True]),
    "a list with a ball": [1.0, arb(1)],
    "a date": np.datetime64("2020-01-01"),
}
NOT_EXACT = {
    "a float": 0.5,
    "a float in a tuple": (1, (0.1 + 0.2,)),
    "a float in a dict": {"x": 0.5},
    "a sympy float in an expression": Symbol("x") + 0.5,
    "a ball": arb(1),
    "a complex number": 1j,
    "an array": np.array([1, 2]),
    "a numpy integer": np.int64(1),
}


@pytest.mark.parametrize("compare", FLOATS)
@pytest.mark.parametrize("name", NO_NUMBER)
def test_what_is_no_real_number_is_refused_on_either_side(compare, name):
    for pair in ((NO_NUMBER[name], 1.0), (1.0, NO_NUMBER[name]), (NO_NUMBER[name],) * 2):
        with pytest.raises((TypeError, ValueError)):
            compare(*pair)


@pytest.mark.parametrize("compare", FLOATS)
def test_sides_of_other_shapes_and_empty_ones_are_refused(compare):
    for pair in ((np.zeros(3), np.zeros((3, 1))), (0.0, np.zeros(3)), (np.zeros(3), 0.0), (np.zeros(0), np.zeros(0))):
        with pytest.raises(ValueError, match=r"shape|empty"):
            compare(*pair)


@pytest.mark.parametrize("compare", EXACT)
@pytest.mark.parametrize("name", NOT_EXACT)
def test_what_is_not_exact_is_refused_on_either_side(compare, name):
    for pair in ((NOT_EXACT[name], 1), (1, NOT_EXACT[name]), (NOT_EXACT[name],) * 2):
        with pytest.raises(TypeError):
            compare(*pair)


@pytest.mark.parametrize("empty", [(), [], {}, "", set()])
def test_two_empty_sides_are_no_equality(empty):
    for compare in EXACT:
        with pytest.raises(ValueError, match="empty"):
            compare(empty, empty)
    assert same((1,), ()).value == -1.0


def test_a_bool_is_no_number_and_a_list_no_tuple():
    for pair in ((True, 1), (0, False), ((True,), (1,))):
        with pytest.raises(TypeError, match="bool"):
            same(*pair)
    assert same([1], (1,)).value == -1.0
    assert same({"a": 1}, {"a": 1}).value == same(True, True).value == 0


@pytest.mark.parametrize("tolerance", [1e-9, 0, True, float(VISIBLE), Tolerance(1.0, "mine")])
def test_only_the_named_tolerances_count(tolerance):
    for compare in (close, apart, at_most):
        with pytest.raises(TypeError, match="no name"):
            compare(0.0, 1.0, tolerance)


def test_a_scaled_tolerance_keeps_its_name_and_reason():
    wider = ROUNDING.times(3).times(2)
    assert close(0.0, 5e-13, wider).value >= 0 > close(0.0, 5e-13, ROUNDING).value
    assert wider.reason == ROUNDING.reason
    for scale in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="scaled"):
            ROUNDING.times(scale)


def test_floats_as_close_as_their_rounding_are_undecided():
    for compare in (at_most, less):
        for pair in (
            (sum([0.1] * 10), 1.0),
            (1.0, sum([0.1] * 10)),
            (0.5, 0.5),
            (0.0, 0.0),
            (1e300, 1e300 * (1 + NOISE)),
        ):
            with pytest.raises(Undecided):
                compare(*pair)
    assert less(1.0, 1.0 + 2 * NOISE).value > 0
    assert less([1.0, 2.0], [1.0, 1.0]).value == -1.0, "one entry is certainly wrong"
    assert less(17.0, float("inf")).value == float("inf")


def test_the_sign_of_a_symbolic_number_is_decided_not_guessed():
    left, right = sqrt(5 + 2 * sqrt(6)), sqrt(2) + sqrt(3)
    assert at_most(left, right).value == at_most(right, left).value == same(left, right).value == 0
    assert less(left, right).value < 0 and less(right, left).value < 0
    assert at_most(exp(1) ** log(2), 2).value == 0
    tiny = exp(-300) - exp(-301)
    assert less(0, tiny).value > 0 > less(tiny, 0).value


def test_a_sign_that_neither_balls_nor_algebra_settle_is_undecided():
    with pytest.raises(Undecided):
        at_most(Rational(math.isqrt(2 << 12000), 1 << 6000), sqrt(2))
    with pytest.raises(Undecided):
        less(0, erf(1))


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.integers(1, 50))
def test_signs_of_differences_of_roots_are_those_of_the_squares(a, b, c, d):
    """sqrt(a) + sqrt(b) < sqrt(c) + sqrt(d) compared through squares, in rationals."""
    left, right = sqrt(a) + sqrt(b), sqrt(c) + sqrt(d)
    gap = Fraction(c + d - a - b)  # (c + d - a - b) against 2 sqrt(ab) - 2 sqrt(cd), squared twice
    with_roots = sides.sign(gap.numerator + 2 * sqrt(c * d) - 2 * sqrt(a * b))
    assert sides.sign(right - left) == with_roots


def test_identity_refuses_floats_and_texts():
    x = Symbol("x")
    for pair in ((x, 0.5), (0.5 * x, x / 2), ("x", x), (x, "x")):
        with pytest.raises((TypeError, SympifyError)):
            identity(*pair)


def test_identity_looks_where_its_symbols_live():
    n = Symbol("n", negative=True)
    assert identity(Abs(n), -n).value == 0
    assert identity(Abs(n) + n, Max(n, -1) - n).value < 0


def test_only_a_ball_is_a_ball():
    for value in (0.5, Fraction(1, 2), "1", True, Integer(1)):
        with pytest.raises(TypeError, match="no ball"):
            ball_at_least(value)
        with pytest.raises(TypeError, match="no ball"):
            balls_apart(arb(1), value)
    assert ball_at_least(1).value == 1
