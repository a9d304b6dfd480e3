"""Formulas of sympy as terms: the same values, an order of their own, and a refusal of all that would be guessed."""

import random
from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from proofs_check.core.enclose import Evaluator, Undefined, Unknown, interval
from proofs_check.core.terms import num
from proofs_check.language import (
    PI,
    absolute,
    choice,
    each,
    eq,
    exp,
    largest,
    log,
    ne,
    positive,
    real,
    sequence,
    sqrt,
    var,
    when,
    whole,
)
from proofs_check.language.converted import term
from tests.proofs_check.core.test_enclose import ends
from theory.lowering.numeric import numeric
from theory.lowering.precision import working

x, y = sp.symbols("x y", real=True)
p = sp.Symbol("p", positive=True)
n = sp.Symbol("n", integer=True, nonnegative=True)
X, Y, P, N = real("x"), real("y"), positive("p"), whole("n", 0)
PLACES = {x: X, y: Y, p: P, n: N}
LEAVES = (x, y, p, p, n, sp.Integer(2), sp.Rational(-3, 7), sp.pi, sp.E)
UNARY = (sp.exp, sp.log, sp.tanh, sp.sin, sp.cos, sp.atan, sp.Abs, sp.sqrt)


def drawn(rng, depth):
    """A random expression, of all that has a term."""
    if depth == 0:
        return rng.choice(LEAVES)
    parts = [drawn(rng, depth - 1) for _ in range(rng.choice((2, 2, 3)))]
    return rng.choice([
        lambda: sp.Add(*parts), lambda: sp.Mul(*parts), lambda: parts[0] - parts[1], lambda: parts[0] / parts[1],
        lambda: parts[0] ** rng.choice((-3, -2, -1, 2, 3)), lambda: 1 / sp.sqrt(parts[0]),
        lambda: rng.choice(UNARY)(parts[0]), lambda: rng.choice((sp.Max, sp.Min))(*parts),
        lambda: sp.Piecewise((parts[0], parts[1] < x), (parts[0] + 1, sp.Ne(y, parts[1])), (parts[1], True)),
    ])()  # fmt: skip


def drawn_point(rng):
    def number():
        return Fraction(rng.randint(-30, 30), rng.choice((1, 2, 3, 7)))

    return {"x": number(), "y": number(), "p": abs(number()) + Fraction(1, 9), "n": Fraction(rng.randint(0, 6))}


def true_value(expression, point):
    """By sympy and mpmath, to 60 digits; None where it is not a number of moderate size."""
    try:
        found = numeric(expression, (x, y, p, n), "mpmath")(*point.values())
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return None
    usual = isinstance(found, mpmath.mpf) and mpmath.isfinite(found) and mpmath.mpf(10) ** -9 < abs(found) < 10**9
    return found if usual else None


@pytest.mark.parametrize("seed", range(2))
def test_the_term_has_the_values_of_the_expression(seed):
    rng, compared = random.Random(seed), 0
    with mpmath.workdps(60), working(300):
        for _ in range(150):
            try:
                expression = drawn(rng, rng.choice((1, 2, 3)))
                found, point = term(expression, PLACES), drawn_point(rng)
                low, high = ends(interval(Evaluator(point).value(found)))
            except (ValueError, TypeError, Unknown, Undefined):  # a power 3/2, a root of -1, a log of 0: tested below
                continue
            true = true_value(expression, point)
            if true is not None and high - low < mpmath.mpf(10) ** -55:
                compared += 1
                slack = abs(true) * mpmath.mpf(10) ** -50
                assert low - slack <= true <= high + slack, (expression, found, point)
    assert compared >= 60


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_addends_and_factors_is_not_sympys(seed):
    """Unevaluated sums and products keep the order they are given in, and the term does not."""
    rng, changed = random.Random(seed), 0

    def shuffled(expression):
        if not expression.args:
            return expression
        parts = [shuffled(part) for part in expression.args]
        if not isinstance(expression, sp.Add | sp.Mul):
            return expression.func(*parts)
        rng.shuffle(parts)
        cut = rng.choice((0, 0, 2)) if len(parts) > 2 else 0  # a sum inside a sum is one sum
        inner = [expression.func(*parts[:cut], evaluate=False)] if cut else []
        return expression.func(*inner, *parts[cut:], evaluate=False)

    while changed < 15:
        try:
            expression = drawn(rng, rng.choice((2, 3)))
            found = term(expression, PLACES)
        except (ValueError, TypeError):
            continue
        if expression.has(sp.Piecewise, sp.Max, sp.Min):  # sympy evaluates these anew, and what is in them
            continue
        other = shuffled(expression)
        changed += str(other) != str(expression)
        assert term(other, PLACES) is found, expression


