"""Small facts of the symbolic layer that nothing else would notice: names, sums, scalars, messages."""

import numpy as np
import pytest
from flint import arb
from sympy import Matrix, Piecewise, Rational, Symbol, exp, simplify

from tests.theory.cases import refuses
from theory import shift
from theory.landscape import symbolic
from theory.landscape.grid import Terms, evaluate
from theory.lowering import ball
from theory.lowering.numeric import numeric


def test_token_classes_carry_their_names():
    assert [c.name for c in symbolic.interior_table().classes] == ["target", "repeated", "edge", "other"]


def test_tokens_are_named_by_position_and_coordinate_from_one():
    found = shift.tokens(2, 3)
    assert found == Matrix(2, 3, lambda r, c: Symbol(f"x_{r + 1}_{c + 1}", real=True))
    assert str(shift.tokens(1, name="y")[0]) == "y_1_1"


def test_a_scalar_comes_back_as_a_scalar():
    x = Symbol("x")
    assert type(numeric(x + 1, [x])(1.0)) is np.float64


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_piecewise_without_a_branch_that_applies_is_nan(backend):
    x = Symbol("x")
    value = numeric(Piecewise((x, x < 1)), [x], backend)(2.0)
    assert value != value


def test_attention_has_scale_one_unless_told():
    first, second = rows = shift.tokens(2)
    weights = exp(first * second), exp(second**2)
    expected = (weights[0] * first + weights[1] * second) / sum(weights)
    found = shift.shifted_attention(rows, (1,), (1,))
    assert found[0] == first and simplify(found[1] - expected) == 0


def test_the_reciprocal_of_an_interval_is_rounded_outward():
    low, high = ball._inverse((arb(3), arb(3)))
    assert Rational(str(low.fmpq())) < Rational(1, 3) < Rational(str(high.fmpq()))
    low, high = ball._inverse((arb(-3), arb(-3)))
    assert Rational(str(low.fmpq())) < -Rational(1, 3) < Rational(str(high.fmpq()))
    for x in ((-1, 0.5), (-1, 0), (0, 1)):
        assert not all(end.is_finite() for end in ball._inverse((arb(x[0]), arb(x[1]))))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_exponent_too_large_at_either_end_is_refused(sign):
    one = np.ones(2)
    beta = np.array([-1.0, 1.0])
    terms = Terms(one, 0 * one, sign * 700 * one, one, one)
    refuses(lambda: evaluate(np.array([0.0, 1.0]), beta, terms), "600")
