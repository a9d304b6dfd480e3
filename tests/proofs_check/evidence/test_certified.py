"""Inequalities, zeros and areas of sympy expressions: what is true is proved, nothing else is, and the core decides."""

from fractions import Fraction

import pytest
import sympy as sp
from sympy import Abs, E, Integer, Max, Piecewise, Rational, Symbol, atan, cos, exp, log, pi, sin, sqrt, tanh

from proofs_check.evidence import certified
from proofs_check.evidence.certified import nonzero_on, positive_area, proved_on, unique_zero
from proofs_check.evidence.margin import Undecided
from theory.lowering.box import Box

X, Y, Z = sp.symbols("x y z", real=True)
WHOLE = Symbol("k", integer=True)
HALF, THIRD, NANO = Rational(1, 2), Rational(1, 3), Rational(1, 10**9)
ROOT = "1.41421356237309504880"  # of 2, a little below
UNIT, SQUARE, WIDE = Box({X: (0, 1)}), Box({X: (0, 1), Y: (0, 1)}), Box({X: (-1, 1)})
AWAY = Box({X: (0, 1), Y: (HALF, 1)})
VALLEY = (X - Y) ** 2

# expressions, box, options, the least of (the largest - bound) over the box, how near the margin comes to it
TRUE = [
    ([X + THIRD], UNIT, {}, THIRD, NANO),
    ([X], Box({X: (THIRD, 1)}), {}, THIRD, NANO),
    ([1 - X], Box({X: (0, THIRD)}), {}, Rational(2, 3), NANO),
    ([X + 1], UNIT, {"bound": "3/4"}, Rational(1, 4), NANO),
    ([X - X**2 / 4], UNIT, {"bound": "-1/10"}, Rational(1, 10), NANO),
    ([X + 1], UNIT, {"bound": 1 - NANO}, NANO, NANO / 100),
    ([Integer(3)], SQUARE, {}, 3, NANO),
    ([X * Y - THIRD], Box({X: (1, 1), Y: (HALF, HALF)}), {}, Rational(1, 6), NANO),
    ([VALLEY + Rational(1, 1000)], SQUARE, {}, Rational(1, 1000), Rational(1, 1000)),
    ([X**2 + Y**2 - X * Y + HALF], SQUARE, {"slopes": False}, HALF, HALF),
    ([Max(X, 1 - X) - Rational(49, 100)], UNIT, {}, Rational(1, 100), Rational(1, 100)),
    ([log(1 + exp(X)) - X], Box({X: (-5, 5)}), {}, log(1 + exp(-5)), log(1 + exp(-5))),
    ([Piecewise((X, X < 1), (2 - X, True)) + THIRD], Box({X: (0, 2)}), {}, THIRD, THIRD),
    ([X - HALF, HALF - X, Y - THIRD], AWAY, {}, Rational(1, 6), NANO),
    ([Abs(X) - 5, X + 1], UNIT, {}, 1, NANO),
    ([X - 2], UNIT, {"nonzero": True}, 1, NANO),
    ([exp(exp(X))], Box({X: (0, 60)}), {}, None, None),
    ([exp(-exp(X))], Box({X: (0, 60)}), {}, None, None),
    ([X**2 + Y**2 - 1, X - Y + 2, X + 3 * Y], Box({X: (-2, 2), Y: (-2, 2)}), {"nonzero": True}, None, None),
]
FALSE = [  # at a corner or at the centre, with what the largest of the expressions is there, less the bound
    ([X], UNIT, {}, 0),
    ([], UNIT, {}, -1),
    ([X * Y], SQUARE, {}, 0),
    ([VALLEY], SQUARE, {}, 0),
    ([X + 1], UNIT, {"bound": 1 + NANO}, -NANO),
    ([1 - X], Box({X: (0, 1 + NANO)}), {}, -NANO),
    ([(X - HALF) ** 2 - NANO], UNIT, {}, -NANO),
    ([-Y], Box({X: (0, 1), Y: (-1, HALF)}), {}, -HALF),
    ([X - 3, X - 2, X - 4], Box({X: (0, 0)}), {}, -2),
    ([X, Y], Box({X: (-1, 1), Y: (-1, 1)}), {"nonzero": True}, 0),
    ([X - 1], UNIT, {"nonzero": True}, 0),
]
UNDECIDED = {
    "false by 1e-9 about 1/3 alone": ([(X - THIRD) ** 2 - NANO], UNIT, {}),
    "false in one half": ([(X - Rational(3, 4)) ** 2 - Rational(1, 100)], UNIT, {}),
    "false in the other half": ([(X - Rational(1, 4)) ** 2 - Rational(1, 100)], UNIT, {}),
    "false on a part of one side": ([(Y - THIRD) ** 2 + X - Rational(1, 100)], SQUARE, {}),
    "a minimum that touches": ([(X - THIRD) ** 2], UNIT, {}),
    "a zero inside": ([X - THIRD], UNIT, {"nonzero": True}),
    "a common zero": ([X - THIRD, Y - THIRD], SQUARE, {"nonzero": True}),
    "a pole inside": ([X**-2], WIDE, {}),
    "a pole of both signs": ([1 / (3 * X - 1)], UNIT, {"nonzero": True}),
    "a jump in an arctangent": ([atan(1 / (3 * X - 1)) + Rational(8, 5)], UNIT, {}),
    "a logarithm of 0": ([3 - log(X)], UNIT, {}),
    "a root of what is negative": ([1 + sqrt(X)], WIDE, {}),
    "a condition without a value": ([Piecewise((1, log(X) < 0), (2, True))], Box({X: (-2, -1)}), {}),
    "an alternative without a value": ([log(X), Integer(1)], Box({X: (-2, -1)}), {}),
    "a step whose slope is 0": ([Piecewise((-1, Abs(X - THIRD) < Rational(1, 9)), (1, True))], UNIT, {}),
    "a side too long": ([exp(-X)], Box({X: (0, 10**12)}), {}),
}
NO_SENSE = [
    (lambda: proved_on(UNIT, X, bound=0.5), "float"),
    (lambda: proved_on(UNIT, X * 0.5), "Float"),
    (lambda: proved_on(UNIT, sp.nan * X), "no term"),
    (lambda: proved_on(UNIT, X + Z), "no side 'z'"),
    (lambda: proved_on(UNIT, X + Symbol("x")), "different assumptions"),
    (lambda: proved_on(WIDE, Symbol("x", positive=True)), "assumed positive"),
    (lambda: proved_on(Box({WHOLE: (0, 2)}), (WHOLE - HALF) ** 2), "assumed algebraic, integer"),
    (lambda: proved_on(Box({X: (0, sp.oo)}), X + 1), "oo"),
    (lambda: unique_zero(Box({WHOLE: (0, 3)}), 2 * WHOLE - 3), "assumed algebraic, integer"),
    (lambda: unique_zero(SQUARE, X), "1 equations"),
    (lambda: positive_area(X, X, Y, -1), "depth"),
]


