"""The sharp bounds: no violation, and attained where they are called sharp."""


import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs_check.evidence.tolerances import KERNEL, ROUNDING
from proofs_check.oracles import induction as oracle
from tests.theory.cases import refuses
from theory import induction

DOMAINS = ("unit", "symmetric", "ball")


def test_network_bound_and_oracle_agree_far_below_rounding():
    """At p = 60 the error is 1e-25: only the oracle can see it, and it is the bound to the last digits."""
    for domain in DOMAINS:
        x, slope = induction.sharp_case(2, 0.05, 60.0, domain)
        rows = x.tolist()
        tf, ih = oracle.two_layer(rows, 0.05, slope, 60.0), oracle.induction_head(rows, 0.05, slope)
        ratio = abs(tf[0] - ih[0]) / mp.mpf(float(induction.copy_error_bound(2, 0.05, 60.0, domain)))
        assert abs(ratio - 1) <= KERNEL


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("spread", [0.01, 1.0, 4.0])
@pytest.mark.parametrize("dim", [1, 3])
def test_copy_error_bound_is_attained_in_the_limit(domain, spread, dim):
    """Error / bound -> 1 as p grows with d e^{-p} / sigma = spread fixed: no smaller function of spread would do."""
    gaps = []
    for copy_slope in (6.0, 10.0, 14.0):
        sigma = (1 if domain == "ball" else dim) * np.exp(-copy_slope) / spread
        x, slope = induction.sharp_case(dim, sigma, copy_slope, domain)
        error = induction.induction_head(x, sigma, slope) - induction.two_layer_alibi(x, sigma, slope, copy_slope)
        bound = induction.copy_error_bound(dim, sigma, copy_slope, domain)
        gaps.append(1.0 - np.abs(error).max() / bound)
    assert gaps[0] < 5e-3 and 0.0 < gaps[2] < gaps[1] / 30 < gaps[0] / 900


@given(st.integers(3, 12), st.floats(0.1, 5), st.one_of(st.just(0.0), st.floats(1e-6, 3)), st.integers(0, 2**32 - 1))
def test_ball_discrepancy_bound_holds_and_is_attained(length, sigma, slope, seed):
    x = np.random.default_rng(seed).normal(size=(length, 2))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    bound = induction.ball_discrepancy_bound(length, sigma, slope)
    assert induction.discrepancy(x, sigma, slope).epsilon <= bound + ROUNDING
    worst = np.array([[-1.0]] * (length - 2) + [[1.0]] * 2)
    assert induction.discrepancy(worst, sigma, slope).epsilon == pytest.approx(bound, abs=ROUNDING)


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("copy_error_bound", (0, 1.0, 1.0, "unit"), "dim"),
        ("copy_error_bound", (1, 0.0, 1.0, "unit"), "sigma"),
        ("copy_error_bound", (1, 1.0, -1.0, "ball"), "copy_slope"),
        ("printed_copy_error_bound", (1, 1.0, 0.0), "copy_slope"),
        ("printed_copy_error_bound", (1, -1.0, 1.0), "sigma"),
        ("softmax_change_bound", ([],), "at least one position"),
        ("matched_discrepancy_bound", (5, 4, 1.0, 0.0), "match"),
        ("matched_discrepancy_bound", (5, 0, 1.0, 0.0), "match"),
        ("ball_discrepancy_bound", (2, 1.0, 0.0), "length"),
        ("latest_successor_bound", (5, 4, 1, 1.0, 0.0), "match"),
        ("latest_successor_bound", (5, 3, 0, 1.0, 0.0), "gap"),
    ],
)
def test_bad_bound_arguments_are_refused(name, arguments, text):
    refuses(lambda: getattr(induction, name)(*arguments), text)
