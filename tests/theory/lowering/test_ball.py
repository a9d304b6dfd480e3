"""The ball printer contains every value, keeps ends exact and refuses what it cannot enclose; three-valued outcomes."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st
from sympy import (
    And,
    E,
    Eq,
    Float,
    Max,
    Ne,
    Not,
    Or,
    Piecewise,
    Rational,
    StrictLessThan,
    Sum,
    Symbol,
    cosh,
    gamma,
    log,
    oo,
    pi,
    sin,
    sqrt,
    symbols,
    tanh,
)

from tests.theory.cases import refuses
from tests.theory.lowering.ball_fuzz import fuzz
from theory.lowering import ball
from theory.lowering.ball import (
    BallFunction,
    Box,
    exact,
    outward,
    to_ball,
)

X, Y = symbols("x y", real=True)
BELOW_HALF = StrictLessThan(X, Rational(1, 2))
FRACTIONS = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)


def on(expr, sides):
    return BallFunction([expr], list(sides)).on(Box(sides))[0]


@pytest.mark.parametrize("cases", [1000, pytest.param(100_000, marks=[pytest.mark.deep, pytest.mark.timeout(3600)])])
def test_printer_contains_every_value_of_random_expressions(cases):
    infinite, missed = fuzz(cases, seed=20)
    assert missed == [] and infinite <= 0.1 * cases


class FloatRationals(BallFunction):
    def _step(self, expr):
        if expr.is_Rational and not expr.is_Integer:
            return lambda _: (arb(expr.p / expr.q),) * 2
        return super()._step(expr)


def float_balls(box):
    return tuple(arb(float(low + high) / 2, float(high - low) / 2) for _, low, high in box.sides)


@pytest.mark.parametrize(
    "planted",
    [{"printer": FloatRationals}, {"balls": float_balls}],
    ids=["rational by float division", "midpoint and radius from floats"],
)
def test_fuzz_catches_an_unsound_printer(planted):
    assert len(fuzz(400, seed=22, **planted)[1]) >= 3


def test_fuzz_catches_a_function_taken_for_increasing_and_a_power_that_forgets_its_sign(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(ball._FUNCTIONS, cosh, ball._increasing(arb.cosh))
        assert len(fuzz(400, seed=23)[1]) >= 1
    monkeypatch.setattr(ball, "_integer_power", lambda x, n: ball._increasing(lambda end: end**n)(x))
    assert len(fuzz(400, seed=24)[1]) >= 3


@given(FRACTIONS, FRACTIONS)
def test_ball_of_an_interval_contains_both_ends(a, b):
    low, high = min(a, b), max(a, b)
    with ctx.workprec(53):
        whole = to_ball(low, high)
    for end in (low, high):
        assert whole.contains(arb(fmpq(end.numerator, end.denominator)).mid()) or whole.overlaps(to_ball(end))
    bottom, top = (Fraction(str(end.fmpq())) for end in (whole.lower(), whole.upper()))
    assert bottom <= low and high <= top


@given(FRACTIONS, st.integers(30, 200))
def test_outward_floats_never_shrink_the_ball(number, precision):
    with ctx.workprec(precision):
        low, high = outward(to_ball(number))
    assert Fraction(low) < number < Fraction(high)


def test_outward_refuses_nan():
    refuses(lambda: outward(arb("nan")), "NaN")


@pytest.mark.parametrize("value", [0.1, True, "1/0", "nan", 1j])
def test_constant_that_is_not_exact_is_refused(value):
    refuses(lambda: exact(value), "constant")


@pytest.mark.parametrize(
    ("value", "number"),
    [("0.1", Fraction(1, 10)), ("-2/3", Fraction(-2, 3)), (7, Fraction(7)), (Rational(1, 3), Fraction(1, 3))],
)
def test_constant_is_read_exactly(value, number):
    assert exact(value) == number


@pytest.mark.parametrize(
    ("expr", "low", "high"),
    [
        (X * Y, 0, 1),
        (tanh(X) * Y, 0, 1),
        (Max(X, Y), 0, 1),
        (X ** Rational(1, 3), 0, 1),
        ((X - Rational(1, 2)) ** 2, 0, Rational(1, 4)),
        (cosh(X - Rational(1, 2)), 1, 2),
        (sin(4 * X), -1, 1),
    ],
)
def test_interval_ends_are_kept_exactly(expr, low, high):
    bottom, top = on(expr, {"x": (0, 1), "y": (0, 1)})
    assert bottom >= arb(fmpq(low)) and top <= arb(fmpq(int(Rational(high).p), int(Rational(high).q)))


@pytest.mark.parametrize(
    "expr",
    [1 / X, X**-2, log(X), sqrt(X), X ** Rational(-1, 3), X**Y, log(X**2)],
)
def test_value_outside_the_domain_is_not_finite(expr):
    low, high = on(expr, {"x": (-1, 1), "y": (1, 2)})
    assert not (low.is_finite() and high.is_finite())
    result = BallFunction([expr], ["x", "y"])(to_ball(-1, 1), to_ball(1, 2))[0]
    assert not result.is_finite()


def test_rounding_below_zero_is_forgiven_where_sympy_knows_the_sign():
    symbol = Symbol("s", nonnegative=True)
    assert BallFunction([sqrt(symbol)], ["s"])(to_ball(0, "1/3"))[0].is_finite()


def test_constants_are_enclosed_and_not_rounded():
    with ctx.workprec(200):
        third, turn, e = BallFunction([Rational(1, 3), pi, E], [])()
        assert third.contains(to_ball("1/3")) or third.overlaps(to_ball("1/3"))
        assert third.rel_accuracy_bits() > 190 and not third.overlaps(arb(1 / 3))
        assert turn.overlaps(arb.pi()) and not turn.overlaps(arb(math.pi))
        assert e.overlaps(arb.const_e()) and not e.overlaps(arb(math.e))


@pytest.mark.parametrize(
    ("expr", "why"),
    [
        (Float(0.1) * X, "float"),
        (gamma(X), "gamma"),
        (oo, "Infinity"),
        (Symbol("w") + X, "'w'"),
        (Sum(X, (Y, 1, 3)), "Sum"),
    ],
)
def test_expression_without_rigorous_ball_is_refused(expr, why):
    refuses(lambda: BallFunction([expr], ["x", "y"]), why)


def test_call_with_wrong_arguments_is_refused():
    function = BallFunction([X], ["x"])
    refuses(function, "expected 1")
    refuses(lambda: function.on(Box({"y": (0, 1)})), "has sides")


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        (X < 2, 10, 10),
        (X <= 1, 10, 10),
        (X > 1, 20, 20),
        (X >= 2, 20, 20),
        (Eq(X, 3), 20, 20),
        (Ne(X, 3), 10, 10),
        (BELOW_HALF, 10, 20),
        (And(X < 2, X > -1), 10, 10),
        (And(X < 2, X > 3), 20, 20),
        (Or(X > 3, X < 2), 10, 10),
        (Or(X > 3, BELOW_HALF), 10, 20),
        (Not(And(X < 2, X > -1), evaluate=False), 20, 20),
        (Not(Or(X > 3, X < 2), evaluate=False), 20, 20),
    ],
)
def test_piecewise_joins_the_branches_that_remain_possible(condition, low, high):
    expr = Piecewise((10, condition), (20, True), evaluate=False)
    assert expr.args[0][1] == condition
    bottom, top = on(expr, {"x": (0, 1)})
    assert (float(bottom), float(top)) == (low, high)


def test_piecewise_without_a_certain_branch_is_not_finite():
    assert on(Piecewise((X, BELOW_HALF)), {"x": (0, 1)})[0].is_nan()


def test_a_box_has_a_width_a_centre_and_corners():
    box = Box({"x": (0, 1), "y": ("1/3", 3)})
    low = box.with_side("y", "1/3", "5/3")
    assert low["y"] == (Fraction(1, 3), Fraction(5, 3)) and low["x"] == box["x"]
    assert box.width() == Fraction(8, 3) and box.width("x") == 1
    assert box.contains(low) and not low.contains(box)
    assert box.contains(box.center()) and not box.contains({"x": 2, "y": 1})
    assert len(list(box.corners())) == 4 and hash(box) == hash(Box({"x": (0, 1), "y": ("1/3", 3)}))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (lambda: Box({}), "at least one"),
        (lambda: Box({"x": (1, 0)}), "must not exceed"),
        (lambda: Box({"x": (0.0, 1)}), "float"),
        (lambda: Box({"x": (0, 1)})["y"], "no side 'y'"),
        (lambda: Box({"x": (0, 1)}).contains({"y": 0}), "differ"),
        (lambda: Box({"x": (0, 1), X: (0, 1)}), "each name once"),
    ],
)
def test_box_refuses_bad_input(broken, why):
    refuses(broken, why)


@pytest.mark.parametrize("factor", [-1, 2, X + 2, -X - 2, X])
def test_a_product_is_not_defined_where_a_factor_is_not(factor):
    """log x has an upper end on (-1, 1/2) and no lower one; times a sign that must not become a lower end."""
    for product in (2 * factor * log(X), factor * X * log(X)):
        ((low, high),) = BallFunction([product], ["x"]).on(Box({"x": (-1, "1/2")}))
        assert low.is_nan() and high.is_nan()


SIDES = [arb(v) for v in (-3, -2, 0, 1, 4)]


def test_signs_choose_the_ends_that_all_four_products_give():
    sides = [(a, b) for a in SIDES for b in SIDES if a <= b]
    for x in sides:
        for y in sides:
            ends = [p * q for p in x for q in y]
            low, high = ball._times(x, y)
            assert low == min(ends, key=float) and high == max(ends, key=float)
