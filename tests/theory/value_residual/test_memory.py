"""Cache and parameters against what is counted, array by array; the four sizes of Table 4."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.cases import refuses
from theory.value_residual import TABLE_4, model_parameters, svformer_cache, svformer_saving

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


@pytest.mark.parametrize(
    ("name", "count", "percent"),
    [("2M", 1_623_856, 0.05), ("82M", 81_901_056, 2.24), ("180M", 179_874_048, 3.61), ("468M", 467_921_920, 5.15)],
)
def test_the_sizes_of_table_4_are_what_they_are_called(name, count, percent):
    shape = TABLE_4[name]
    assert model_parameters(shape.layers, shape.hidden, shape.ffn) == count
    assert round(count / 1e6) == int(name[:-1])
    saved = svformer_saving(shape.layers, shape.hidden)
    assert saved == (shape.layers - 1) * shape.hidden**2 and round(100 * saved / count, 2) == percent
    assert shape.hidden // shape.heads == (8 if name == "2M" else 64) and shape.heads == shape.kv_heads


def test_more_anchors_than_layers_are_refused():
    refuses(lambda: svformer_cache(4, anchors=5), "anchors must be a whole number in 1..4, got 5")
