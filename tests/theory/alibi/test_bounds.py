"""ALiBi slopes, and the scope formulas against sums in exact arithmetic at 60 digits, at their limits and edges."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import refuses
from theory import alibi

SLOPES = st.floats(1e-4, 2.0)
RANGES = st.floats(0.0, 60.0)
SHARES = st.floats(1e-6, 1 - 1e-6)


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8, 16])
def test_slopes_of_a_power_of_two_are_a_geometric_sequence(n_heads):
    assert alibi.slopes(n_heads) == [2 ** (-8 * (h + 1) / n_heads) for h in range(n_heads)]


def test_slopes_of_other_head_counts_are_those_of_the_authors():
    assert alibi.slopes(3) == [2**-4, 2**-8, 2**-2]
    assert alibi.slopes(6) == [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    assert alibi.slopes(12)[8:] == [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    assert alibi.slopes(40)[32:] == [2 ** (-(2 * j - 1) / 8) for j in range(1, 9)]
    for n_heads in range(1, 70):
        found = alibi.slopes(n_heads)
        assert len(set(found)) == n_heads and min(found) > 0 and max(found) < 1


@given(st.integers(1, 60), SLOPES, RANGES)
def test_masked_weight_bound_is_a_softmax_of_two(distance, slope, self_gap):
    found = alibi.masked_weight_bound(distance, slope, self_gap)
    assert found == pytest.approx(1 / (1 + math.exp(slope * distance - self_gap)), rel=1e-12)
    assert alibi.weight_bound(distance, slope, self_gap, self_gap) <= found * (1 + 1e-12)


@given(SLOPES, st.floats(0, 5000), SHARES)
def test_scope_and_window_invert_their_bounds(slope, logit_range, share):
    distance = alibi.scope(slope, logit_range, share)
    assert alibi.log_weight_bound(distance, slope, logit_range) == pytest.approx(math.log(share), rel=1e-9, abs=1e-9)
    window = alibi.window_for_mass(slope, logit_range, share)
    assert alibi.dropped_mass_bound(window, slope, logit_range) == pytest.approx(share, rel=1e-6)
    assert window <= (logit_range - math.log(share)) / slope * (1 + 1e-12) + 1e-12


def test_the_bounds_at_the_ends_of_their_domains():
    assert alibi.weight_bound(0, 0.5, 7.0) == 1.0
    assert alibi.weight_bound(0, 0.5, 7.0, 3.0) == 1.0
    assert alibi.dropped_mass_bound(0, 0.5, 7.0) == 1.0
    assert alibi.dropped_mass_bound(8, 0.5, 7.0, n_tokens=8) == 0.0
    # without a slope: uniform but for the range
    assert alibi.weight_bound(9, 0.0, 0.0) == pytest.approx(0.1)
    assert alibi.weight_bound(3, 0.0, 2.0, 1.0) == pytest.approx(1 / (1 + math.exp(-1) + 2 * math.exp(-2)))
    assert alibi.scope(0.0, 5.0, 1e-3) == pytest.approx(999 * math.exp(5))
    assert alibi.scope(0.0, 800.0, 0.5) == math.inf
    assert alibi.dropped_mass_bound(100, 0.0, 3.0) == 1.0
    assert alibi.dropped_mass_bound(30, 0.0, 2.0, n_tokens=40) == pytest.approx(10 / (10 + 30 * math.exp(-2)))
    assert alibi.window_for_mass(0.0, 1.0, 0.1) == math.inf
    # far beyond the range of doubles
    assert alibi.weight_bound(10**6, 1.0, 5.0) == 0.0
    assert alibi.log_weight_bound(10**6, 1.0, 5.0) == pytest.approx(5 - 1e6 + math.log1p(-math.exp(-1)))
    assert alibi.scope(2**-8, 5000.0, 1e-300) == pytest.approx(
        256 * (5000 + 300 * math.log(10) + math.log(-math.expm1(-(2**-8))))
    )


def test_printed_scope_is_the_printed_formula():
    w_q, w_k = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0, 0.0], [1.0, 1.0]])
    norm = np.linalg.svd(w_q.T @ w_k)[1][0]
    found = alibi.printed_scope(w_q, w_k, [1.0, 2.0], [3.0, 0.0], 0.25, 0.01)
    assert found == pytest.approx((2 * norm * 14 - math.log(0.01)) / 0.25, rel=1e-14)
    assert alibi.printed_scope(w_q, w_k, [1.0, 2.0], None, 0.25, 0.01) < found


@pytest.mark.parametrize(
    ("slope", "logit_range", "eps"),
    [(1.7e-290, 2e-9, 3e-283), (2e-252, 650.0, 2.5e-4), (1e-300, 0.0, 0.3), (0.5, 3.0, 1 - 2**-50), (3.0, 5000.0, 0.1)],
)
def test_scope_and_window_keep_their_digits_at_any_size(slope, logit_range, eps):
    with mpmath.workdps(2500):
        s, odds = mpmath.mpf(slope), (1 / mpmath.mpf(eps) - 1) * mpmath.exp(mpmath.mpf(logit_range))
        scope, window = (float(mpmath.log1p(odds * part) / s) for part in (-mpmath.expm1(-s), 1))
        mass = float(1 / (1 + mpmath.exp(-mpmath.mpf(logit_range)) * mpmath.expm1(100 * s)))
        weight = float(1 / (1 + mpmath.exp(-mpmath.mpf(logit_range)) * mpmath.expm1(100 * s) / -mpmath.expm1(-s)))
    assert alibi.scope(slope, logit_range, eps) == pytest.approx(scope, rel=1e-14)
    assert alibi.window_for_mass(slope, logit_range, eps) == pytest.approx(window, rel=1e-14, abs=0)
    assert alibi.dropped_mass_bound(100, slope, logit_range) == pytest.approx(mass, rel=1e-12, abs=0)
    assert alibi.weight_bound(100, slope, logit_range) == pytest.approx(weight, rel=1e-12, abs=0)


def test_bounds_of_arrays_are_those_of_their_numbers():
    slopes, eps = np.array([0.0, 0.5, 2.0])[:, None], [1e-3, 0.5]
    found = alibi.scope(slopes, 12, eps)
    assert found.tolist() == [[alibi.scope(s, 12, e) for e in eps] for s in slopes[:, 0]]
    without = alibi.weight_bound(np.arange(6), 0.5, logit_range=3.0)
    assert without.tolist() == [alibi.weight_bound(n, 0.5, 3.0) for n in range(6)]
    assert type(alibi.scope(0.5, 12, 1e-3)) is float and type(alibi.scope(np.float64(0.5), 12, np.array(1e-3))) is float
    assert alibi.scope([], 12.0, 0.1).shape == (0,)
    told = "do not broadcast: slope (2,), logit_range (3,)"
    refuses(lambda: alibi.scope([0.1, 0.2], [1.0, 2.0, 3.0], 0.1), told)
