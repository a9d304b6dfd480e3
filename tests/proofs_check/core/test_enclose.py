"""Enclosures and derivatives against mpmath, on random terms and points."""

import random
from fractions import Fraction

import mpmath
import pytest

from proofs_check.core.boxes import evaluator
from proofs_check.core.derive import derivative
from proofs_check.core.enclose import Evaluator, Undefined, Unknown, interval
from proofs_check.core.terms import Malformed, Term, exp, log, num, sqrt
from proofs_check.language.notation import total, var, when
from tests.proofs_check.core import sampling
from theory.lowering.precision import working

x, i = var("x"), var("i")


def ends(found):
    """The ends of an Arb interval as mpmath numbers, exactly."""
    exact = []
    for end in found:
        mantissa, exponent = end.man_exp()
        exact.append(mpmath.mpf(int(mantissa)) * mpmath.mpf(2) ** int(exponent))
    return exact


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


def test_values_lie_in_their_enclosures():
    assert enclosures(1, 600) > 200


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(5))
def test_many_values_lie_in_their_enclosures(seed):
    assert enclosures(100 + seed, 6_000) > 2_000


def test_derivatives_are_the_limits_of_difference_quotients():
    assert slopes(2, 800) > 200


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(5))
def test_many_derivatives_are_the_limits_of_difference_quotients(seed):
    assert slopes(200 + seed, 6_000) > 1_500


def at_point(term, **point):
    return Evaluator({name: Fraction(value) for name, value in point.items()}).value(term)


@pytest.mark.parametrize(
    "term",
    [
        1 / x, log(x), log(x - 1), sqrt(x - 1), x**-1, 0 * (1 / x), x / x, total(i, 0, 2, 1 / i),
        when(1 / x < 0, 1, 2), Term("fold", "max", "i", num(1), num(0), i), Term("fold", "min", "i", num(2), num(1), i),
    ],
)  # fmt: skip
def test_what_has_no_value_at_zero_is_given_none(term):
    with pytest.raises(Undefined):
        at_point(term, x=0)


@pytest.mark.parametrize(
    "term",
    [
        1 / (exp(num(1)) - exp(num(1))), log(exp(num(1)) - exp(num(1))), sqrt(exp(num(1)) - exp(num(1))),
        when(exp(num(1)) < exp(num(1)), 1 / x, 2), when(exp(num(1)) < exp(num(1)), 2, 1 / x),
    ],
)  # fmt: skip
def test_what_may_or_may_not_have_a_value_is_not_called_undefined(term):
    with pytest.raises(Unknown):
        at_point(term, x=0)


def test_an_empty_sum_asks_nothing_of_its_terms():
    assert at_point(total(i, 1, 0, 1 / x), x=0) == 0
    assert at_point(Term("fold", "prod", "i", num(1), num(-3), 1 / x), x=0) == 1
    assert at_point(x**0, x=0) == 1
