"""Each proof closes, and each deliberately wrong variant of it does not."""

import itertools

import numpy as np
import pytest
import sympy as sp

from proofs_check.oracles import induction as oracle
from theory.induction import causal_support, regime, sharpness
from theory.induction.sharpness import r
from theory.symbols import sigma, slope

SHAPES = list(itertools.product(range(3, 7), (1, 2)))
WRONG_HEADS = [{"alpha": (1, 0)}, {"beta": (0, 1)}, {"beta": (1 / sigma, 0)}, {"support": "causal"}]


@pytest.mark.parametrize(("length", "dim"), list(itertools.product((3, 4, 5), (1, 2, 3))))
def test_theorem_3_3_is_impossible_on_the_causal_support_and_only_there(length, dim):
    assert causal_support.impossibility_residual("causal", length, dim) == 0
    assert causal_support.impossibility_residual("inner", length, dim) == -1


def test_impossibility_multipliers_combine_the_equations_to_one():
    """Re-checked at random rational weights and unknowns, without the elimination."""
    equations, multipliers, solution = causal_support.impossibility("causal")
    assert solution is None
    rng = np.random.default_rng(0)
    free = sorted(set().union(*(e.free_symbols for e in (*equations, *multipliers))), key=str)
    for _ in range(20):
        point = {symbol: sp.Rational(int(rng.integers(1, 50)), int(rng.integers(1, 50))) for symbol in free}
        assert sum(q.subs(point) * f.subs(point) for q, f in zip(multipliers, equations, strict=True)) == 1


def test_inner_support_is_solved_by_the_papers_parameters():
    elimination = causal_support.impossibility("inner")
    own, before = causal_support.probe_equations("inner")[1]
    weights = {name: sp.Symbol(name, positive=True) for name in ("a_3_2", "p_3_2")}
    assert elimination.multipliers is None
    assert elimination.solution == {own: weights["p_3_2"] / weights["a_3_2"], before: 0}


def _shares(scores):
    return np.exp(scores) / np.sum(np.exp(scores))


def test_probe_equations_are_the_head_at_the_probes():
    """The symbolic equations against brute-force attention at numbers."""
    equations, (own, before) = causal_support.probe_equations("causal", 4)
    alpha, beta, divisor, decay = np.array([0.3, -0.8]), (1.2, 0.7), 0.6, 0.4
    for probe, place in enumerate((4, 1, 2), start=1):
        x = [1.5 * (s == place) for s in range(5)]  # x[0] is the padding
        keys = [x[4] * (alpha @ [x[s], x[s - 1]]) / divisor - decay * (4 - s) for s in range(1, 5)]
        matches = [x[4] * x[s - 1] / divisor - decay * (4 - s) for s in (2, 3)]
        names = {f"a_{probe}_{s}": share for s, share in zip(range(1, 5), _shares(keys), strict=True)}
        names |= {f"p_{probe}_{s}": share for s, share in zip((2, 3), _shares(matches), strict=True)}
        values = {sp.Symbol(name, positive=True): share for name, share in (names | {"t": 1.5}).items()}
        rows = [[value] for value in x[1:]]
        gap = oracle.kv_shift(rows, divisor, decay, range(1, 5), alpha, beta)[0]
        gap -= oracle.induction_head(rows, divisor, decay)[0]
        value = equations[probe - 1].subs(values | {own: beta[0], before: beta[1]})
        assert float(value) == pytest.approx(float(gap), abs=1e-13)


@pytest.mark.parametrize(("length", "dim"), SHAPES)
def test_inner_head_is_the_induction_head_symbolically(length, dim):
    assert causal_support.inner_residuals(length, dim) == (0,) * dim


@pytest.mark.parametrize("wrong", WRONG_HEADS, ids=str)
def test_other_parameters_are_not_the_induction_head(wrong):
    assert all(residual != 0 for residual in causal_support.inner_residuals(4, 2, **wrong))


def test_equation_six_needs_alpha2_sqrt_d_over_sigma():
    scale = 1 / sp.sqrt(3)
    assert causal_support.inner_residuals(4, 3, alpha=(0, sp.sqrt(3) / sigma), scale=scale) == (0, 0, 0)
    assert any(residual != 0 for residual in causal_support.inner_residuals(4, 3, scale=scale))


@pytest.mark.parametrize(("length", "dim"), SHAPES)
def test_discrepancy_formula_is_an_identity(length, dim):
    assert causal_support.discrepancy_residuals(length, dim) == (0,) * dim
    assert all(residual != 0 for residual in causal_support.discrepancy_residuals(length, dim, first=False))


