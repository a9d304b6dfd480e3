"""The heads of Section 3.1 against brute force, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from proofs_check.evidence.tolerances import ROUNDING
from proofs_check.oracles import induction as oracle
from tests.theory.cases import refuses
from theory import induction

SUPPORT_ENDS = {"inner": (2, 1), "causal": (1, 0), "not_current": (1, 1), "not_first": (2, 0)}
number = st.floats(-1.5, 1.5, allow_subnormal=False)
tokens = st.tuples(st.integers(3, 8), st.integers(1, 3)).flatmap(lambda shape: arrays(float, shape, elements=number))
sigmas = st.floats(0.05, 20.0)
slopes = st.one_of(st.just(0.0), st.floats(0.0, 6.0))


def batch(x, *numbers):
    """Other arguments, and these behind them."""
    return [2 * x, x], *([1.0, number] for number in numbers)


def close(value, exact):
    return np.allclose(value, [float(v) for v in exact], rtol=0.0, atol=ROUNDING)


@given(tokens, sigmas, slopes)
def test_induction_head_equals_brute_force(x, sigma, slope):
    assert close(induction.induction_head(*batch(x, sigma, slope))[1], oracle.induction_head(x.tolist(), sigma, slope))


@given(tokens, sigmas, slopes, slopes)
def test_two_layer_network_equals_brute_force(x, sigma, slope, copy_slope):
    output = induction.two_layer_alibi(*batch(x, sigma, slope, copy_slope))
    assert close(output[1], oracle.two_layer(x.tolist(), sigma, slope, copy_slope))


@pytest.mark.parametrize("first_mask", ["strict", "causal"])
@pytest.mark.parametrize("support", SUPPORT_ENDS)
def test_two_layer_variants_equal_brute_force(first_mask, support):
    x = np.random.default_rng(3).uniform(-1, 1, (6, 2))
    first, left_out = SUPPORT_ENDS[support]
    exact = oracle.two_layer(x.tolist(), 0.4, 0.3, 0.9, first_mask == "causal", first, left_out)
    value = induction.two_layer_variant(x, 0.4, 0.3, 0.9, first_mask=first_mask, support=support)
    assert close(value, exact)


@given(tokens, sigmas, slopes, st.sampled_from(["inner", "causal"]), st.tuples(number, number, number, number))
def test_kv_shift_head_equals_brute_force(x, sigma, slope, support, mixing):
    first, left_out = SUPPORT_ENDS[support]
    places = range(first, len(x) - left_out + 1)
    alpha, beta = mixing[:2], mixing[2:]
    exact = oracle.kv_shift(x.tolist(), sigma, slope, places, alpha, beta)
    assert close(induction.kv_shift_head(*batch(x, sigma, slope), support, alpha=alpha, beta=beta)[1], exact)


@given(tokens, sigmas, slopes)
def test_the_identity_is_no_matrix_at_all(x, sigma, slope):
    one = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), np.eye(x.shape[1]))
    heads = [induction.kv_shift_head(x, sigma, slope, "causal", **given) for given in ({}, one)]
    assert np.array_equal(*heads)


@given(tokens, sigmas, slopes)
def test_discrepancy_is_the_gap_of_the_causal_head(x, sigma, slope):
    epsilon, vector = (part[1] for part in induction.discrepancy(*batch(x, sigma, slope)))
    causal = oracle.kv_shift(x.tolist(), sigma, slope, range(1, len(x) + 1))
    head = oracle.induction_head(x.tolist(), sigma, slope)
    assert close(vector, [a - b for a, b in zip(causal, head, strict=True)])
    assert 0.0 < epsilon <= 1.0
    assert (np.abs(vector) <= epsilon * (x.max(axis=0) - x.min(axis=0)) + ROUNDING).all()


def test_epsilon_keeps_its_relative_accuracy_where_it_is_tiny():
    x = np.eye(20)
    x[-1] = x[6]
    epsilon = induction.discrepancy(x, 0.05, 0.0).epsilon
    exact = 2 / (2 + 17 + np.exp(20.0))  # ends 1 + 1, seventeen strangers, one match
    assert epsilon == pytest.approx(exact, rel=1e-13)


def test_causal_head_accepts_short_inputs():
    assert induction.kv_shift_head([[1.0], [2.0]], 1.0, 0.0, "causal") == pytest.approx(
        (1 + 2 * np.e**2) / (1 + np.e**2)
    )
    assert induction.kv_shift_head([[3.0]], 1.0, 0.5, "causal") == 3.0


def test_row_convention_writes_nothing():
    """y = x W with the printed matrices: all keys vanish, and the head only sees the slope."""
    x = np.random.default_rng(7).normal(size=(7, 2))
    weights = np.exp(-0.3 * np.arange(5, 0, -1))
    row = induction.two_layer_variant(x, 0.5, 0.3, 2.0, convention="row")
    assert np.allclose(row, weights / weights.sum() @ x[1:-1], rtol=0.0, atol=ROUNDING)


GOOD = np.zeros((4, 2))


@pytest.mark.parametrize("head", ["induction_head", "two_layer_alibi", "kv_shift_head", "discrepancy"])
def test_products_that_overflow_are_refused(head):
    extra = {"two_layer_alibi": (1.0,), "kv_shift_head": ("inner",)}.get(head, ())
    refuses(lambda: getattr(induction, head)(np.ones((4, 2)), 1e-320, 0.0, *extra), "overflow")


def test_an_inner_support_needs_three_tokens_and_a_token_needs_an_entry():
    refuses(lambda: induction.kv_shift_head(GOOD[:2], 1.0, 0.0, "inner"), "length >= 3")
    refuses(lambda: induction.kv_shift_head(GOOD[:, :0], 1.0, 0.0, "inner"), "dim >= 1")


def test_bad_arguments_of_the_network_are_refused():
    refuses(lambda: induction.kv_shift_head(GOOD, 1.0, 0.0, "inner", w_q=np.ones((3, 2))), "each other, got 3 and 2")
    for option in ("first_mask", "support", "convention", "key"):
        wrong = {option: "other"}
        refuses(lambda wrong=wrong: induction.two_layer_variant(GOOD, 1.0, 0.0, 1.0, **wrong), f"{option} must be one")
