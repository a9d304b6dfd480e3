"""Balls and boxes at their edges: comparisons that touch, conditions beneath a negation, assumptions that just hold."""

from operator import add, mul

import sympy
from flint import arb

from theory.lowering.ball import (
    BallFunction,
    _add,
    _conjunction,
    _equal,
    _hull,
    _less,
    _negate,
    _root_power,
    _times,
)
from theory.lowering.box import Outcome

PROVED, REFUTED, UNDECIDED = Outcome


def on(low, high):
    return arb(low), arb(high)


def test_intervals_that_touch_are_not_certainly_below():
    assert _less(on(0, 1), on(2, 3)) is PROVED
    assert _less(on(0, 1), on(1, 2)) is UNDECIDED
    assert _less(on(1, 2), on(0, 1)) is REFUTED
    assert _less(on(2, 3), on(0, 1)) is REFUTED
    assert _less(on(0, 2), on(1, 3)) is UNDECIDED


def test_intervals_are_equal_only_as_one_point():
    assert _equal(on(1, 1), on(1, 1)) is PROVED
    assert _equal(on(0, 1), on(0, 1)) is UNDECIDED
    assert _equal(on(0, 1), on(1, 1)) is UNDECIDED
    assert _equal(on(1, 1), on(1, 2)) is _equal(on(1, 1), on(0, 1)) is UNDECIDED
    assert _equal(on(0, 1), on(2, 3)) is _equal(on(2, 3), on(0, 1)) is REFUTED
    assert _equal(on(0, 1), on(1, 2)) is _equal(on(1, 2), on(0, 1)) is UNDECIDED


def test_a_condition_is_undecided_only_where_it_can_go_both_ways():
    assert _conjunction([PROVED, UNDECIDED]) is UNDECIDED
    assert _conjunction([UNDECIDED, REFUTED]) is REFUTED
    assert _conjunction([PROVED, PROVED]) is _conjunction([]) is PROVED
    constants = [BallFunction([], [])._condition(constant)([]) for constant in (sympy.true, sympy.false)]
    assert constants == [PROVED, REFUTED]
    assert [_negate(outcome) for outcome in (PROVED, REFUTED, UNDECIDED)] == [REFUTED, PROVED, UNDECIDED]


def test_products_sums_and_hulls_are_rounded_outward():
    third, seventh = arb(1) / 3, arb(1) / 7
    for operation, exactly in ((_times, mul), (_add, add)):
        ends = third.lower(), seventh.lower()
        low, high = operation(*((end, end) for end in ends))
        exact = exactly(*(sympy.Rational(str(end.fmpq())) for end in ends))
        assert low.is_exact() and high.is_exact()
        assert sympy.Rational(str(low.fmpq())) < exact < sympy.Rational(str(high.fmpq()))
    assert _hull(seventh, third) == _hull(third, seventh) == (seventh.lower(), third.upper())


def test_rounding_below_zero_is_forgiven_up_to_zero_itself():
    assert [float(end) for end in _root_power(on(-1e-20, 0), 1, 2, True)] == [0, 0]
    assert [float(end) for end in _root_power(on(-1e-20, 4), 1, 2, True)] == [0, 2]
    assert not all(end.is_finite() for end in _root_power(on(-1e-20, 4), 1, 2, False))