def test_copy_gap_has_the_supremum_r_and_no_other():
    assert sharpness.copy_gap_residuals() == (0, 0, 0, 0)
    for wrong in (r / (1 - r), r**2, 2 * r):
        assert sharpness.copy_gap_residuals(wrong)[3] != 0


def test_two_point_bound_is_exact_with_the_divisor_four():
    assert sharpness.two_point_residual() == 0
    assert sharpness.two_point_residual(2) != 0 and sharpness.two_point_residual(5) != 0
    square, residual = sharpness.two_point_slack()
    assert residual == 0 and square.is_nonnegative


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_blocks_reduce_to_two_points(size):
    for count in range(1, size):
        for block in itertools.combinations(range(size), count):
            assert sharpness.tilt_residual(size, block) == 0


def test_score_range_is_the_width_of_the_domain():
    assert sharpness.score_range_residual() == sharpness.score_range_residual(-1, 1) == 0
    assert sharpness.score_range_residual(0, 2) != 0


@pytest.mark.parametrize("domain", ["unit", "symmetric"])
def test_bounds_are_sharp_at_first_order_and_uniformly(domain):
    assert sharpness.slope_witness_residual(domain) == 0
    assert sharpness.slope_witness_residual(domain, sp.Rational(49, 100)) != 0
    assert sharpness.uniform_sharpness_residual(domain) == 0
    assert sharpness.uniform_sharpness_residual(domain, lean=0) != 0


def test_flat_witness_follows_sech_squared():
    assert sharpness.flat_witness_residual() == 0
    assert sharpness.flat_witness_residual(sp.Rational(1, 2)) != 0


def test_error_is_linear_in_an_unbounded_token():
    size = sp.Symbol("size", positive=True)
    coefficient = sharpness.first_order_error((1, 0, size, 1))
    assert coefficient.subs(size, 0) == 0 and sp.diff(coefficient, size, 2) == 0 and sp.diff(coefficient, size) != 0


def test_first_order_error_is_the_slope_of_the_error():
    tokens, product, decay_slope, copy_slope = (0, 1, 1, 0, 1, 0, 1), 1.3, 0.4, 40.0
    x = [[float(value)] for value in tokens]
    error = oracle.induction_head(x, 1 / product, decay_slope)[0]
    error -= oracle.two_layer(x, 1 / product, decay_slope, copy_slope)[0]
    expected = sharpness.first_order_error(tokens)
    values = {symbol: np.exp(product if "sigma" in symbol.name else -decay_slope) for symbol in expected.free_symbols}
    assert float(error) / (product * np.exp(-copy_slope)) == pytest.approx(float(expected.subs(values)), rel=1e-12)


def test_two_matches_weigh_e_to_the_slope_times_the_gap():
    assert regime.match_ratio_residual() == 0
    assert regime.match_ratio_residual("ABCDAECAFA", later=8, earlier=1) == 0
    assert regime.match_ratio_residual(claimed=sp.exp(slope)) != 0


def test_latest_match_gets_half_where_the_paper_says_all():
    assert regime.latest_weight_limit() == sp.Rational(1, 2)
    assert regime.latest_weight_limit("ABCDA", 1) == 1
    assert regime.latest_weight_limit("ABACADA", 5) == sp.Rational(1, 3)


def test_only_strict_and_inner_masks_converge():
    for first_mask, support in itertools.product(("strict", "causal"), ("inner", "causal", "not_current", "not_first")):
        witness = regime.wrong_mask_witness(first_mask, support)
        assert (witness is None) == ((first_mask, support) == ("strict", "inner"))
        if witness is not None:
            x = [[float(value)] for value in witness.tokens]
            head = oracle.induction_head(x, 1 / np.log(2), np.log(2))[0]
            first, left_out = {"inner": (2, 1), "causal": (1, 0), "not_current": (1, 1), "not_first": (2, 0)}[support]
            limit = oracle.two_layer(x, 1 / np.log(2), np.log(2), 60, first_mask == "causal", first, left_out)[0]
            assert float(head) == pytest.approx(float(witness.head), abs=1e-14)
            assert float(limit) == pytest.approx(float(witness.output), abs=1e-14)


@pytest.mark.parametrize("place", [2, 3, 4, 7])
def test_repaired_key_is_a_mean_led_by_the_previous_token(place):
    assert regime.repaired_key_residuals(place) == (0, 0)
    assert regime.repaired_key_residuals(place, shrink=sp.Integer(1)) != (0, 0)
    assert regime.repaired_key_gap_residual(place) == 0
    assert regime.repaired_key_gap_residual(place, claimed=r) != 0
