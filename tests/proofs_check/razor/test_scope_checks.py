"""Checks of RazorAttention's claims against searches and numbers that share no code with them."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_check.razor.cache import compensation_variants as variants


@pytest.mark.parametrize(("phase", "wanted"), [(0, "1.335"), (Fraction(1, 3), "1.166"), (1, "0.669")])
def test_dependent_frequencies_have_another_limit_than_the_product(phase, wanted):
    """theta = 1 and theta/10, as base 10^4 has them at 128 dimensions; norms 5 and 30: over many positions."""
    turns = np.arange(400_000) / 10
    reached = np.exp(5 * np.cos(10 * turns + np.pi * float(phase)) + 30 * np.cos(turns)).mean()
    assert reached / (np.i0(5) * np.i0(30)) == pytest.approx(float(wanted), abs=1e-3)
    assert variants.rotated_dependent(Fraction(phase), wanted).value >= 0
