"""Enclosures and derivatives against mpmath, on random terms and points."""

import operator
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

from proofs_check.core.boxes import evaluator
from proofs_check.core.derive import derivative
from proofs_check.core.enclose import Evaluator, Undefined, Unknown, interval, times
from proofs_check.core.terms import Malformed, Term, negation, num
from proofs_check.language import PI, absolute, both, either, eq, exp, iff, implies, log, ne, sqrt, total, var, when
from tests.proofs_check.core import sampling
from tests.shares import one_in
from theory.lowering.precision import working

x, i = var("x"), var("i")
NAUGHT = exp(1) - exp(1)  # which enclosures do not tell from other numbers


def ends(found):
    """The ends of an Arb interval as mpmath numbers, exactly: a fraction of e^(e^20) would not end."""
    return [mpmath.ldexp(*map(int, end.man_exp())) for end in found]


def enclosures(seed, count):
    """How many values were compared; asserts that each lies in its enclosure, to 80 of 100 digits."""
    rng = random.Random(seed)
    compared = 0
    with mpmath.workdps(100):
        slack = mpmath.mpf(10) ** -80
        for _ in range(count):
            term = sampling.term(rng, rng.choice((2, 3, 4)))
            at = sampling.point(rng)
            env = {name: sampling.real(number) for name, number in at.items()}
            try:
                true = sampling.value(term, env)
            except sampling.NoValue:
                true = None
            bits = rng.choice((64, 128, 256))
            with working(bits):
                try:
                    low, high = ends(interval(Evaluator(at).value(term)))
                except Unknown:
                    continue
                except Undefined:
                    assert true is None, (term, at)
                    continue
                box = {
                    n: (v - Fraction(rng.randint(0, 9), 30), v + Fraction(rng.randint(0, 9), 40)) for n, v in at.items()
                }
                try:
                    wide = ends(interval(evaluator(box).value(term)))
                except Unknown:
                    wide = (low, high)
                except Undefined:
                    assert true is None, (term, box)
                    continue
            if true is None:
                continue
            compared += 1
            assert low - slack <= true <= high + slack, (term, at)
            assert wide[0] - slack <= true <= wide[1] + slack, (term, box)
    return compared


def slopes(seed, count):
    rng = random.Random(seed)
    compared = 0
    with mpmath.workdps(50):
        h = mpmath.mpf(10) ** -15
        for _ in range(count):
            term = sampling.term(rng, rng.choice((2, 3)), smooth=True)
            at = {name: sampling.real(number) for name, number in sampling.point(rng).items()}
            name = rng.choice(sampling.NAMES)
            try:
                slope = derivative(term, name)
                exact = sampling.value(slope, at)
                sides = [sampling.value(term, {**at, name: at[name] + k * h}) for k in (-2, -1, 1, 2)]
            except (sampling.NoValue, Malformed):
                continue
            near = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * h)
            # The error of the difference quotient goes with the fifth derivative, which is large near a pole.
            third = abs(sides[3] - 2 * sides[2] + 2 * sides[1] - sides[0]) / h**3
            if third > mpmath.mpf(10) ** 8:
                continue
            compared += 1
            assert abs(near - exact) <= mpmath.mpf(10) ** -12 * (1 + abs(exact)), (term, name, at)
    return compared


@pytest.mark.parametrize("seed", one_in(50, range(50), 1))
def test_values_lie_in_their_enclosures(seed):
    assert enclosures(seed, 600) > 200


@pytest.mark.parametrize("seed", one_in(40, range(40), 2))
def test_derivatives_are_the_limits_of_difference_quotients(seed):
    assert slopes(seed, 800) > 200


def at_point(term, **point):
    return Evaluator({name: Fraction(value) for name, value in point.items()}).value(term)


@pytest.mark.parametrize(
    "term",
    [
        1 / x, log(x), sqrt(x - 1), x**-1, 0 * (1 / x), x / x, total(i, 0, 2, 1 / i),
        when(1 / x < 0, 1, 2), Term("fold", "max", "i", num(1), num(0), i), Term("fold", "min", "i", num(2), num(1), i),
    ],
)  # fmt: skip
def test_what_has_no_value_at_zero_is_given_none(term):
    with pytest.raises(Undefined):
        at_point(term, x=0)


@pytest.mark.parametrize(
    "term",
    [
        1 / (NAUGHT), log(NAUGHT), sqrt(NAUGHT),
        when(NAUGHT < 0, 1 / x, 2), when(NAUGHT < 0, 2, 1 / x),
    ],
)  # fmt: skip
def test_what_may_or_may_not_have_a_value_is_not_called_undefined(term):
    with pytest.raises(Unknown):
        at_point(term, x=0)


