"""The late field is the gradient's: exact velocities in bounded variables against those of the landscape."""

import mpmath
import pytest
import sympy as sp

from theory.landscape.late_field import c, combination, g, late_field, own, r, u
from theory.landscape.symbolic import interior_table, loss
from theory.lowering.numeric import numeric
from theory.symbols import PARAMETERS


@pytest.mark.parametrize(("tokens", "beta1", "a", "c_value", "g_value"), [(8, 50, "0.7", 3, "2.5"), (30, 9, 2, 11, 40)])
def test_late_field_is_the_ratio_of_slopes_of_the_loss(tokens, beta1, a, c_value, g_value):
    expr = loss(interior_table(sp.Integer(tokens)))
    slopes = numeric([sp.diff(expr, p) for p in PARAMETERS], PARAMETERS, "mpmath")
    field = numeric(list(late_field(tokens)), (u, r, own, c, g), "mpmath")
    with mpmath.workdps(60):
        b, a, c_value, g_value = (mpmath.mpf(x) for x in (beta1, a, c_value, g_value))
        beta2 = mpmath.log(g_value / b)
        g1, g2, g3, g4 = slopes(mpmath.log(a), mpmath.log(c_value * b**2), b, beta2)
        wanted = [b * g2 / g3 - 2, b * g4 / g3 + 1, -b * g1 / g3 / a]
        found = field(1 / b, beta2 / b, a, c_value, g_value)
        assert max(abs(x - y) for x, y in zip(found, wanted, strict=True)) < mpmath.mpf(10) ** -25


@pytest.mark.parametrize("tokens", [8, 30])
def test_late_field_at_infinite_beta1_is_the_limit_of_the_claims(tokens):
    values = [e.subs({u: 0, r: 0}) for e in late_field(tokens)]
    wanted = (tokens - 1 + 2 * own) / c - 2, 1 - g / (tokens - 2), 2 / c
    assert [sp.simplify(x - y) for x, y in zip(values, wanted, strict=True)] == [0, 0, 0]


def test_combination_with_something_put_in_is_the_same_number():
    place = {u: sp.Rational(1, 50), r: sp.Rational(-1, 20), own: sp.Rational(7, 10), g: sp.Rational(5, 2)}
    row = (own, c, -2 * c, 1)
    early, late = combination(8, row, {c: own + 3}), combination(8, row, {}).subs(c, own + 3)
    assert abs(sp.N(early.subs(place) - late.subs(place), 30)) < 1e-20
