"""The sympy slice against the numeric kernels, its large-T limit against large T."""

import numpy as np
import pytest
import sympy as sp

from theory import landscape
from theory.landscape import printed
from theory.landscape.blow_up import energy
from theory.landscape.printed import EQUATION, EXACT, LISTING
from theory.landscape.slice_symbolic import (
    argmax_margins,
    conserved,
    exact_terms,
    leading_excess,
    limit_flow,
    loss,
    slipped_terms,
    slope_sign,
)
from theory.landscape.symbolic import interior_table
from theory.symbols import alpha1, alpha2, beta1

POINTS = [(0.0, 1.0), (0.3, 0.6), (1.0, 0.0), (0.8, 0.9)]


def value(expr, a, b):
    return float(expr.subs({alpha1: sp.Float(a, 30), beta1: sp.Float(b, 30)}).evalf(20))


@pytest.mark.parametrize("tokens", [4, 9])
def test_exact_terms_give_the_loss_of_the_kernels(tokens):
    expr = loss(exact_terms(interior_table(sp.Integer(tokens))))
    for a, b in POINTS:
        assert value(expr, a, b) == pytest.approx(float(landscape.loss(a, 1 - a, b, 1 - b, tokens)), abs=1e-13)


@pytest.mark.parametrize("slips", [EXACT, EQUATION, LISTING])
def test_slipped_terms_give_the_printed_loss(slips):
    expr = loss(slipped_terms(sp.Integer(3), slips))
    for a, b in POINTS:
        assert value(expr, a, b) == pytest.approx(printed.loss(a, b, 3, slips), abs=1e-13)


def test_slope_sign_has_the_sign_of_the_slope():
    terms = exact_terms(interior_table(sp.Integer(4)))
    for a in np.linspace(0, 1, 7):
        for b in np.linspace(0, 1, 7):
            g = landscape.gradient(a, 1 - a, b, 1 - b, 4)
            assert np.sign(value(slope_sign(terms, alpha1), a, b)) == np.sign(g[0] - g[1])
            assert np.sign(value(slope_sign(terms, beta1), a, b)) == np.sign(g[2] - g[3])


def test_leading_excess_is_the_limit_of_the_scaled_excess():
    for a, b in POINTS:
        scaled = 1e8 * float(landscape.excess_loss(a, 1 - a, b, 1 - b, 1e8))
        assert scaled == pytest.approx(value(leading_excess(), a, b), abs=1e-6)


def test_limit_flow_is_the_limit_of_the_scaled_descent():
    for a, b in POINTS:
        g = -1e8 * landscape.gradient(a, 1 - a, b, 1 - b, 1e8)
        found = [value(part, a, b) for part in limit_flow()]
        np.testing.assert_allclose(found, [g[0] - g[1], g[2] - g[3]], atol=1e-6)


def test_argmax_margins_are_positive_just_where_the_target_has_the_largest_logit():
    for a in np.linspace(0.013, 0.21, 8):
        for b in np.linspace(0.61, 0.99, 8):
            row = landscape.logits(a, 1 - a, b, 1 - b, 9, 4)
            leads = all(value(expr, a, b) > 0 for expr in argmax_margins().values())
            assert leads == (row.argmax() == 4)


def test_conserved_quantity_and_energy_are_one():
    difference = conserved() / 2 - energy().subs(alpha2, 1 - alpha1)
    assert sp.simplify(difference - 1) == 0
