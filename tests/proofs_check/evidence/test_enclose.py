"""The checker's evaluator: the ends it gives for each kind of node, sharp where the function is, and its refusals."""

import math

import pytest
import sympy
from flint import arb

from proofs_check.evidence.enclose import Unknown, enclose, ends

X, Y = sympy.symbols("x y", real=True)
N = sympy.Symbol("n", positive=True)
R = sympy.Rational


def on(low, high):
    return arb(low), arb(high)


def floats(interval):
    return [float(end) for end in interval]


@pytest.mark.parametrize(
    ("expr", "x", "low", "high"),
    [
        (R(1, 4), (0, 0), 0.25, 0.25),
        (sympy.pi, (0, 0), math.pi, math.pi),
        (sympy.E, (0, 0), math.e, math.e),
        (X, (-2, 3), -2, 3),
        (X + 2 + Y, (-2, 3), 3, 9),
        (X * Y * 3, (-2, 3), -24, 36),
        (X**2, (-2, 3), 0, 9),
        (X**2, (-3, -2), 4, 9),
        (X**2, (-3, 2), 0, 9),
        (X**3, (-2, 3), -8, 27),
        (1 / X, (2, 4), 0.25, 0.5),
        (1 / X, (-4, -2), -0.5, -0.25),
        (X**-2, (-4, -2), 1 / 16, 0.25),
        (sympy.sqrt(X), (0, 9), 0, 3),
        (1 / sympy.sqrt(X), (4, 9), 1 / 3, 0.5),
        (X ** R(2, 3), (1, 8), 1, 4),
        (sympy.Pow(X, Y), (2, 3), 8, 81),
        (sympy.Pow(X, Y), (0.5, 3), 0.0625, 81),
        (sympy.cosh(X), (-1, 2), 1, math.cosh(2)),
        (sympy.Abs(X), (-2, 3), 0, 3),
        (sympy.Abs(X), (2, 3), 2, 3),
        (sympy.sin(X), (0.5, 0.5), math.sin(0.5), math.sin(0.5)),
        (sympy.cos(X), (0.5, 0.5), math.cos(0.5), math.cos(0.5)),
        (sympy.sin(X), (-40, 50), -1, 1),
        (sympy.cos(X), (-40, 50), -1, 1),
        (sympy.Max(X, Y), (-2, 3.5), 3, 4),
        (sympy.Min(X, Y), (-2, 3.5), -2, 3.5),
    ],
    ids=str,
)
def test_ends_are_those_of_the_range(expr, x, low, high):
    found = enclose(expr, {"x": on(*x), "y": on(3, 4)})
    assert all(end.is_exact() for end in found)
    assert floats(found) == pytest.approx([low, high], rel=1e-13, abs=1e-13)
    assert found[0] <= arb(low) + arb(1e-13) and found[1] >= arb(high) - arb(1e-13)


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sinh", "atan"])
def test_ends_of_what_rises_are_its_values_at_the_ends(name):
    low, high = floats(enclose(getattr(sympy, name)(X), {"x": on(0.5, 1.5)}))
    assert [low, high] == pytest.approx([getattr(math, name)(end) for end in (0.5, 1.5)], rel=1e-13)


# The value is 5 where x is so related to 2, else 7; at each end the ties of the relation are what is looked at.
PLACES = [(0, 1), (3, 4), (1, 3), (2, 2), (1, 2), (2, 3)]
CONDITIONS = {
    sympy.StrictLessThan: "5 7 57 7 57 7",
    sympy.LessThan: "5 7 57 5 5 57",
    sympy.StrictGreaterThan: "7 5 57 7 7 57",
    sympy.GreaterThan: "7 5 57 5 57 5",
}


@pytest.mark.parametrize("relation", CONDITIONS, ids=str)
def test_a_condition_picks_a_branch_only_where_it_is_certain(relation):
    expr = sympy.Piecewise((sympy.Integer(5), relation(X, 2)), (sympy.Integer(7), True))
    for place, digits in zip(PLACES, CONDITIONS[relation].split(), strict=True):
        assert floats(enclose(expr, {"x": on(*place)})) == [int(digits[0]), int(digits[-1])], place


@pytest.mark.parametrize(
    ("expr", "x"),
    [
        (1 / X, (-1, 1)),
        (1 / X, (0, 1)),
        (1 / X, (-1, 0)),
        (sympy.sqrt(X), (-1, 1)),
        (sympy.Pow(X, Y), (0, 1)),
        (sympy.Pow(X, Y), (-1, 1)),
        (sympy.log(X), (0, 1)),
        (sympy.log(X), (-1, 1)),
        (sympy.exp(X), (0, 1e300)),
        (sympy.gamma(X), (1, 2)),
        (sympy.I * X, (1, 2)),
        (sympy.Float(0.5) * X, (1, 2)),
        (sympy.EulerGamma + X, (1, 2)),
        (sympy.Piecewise((X, X < 1)), (0, 2)),
        (sympy.Piecewise((X, sympy.Eq(X, 1)), (Y, True)), (0, 2)),
        (sympy.Piecewise((X, sympy.And(X < 1, X > 0)), (Y, True)), (0, 2)),
    ],
    ids=str,
)
def test_what_has_no_finite_interval_is_unknown(expr, x):
    with pytest.raises(Unknown):
        enclose(expr, {"x": on(*x), "y": on(3, 4)})


def test_ends_are_rounded_outward():
    low, high = enclose(R(1, 3), {})
    assert low.is_exact() and high.is_exact()
    assert R(str(low.fmpq())) < R(1, 3) < R(str(high.fmpq()))
    low, high = enclose(R(1, 3) + X, {"x": ends(arb(1) / 7)})
    assert low.is_exact() and high.is_exact()
    assert R(str(low.fmpq())) < R(10, 21) < R(str(high.fmpq()))
