"""Numbers of parameters as the records write them, against the functions of theory."""

from fractions import Fraction

import pytest

from proofs_check.core.calls import unfold
from proofs_check.core.enclose import Evaluator
from proofs_check.kv.tables import sizes
from proofs_check.kv.tables.models import models, of
from proofs_check.language import call
from theory.shift import parameters

KNOWN, SMALL = dict(models(of("total") > 0).definitions), dict(sizes.twice(8).definitions)


def value(name, *at, known=KNOWN):
    return Evaluator({}).value(unfold(call(name, *at), known))


@pytest.mark.parametrize("model", range(1, 6))
def test_parameters_of_the_models_of_table_16(model):
    shape = parameters.Shape(**{name: int(value(name, model)) for name in parameters.Shape._fields if name != "vocab"},
                             vocab=int(value("vocabulary", model)))  # fmt: skip
    assert value("non_embedding", model) == parameters.non_embedding_parameters(shape)
    assert value("total", model) == parameters.untied_parameters(shape)


@pytest.mark.parametrize("hidden", [8, 768, 1024])
def test_parameters_of_the_small_models(hidden):
    ffn = Fraction(8 * hidden, 3)
    for layers, heads in ((1, 1), (2, 4), (12, 2)):
        shape = parameters.Shape(hidden, layers, heads, heads, ffn, 8000)
        assert value("llama", hidden, layers, known=SMALL) == parameters.non_embedding_parameters(shape)
        one = shape._replace(layers=1)
        plain, shift = parameters.untied_parameters(one), parameters.shift_parameters(one)
        assert value("vanilla", hidden, known=SMALL) == plain
        assert value("shifted", hidden, heads, known=SMALL) == plain + shift


def test_width_of_llamas_own_ffn():
    assert parameters.llama_ffn(1024) == sizes.FFN.values[0]
