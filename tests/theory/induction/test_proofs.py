"""Each proof closes, and each deliberately wrong variant of it does not."""

import itertools

import numpy as np
import sympy as sp
from pytest import approx

from proofs_check.oracles import induction as oracle
from tests.theory.cases import softmax
from tests.theory.induction.test_heads import SUPPORT_ENDS
from theory.induction import causal_support, regime, sharpness


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


def test_probe_equations_are_the_head_at_the_probes():
    """The symbolic equations against brute-force attention at numbers."""
    equations, (own, before) = causal_support.probe_equations("causal", 4)
    alpha, beta, divisor, decay = np.array([0.3, -0.8]), (1.2, 0.7), 0.6, 0.4
    for probe, place in enumerate((4, 1, 2), start=1):
        x = [1.5 * (s == place) for s in range(5)]  # x[0] is the padding
        keys = [x[4] * (alpha @ [x[s], x[s - 1]]) / divisor - decay * (4 - s) for s in range(1, 5)]
        matches = [x[4] * x[s - 1] / divisor - decay * (4 - s) for s in (2, 3)]
        names = {f"a_{probe}_{s}": share for s, share in zip(range(1, 5), softmax(np.array(keys)), strict=True)}
        names |= {f"p_{probe}_{s}": share for s, share in zip((2, 3), softmax(np.array(matches)), strict=True)}
        values = {sp.Symbol(name, positive=True): share for name, share in (names | {"t": 1.5}).items()}
        rows = [[value] for value in x[1:]]
        gap = oracle.kv_shift(rows, divisor, decay, range(1, 5), alpha, beta)[0]
        gap -= oracle.induction_head(rows, divisor, decay)[0]
        value = equations[probe - 1].subs(values | {own: beta[0], before: beta[1]})
        assert float(value) == approx(float(gap), abs=1e-13)


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
    assert float(error) / (product * np.exp(-copy_slope)) == approx(float(expected.subs(values)), rel=1e-12)


def test_only_strict_and_inner_masks_converge():
    for first_mask, support in itertools.product(("strict", "causal"), SUPPORT_ENDS):
        witness = regime.wrong_mask_witness(first_mask, support)
        assert (witness is None) == ((first_mask, support) == ("strict", "inner"))
        if witness is not None:
            x = [[float(value)] for value in witness.tokens]
            head = oracle.induction_head(x, 1 / np.log(2), np.log(2))[0]
            first, left_out = SUPPORT_ENDS[support]
            limit = oracle.two_layer(x, 1 / np.log(2), np.log(2), 60, first_mask == "causal", first, left_out)[0]
            assert float(head) == approx(float(witness.head), abs=1e-14)
            assert float(limit) == approx(float(witness.output), abs=1e-14)