def test_terms_look_as_one_would_write_them():
    X, Y, P = var("x"), var("y"), var("p")
    a, b = sp.symbols("a b", real=True)
    for expression, written in (
        (x - 2, X - 2), (2 - x, 2 + -X), (1 + sp.exp(x) + y, 1 + (exp(X) + Y)), (-x / 2, -(X / 2)),
        (2 * sp.exp(x) + sp.exp(y) + p - 2, 2 * exp(X) + exp(Y) + P - 2),
        (3 * y * sp.exp(-x) / (4 * p), 3 * Y * exp(-X) / (4 * P)),
        (1 / p - 1 / (sp.exp(p) - 1), 1 / P - 1 / (exp(P) - 1)), (p**-2 * x, X / P**2), (1 / sp.sqrt(p), 1 / sqrt(P)),
        (sp.Max(y, x, 2), largest(num(2), X, Y)), (sp.pi * sp.E, PI * exp(1)), (sp.Abs(x), absolute(X)),
        (sp.Rational(-3, 4), num(Fraction(-3, 4))), (sp.Pow(sp.E, x, evaluate=False), exp(X)),
        (sp.Piecewise((x, x > y), (1, sp.Ne(y, x)), (y, True)), when(Y < X, X, when(ne(X, Y), 1, Y))),
        (sp.Piecewise((x, x <= y), (y, True)), when(X <= Y, X, Y)),
        (sp.Piecewise((x, sp.Eq(y, x)), (y, True)), when(eq(X, Y), X, Y)),
        (sp.Mul(0, 1 / x, evaluate=False), num(0) / X),  # still undefined at 0
    ):  # fmt: skip
        assert term(expression, PLACES) is written, expression
    assert term(a * b, {a: sqrt(X), b: 3}) is 3 * sqrt(X)
    assert term(sp.log(p), {p: choice("p", 1, 2)}) is log(P)


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        (0.5, "float"),
        (sp.Float("0.1") * x, "Float"),
        (sp.cosh(x), "cosh"),
        (x**y, "neither whole nor a half"),
        (p ** sp.Rational(3, 2), "neither whole nor a half"),
        (sp.log(x, 2, evaluate=False), "log"),
        (sp.I * x, "ImaginaryUnit"),
        (sp.oo, "Infinity"),
        (sp.Piecewise((x, x < 0)), "no condition holds"),
        (sp.Piecewise((x, (x < 0) | (y < 0)), (y, True)), "no comparison"),
        (x < y, "LessThan"),
        (3, "int"),
        (sp.Symbol("x"), "no place"),  # not the x that has one
    ],
)
def test_what_has_no_term_is_refused_by_name(expression, named):
    with pytest.raises(ValueError, match=named):
        term(expression, PLACES)


def symbol(**assumed):
    return sp.Symbol("s", **assumed)


POSITIVE, NONNEGATIVE, NONZERO = {"positive": True}, {"nonnegative": True}, {"nonzero": True}


@pytest.mark.parametrize(
    ("assumed", "place"),
    [
        ({}, var("t")),
        ({"real": True}, var("t") / 2),
        (POSITIVE, positive("t")),
        (POSITIVE, real("t", Fraction(1, 9))),
        (POSITIVE, whole("t", 1, N)),
        (POSITIVE, choice("t", Fraction(1, 2), 3)),
        (POSITIVE, 3),
        (NONNEGATIVE, real("t", 0)),
        ({"nonnegative": True, "integer": True}, whole("t", 0)),
        ({"negative": True}, real("t", None, 0, open="high")),
        ({"nonpositive": True}, real("t", None, 0)),
        (NONZERO, positive("t")),
        (NONZERO, -2),
        ({"integer": True}, whole("t")),
        ({"even": True}, choice("t", 2, 4)),
    ],
)
def test_a_place_that_meets_the_assumptions_is_taken(assumed, place):
    found = term(symbol(**assumed), {symbol(**assumed): place})
    assert found is (num(place) if isinstance(place, int) else var("t") if hasattr(place, "name") else place)


@pytest.mark.parametrize(
    ("assumed", "place", "named"),
    [
        (POSITIVE, real("t"), "positive"),
        (POSITIVE, real("t", 0), "positive"),
        (POSITIVE, real("t", var("u")), "positive"),
        (POSITIVE, choice("t", 0, 3), "positive"),
        (POSITIVE, var("t"), "positive"),
        (POSITIVE, exp(1), "positive"),  # it is, but not visibly
        (POSITIVE, 0, "positive"),
        (NONNEGATIVE, real("t", -1), "nonnegative"),
        ({"nonpositive": True}, real("t", None, 1), "nonpositive"),
        (NONZERO, real("t", 0), "nonzero"),
        (NONZERO, whole("t"), "nonzero"),
        ({"integer": True}, real("t", 1, 2), "integer"),
        ({"integer": True, "positive": True}, whole("t", 0), "positive"),
        ({"rational": True}, real("t"), "rational"),
        ({"even": True}, whole("t", 0), "even"),
        ({"even": True}, choice("t", 2, 3), "even"),
        ({"imaginary": True}, real("t"), "imaginary"),
        ({"commutative": False}, real("t"), "commutative"),
        ({"real": True}, sequence("t", 3), "sequence"),
    ],
)
def test_a_place_that_does_not_visibly_meet_them_is_refused(assumed, place, named):
    with pytest.raises(ValueError, match=rf"\bs\b.*\b{named}\b"):
        term(symbol(**assumed) + 1, {symbol(**assumed): place})


def test_a_place_is_a_number_or_a_term():
    for place in (0.5, "t", each(var("i"), var("i")), var("t") < 1):
        with pytest.raises((TypeError, ValueError), match=r"exact constant|is no number"):
            term(x, {x: place})


def test_what_is_assumed_is_all_that_is_looked_at_however_often_sympy_was_asked():
    plain, asked = (sp.Dummy("q", positive=True) for _ in range(2))
    for name in ("integer", "prime", "algebraic", "infinite"):
        getattr(asked, f"is_{name}")
    assert term(plain, {plain: P}) is term(asked, {asked: P})
