"""Cache and parameters against what is counted, array by array."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from theory.value_residual import model_parameters, svformer_cache, svformer_saving

SMALL = st.integers(1, 6)


@given(SMALL, SMALL, SMALL, SMALL, SMALL, st.data())
def test_the_share_is_that_of_the_vectors_counted_layer_by_layer(layers, groups, group, d_key, d_value, data):
    anchors, heads = data.draw(st.integers(1, layers)), groups * group
    kept = sum(groups * (d_key + d_value * (layer < anchors)) for layer in range(layers))
    whole = sum(heads * (d_key + d_value) for _ in range(layers))
    found = svformer_cache(layers, heads, groups, anchors, d_key, d_value)
    assert isinstance(found, Fraction) and found == Fraction(kept, whole)


def arrays(layers, hidden, ffn, vocab, values):
    """Sizes of all matrices and gains of a Llama-like model; `values` of its layers have a W_V."""
    block = [(hidden, hidden)] * 3 + [(hidden, ffn)] * 3 + [(hidden,)] * 2  # W_Q, W_K, W_O; gate, up, down; two norms
    sizes = [(vocab, hidden)] * 2 + [(hidden,)] + block * layers + [(hidden, hidden)] * values
    return sum(int(np.prod(size)) for size in sizes)


@given(SMALL, SMALL, SMALL, SMALL)
def test_parameters_are_those_counted_array_by_array(layers, hidden, ffn, vocab):
    full = arrays(layers, hidden, ffn, vocab, layers)
    assert model_parameters(layers, hidden, ffn, vocab) == full
    assert full - svformer_saving(layers, hidden) == arrays(layers, hidden, ffn, vocab, 1)
