"""The order-1/d terms of the loss: exact derivatives, long sentences, the domain, the public name."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from proofs_check.oracles.width import gradient_in_gram, gram_loss
from tests.theory.cases import refuses
from theory.landscape.width import finite_width, width_terms

PARAMETER = st.floats(-2, 2)
SENTENCE = st.integers(2, 6).flatmap(lambda t: st.tuples(st.just(t), st.integers(1, t)))


@given(sentence=SENTENCE, parameters=st.tuples(PARAMETER, PARAMETER, PARAMETER, PARAMETER))
def test_finite_width_equals_finite_differences(sentence, parameters):
    tokens, position = sentence
    found = finite_width(*([1.0, parameter] for parameter in parameters), [tokens + 1, tokens], position)
    units, step = np.eye(tokens), 1e-4
    curvature = 0.0
    for j in range(tokens):
        for k in range(j, tokens):
            move = np.zeros((tokens, tokens))
            move[j, k] = move[k, j] = step
            low, middle, high = gram_loss(parameters, position, np.stack([units - move, units, units + move]))
            curvature += (1.0 if j == k else 0.5) * (low - 2 * middle + high) / step**2
    slope = gradient_in_gram(parameters, position, tokens)
    assert found.mean_shift[1] == approx(curvature, rel=1e-5, abs=2e-5)
    assert found.variance[1] == approx((slope**2).sum() / 2, rel=1e-7, abs=1e-9)


def test_a_length_without_the_position_is_refused():
    refuses(lambda: finite_width(0, 1, 1, 0, 3, None), "n_tokens must be a whole number >= 4, got 3")
    refuses(lambda: finite_width(0, 0, 0, 0, [4, 9], 5), "position must be")


def exact_softmax(values):
    """For arrays of mpf: the kernels then run in mpmath's digits."""
    powers = np.vectorize(lambda x: mp.exp(x), otypes=[object])(values - np.max(values, axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("point", "tokens", "position"),
    [
        ((0.3, 0.7, 60.0, 0.4), 5, 2),  # the target's share is 1 - 1e-9
        ((0.0, 40.0, 30.0, 0.0), 6, 3),  # so is the attention to its key
        ((-11.8, 89.7, 66.0, 0.95), 6, 3),
        ((0.0, -23.6, 21.7, 645.7), 2, 1),
        ((1.1e-5, -19.5, -48.8, 19.8), 2, 1),
    ],
)
def test_finite_width_keeps_its_digits_where_a_head_is_all_but_certain(point, tokens, position):
    with mp.workdps(400):
        parameters = [np.array(mp.mpf(x), dtype=object) for x in point]
        shift, variance = (float(x.item()) for x in width_terms(parameters, tokens, position, exact_softmax))
    found = finite_width(*point, tokens, position)
    assert float(found.mean_shift) == approx(shift, rel=1e-9, abs=0)
    assert float(found.variance) == approx(variance, rel=1e-9, abs=0)


def test_finite_width_takes_sizes_whose_products_just_do_not_overflow():
    assert np.isfinite(finite_width(0, 0, 1e75, 0, 6, 3)).all()
