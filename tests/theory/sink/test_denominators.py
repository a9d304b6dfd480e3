"""Plus one, sink logits, zero tokens and gates: which are equal, and the witnesses where they are not."""


import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import SEEDS, head, refuses, softmax
from theory.sink import (
    gate_witness,
    gated_output,
    level_witness,
    matching_sink_logit,
    sink_gate,
    sink_output,
    sink_softmax,
    softmax_plus_one,
    zero_token_output,
)

KEYS = st.integers(1, 6)
LOGITS = st.floats(-8, 8)


def read(weights, values):
    return (weights[..., None] * values).sum(-2)


@given(SEEDS, KEYS)
def test_plus_one_a_sink_logit_of_zero_and_a_zero_token_are_one_thing(seed, keys):
    x, v = head(seed, keys, batch=(3,))
    by_hand = np.exp(x) / (1 + np.exp(x).sum(-1, keepdims=True))
    assert softmax_plus_one(x) == approx(by_hand, abs=1e-14)
    assert sink_softmax(x, 0.0) == approx(by_hand, abs=1e-14)
    assert sink_output(x, v, 0.0) == approx(read(by_hand, v), abs=1e-13)
    assert zero_token_output(x, v) == approx(read(by_hand, v), abs=1e-13)


@given(SEEDS, KEYS, LOGITS)
def test_a_sink_logit_is_dropped_from_the_usual_softmax(seed, keys, s):
    x, v = head(seed, keys, batch=(3,))
    more = softmax(np.concatenate([x, np.full((3, 1), s)], -1))
    assert sink_softmax(x, s) == approx(more[:, :-1], abs=1e-13)
    assert sink_gate(x, s) == approx(1 - more[:, -1], abs=1e-13)
    assert sink_output(x, v, s) == approx(read(more[:, :-1], v), abs=1e-12)
    # and it is plus one at lower logits
    assert sink_softmax(x, s) == approx(softmax_plus_one(x - s), abs=1e-13)


@given(SEEDS, KEYS, st.floats(0.01, 0.99))
def test_every_gate_is_a_sink_logit_that_depends_on_the_logits(seed, keys, gate):
    (x, v), gates = head(seed, keys, batch=(4,)), gate / np.arange(1, 5)
    s = matching_sink_logit(x, gates)
    assert sink_gate(x, s) == approx(gates, abs=1e-12)
    assert sink_output(x, v, s) == approx(gated_output(x, v, gates), abs=1e-12)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_gate_witness_has_outputs_that_no_sink_has(gate, other):
    found = gate_witness(gate, other)
    assert found.outputs[:, 0] == approx([gate, other], abs=1e-15)
    for s in found.sink_logits:
        outputs = sink_output(found.logits, found.values, s)
        assert outputs[0] == outputs[1]
    needed = [float(sink_output(x, v, s)[0]) for x, v, s in zip(*found[:2], found.sink_logits, strict=True)]
    assert needed == approx([gate, other], abs=1e-12)


@given(st.floats(0.01, 100))
def test_level_witness_is_a_sink_whose_gates_differ(odds):
    found = level_witness(odds)
    assert sink_output(found.logits, found.values, found.sink_logits) == approx(found.outputs, abs=1e-14)
    assert found.outputs[:, 0] == approx([0.5, odds / (1 + odds)], abs=1e-14)
    fixed = gated_output(found.logits, found.values, 0.5)
    assert fixed[0] == fixed[1]


def test_large_logits_do_not_overflow():
    x = np.array([1e4, -1e4])
    assert np.array_equal(softmax_plus_one(x), [1.0, 0.0])
    assert np.array_equal(sink_softmax(-np.abs(x), 1e4), [0.0, 0.0])
    assert sink_softmax(-np.abs(x), -1e4) == approx([1 / 3, 1 / 3])


def test_rows_that_do_not_broadcast_are_named():
    x, v = np.ones((4, 1, 2)), np.ones((1, 5, 2, 3))
    for call, name in ((sink_softmax, "sink_logit"), (matching_sink_logit, "gate")):
        refuses(lambda call=call: call(x, [[0.5]] * 3), f"do not broadcast: logits (4, 1), {name} (3, 1)")
    for call, name in ((sink_output, "sink_logit"), (gated_output, "gate")):
        told = f"do not broadcast: logits (4, 1), values (1, 5), {name} (3,)"
        refuses(lambda call=call: call(x, v, [0.5] * 3), told)
        assert call(x, v[0, 0], np.full((7, 1, 5), 0.5)).shape == (7, 4, 5, 3)
    assert zero_token_output(np.ones((4, 5, 2)), v[0, 0]).shape == (4, 5, 3)
