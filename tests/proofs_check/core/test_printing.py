"""What is printed is what is stated: a reader finds the trees again from the words, and no two mutants read alike."""

from importlib import import_module

import pytest

from proofs_check.core import printing
from tests.proofs_check.core import reading

STATEMENTS = {name: made for paper in ("kv", "razor", "resformer", "waiver")
              for name, made in import_module(f"proofs_check.{paper}.formal").FORMAL.items()}  # fmt: skip


def reread(made):
    """The statement and the definitions that it calls, as its print says them, and as they are."""
    lines = printing.definitions(made)
    said, known, bodies = reading.of_print(printing.sentence(made), lines)
    definitions = {name: d for name, d in made.definitions if name in known}
    stated = reading.of_statement(made), {name: d.parameters for name, d in definitions.items()}
    return (said, known, bodies), (*stated, {name: reading.canonical(d.body) for name, d in definitions.items()})


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_reader_finds_every_statement_again_in_its_print(name):
    found, wanted = reread(STATEMENTS[name])
    assert found == wanted
