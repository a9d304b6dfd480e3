"""Krawczyk's operator finds simple zeros, proves absence, and stays UNDECIDED at double ones."""

from fractions import Fraction

import pytest
from sympy import Abs, Integer, Rational, cos, exp, log, pi, sin, sqrt, symbols

from proofs_check.evidence import certify, check
from proofs_check.evidence.krawczyk import _inside, _System, no_zero, unique_zero
from theory.lowering.box import Box, Outcome

PROVED, REFUTED, UNDECIDED = Outcome

X, Y = symbols("x y", real=True)
HALF = Rational(1, 2)


def encloses(box, name, value):
    low, high = (Rational(end.numerator, end.denominator) for end in box[name])
    digits = value.evalf(60)
    return bool(low - Rational(1, 10**50) <= digits <= high + Rational(1, 10**50))


@pytest.mark.parametrize(
    ("exprs", "sides", "zero"),
    [
        ([X**2 - 2], {X: (0, 2)}, {"x": sqrt(2)}),
        ([X**2 - 2], {X: (1, 100)}, {"x": sqrt(2)}),
        ([X - 1], {X: (0, 3)}, {"x": Integer(1)}),
        ([X**3 - X], {X: (HALF, 2)}, {"x": Integer(1)}),
        ([sqrt(X) - HALF], {X: (0, 1)}, {"x": Rational(1, 4)}),
        ([sin(X)], {X: (2, 6)}, {"x": pi}),
        ([X**2 + Y**2 - 1, X - Y], {X: (0, 2), Y: (0, 2)}, {"x": 1 / sqrt(2), "y": 1 / sqrt(2)}),
        ([exp(X) - Y, Y - 2], {X: (-3, 3), Y: (-3, 3)}, {"x": log(2), "y": Integer(2)}),
    ],
)
def test_simple_zero_is_proved_unique_and_enclosed(exprs, sides, zero):
    found = unique_zero(exprs, Box(sides))
    assert found.outcome is PROVED, found.reason
    assert Box(sides).contains(found.enclosure) and found.enclosure.width() < Fraction(1, 10**30)
    assert all(encloses(found.enclosure, name, value) for name, value in zero.items())


@pytest.mark.parametrize(
    ("exprs", "sides"),
    [
        ([X**2], {X: (-1, 1)}),
        ([X**2], {X: (-1, "1/3")}),
        ([X**2 + Y**2 - 1, X - 1], {X: (0, 2), Y: (-1, 1)}),
        ([X * Y, X + Y], {X: (-1, 2), Y: (-2, 1)}),
    ],
)
def test_multiple_zero_stays_undecided(exprs, sides):
    assert unique_zero(exprs, Box(sides), budget=300).outcome is UNDECIDED


def test_nearly_double_zero_is_not_proved_at_low_precision():
    system = [X**2 - Rational(1, 10**30)]
    assert unique_zero(system, Box({X: (-1, 1)}), budget=300).outcome is not PROVED


def test_zero_on_an_irrational_edge_is_never_claimed_wrongly():
    # sqrt(2) to 20 digits from below and from above: outside and inside of the box.
    below, above = "1.41421356237309504880", "1.41421356237309504881"
    assert unique_zero([X**2 - 2], Box({X: (1, below)})).outcome is not PROVED
    assert unique_zero([X**2 - 2], Box({X: (1, above)})).outcome is not REFUTED


def test_absence_comes_with_a_certificate_for_any_number_of_equations():
    exprs, box = [X**2 + Y**2 - 1, X - Y + 2, X + 3 * Y], Box({X: (-2, 2), Y: (-2, 2)})
    proof = no_zero(exprs, box)
    assert proof.outcome is PROVED
    assert check.verify(proof.to_json(), certify.both_signs(exprs), box).outcome is PROVED
    assert no_zero([X, Y], box).outcome is REFUTED


@pytest.mark.parametrize(
    ("exprs", "sides", "why"),
    [
        ([X, Y], {X: (0, 1)}, "no side 'y'"),
        ([X], {X: (0, 1), Y: (0, 1)}, "as many equations"),
        ([X, X], {X: (0, 1), Y: (0, 1)}, "each side used"),
        ([Abs(X)], {X: (0, 1)}, "differentiable"),
        ([X * 0.5], {X: (0, 1)}, "float"),
        (["x - 1"], {X: (0, 3)}, "x - 1"),
    ],
)
def test_system_without_sense_is_refused(exprs, sides, why):
    with pytest.raises(ValueError, match=why):
        unique_zero(exprs, Box(sides))


