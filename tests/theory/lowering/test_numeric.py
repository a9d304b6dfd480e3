"""One lowering: the backends agree, broadcast alike, and refuse what they would silently get wrong."""

import math
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, ctx
from sympy import (
    Abs,
    And,
    E,
    ImmutableMatrix,
    Integer,
    Matrix,
    Max,
    Min,
    Or,
    Piecewise,
    Rational,
    Sum,
    Symbol,
    SympifyError,
    atan,
    cos,
    cosh,
    exp,
    factorial,
    log,
    pi,
    sin,
    sinh,
    sqrt,
    symbols,
    tanh,
)

from tests.theory.cases import refuses
from theory.lowering.numeric import numeric

X, Y = symbols("x y", real=True)
K = Symbol("k", integer=True)
THIRD = Rational(1, 3)
EXPRS = [
    Max(X, 0, Y) + sqrt(2) * pi,
    Min(X, Y, 1) ** 2,
    Piecewise((log(X), X > 1), (Y / 3, And(X > 0, Y < 1)), (X**-2, True)),
    Piecewise((1, Or(X < 0, Y > 1)), (2, True)),
    Sum(X**K / factorial(K), (K, 0, 5)),
    Abs(Y) * tanh(Y) + Abs(X) ** THIRD,
    1 / sqrt(1 + X**2) + exp(-Y) / (1 + exp(X - Y)),
    sinh(X) + cosh(Y) + sin(X) * cos(Y) + atan(X * Y),
    Integer(3),
    E ** Integer(2) * X + THIRD,
]
GRID = np.array([[0.5], [2.0], [-1.25]]), np.array([0.3, -1.0, 2.0, 0.75])


@pytest.mark.parametrize("expr", EXPRS, ids=str)
def test_backends_agree_on_the_same_expression(expr):
    values = numeric(expr, [X, Y])(*GRID)
    tensors = numeric(expr, [X, Y], "torch")(*map(torch.tensor, GRID))
    assert values.shape == tensors.shape == (3, 4) and values.dtype == np.float64
    np.testing.assert_allclose(tensors.numpy(), values, rtol=1e-14, atol=1e-15)
    for i, j in np.ndindex(3, 4):
        point = Fraction(GRID[0][i, 0]), Fraction(GRID[1][j])
        with mpmath.workdps(40):
            sharp = numeric(expr, [X, Y], "mpmath")(*point)
            assert abs(sharp - values[i, j]) <= 1e-14 * (1 + abs(sharp))
            ball = numeric(expr, [X, Y], "arb")(*point)
            assert abs(float(ball.mid()) - sharp) <= 1e-13 * (1 + abs(sharp)) and float(ball.rad()) < 1e-13


def test_a_constant_needs_no_argument():
    assert numeric(sqrt(2), [])() == numeric(sqrt(2), [X])(0.0) == math.sqrt(2)


def test_sequence_and_matrix_add_trailing_axes():
    assert numeric([X, Y, 1], [X, Y])(*GRID).shape == (3, 4, 3)
    rows = Matrix([[X, 1, 0], [Y, 2, X * Y]])
    for make in (Matrix, ImmutableMatrix):
        assert numeric(make(rows), [X, Y])(*GRID).shape == (3, 4, 2, 3)
        assert numeric(make(rows), [X, Y], "torch")(*map(torch.tensor, GRID)).shape == (3, 4, 2, 3)
    assert numeric(rows, [X, Y])(2, 3).tolist() == [[2, 1, 0], [3, 2, 6]]
    assert numeric(rows, [X, Y], "mpmath")(2, 3) == mpmath.matrix([[2, 1, 0], [3, 2, 6]])
    assert numeric(rows, [X, Y], "arb")(2, 3) == [[arb(2), arb(1), arb(0)], [arb(3), arb(2), arb(6)]]
    assert numeric([X, Y], [X, Y], "mpmath")(2, 3) == numeric([X, Y], [X, Y], "arb")(2, 3) == [2, 3]


def test_result_is_a_fresh_writable_array():
    result = numeric(X, [X, Y])(*GRID)
    result[0, 0] = 7
    assert GRID[0][0, 0] == 0.5 and result[0, 1] == 0.5


def test_integers_become_doubles():
    assert numeric(1 / X + X**-3, [X])(np.array([2, 4])).tolist() == [0.625, 0.265625]
    assert numeric(1 / X, [X], "torch")(torch.tensor([2, 4])).tolist() == [0.5, 0.25]


