"""Cross-layer attention against sums over places, and the constant that bounds what its average loses."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from pytest import approx

from tests.theory.cases import SEEDS, refuses
from tests.theory.value_residual.draws import close, generator
from theory.value_residual import (
    attention_weights,
    averaged_attention,
    cross_layer_attention,
    cross_layer_gap_bound,
    difference_range,
    own_mass,
    worst_head,
)

MASKS = st.sampled_from(["none", "causal"])


def head(seed, length=5, dim=3, lead=()):
    rng = generator(seed)
    scale = rng.uniform(0.1, 6.0)
    logits = scale * rng.standard_normal((2, *lead, length, length))
    values = rng.standard_normal((2, *lead, length, dim))
    return logits[0], logits[1], values[0], values[1]


def by_places(own, other, values, other_values, mask):
    """Eq. 2 as a sum over the places that each query sees, term by term."""
    found = np.zeros((own.shape[0], values.shape[1]))
    for i in range(len(own)):
        last = i + 1 if mask == "causal" else own.shape[1]
        terms = [(np.exp(own[i, j]), values[j]) for j in range(last)]
        terms += [(np.exp(other[i, j]), other_values[j]) for j in range(last)]
        found[i] = sum(w * v for w, v in terms) / sum(w for w, _ in terms)
    return found


@given(SEEDS, MASKS)
def test_two_blocks_are_one_softmax_over_all_places(seed, mask):
    parts = head(seed, lead=(2,))
    found = cross_layer_attention(*parts, mask)
    for k in range(2):
        assert close(found[k], by_places(*(part[k] for part in parts), mask), 1e-13)


@given(SEEDS, MASKS)
def test_the_mass_of_the_own_block_splits_the_output(seed, mask):
    logits, other, values, other_values = head(seed, lead=(2, 3))
    share = own_mass(logits, other, mask)[..., None]
    inside = attention_weights(logits, mask) @ values
    outside = attention_weights(other, mask) @ other_values
    found = cross_layer_attention(logits, other, values, other_values, mask)
    assert close(found, share * inside + (1 - share) * outside, 1e-13)
    repeated = cross_layer_attention(logits, logits, values, other_values, mask)
    assert close(averaged_attention(logits, values, other_values, mask), repeated, 1e-13)


@given(st.floats(1e-6, 700))
@example(1e-9)
def test_the_worst_head_reaches_the_bound(rho):
    worst = worst_head(rho)
    assert float(difference_range(*worst[:2])[0]) == approx(rho, rel=1e-9)
    gap = cross_layer_attention(*worst) - averaged_attention(worst.logits, *worst[2:])
    assert float(gap[0, 0]) == approx(float(cross_layer_gap_bound(rho, 1.0)), rel=1e-12, abs=1e-15)


def test_numbers_alone_and_hidden_keys():
    logits, other = [[0.0, 5.0], [1.0, 2.0]], [[1.0, -9.0], [3.0, 2.0]]
    assert difference_range(logits, other, "causal").tolist() == [1.0, 2.0]
    assert difference_range([logits] * 2, [other] * 2).tolist() == [[15.0, 2.0]] * 2
    assert attention_weights(logits, "causal")[0].tolist() == [1.0, 0.0]


def test_batches_that_do_not_agree_are_refused():
    v, s = [[1.0], [2.0]], [[0.0, 1.0], [2.0, 3.0]]
    refuses(lambda: averaged_attention([s, s], [v, v, v], [v, v, v]), "must agree: got (2, 2, 2) and (3, 2, 1)")