@pytest.mark.parametrize("name", ["exp", "cos", "sqrt", "sin", "tanh", "atan", "abs"])
def test_a_function_at_zero_is_exact(name):
    found = at_point(Term("apply", name, x), x=0)
    assert isinstance(found, Fraction) and found == (name in ("exp", "cos"))


def test_a_quotient_and_a_sum_have_their_slopes():
    for term, slopes in ((Term("div", x, x**2 + 1), [1, 0, Fraction(-3, 25)]), (total(i, 1, 3, i * x**2), [0, 12, 24])):
        assert [at_point(derivative(term, "x"), x=at) for at in (0, 1, 2)] == slopes


def test_an_empty_sum_asks_nothing_of_its_terms():
    assert at_point(total(i, 1, 0, 1 / x), x=0) == 0
    assert at_point(Term("fold", "prod", "i", num(1), num(-3), 1 / x), x=0) == 1
    assert at_point(x**0, x=0) == 1


# -- on intervals whose ends Arb holds exactly, results are exact ----------------------------------------------------

ENDS = [Fraction(e) for e in ("-2", "-1", "-1/2", "0", "1/2", "1", "4")]
SIDES = [(low, high) for low in ENDS for high in ENDS if low < high]
y = var("y")


def on_box(term, **sides):
    found = interval(evaluator({name: tuple(map(Fraction, side)) for name, side in sides.items()}).value(term))
    return tuple(map(exactly, found))