@pytest.mark.parametrize(("exprs", "box", "options", "least", "near"), TRUE)
def test_what_is_true_is_proved_by_no_more_than_its_margin(exprs, box, options, least, near):
    found = proved_on(box, *exprs, **options).value
    assert found >= 0
    assert least is None or least - near <= Rational(found) <= least


@pytest.mark.parametrize(("exprs", "box", "options", "there"), FALSE)
def test_what_fails_at_a_corner_or_the_centre_is_refuted_there(exprs, box, options, there):
    found = proved_on(box, *exprs, **options).value
    assert found < 0 and (there <= Rational(found) <= there + NANO / 100 or (found == -5e-324 and there == 0))


@pytest.mark.parametrize("case", UNDECIDED.values(), ids=UNDECIDED)
def test_what_is_false_or_not_defined_somewhere_is_not_proved(case):
    exprs, box, options = case
    with pytest.raises(Undecided):
        proved_on(box, *exprs, **options, budget=300)


@pytest.mark.parametrize(("call", "why"), NO_SENSE)
def test_what_makes_no_sense_is_refused(call, why):
    with pytest.raises(ValueError, match=why):
        call()


ONE = {
    "a root": ([X**2 - 2], {X: (1, 2)}, [sqrt(2)]),
    "not at the centre": ([X - 1], {X: (0, 3)}, [1]),
    "pi": ([sin(X)], {X: (3, "3.4")}, [pi]),
    "Dottie": ([cos(X) - X], {X: (0, 1)}, [sp.nsolve(cos(X) - X, X, 1, prec=30)]),
    "a corner cut by a circle": ([X**2 + Y**2 - 1, X - Y], {X: (HALF, 1), Y: (HALF, 1)}, [1 / sqrt(2)] * 2),
    "in the order of the sides": ([exp(X) - Y, Y - 2], {Y: ("1.9", "2.1"), X: ("0.6", "0.8")}, [2, log(2)]),
}
NOT_ONE = {
    "none": ([X**2 + X + 1], {X: (0, 1)}),
    "none, though one is near": ([X - 3], {X: (0, 1)}),
    "two": ([X**2 - X + Rational(1, 5)], {X: (0, 1)}),
    "three": ([sin(X)], {X: (1, 10)}),
    "double": ([X**2], {X: (-1, THIRD)}),
    "nearly double": ([X**2 - NANO**4], {X: (-1, 2)}),
    "singular": ([X * Y, X + Y], {X: (-1, 2), Y: (-2, 1)}),
    "a line": ([X, X], {X: (-1, 2), Y: (-1, 2)}),
    "tangent": ([X**2 + Y**2 - 1, X - 1], {X: (0, 2), Y: (-1, 2)}),
    "on the boundary": ([X], {X: (0, 1)}),
    "a little outside": ([X**2 - 2], {X: (1, ROOT)}),
    "a little outside, below": ([X**2 - 2], {X: (Fraction(ROOT) + Fraction(1, 10**20), 2)}),
    "not defined throughout": ([log(X)], {X: (-1, 2)}),
    "a pole": ([1 / X], {X: (-1, 2)}),
    "a kink": ([Abs(X) - HALF], {X: (-THIRD, 1)}),
    "a flat side": ([X - 1], {X: (1, 1)}),
}


