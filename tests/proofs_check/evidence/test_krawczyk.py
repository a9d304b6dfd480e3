"""Krawczyk's operator finds simple zeros, proves absence, and stays UNDECIDED at double ones."""

from fractions import Fraction

import pytest
import sympy

from proofs_check.evidence import certify, check, krawczyk
from theory.lowering.ball import Box, Outcome

X, Y = sympy.symbols("x y", real=True)
HALF = sympy.Rational(1, 2)


def encloses(box, name, value):
    low, high = (sympy.Rational(end.numerator, end.denominator) for end in box[name])
    digits = value.evalf(60)
    return bool(low - sympy.Rational(1, 10**50) <= digits <= high + sympy.Rational(1, 10**50))


@pytest.mark.parametrize(
    ("exprs", "sides", "zero"),
    [
        ([X**2 - 2], {X: (0, 2)}, {"x": sympy.sqrt(2)}),
        ([X**2 - 2], {X: (1, 100)}, {"x": sympy.sqrt(2)}),
        ([X - 1], {X: (0, 3)}, {"x": sympy.Integer(1)}),
        ([X**3 - X], {X: (HALF, 2)}, {"x": sympy.Integer(1)}),
        ([sympy.sqrt(X) - HALF], {X: (0, 1)}, {"x": sympy.Rational(1, 4)}),
        ([sympy.sin(X)], {X: (2, 6)}, {"x": sympy.pi}),
        ([X**2 + Y**2 - 1, X - Y], {X: (0, 2), Y: (0, 2)}, {"x": 1 / sympy.sqrt(2), "y": 1 / sympy.sqrt(2)}),
        ([sympy.exp(X) - Y, Y - 2], {X: (-3, 3), Y: (-3, 3)}, {"x": sympy.log(2), "y": sympy.Integer(2)}),
        ([sympy.tanh(X) - Y, Y - sympy.Rational(1, 3)], {X: (-2, 2), Y: (-1, 1)}, {"x": sympy.log(2) / 2}),
    ],
)
def test_simple_zero_is_proved_unique_and_enclosed(exprs, sides, zero):
    found = krawczyk.unique_zero(exprs, Box(sides))
    assert found.outcome is Outcome.PROVED, found.reason
    assert Box(sides).contains(found.enclosure) and found.enclosure.width() < Fraction(1, 10**30)
    assert all(encloses(found.enclosure, name, value) for name, value in zero.items())


@pytest.mark.parametrize(
    ("exprs", "sides"),
    [
        ([X**2 - 2], {X: ("1.5", 3)}),
        ([X**2 - 2], {X: (-1, 1)}),
        ([X**2 - 2], {X: ("1.42", "1.43")}),
        ([X**2 + 1], {X: (-5, 5)}),
        ([X**2 + Y**2 - 1, X - Y], {X: ("0.71", 2), Y: (0, 2)}),
        ([sympy.cos(X) - X], {X: (-1, "0.739")}),
    ],
)
def test_shifted_box_holds_no_zero(exprs, sides):
    found = krawczyk.unique_zero(exprs, Box(sides))
    assert found.outcome is Outcome.REFUTED and "no zero" in found.reason and found.enclosure is None


@pytest.mark.parametrize(
    ("exprs", "sides"),
    [
        ([X**2], {X: (-1, 1)}),
        ([X**2], {X: (-1, "1/3")}),
        ([(X - sympy.Rational(1, 3)) ** 2], {X: (0, 1)}),
        ([X**3], {X: (-1, 2)}),
        ([X**2 + Y**2 - 1, X - 1], {X: (0, 2), Y: (-1, 1)}),
        ([X * Y, X + Y], {X: (-1, 2), Y: (-2, 1)}),
    ],
)
def test_multiple_zero_stays_undecided(exprs, sides):
    assert krawczyk.unique_zero(exprs, Box(sides), budget=300).outcome is Outcome.UNDECIDED


def test_nearly_double_zero_is_not_proved_at_low_precision():
    system = [X**2 - sympy.Rational(1, 10**30)]
    assert krawczyk.unique_zero(system, Box({X: (-1, 1)}), budget=300).outcome is not Outcome.PROVED


@pytest.mark.parametrize(
    ("exprs", "sides"),
    [
        ([X**2 - 2], {X: (-2, 2)}),
        ([sympy.sin(X)], {X: (1, 10)}),
        ([X**2 + Y**2 - 1, X - Y], {X: (-2, 2), Y: (-2, 2)}),
        ([X**3 - X], {X: ("-3/2", 2)}),
    ],
)
def test_second_zero_refutes_uniqueness(exprs, sides):
    found = krawczyk.unique_zero(exprs, Box(sides))
    assert found.outcome is Outcome.REFUTED and "at least two" in found.reason


def test_zero_on_an_irrational_edge_is_never_claimed_wrongly():
    # sqrt(2) to 20 digits from below and from above: outside and inside of the box.
    below, above = "1.41421356237309504880", "1.41421356237309504881"
    assert krawczyk.unique_zero([X**2 - 2], Box({X: (1, below)})).outcome is not Outcome.PROVED
    assert krawczyk.unique_zero([X**2 - 2], Box({X: (1, above)})).outcome is not Outcome.REFUTED


def test_absence_comes_with_a_certificate_for_any_number_of_equations():
    exprs, box = [X**2 + Y**2 - 1, X - Y + 2, X + 3 * Y], Box({X: (-2, 2), Y: (-2, 2)})
    proof = krawczyk.no_zero(exprs, box)
    assert proof.outcome is Outcome.PROVED
    assert check.verify(proof.to_json(), certify.both_signs(exprs), box).outcome is Outcome.PROVED
    assert krawczyk.no_zero([X, Y], box).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: krawczyk.unique_zero([X, Y], Box({X: (0, 1)})), "no side 'y'"),
        (lambda: krawczyk.unique_zero([X], Box({X: (0, 1), Y: (0, 1)})), "as many equations"),
        (lambda: krawczyk.unique_zero([X, X], Box({X: (0, 1), Y: (0, 1)})), "each side used"),
        (lambda: krawczyk.unique_zero([sympy.Abs(X)], Box({X: (0, 1)})), "differentiable"),
        (lambda: krawczyk.unique_zero([X * 0.5], Box({X: (0, 1)})), "float"),
    ],
)
def test_system_without_sense_is_refused(call, why):
    with pytest.raises(ValueError, match=why):
        call()
