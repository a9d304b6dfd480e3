"""The declaration of families: what it needs to be read, and that each that runs is tested."""

import subprocess
import sys

from dynamics.weights.families import FAMILIES, READ, RUN
from tests.dynamics.hf import models


def test_neither_torch_nor_transformers_is_imported_to_know_the_families():
    told = "import sys, dynamics.weights.families; print({'torch', 'transformers'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_each_family_that_runs_has_a_model_in_the_tests_and_is_declared_as_it_is_built():
    assert set(RUN) == {*models.FAMILIES, *models.MEASURED} and set(READ) | set(RUN) == set(FAMILIES)
    for name in RUN:
        family, model = FAMILIES[name], models.model(name)
        assert len(model.base_model.get_submodule(family.blocks)) == model.config.num_hidden_layers
        assert hasattr(model, family.head)
        attention = [m for m in model.modules() if type(m).__name__ == family.attention]
        assert all(family.sinks is None or hasattr(m, family.sinks) for m in attention)
        assert family.causal == all(getattr(m, "is_causal", True) for m in attention)
