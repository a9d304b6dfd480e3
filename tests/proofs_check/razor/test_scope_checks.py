"""Checks of RazorAttention's claims against searches and numbers that share no code with them."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_check.razor.cache import compensation_variant_checks as variants
from proofs_check.razor.scope import head_checks


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_kappa_of_one_signed_gain_is_what_a_search_over_states_finds(norm):
    rng = np.random.default_rng(3)
    d, gain, share = 5, -1.5, 0.4
    r = np.sqrt(d) * abs(gain)
    bias = rng.standard_normal(d)
    bias = bias - bias.mean() if norm == "layer" else bias
    bias *= share * r / np.linalg.norm(bias)
    z = rng.standard_normal((2, 40_000, d))
    z[0, 0] = -bias
    z[1, 0] = bias
    z = z - z.mean(axis=2, keepdims=True) if norm == "layer" else z
    x, y = gain * z * np.sqrt(d) / np.linalg.norm(z, axis=2, keepdims=True) + bias
    kappa = (np.linalg.norm(x, axis=1) * np.linalg.norm(x - y, axis=1)).max()
    assert kappa == pytest.approx(2 * r * (r + share * r))


def test_a_printed_number_is_held_to_half_its_last_digit():
    assert head_checks.group_cost(32, 4, "1.2728").value >= 0 > head_checks.group_cost(32, 4, "1.2729").value
    near, off = (variants.rotated_many(1000, number).value for number in ("14.09", "14.08"))
    assert near >= 0 > off


@pytest.mark.parametrize(("phase", "wanted"), [(0, "1.335"), (Fraction(1, 3), "1.166"), (1, "0.669")])
def test_dependent_frequencies_have_another_limit_than_the_product(phase, wanted):
    """theta = 1 and theta/10, as base 10^4 has them at 128 dimensions; norms 5 and 30: over many positions."""
    turns = np.arange(400_000) / 10
    reached = np.exp(5 * np.cos(10 * turns + np.pi * float(phase)) + 30 * np.cos(turns)).mean()
    assert reached / (np.i0(5) * np.i0(30)) == pytest.approx(float(wanted), abs=1e-3)
    assert variants.rotated_dependent(Fraction(phase), wanted).value >= 0
