"""The output bound of a truncated ALiBi head, from its weights, against heads run on random and hostile contexts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.alibi.drawn_heads import logits, normalised, random_head
from theory import alibi
from theory.cache import dropped


def run_head(head, w_v, slope, states, window):
    """Outputs of the last token over all tokens and over the last `window`, token by token."""
    scores = logits(head, states[-1], states) - slope * np.arange(len(states))[::-1]
    outputs = []
    for start in (0, len(states) - window):
        weights = [math.exp(score - scores[start:].max()) for score in scores[start:]]
        rows = [weight * (w_v @ state) for weight, state in zip(weights, states[start:], strict=True)]
        outputs.append(np.sum(rows, axis=0) / math.fsum(weights))
    return outputs


def hostile_states(rng, head, window, length):
    """Recent tokens that score low, remote ones that score high, among 200 random states."""
    pool = normalised(rng.normal(size=(200, len(head["gamma"]))), head)
    query = pool[0]
    order = np.argsort(logits(head, query, pool))
    return np.vstack(
        [np.repeat(pool[order[-1:]], length - window, 0), np.repeat(pool[order[:1]], window - 1, 0), query]
    )


@pytest.mark.parametrize("norm", ["rms", "layer"])
@given(st.integers(0, 10**6), st.booleans())
def test_output_error_of_a_head_stays_below_the_bound_from_its_weights(norm, seed, biased):
    rng = np.random.default_rng(seed)
    head = random_head(rng, 4, 2, norm, biased)
    head["w_q"] = head["w_q"] * 0.2
    w_v, slope = rng.normal(size=(2, 4)), float(rng.choice([0.0, 0.05, 0.5]))
    window, length = int(rng.integers(1, 20)), int(rng.integers(21, 60))
    spread = alibi.logit_range(**head)
    mass = alibi.dropped_mass_bound(window, slope, spread, length)
    bound = dropped.output_error_bound(mass, dropped.value_diameter(w_v, head["gamma"], norm))
    loose = normalised(rng.normal(size=(length, 4)), head)
    for states in (loose, hostile_states(rng, head, window, length)):
        full, kept = run_head(head, w_v, slope, states, window)
        assert np.linalg.norm(full - kept) <= bound * (1 + 1e-9) + 1e-12


@given(st.floats(0.01, 3), st.floats(0.01, 1), st.integers(1, 30), st.integers(31, 200))
def test_output_bound_is_reached_by_a_negative_head_of_width_one(product, slope, window, length):
    head = {"w_q": np.array([[-product]]), "w_k": np.ones((1, 1)), "gamma": np.ones(1), "norm": "rms"}
    head.update(norm_bias=None, query_bias=None)
    w_v = np.array([[1.5]])
    states = np.concatenate([-np.ones((length - window, 1)), np.ones((window, 1))])
    full, kept = run_head(head, w_v, slope, states, window)
    mass = alibi.dropped_mass_bound(window, slope, alibi.logit_range(**head), length)
    bound = dropped.output_error_bound(mass, dropped.value_diameter(w_v, head["gamma"]))
    assert np.linalg.norm(full - kept) == pytest.approx(bound, rel=1e-9)
