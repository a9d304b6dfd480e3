"""Heads with mixed keys: where neighbours that share raw keys count, and that no context goes beyond."""

import math

import numpy as np
import pytest

from dynamics.scope.bounded import Rule
from dynamics.scope.heads import layer_scopes, settings
from dynamics.scope.ranges import layer_ranges
from scripts.scope_report import text
from tests.dynamics.scope.cases import ALIBI, CASES, KV_HEADS, PLAIN, InMemory
from theory import alibi

EPS = 0.05


def shifted(coefficients, size=0.5, seed=0, **changes):
    rows = np.tile(np.array(coefficients, dtype=np.float32), (KV_HEADS, 1))
    return InMemory(PLAIN._replace(**(ALIBI | {"n_layers": 1} | changes)), size, seed, alpha=rows)


def measured(checkpoint):
    return layer_scopes(checkpoint, 0, settings(checkpoint, EPS, EPS, context=400))


def unit(rows):
    return rows * math.sqrt(rows.shape[-1]) / np.linalg.norm(rows, axis=-1, keepdims=True)


def weights(checkpoint, head, states):
    """The attention of the last state by distance, from its definition."""
    w_q, w_k = (checkpoint.weights[0][role][place].astype(float)
                for role, place in (("query", head.head), ("key", head.kv_head)))  # fmt: skip
    keys = states @ w_k.T
    before = np.concatenate([np.zeros((1, keys.shape[1])), keys[:-1]])
    mixed = head.alpha[0] * keys + head.alpha[1] * before
    logits = checkpoint.architecture.scale * mixed @ (w_q @ states[-1]) - head.slope * np.arange(len(states))[::-1]
    shares = np.exp(logits - logits.max())
    return (shares / shares.sum())[::-1]


def contexts(checkpoint, head, n_tokens, rng):
    """Random ones, and for the query of the widest range a target and all before it at one end, at any distance."""
    gamma = checkpoint.small(0).gamma.astype(float)
    w_q, w_k = checkpoint.weights[0]["query"][head.head], checkpoint.weights[0]["key"][head.kv_head]
    yield from (gamma * unit(rng.standard_normal((n_tokens, len(gamma)))) for _ in range(3))
    found = alibi.extremes(w_q.astype(float), w_k.astype(float), gamma)
    own, before = (math.copysign(1.0, c) for c in head.alpha)
    for target in range(1, n_tokens - 1):
        for after in (-1.0, 1.0):
            ends = np.concatenate([np.full(target, before), [own], np.full(n_tokens - target - 2, after)])
            yield np.concatenate([ends[:, None] * found.high, found.query[None]])


@pytest.mark.parametrize("coefficients", [(0.9, -0.8), (-0.4, 0.7), (0.3, 0.8), (0.7, 0.3), (0.0, 1.0)])
def test_no_context_of_a_head_exceeds_scope_or_window(coefficients):
    checkpoint, rng = shifted(coefficients, size=0.3), np.random.default_rng(0)
    for head in measured(checkpoint)[:2]:
        assert head.rule is Rule.NEIGHBOURS
        scope, window = max(1, math.ceil(head.scope)), math.ceil(head.mass_window)
        near = 0.0
        for states in contexts(checkpoint, head, scope + 8, rng):
            found = weights(checkpoint, head, states)
            assert found[scope:].max() <= EPS
            assert found[window:].sum() <= EPS
            near = max(near, found[max(1, round(0.5 * scope))])
        assert near > EPS  # the contexts are no idle ones


@pytest.mark.parametrize("coefficients", [(0.9, -0.8), (-0.4, 0.7), (0.3, 0.8)])
def test_scope_and_window_are_never_beyond_those_of_the_range(coefficients):
    opposite = coefficients[0] * coefficients[1] < 0
    for head in measured(shifted(coefficients)):
        wide = head.slope, head.logit_range, EPS
        scope, window = alibi.scope(*wide), alibi.window_for_mass(*wide)
        dropped = alibi.dropped_mass_bound(head.budget, head.slope, head.logit_range, 400)
        assert head.scope <= scope and head.mass_window <= window and head.dropped_mass <= dropped
        assert (head.scope < 0.8 * scope) == (head.mass_window < 0.8 * window) == opposite


def test_only_two_plain_coefficients_let_neighbours_count():
    rope = {"position": "rope", "slopes": None}
    others = [shifted((0.9, -0.8, 0.1)), shifted((0.9, -0.8), **rope), shifted((0.9, -0.8), softcap=5.0),
              shifted((0.9, -0.8), clip=0.1), CASES["alibi"], CASES["alibi, biases"]]  # fmt: skip
    for checkpoint in others:
        for head, seen in zip(layer_ranges(checkpoint, 0), measured(checkpoint), strict=True):
            assert head.mixed is None and seen.rule is Rule.RANGE
            assert seen.scope == alibi.scope(head.slope or 0.0, head.logit_range, EPS)


def test_the_report_says_what_scopes_follow_from():
    mixed, plain = shifted((0.9, -0.8)), CASES["alibi"]
    pages = [text(c, [measured(c)], settings(c, EPS, EPS, context=400), part=True) for c in (mixed, plain)]
    assert "4 scopes: from the range D of raw keys and two coefficients" in pages[0]
    assert "scopes: from" not in pages[1]
