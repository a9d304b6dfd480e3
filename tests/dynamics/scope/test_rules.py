"""Heads with mixed keys: where neighbours that share raw keys count, and that no context goes beyond."""


import numpy as np
import pytest

from dynamics.scope.bounded import Rule
from dynamics.scope.heads import layer_scopes, settings
from dynamics.scope.ranges import layer_ranges
from scripts.commands.scope_report import text
from tests.dynamics.scope.cases import ALIBI, CASES, KV_HEADS, PLAIN, InMemory
from theory import alibi
from theory.alibi.shifted_scope import shifted_dropped_mass, shifted_scope, shifted_window

EPS, CONTEXT = 0.05, 4000  # so long that some heads are local, and drop tokens


def shifted(coefficients, size=0.5, seed=0, **changes):
    rows = np.tile(np.array(coefficients, dtype=np.float32), (KV_HEADS, 1))
    return InMemory(PLAIN._replace(**(ALIBI | {"n_layers": 1} | changes)), size, seed, alpha=rows)


def measured(checkpoint):
    return layer_scopes(checkpoint, 0, settings(checkpoint, EPS, EPS, context=CONTEXT))


@pytest.mark.parametrize("coefficients", [(0.9, -0.8), (-0.4, 0.7), (0.3, 0.8), (0.0, 1.0)])
def test_scope_and_window_are_those_of_neighbours_and_never_beyond_those_of_the_range(coefficients):
    opposite, checkpoint = coefficients[0] * coefficients[1] < 0, shifted(coefficients)
    for head in measured(checkpoint):
        wide = head.slope, head.logit_range, EPS
        scope, window = alibi.scope(*wide), alibi.window_for_mass(*wide)
        dropped = alibi.dropped_mass_bound(head.budget, head.slope, head.logit_range, CONTEXT)
        assert head.scope <= scope and head.mass_window <= window and head.dropped_mass <= dropped
        assert (head.scope < 0.8 * scope) == (head.mass_window < 0.8 * window) == opposite
        query, key = (checkpoint.weights[0][role][at] for role, at in (("query", head.head), ("key", head.kv_head)))
        raw = alibi.logit_range(query, key, checkpoint.small(0).gamma)  # with 1 / sqrt(d_head), the checkpoint's scale
        mixed = head.slope, raw, *coefficients
        assert head.rule is Rule.NEIGHBOURS and head.scope == pytest.approx(min(scope, shifted_scope(*mixed, EPS)))
        assert head.mass_window == pytest.approx(shifted_window(*mixed, EPS))
        assert head.dropped_mass == pytest.approx(shifted_dropped_mass(head.budget, *mixed, CONTEXT))


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
    pages = [text(c, [measured(c)], settings(c, EPS, EPS, context=CONTEXT), part=True) for c in (mixed, plain)]
    assert "4 scopes: from the range D of raw keys and two coefficients" in pages[0]
    assert "scopes: from" not in pages[1]
