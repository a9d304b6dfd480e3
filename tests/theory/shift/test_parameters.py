"""Parameter counts against published totals and against lists of matrices."""

import pytest

from theory.shift.parameters import (
    Shape,
    llama_ffn,
    non_embedding_parameters,
    shift_parameters,
    tied_parameters,
    untied_parameters,
)

LLAMA_7B = Shape(4096, 32, 32, 32, 11008, 32000)
LLAMA_13B = Shape(5120, 40, 40, 40, 13824, 32000)
LLAMA_3_8B = Shape(4096, 32, 32, 8, 14336, 128256)


@pytest.mark.parametrize(
    ("shape", "published"), [(LLAMA_7B, 6738415616), (LLAMA_13B, 13015864320), (LLAMA_3_8B, 8030261248)]
)
def test_untied_parameters_equal_the_published_totals(shape, published):
    assert untied_parameters(shape) == published


def listed(shape):
    head = shape.hidden // shape.heads
    square, narrow = (shape.hidden, shape.hidden), (shape.hidden, shape.kv_heads * head)
    wide = (shape.hidden, shape.ffn)
    layer = [square, narrow, narrow, square, wide, wide, wide, (1, shape.hidden), (1, shape.hidden)]
    return [*layer * shape.layers, (1, shape.hidden)]


@pytest.mark.parametrize("shape", [LLAMA_7B, LLAMA_3_8B, Shape(24, 3, 6, 2, 40, 11)])
def test_counts_equal_the_sum_over_listed_matrices(shape):
    body = sum(rows * columns for rows, columns in listed(shape))
    assert non_embedding_parameters(shape) == body
    assert tied_parameters(shape) == body + shape.vocab * shape.hidden


def test_shift_parameters_are_four_a_key_value_head():
    assert shift_parameters(Shape(24, 3, 6, 2, 40, 11)) == 4 * 2 * 3


def test_llama_ffn_equals_the_published_widths():
    assert [llama_ffn(h) for h in (4096, 5120)] == [11008, 13824]


def test_llama_ffn_refuses_an_empty_model():
    with pytest.raises(ValueError, match=">= 1"):
        llama_ffn(0)
