"""Biases by a table: rounding as torch's, bounds by brute force over every query, and both ways Falcon adds them."""

import math

import numpy as np
import pytest
import torch

from theory import alibi
from theory.alibi.tables import bfloat16, rounded_biases, table_dropped_mass, table_scope, table_window


def test_bfloat16_is_that_of_torch():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.standard_normal(4000) * 10.0 ** rng.integers(-30, 30, 4000), np.arange(3000),
                             [0.0, -0.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8]]).astype(np.float32)  # fmt: skip
    np.testing.assert_array_equal(bfloat16(values), torch.from_numpy(values).bfloat16().double().numpy())


@pytest.mark.parametrize("n_heads", [1, 6, 12, 40, 71])
def test_the_biases_are_those_that_transformers_builds_for_falcon(n_heads):
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor

    built = build_alibi_tensor(torch.ones(1, 3000, dtype=torch.long), n_heads, torch.float32)[:, 0].double().numpy()
    ours = np.stack([rounded_biases(slope, 3000) for slope in alibi.slopes(n_heads)])
    np.testing.assert_array_equal(ours, built)


def heaviest(table, spread, times):
    """By distance: the heaviest weight of any query, and of all tokens from there on, older tokens masked or not."""
    weights, masses = np.zeros(len(table)), np.zeros(len(table))
    for t in range(len(table)):
        factors = np.exp(times * (table[: t + 1] - table[t]))
        for k in range(t + 1):
            own, rest = factors[k] * math.exp(spread), factors[k + 1 :].sum()
            weights[t - k] = max(weights[t - k], own / (own + rest))
            far = factors[: k + 1].sum() * math.exp(spread)
            masses[t - k] = max(masses[t - k], far / (far + rest))
    return weights, masses


@pytest.mark.parametrize("slope", [0.7, 0.05, 2.0**-8])
@pytest.mark.parametrize("spread", [0.0, 1.3])
def test_the_bounds_hold_for_every_query_and_are_no_larger_than_they_must_be(slope, spread):
    table, eps = rounded_biases(slope, 120), 0.03
    weights, masses = heaviest(table, spread, 1)
    scope, window = table_scope(table, spread, eps), table_window(table, spread, eps)
    for found, seen in ((scope, weights), (window, masses)):
        least = 1 + max(np.flatnonzero(seen > eps), default=-1)
        assert found == (least if least < len(table) else math.inf)
    for kept in (0, 1, 30, 119, 120):
        expected = masses[kept] if kept < len(table) else 0.0
        assert table_dropped_mass(table, spread, kept) == pytest.approx(expected, rel=1e-6)
        assert table_dropped_mass(table, spread, kept) >= expected * (1 - 1e-12)
    twice = heaviest(table, spread, 2)
    assert (twice[0] <= weights * (1 + 1e-12)).all() and (twice[1] <= masses * (1 + 1e-12)).all()


def test_steep_and_long_tables_neither_overflow_nor_lose_the_margin():
    table = rounded_biases(0.9, 4000)  # e^3600 overflows
    assert table_dropped_mass(table, 5.0, 2000) < 1e-300 < 0.9 < table_dropped_mass(table, 5.0, 1) <= 1
    assert table_scope(table, 5.0, 0.01) < table_scope(table, 50.0, 0.01) < math.inf
    flat = rounded_biases(1e-9, 100_000)
    assert table_scope(flat, 0.0, 1e-3) == pytest.approx(999, abs=1) and table_window(flat, 0.0, 1e-6) == math.inf
