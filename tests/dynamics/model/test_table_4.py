"""The parameters of ResFormer's Table 4, counted in the modules themselves, and of the other models at its sizes."""

import pytest

from dynamics.model import sizes
from dynamics.model.config import Dense, ModelConfig, Neutreno, Own, Residual, Shared
from proofs_check.records.tables import Table, number
from theory.value_residual import TABLE_4, model_parameters, svformer_saving

# ResFormer, Table 4, row "Model Size" and the exact counts of the sizes printed there.
COUNTS = {"2M": 1_623_856, "82M": 81_901_056, "180M": 179_874_048, "468M": 467_921_920}
PRINTED = {"layers": "Layers", "heads": "Attention Heads", "hidden": "Hidden Dimension", "ffn": "FFN Dimension"}


@pytest.mark.parametrize("name", PRINTED)
def test_the_sizes_are_those_that_are_printed(name):
    cells = Table("resformer: Table 4").cells(PRINTED[name])
    assert [getattr(shape, name) for shape in TABLE_4.values()] == list(map(number, cells))


def parameters(size, values, **more):
    """Parameters of a model of a size of Table 4, without memory for any of them."""
    shape = TABLE_4[size]
    config = ModelConfig.checked(
        {"vocab": shape.vocab, "width": shape.hidden, "n_heads": shape.heads, "n_layers": shape.layers}
        | {"mlp_width": shape.ffn, "shift": "none", "tied": False, "values": values.model_dump()}
        | more
    )
    return sizes.parameters(config)


@pytest.mark.parametrize("size", COUNTS)
def test_the_modules_have_the_parameters_of_table_4(size):
    shape, count = TABLE_4[size], COUNTS[size]
    assert parameters(size, Own()) == model_parameters(shape.layers, shape.hidden, shape.ffn) == count
    assert shape.hidden // shape.heads == (8 if size == "2M" else 64) and shape.heads == shape.kv_heads
    assert parameters(size, Residual()) == parameters(size, Neutreno()) == count
    assert parameters(size, Residual(learnt=True)) == count + 2 * (shape.layers - 1)
    assert parameters(size, Shared()) == count - svformer_saving(shape.layers, shape.hidden)
    assert parameters(size, Dense()) == count + shape.layers * (shape.layers + 3) // 2
    assert parameters(size, Own(), weights="sink") == count + shape.layers * shape.heads
    assert parameters(size, Own(), weights="gate") == count + shape.layers * shape.heads * shape.hidden
