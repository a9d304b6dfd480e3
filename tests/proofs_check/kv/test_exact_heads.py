"""The exact heads of the claims against the float ones of theory: two implementations that share no formula."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_check.kv.induction import exact_heads
from theory import induction

WHOLE = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=3, max_size=6)
SHARE = st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=20)


def floats(values):
    return pytest.approx([float(value) for value in values], abs=1e-12)


@given(WHOLE, SHARE)
def test_rational_heads_agree_with_theory(x, decay):
    numbers, sigma, slope = exact_heads.rational(3, decay), 1 / np.log(3.0), -np.log(float(decay))
    assert induction.induction_head(x, sigma, slope) == floats(exact_heads.induction_head(x, numbers))


@given(WHOLE, SHARE, SHARE, SHARE)
def test_ball_heads_agree_with_theory(x, sigma, slope, ratio):
    numbers, copy_slope = exact_heads.balls(sigma, slope), -np.log(float(ratio))
    place = (x, float(sigma), float(slope))
    assert induction.induction_head(*place) == floats(exact_heads.induction_head(x, numbers))
    for mask, key in (("strict", "paper"), ("causal", "paper"), ("causal", "repaired")):
        found = exact_heads.two_layer(x, numbers, ratio, itself=mask == "causal", repaired=key == "repaired")
        network = induction.two_layer_variant(*place, copy_slope, first_mask=mask, key=key)
        assert network == pytest.approx([float(value) for value in found], abs=1e-9)


def test_rational_weights_refuse_products_that_are_not_whole():
    with pytest.raises(ValueError, match="1/2"):
        exact_heads.rational(2, 1).weight(Fraction(1, 2), 0)