ROOT = Fraction("1.41421356237309504880168872420969807856967188")


def side(low, high):
    return Box({X: (low, high)})


def test_inside_means_away_from_every_edge():
    assert _inside(side(1, 2), side(0, 3))
    assert not _inside(side(0, 2), side(0, 3))
    assert not _inside(side(1, 3), side(0, 3))
    outer = Box({X: (0, 3), Y: (0, 3)})
    assert _inside(Box({X: (1, 2), Y: (1, 2)}), outer)
    assert not _inside(Box({X: (1, 2), Y: (1, 4)}), outer)


@pytest.mark.parametrize(
    ("exprs", "sides", "outcome", "boxes", "reason"),
    [
        ([X**2 - 2], {X: (1, 100)}, PROVED, 9, "there is exactly one zero in the box"),
        ([X**2 + Y**2 - 1, X - Y], {X: (0, 2), Y: (0, 2)}, PROVED, 7, "there is exactly one zero in the box"),
        ([X**2 - 2], {X: (-1, 1)}, REFUTED, 1, "there is no zero in the box"),
        ([cos(X) - X], {X: (-1, "0.739")}, REFUTED, 9, "there is no zero in the box"),
        ([X**2 + Y**2 - 1, X - Y], {X: ("0.71", 2), Y: (0, 2)}, REFUTED, 9, "there is no zero in the box"),
        ([sin(X)], {X: (1, 10)}, REFUTED, 11, "there are at least two zeros"),
        ([X**2 - 2], {X: (1, ROOT)}, UNDECIDED, 1, "the zero lies too near the boundary"),
        ([X**2 - 2], {X: (ROOT, 2)}, UNDECIDED, 1, "the zero lies too near the boundary"),
    ],
)
def test_each_ending_says_why_after_few_boxes(exprs, sides, outcome, boxes, reason):
    found = unique_zero(exprs, Box(sides))
    assert found.outcome is outcome and found.reason.startswith(reason)
    assert 1 <= found.boxes <= boxes
    assert (found.enclosure is None) == (outcome is REFUTED)


@pytest.mark.parametrize("budget", [1, 7])
def test_a_budget_that_runs_out_is_used_up_and_leaves_it_undecided(budget):
    found = unique_zero([X**2], side(-1, 1), budget=budget)
    assert (found.outcome, found.boxes, found.enclosure) == (UNDECIDED, budget, None)
    assert "budget" in found.reason


def test_a_budget_that_is_just_enough_decides():
    exprs, box = [sin(X)], side(2, 6)
    needed = unique_zero(exprs, box).boxes
    assert unique_zero(exprs, box, budget=needed).outcome is PROVED
    short = unique_zero(exprs, box, budget=needed - 1)
    assert short.outcome is UNDECIDED and short.enclosure is not None


def test_precision_sets_the_size_of_the_enclosure():
    widths = [unique_zero([X**2 - 2], side(0, 2), precision=p).enclosure.width() for p in (64, 128, 256)]
    assert Fraction(1, 2**80) < widths[0] < Fraction(1, 2**50)
    assert Fraction(1, 2**150) < widths[1] < Fraction(1, 2**110)
    assert Fraction(1, 2**290) < widths[2] < Fraction(1, 2**230)


def test_a_step_maps_the_box_around_the_zero_into_itself():
    system = _System([X**2 - 2], side(1, 2))
    image = system.step(side(1, 2))
    # c = 3/2, Y = 1/3, J = [2, 4]: K = 3/2 - 1/12 + [-1/3, 1/3] * [-1/2, 1/2].
    low, high = image["x"]
    assert abs(low - Fraction(5, 4)) < Fraction(1, 10**8) and low <= Fraction(5, 4)
    assert abs(high - Fraction(19, 12)) < Fraction(1, 10**8) and high >= Fraction(19, 12)
    assert system.step(side(-1, 1)) is None
    assert _System([log(X)], side(0, 2)).step(side(0, 2)) is None
