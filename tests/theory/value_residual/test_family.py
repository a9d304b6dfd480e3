"""The variants against their printed sums, each beside a wrong one, and the one class of functions behind lambda."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import SEEDS
from tests.theory.value_residual.draws import attention, close, generator
from theory.value_residual import (
    all_layers,
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


@given(SEEDS, st.floats(-3, 3), st.floats(-3, 3))
def test_a_residual_is_linear_in_both_values_and_by_default_their_average(seed, one, two):
    weights, values = drawn(seed)
    found = resformer(weights[1], values[1], values[0], one, two)
    assert close(found, one * weights[1] @ values[1] + two * weights[1] @ values[0])
    assert close(resformer(weights[1], values[1], values[0]), 0.5 * weights[1] @ (values[1] + values[0]))
    assert close(residual_values(values[1], values[0], one, two), one * values[1] + two * values[0], 1e-15)


@given(SEEDS)
def test_one_value_for_all_layers_is_a_residual_without_the_own_value(seed):
    weights, values = drawn(seed)
    assert close(svformer(weights[2], values[0]), resformer(weights[2], values[2], values[0], 0.0, 1.0), 1e-15)
    # a stack of layers at once: one value, many matrices
    assert close(svformer(weights, values[0]), np.stack([w @ values[0] for w in weights]), 1e-15)


@given(SEEDS, st.integers(2, 5))
def test_all_layers_is_one_softmax_over_copies_of_the_own_keys(seed, layers):
    weights, values = drawn(seed, layers)
    copies = np.concatenate([weights[-1] / layers] * layers, axis=-1)
    assert close(all_layers(weights[-1], values), copies @ values.reshape(-1, 2))
    assert close(all_layers(weights[-1], values[[0, -1]]), resformer(weights[-1], values[-1], values[0]))


@given(SEEDS, st.integers(2, 5))
def test_identity_mapping_has_twice_the_weight_of_the_others(seed, layers):
    weights, values = drawn(seed, layers)
    assert close(identity_mapping(weights[-1], values), weights[-1] @ values[-1] + values[:-1].mean(0))


@given(SEEDS, st.integers(1, 4))
def test_denseformer_is_the_printed_sum_and_the_embedding(seed, layers):
    weights, values = drawn(seed, layers)
    rng = generator(seed)
    alpha, embedding = rng.uniform(0.5, 1.5, layers + 1), 1.0 + rng.uniform(size=(4, 2))
    printed = sum(a * w @ v for a, w, v in zip(alpha[1:], weights, values, strict=True))
    assert close(denseformer(weights, values, alpha[1:]), printed)
    assert close(denseformer(weights, values, alpha, embedding), printed + alpha[0] * embedding)


@given(SEEDS, LAMBDA, LAMBDA)
def test_every_lambda_gives_the_same_functions(seed, old, new):
    rng = generator(seed)
    weights, first = attention(rng, 4), rng.standard_normal((4, 3))
    w_v, w_o = rng.standard_normal((5, 3)), rng.standard_normal((3, 5))
    scaled_v, scaled_o = rescaled_projections(w_v, w_o, old, new)
    hidden = rng.standard_normal((4, 5))
    before = resformer(weights, hidden @ w_v, first, 1.0, old) @ w_o
    assert close(before, resformer(weights, hidden @ scaled_v, first, 1.0, new) @ scaled_o)
