"""The variants against their printed sums, each beside a wrong one, and the one class of functions behind lambda."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.value_residual.draws import SEEDS, attention, close, generator, refused
from theory.value_residual import (
    all_layers,
    averaged_attention,
    denseformer,
    identity_mapping,
    rescaled_projections,
    resformer,
    residual_values,
    svformer,
)

LAMBDA = st.floats(0.05, 20.0).flatmap(lambda x: st.sampled_from([x, -x]))


def drawn(seed, layers=3, length=4, dim=2):
    rng = generator(seed)
    return attention(rng, layers, length, causal=bool(seed % 2)), rng.standard_normal((layers, length, dim))


@given(SEEDS)
def test_the_default_is_the_average_of_two_layers(seed):
    weights, values = drawn(seed)
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(weights[2]), -1e4)
    found = resformer(weights[2], values[2], values[0])
    assert close(found, averaged_attention(logits, values[2], values[0]))
    assert close(found, 0.5 * weights[2] @ (values[2] + values[0]))
    assert not close(found, resformer(weights[2], values[2], values[0], 1.0, 1.0))


@given(SEEDS, st.floats(-3, 3), st.floats(-3, 3))
def test_a_residual_is_linear_in_both_values(seed, one, two):
    weights, values = drawn(seed)
    found = resformer(weights[1], values[1], values[0], one, two)
    assert close(found, one * weights[1] @ values[1] + two * weights[1] @ values[0])
    assert close(residual_values(values[1], values[0], one, two), one * values[1] + two * values[0], 1e-15)
    if abs(one - two) > 0.1:
        assert not close(found, resformer(weights[1], values[1], values[0], two, one))


@given(SEEDS)
def test_one_value_for_all_layers_is_a_residual_without_the_own_value(seed):
    weights, values = drawn(seed)
    assert close(svformer(weights[2], values[0]), resformer(weights[2], values[2], values[0], 0.0, 1.0), 1e-15)
    assert not close(svformer(weights[2], values[0]), resformer(weights[2], values[2], values[0], 1.0, 0.0))
    # a stack of layers at once: one value, many matrices
    assert close(svformer(weights, values[0]), np.stack([w @ values[0] for w in weights]), 1e-15)


@given(SEEDS, st.integers(2, 5))
def test_all_layers_is_one_softmax_over_copies_of_the_own_keys(seed, layers):
    weights, values = drawn(seed, layers)
    copies = np.concatenate([weights[-1] / layers] * layers, axis=-1)
    assert close(all_layers(weights[-1], values), copies @ values.reshape(-1, 2))
    assert not close(all_layers(weights[-1], values), copies @ values.reshape(-1, 2) * layers)
    assert close(all_layers(weights[-1], values[[0, -1]]), resformer(weights[-1], values[-1], values[0]))


@given(SEEDS, st.integers(2, 5))
def test_identity_mapping_has_twice_the_weight_of_the_others(seed, layers):
    weights, values = drawn(seed, layers)
    found = identity_mapping(weights[-1], values)
    assert close(found, weights[-1] @ values[-1] + values[:-1].mean(0))
    assert not close(found, weights[-1] @ values[-1] + values.mean(0))
    ones = np.ones_like(values)
    assert close(identity_mapping(weights[-1], ones), 2 * ones[0])
    assert close(all_layers(weights[-1], ones), ones[0])


@given(SEEDS, st.integers(1, 4))
def test_denseformer_is_the_printed_sum_and_the_embedding(seed, layers):
    weights, values = drawn(seed, layers)
    rng = generator(seed)
    alpha, embedding = rng.uniform(0.5, 1.5, layers + 1), 1.0 + rng.uniform(size=(4, 2))
    printed = sum(a * w @ v for a, w, v in zip(alpha[1:], weights, values, strict=True))
    assert close(denseformer(weights, values, alpha[1:]), printed)
    assert close(denseformer(weights, values, alpha, embedding), printed + alpha[0] * embedding)
    assert not close(denseformer(weights, values, alpha, embedding), printed)
    last = np.eye(layers)[-1]
    assert close(denseformer(weights, values, last), weights[-1] @ values[-1])


@given(SEEDS, LAMBDA, LAMBDA)
def test_every_lambda_gives_the_same_functions(seed, old, new):
    rng = generator(seed)
    weights, first = attention(rng, 4), rng.standard_normal((4, 3))
    w_v, w_o = rng.standard_normal((5, 3)), rng.standard_normal((3, 5))
    scaled_v, scaled_o = rescaled_projections(w_v, w_o, old, new)
    for _ in range(3):
        hidden = rng.standard_normal((4, 5))
        before = resformer(weights, hidden @ w_v, first, 1.0, old) @ w_o
        after = resformer(weights, hidden @ scaled_v, first, 1.0, new) @ scaled_o
        assert close(before, after)
        if abs(old / new - 1) > 0.1:
            assert not close(before, resformer(weights, hidden @ w_v, first, 1.0, new) @ w_o, 1e-6)
            swapped = rescaled_projections(w_v, w_o, new, old)
            wrong = resformer(weights, hidden @ swapped[0], first, 1.0, new) @ swapped[1]
            assert abs(old / new) == pytest.approx(1, rel=0.1) or not close(before, wrong, 1e-6)
    back = rescaled_projections(scaled_v, scaled_o, new, old)
    assert close(back[0], w_v, 1e-14) and close(back[1], w_o, 1e-14)


@given(SEEDS)
def test_attention_without_a_residual_is_a_limit_of_those_with_one(seed):
    rng = generator(seed)
    weights, first, own = attention(rng, 4), rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
    w_o = rng.standard_normal((3, 5))
    gaps = [
        np.abs(resformer(weights, c * own, first, 1.0, 1.0) @ w_o / c - weights @ own @ w_o).max()
        for c in (1e2, 1e4, 1e6)
    ]
    assert gaps[1] < 1.01e-2 * gaps[0] and gaps[2] < 1.01e-2 * gaps[1]


A, V = [[1.0, 0.0], [0.5, 0.5]], [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: resformer(V, V, V), "attention has shape (2, 1): expected (..., length, length)"),
        (lambda: resformer([V], V, V), "attention has shape (1, 2, 1): expected (..., length, length)"),
        (lambda: resformer(A, [[1.0]] * 3, [[1.0]] * 3),
         "attention (..., queries, keys) and values (..., keys, d) must agree: got (2, 2) and (3, 1)"),
        (lambda: resformer(A, V, [[1.0]]), "first_values has shape (1, 1): expected (2, 1)"),
        (lambda: all_layers(A, V), "values has shape (2, 1): expected (n_layers, length, d)"),
        (lambda: all_layers([A], [V]), "attention has shape (1, 2, 2): expected (length, length)"),
        (lambda: identity_mapping(A, [V]),
         "values has shape (1, 2, 1): expected (n_layers, length, d) with n_layers >= 2"),
        (lambda: denseformer([A], [V, V], [1.0, 1.0]), "attention has shape (1, 2, 2): expected (2, 2, 2)"),
        (lambda: denseformer([A], [V], [1.0, 1.0]), "coefficients has shape (2,): expected (1,)"),
        (lambda: denseformer([A], [V], [1.0], V), "coefficients has shape (1,): expected (2,)"),
        (lambda: denseformer([A], [V], [1.0, 1.0], [[1.0]]), "embedding has shape (1, 1): expected (2, 1)"),
    ],
)  # fmt: skip
def test_variants_refuse_bad_input_in_one_line(call, line):
    assert refused(call) == line
