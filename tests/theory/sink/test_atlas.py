"""One more token, and a copy of the first one, against the softmax over all tokens; and each arrow of the atlas."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import SEEDS, head, refuses, softmax
from theory.sink import drained_copy_gate, first_copy_output, gated_output, merged_logit, sink_output, sink_token_output

KEYS = st.integers(1, 6)
LOGITS = st.floats(-8, 8)


def plain(x, v):
    return (softmax(x)[..., None] * v).sum(-2)


def longer(x, v, logit, value):
    """The plain head with one more token at its end."""
    logit, value = np.broadcast_to(logit, x.shape[:-1]), np.broadcast_to(value, (*x.shape[:-1], v.shape[-1]))
    return plain(np.concatenate([x, logit[..., None]], -1), np.concatenate([v, value[..., None, :]], -2))


@given(SEEDS, KEYS, LOGITS)
def test_a_sink_token_is_one_more_token_of_the_softmax(seed, keys, s):
    rng = np.random.default_rng(seed)
    (x, v), u = head(rng, keys, batch=(3,)), rng.normal(size=2)
    assert sink_token_output(x, v, s, u) == approx(longer(x, v, s, u), abs=1e-13)
    assert sink_token_output(x, v, s, [0, 0]) == approx(sink_output(x, v, s), abs=1e-13)


@given(SEEDS, KEYS, st.floats(-3, 3))
def test_a_copy_of_the_first_token_raises_its_logit(seed, keys, ratio):
    x, v = head(seed, keys, batch=(3,))
    found = first_copy_output(x, v, ratio)
    assert found == approx(longer(x, v, x[:, 0] + ratio, v[:, 0]), abs=1e-13)
    raised = x.copy()
    raised[:, 0] = merged_logit(x[:, 0], x[:, 0] + ratio)
    assert found == approx(plain(raised, v), abs=1e-13)


@given(SEEDS, KEYS, st.floats(-3, 3))
def test_a_copy_of_a_drained_first_token_is_a_gate_and_a_drained_token(seed, keys, ratio):
    x, v = head(seed, keys + 1)
    v[0] = 0
    gate = drained_copy_gate(softmax(x)[0], ratio)
    found = first_copy_output(x, v, ratio)
    assert found == approx(gated_output(x, v, gate), abs=1e-13)
    assert found == approx(sink_output(x, v, x[0] + ratio), abs=1e-13)
    assert drained_copy_gate(softmax(x)[0]) == drained_copy_gate(softmax(x)[0], 0.0)


def test_ends_of_the_range():
    x, v = np.array([1e4, -1e4]), np.array([[1.0], [3.0]])
    assert sink_token_output(x, v, 2e4, [5.0]) == approx([5])
    assert first_copy_output(-x, v, 5e4) == approx([1])
    assert drained_copy_gate([0, 1, 1, 1], [900, 900, -900, 0]) == approx([1, 0, 1, 0.5])
    assert merged_logit(1e4, -1e4) == 1e4 and merged_logit(2.0, 2.0) == approx(2 + np.log(2))


def test_the_atlas_refuses_in_one_line():
    x, v = np.ones((4, 2)), np.ones((4, 2, 3))
    refuses(lambda: sink_token_output(x, v, [0.0] * 3, np.ones(3)), "the shapes do not broadcast")
    refuses(lambda: first_copy_output(x, v, [0.0] * 3), "the shapes do not broadcast")
    assert sink_token_output(x, v, np.zeros((5, 1)), np.ones((4, 3))).shape == (5, 4, 3)