@pytest.mark.parametrize("case", ONE.values(), ids=ONE)
def test_the_one_zero_is_enclosed(case):
    exprs, sides, zero = case
    found = unique_zero(Box(sides), *exprs)
    assert Box(sides).contains(found) and found.width() < Fraction(1, 10**13)
    for (_, low, high), value in zip(found.sides, zero, strict=True):
        assert Rational(low) < sp.N(value, 40) < Rational(high)


@pytest.mark.parametrize("case", NOT_ONE.values(), ids=NOT_ONE)
def test_no_zero_or_several_or_one_at_the_edge_is_not_called_one(case):
    exprs, sides = case
    with pytest.raises(Undecided):
        unique_zero(Box(sides), *exprs)


@pytest.mark.parametrize(
    ("expr", "area"),
    [(Y - X, HALF), (X**2 + Y**2 - 1, 1 - pi / 4), (exp(-X) - Y, 1 - 1 / E), (X + Y + 1, 1), (-X - 1, 0),
     (X - THIRD, Rational(2, 3)), (tanh(5 * (X - HALF) * (Y - HALF)), HALF), (1 - Abs(X), 1)],
)  # fmt: skip
def test_an_area_lies_between_bounds_that_tighten(expr, area):
    bounds = [positive_area(expr, X, Y, depth) for depth in (0, 2, 4, 5)]
    assert all(0 <= low <= area <= high <= 1 for low, high in bounds)
    widths = [high - low for low, high in bounds]
    assert widths == sorted(widths, reverse=True) and widths[-1] < Fraction(1, 10)


def test_an_area_leaves_out_where_nothing_is_defined():
    assert positive_area(log(X - HALF), X, Y, 3) == (0, Fraction(5, 8))


# What a search hands over is believed in nothing: each is changed, and what is false must not come out.
LIES = {
    "a leaf for the whole": ("searched", lambda *_: (["boxes", 64, {"x": ["0", "1"]}, [["mean", 0]]], 1), "proved_on"),
    "part of the box": ("searched", lambda *_: (["boxes", 64, {"x": ["1/2", "1"]}, [["natural", 0]]], 1), "proved_on"),
    "no nodes": ("searched", lambda *_: (["boxes", 64, {"x": ["0", "1"]}, []], 1), "proved_on"),
    "nothing at all": ("searched", lambda *_: (None, 1), "proved_on"),
    "no definedness": ("boxes", lambda *_, **__: None, "defined"),
    "a point that fails nothing": ("_excess", lambda *_: -1, "proved_on"),
    "a zero elsewhere": ("_newton", lambda *_: {"x": Fraction(5, 4)}, "unique_zero"),
    "a zero outside": ("_newton", lambda *_: {"x": -Fraction(ROOT)}, "unique_zero"),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_search_that_lies_convinces_nobody(lie, monkeypatch):
    name, told, what = lie
    claims = {
        "proved_on": lambda: proved_on.__wrapped__(UNIT, (X - THIRD) ** 2 - NANO),
        "defined": lambda: proved_on.__wrapped__(UNIT, 2 + 1 / (X + 1)),
        "unique_zero": lambda: unique_zero.__wrapped__(Box({X: (1, 2)}), X**2 - 2),
    }
    monkeypatch.setattr(certified, name, told)
    with pytest.raises(Undecided):
        claims[what]()


def test_expressions_are_decided_once():
    assert nonzero_on(UNIT, X - 2) is proved_on(UNIT, X - 2, nonzero=True)
