"""The certified area: bounds that hold, tighten and refuse to guess."""

from fractions import Fraction

import pytest
import sympy as sp

from proofs_check.evidence.area import positive_area
from theory.symbols import alpha1, beta1


@pytest.mark.parametrize(
    ("expr", "area"),
    [
        (beta1 - alpha1, 0.5),
        (alpha1**2 + beta1**2 - 1, 1 - sp.pi / 4),
        (sp.exp(-alpha1) - beta1, 1 - sp.exp(-1)),
        (alpha1 + beta1 + 1, 1),
        (-alpha1 - 1, 0),
    ],
)
def test_area_lies_between_its_bounds_and_they_tighten_with_depth(expr, area):
    widths = []
    for depth in (2, 4, 6):
        low, high = positive_area(expr, alpha1, beta1, depth)
        assert 0 <= low <= high <= 1
        assert float(low) <= float(area) <= float(high)
        widths.append(high - low)
    assert widths[0] >= widths[1] >= widths[2]
    assert widths[2] < Fraction(1, 20)


def test_area_of_a_constant_sign_is_settled_at_once():
    assert positive_area(alpha1 + 1, alpha1, beta1, 0) == (1, 1)
    assert positive_area(-alpha1 - sp.Rational(1, 2), alpha1, beta1, 0) == (0, 0)


def test_area_of_an_identically_vanishing_expression_is_zero():
    assert positive_area(alpha1 - alpha1 * 1 + 0 * beta1, alpha1, beta1, 0) == (0, 0)


def test_area_of_what_cannot_be_enclosed_stays_open():
    assert positive_area(sp.log(alpha1 * 0 + beta1 - 2), alpha1, beta1, 2) == (0, 1)


def test_area_refuses_a_negative_depth():
    with pytest.raises(ValueError, match="depth must be >= 0, got -1"):
        positive_area(alpha1, alpha1, beta1, -1)