def exactly(end):
    mantissa, exponent = map(int, end.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def range_of(values):
    return min(values), max(values)


@pytest.mark.parametrize("one", SIDES)
def test_arithmetic_on_two_intervals_is_exact(one):
    for two in SIDES:
        corners = [(a, b) for a in one for b in two]
        assert on_box(x * y, x=one, y=two) == range_of([a * b for a, b in corners])
        assert on_box(x + y, x=one, y=two) == range_of([a + b for a, b in corners])
        assert on_box(Term("max", x, y), x=one, y=two) == range_of([max(a, b) for a, b in corners])
        assert on_box(Term("min", x, y), x=one, y=two) == range_of([min(a, b) for a, b in corners])


def test_pi_and_a_long_fraction_lie_inside():
    with mpmath.workdps(100):
        low, high = ends(interval(Evaluator({}).value(PI)))
        assert low < mpmath.pi < high
    long = Fraction(3) ** 3000 / 7**100
    low, high = map(exactly, interval(Evaluator({}).value(num(long))))
    assert low < long < high < low * (1 + Fraction(1, 10**12))


def test_products_at_few_bits_are_rounded_outward():
    rng = random.Random(0)
    for _ in range(300):
        one, two = ((-rng.randrange(1 << 60), rng.randrange(1 << 60)) for _ in range(2))
        corners = [a * b for a in one for b in two]
        with working(20):
            low, high = map(exactly, times(*(tuple(map(arb, side)) for side in (one, two))))
        assert low <= min(corners) and max(corners) <= high


@pytest.mark.parametrize("side", SIDES)
def test_powers_and_absolute_values_of_an_interval_are_exact(side):
    inner = [0] if side[0] < 0 < side[1] else []
    assert on_box(absolute(x), x=side) == range_of([abs(a) for a in (*side, *inner)])
    for n in (2, 3, 4, 5):
        assert on_box(x**n, x=side) == range_of([a**n for a in (*side, *inner)])
    for n in (-1, -2, -3):
        if side[0] <= 0 <= side[1]:
            with pytest.raises(Unknown):
                on_box(x**n, x=side)
        elif set(side) <= {-2, -1, Fraction(1, 2), 1, 4, Fraction(-1, 2)}:
            assert on_box(x**n, x=side) == range_of([a**n for a in side])


@pytest.mark.parametrize("name", ["exp", "tanh", "atan", "log", "sqrt", "sin", "cos"])
def test_functions_on_an_interval_hold_their_values_and_little_more(name):
    function = {"atan": np.arctan}.get(name) or getattr(np, name)
    further = [tuple(map(Fraction, side)) for side in (("1", "9/8"), ("1/3", "7/3"), ("3", "11/2"), ("-9", "9"))]
    for low, high in [*SIDES, *further]:
        if (name == "log" and low <= 0) or (name == "sqrt" and low < 0):
            with pytest.raises(Undefined if high < 0 or (name == "log" and high <= 0) else Unknown):
                on_box(Term("apply", name, x), x=(low, high))
            continue
        found = on_box(Term("apply", name, x), x=(low, high))
        values = function(np.linspace(float(low), float(high), 3001))
        least, most = values.min(), values.max()
        assert found[0] <= least + 1e-12 and most - 1e-12 <= found[1]
        if name in ("sin", "cos"):
            assert max(-1, least - (high - low)) <= found[0] and found[1] <= min(1, most + (high - low))
        else:
            assert found[0] >= least - 1e-12 * abs(least) and found[1] <= most + 1e-12 * abs(most)


def test_a_choice_that_is_not_decided_holds_both():
    assert on_box(when(x < 0, y, 3), x=(-1, 1), y=(1, 2)) == (1, 3)
    assert on_box(when(x < 0, -3, y), x=(-1, 1), y=(1, 2)) == (-3, 2)
    assert on_box(when(x < 2, y, 3), x=(-1, 1), y=(1, 2)) == (1, 2)
    with pytest.raises(Unknown):
        on_box(when(x < 0, log(0 * y), 3), x=(-1, 1), y=(1, 2))


@pytest.mark.parametrize("relation", ["<", "<=", "=", "!="])
def test_a_comparison_of_intervals_is_certain_or_open(relation):
    holding = {"<": operator.lt, "<=": operator.le, "=": operator.eq, "!=": operator.ne}
    for one in SIDES:
        for two in SIDES:
            told = evaluator({"x": one, "y": two}).truth(Term("rel", relation, x, y))
            between = [e for e in ENDS if max(one[0], two[0]) <= e <= min(one[1], two[1])]
            pairs = [(a, b) for a in (*one, *between) for b in (*two, *between)]
            every = {holding[relation](a, b) for a, b in pairs}
            assert told is (None if len(every) == 2 else every.pop()), (one, two)


TRUE, FALSE_, OPEN = x < 2, x < -2, x < 0  # for x in [-1, 1]
NONE = log(0 * x - 1) < 0  # has no value anywhere


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        (both(TRUE, TRUE), True), (both(TRUE, FALSE_), False), (both(OPEN, FALSE_), False), (both(TRUE, OPEN), None),
        (either(FALSE_, TRUE), True), (either(FALSE_, FALSE_), False), (either(OPEN, TRUE), True),
        (either(FALSE_, OPEN), None), (implies(TRUE, FALSE_), False), (implies(FALSE_, FALSE_), True),
        (implies(OPEN, TRUE), True), (implies(OPEN, FALSE_), None),
        (implies(TRUE, OPEN), None), (iff(TRUE, TRUE), True), (iff(TRUE, FALSE_), False),
        (iff(FALSE_, TRUE), False), (iff(OPEN, TRUE), None), (iff(OPEN, OPEN), None),
        (both(FALSE_, NONE), False), (either(TRUE, NONE), True), (implies(FALSE_, NONE), True),
        (both(NONE, FALSE_), False), (either(NONE, TRUE), True), (implies(NONE, TRUE), True),
        (both(OPEN, NONE, FALSE_), False), (iff(NONE, TRUE), Undefined), (iff(FALSE_, NONE), Undefined),
        (both(TRUE, NONE), Undefined), (either(FALSE_, NONE), Undefined), (both(NONE, TRUE), Undefined),
        (both(OPEN, NONE), Unknown), (either(OPEN, NONE), Unknown), (implies(TRUE, NONE), Undefined),
    ],
)  # fmt: skip
def test_one_part_decides_a_formula_wherever_the_others_stand_and_whatever_they_lack(formula, told):
    box = evaluator({"x": (Fraction(-1), Fraction(1))})
    if told in (True, False, None):
        assert box.truth(formula) is told
    else:
        with pytest.raises(told):
            box.truth(formula)


@pytest.mark.parametrize(
    "formula",
    [TRUE, x <= 1, eq(x, 0), ne(x, 0), both(x < 0, x < 1, TRUE), either(OPEN, TRUE),
     implies(OPEN, x < 1), iff(OPEN, TRUE), both(either(x < 0, x > 1), OPEN)],
)  # fmt: skip
def test_a_negation_is_false_where_the_formula_is_true(formula):
    for number in range(-8, 9):
        at = Evaluator({"x": Fraction(number, 4)})
        assert at.truth(negation(formula)) is (not at.truth(formula))
