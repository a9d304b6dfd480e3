"""Contraction of rows: never more than the coefficient, reached by a value, and kept off zero by a value residual."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import SEEDS, refuses
from tests.theory.value_residual.draws import LAMBDAS, attention, close, generator, stack
from theory.value_residual import (
    dobrushin,
    residual_diameter_bound,
    residual_stack,
    row_diameter,
    sink_collapse,
    sink_share,
)

SLACK = 1 + 1e-12


@given(SEEDS, st.integers(1, 6), st.booleans())
def test_one_layer_contracts_by_the_coefficient_at_most(seed, length, causal):
    # 32 layers a draw
    rng = generator(seed)
    weights = attention(rng, 32, length, causal=causal, scale=rng.uniform(0.1, 6))
    values = rng.standard_normal((32, length, 3))
    assert (row_diameter(weights @ values) <= dobrushin(weights) * row_diameter(values) * SLACK + 1e-15).all()
    share = sink_share(weights)
    assert (dobrushin(weights) <= 1 - share + 1e-15).all()
    assert causal is False or close(share, weights[..., 0].min(-1), 1e-15)


@given(SEEDS, st.integers(2, 6))
def test_the_coefficient_is_reached_by_a_value_of_two_points(seed, length):
    weights = attention(generator(seed), length)
    gaps = [(np.abs(weights[i] - weights[k]).sum() / 2, i, k) for i in range(length) for k in range(i)]
    most, i, k = max(gaps)
    values = (weights[i] > weights[k]).astype(float)[:, None]
    assert close(dobrushin(weights), most, 1e-15)
    assert close(row_diameter(weights @ values), dobrushin(weights) * row_diameter(values), 1e-14)


@given(SEEDS, st.floats(0.01, 0.9), st.integers(1, 8))
def test_a_sink_in_every_layer_collapses_the_rows(seed, sink, layers):
    rng = generator(seed)
    matrices, values = stack(rng, layers)
    matrices *= 1 - sink
    for matrix in matrices:
        matrix[:, rng.integers(4)] += sink
    found = residual_stack(matrices, values, 0.0)[-1]
    assert row_diameter(found) <= sink_collapse(sink, layers) * row_diameter(values) * SLACK
    worst = [[[1.0, 0.0], [sink, 1 - sink]]] * layers
    reached = row_diameter(residual_stack(worst, [[0.0], [1.0]], 0.0)[-1])
    assert reached == pytest.approx(sink_collapse(sink, layers), rel=1e-10)
    assert sink_share(worst[0]) == sink


@given(SEEDS, LAMBDAS, st.integers(1, 12))
def test_a_stack_with_a_value_residual_stays_within_its_bound(seed, lam, layers):
    rng = generator(seed)
    matrices, values = stack(rng, layers, scale=rng.uniform(0.1, 8))
    diameters, most = row_diameter(residual_stack(matrices, values, lam)), float(dobrushin(matrices).max())
    for n, found in enumerate(diameters, 1):
        assert found <= residual_diameter_bound(most, row_diameter(values), lam, n) * SLACK


@given(st.floats(0, 1), LAMBDAS, st.integers(1, 30))
def test_the_bound_of_the_stack_is_reached_and_does_not_vanish(tau, lam, layers):
    worst = np.array([[1.0, 0.0], [1 - tau, tau]])
    reached = row_diameter(residual_stack([worst] * layers, [[0.0], [2.0]], lam)[-1])
    assert reached == pytest.approx(residual_diameter_bound(tau, 2.0, lam, layers), rel=1e-10, abs=1e-15)
    limit = residual_diameter_bound(tau, 2.0, lam)
    assert limit == pytest.approx(2 * tau * lam / (1 + lam - tau))


def test_the_diameter_is_the_farthest_pair():
    assert row_diameter([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]) == 5.0
    assert row_diameter([[7.0]]) == 0.0 and row_diameter(np.zeros((2, 3, 4))).tolist() == [0.0, 0.0]
    assert sink_collapse(0.0, 9) == 1.0 and sink_collapse(1.0, 1) == 0.0


def test_a_limit_without_a_residual_is_refused():
    refuses(lambda: residual_diameter_bound(0.5, 1.0, 0.0), "lam must be a finite number > 0, got 0.0")
