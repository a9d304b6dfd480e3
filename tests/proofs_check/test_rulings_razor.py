"""Rulings on RazorAttention that were once wrong: what showed it, kept."""

from fractions import Fraction

import numpy as np
import pytest

from proofs_check.razor import scope_head_checks, scope_iff_checks
from proofs_check.registry import load

CLAIMS = load(("razor",))
HALF = Fraction(1, 2)


def test_gains_of_one_size_but_two_signs_escape_the_condition_of_one_signed_gain():
    """LayerNorm, gamma = (1, -1), b = (1/2, -1/2), orthogonal to the ones and shorter than r: the theorem holds."""
    assert scope_iff_checks.kappa_squared((1, -1), (HALF, -HALF)) == 20 <= 25
    assert scope_iff_checks.kappa_squared((1, 1), (HALF, -HALF)) == 36 > 25
    assert scope_iff_checks.two_states(1, HALF).value >= 0 > scope_iff_checks.two_states(1, HALF, second=-1).value
    claim = CLAIMS["razor.thm1.one_size"]
    assert "one sign" in claim.statement
    assert any("kappa" in evidence.scope and "states" in evidence.scope for evidence in claim.evidence)


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
    cost = scope_head_checks.group_cost
    assert cost(32, 4, "1.2728").value >= 0 > cost(32, 4, "1.2715").value
    assert cost(32, 4, "1.2729").value < 0
    assert "1.2728" in CLAIMS["razor.sec4.1.group_window"].statement