def test_single_precision_stays_single():
    small = np.array([0.5, 1.5], dtype=np.float32)
    assert numeric(sqrt(2) * X + 1, [X])(small).dtype == np.float32
    assert numeric(sqrt(2) * X + 1, [X], "torch")(torch.tensor(small)).dtype == torch.float32


def test_torch_result_carries_the_gradient():
    x = torch.tensor([0.5, -0.25], dtype=torch.float64, requires_grad=True)
    numeric(Max(X, 0) * tanh(X) + Piecewise((X**2, X > 0), (X, True)), [X], "torch")(
        x
    ).sum().backward()
    slope = math.tanh(0.5) + 0.5 * (1 - math.tanh(0.5) ** 2) + 1
    assert x.grad.tolist() == pytest.approx([slope, 1.0])


def test_branch_not_chosen_does_not_warn():
    safe = Piecewise((log(X), X > 0), (0, True))
    assert numeric(safe, [X])(np.array([-1.0, 0.0, 1.0])).tolist() == [0, 0, 0]


def test_mpmath_works_at_the_precision_of_the_caller():
    function = numeric(pi + THIRD * X, [X], "mpmath")
    for digits in (15, 50, 200):
        with mpmath.workdps(digits + 10):
            exact = +mpmath.pi + mpmath.mpf(1) / 3
        with mpmath.workdps(digits):
            assert abs(function(1) - exact) < mpmath.mpf(10) ** (2 - digits)


def test_arb_is_rigorous_at_the_precision_of_the_caller():
    function = numeric(pi + THIRD * X, [X], "arb")
    with ctx.workprec(300):
        value = function("1/3")
        assert value.rel_accuracy_bits() > 290 and value.overlaps(arb.pi() + arb(1) / 9)
        assert not value.overlaps(arb(math.pi) + arb(1) / 9)
    refuses(lambda: function(0.1), "float")


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath"])
def test_argument_named_like_a_common_subexpression_keeps_its_value(backend):
    x0, keyword = Symbol("x0", positive=True), Symbol("lambda", positive=True)
    expr = exp(x0 + keyword) + tanh(x0 + keyword) + x0
    value = float(numeric(expr, [x0, keyword], backend)(1.0, 2.0))
    assert value == pytest.approx(math.exp(3) + math.tanh(3) + 1, rel=1e-14)


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath", "arb"])
@pytest.mark.parametrize(
    ("expr", "args", "why"),
    [
        (X + Y, [X], "'y' of the expression is not among"),
        (X + 1, [Symbol("x")], "different assumptions"),
        (X + 1, [X, Symbol("x", positive=True)], "share a name"),
        (X, [X, X], "distinct"),
        (X, ["x"], "distinct symbols"),
        (Sum(X, (K, 1, Symbol("n", integer=True))), [X, Symbol("n", integer=True)], "not integers"),
    ],
)
def test_silent_mistake_is_refused(expr, args, why, backend):
    refuses(lambda: numeric(expr, args, backend), why)


def test_unknown_backend_is_refused():
    refuses(lambda: numeric(X, [X], "jax"), "unknown backend 'jax'")


JUNK = [True, "x", None, np.array(["1"])]


@pytest.mark.parametrize("backend", ["numpy", "torch", "mpmath", "arb"])
@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: type(junk).__name__)
def test_a_value_that_is_no_number_is_refused_by_name(backend, junk):
    if backend == "arb" and junk == "x":
        junk = "x/0"
    with pytest.raises(ValueError, match=r"^(x|constant) .*got|^constant") as caught:
        numeric(2 * X + 1, [X], backend)(junk)
    assert "\n" not in str(caught.value)


def test_tensors_of_truth_values_are_refused_and_half_precision_scalars_widened():
    told = "tensor of real numbers, got one of torch.bool"
    refuses(lambda: numeric(X, [X], "torch")(torch.tensor([True])), told)
    third = np.float16(1) / np.float16(3)
    assert numeric(X * X, [X])(third) == float(third) ** 2
    assert np.isnan(numeric(X, [X])(np.nan)) and numeric(X, [X])([1, np.inf])[1] == np.inf


def test_text_is_not_parsed():
    with pytest.raises(SympifyError):
        numeric("x + 1", [X])


def test_torch_is_imported_only_when_asked_for():
    code = (
        "import sys, sympy; from theory.lowering.numeric import numeric; x = sympy.Symbol('x');"
        "[numeric(x, [x], b)(1) for b in ('numpy', 'mpmath', 'arb')]; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
