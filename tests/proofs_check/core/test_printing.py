"""What is printed is what is stated: a reader finds the trees again in the words, and no two mutants read alike."""

import xml.etree.ElementTree as ET
from importlib import import_module
from statistics import median

import pytest
from latex2mathml.converter import convert

from proofs_check.core import printing
from proofs_check.core.mutants import mutants
from proofs_check.core.statement import Statement
from tests.proofs_check.core import random_statements, reading

STATEMENTS = {name: made for paper in ("kv", "razor", "resformer", "waiver")
              for name, made in import_module(f"proofs_check.{paper}.formal").FORMAL.items()}  # fmt: skip
RANDOM = range(120)


def reread(made):
    """The statement and the definitions that it calls, as its print says them, and as they are."""
    said, known, bodies = reading.of_print(printing.sentence(made), printing.definitions(made))
    definitions = {name: d for name, d in made.definitions if name in known}
    stated = reading.of_statement(made), {name: d.parameters for name, d in definitions.items()}
    return (said, known, bodies), (*stated, {name: reading.canonical(d.body) for name, d in definitions.items()})


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_reader_finds_every_statement_again_in_its_print(name):
    found, wanted = reread(STATEMENTS[name])
    assert found == wanted


def test_a_reader_finds_random_statements_of_every_form_again():
    for seed in RANDOM:
        found, wanted = reread(random_statements.statement(seed)[0])
        assert found == wanted, seed


def told_apart(made):
    """The statement without calls and its mutants: what says different things has different words, and other LaTeX."""
    plain = Statement(made.name, *made.plain)
    contents = [(reading.of_statement(other), other) for other in (plain, *(m.statement for m in mutants(made)))]
    wholes = {repr((sorted(said[0], key=repr), *said[1:])): other for said, other in contents}
    assert len(set(map(printing.sentence, wholes.values()))) == len(wholes) > 1, made.name
    conclusions = {repr(said[2]): other for said, other in contents}
    assert len(set(map(printing.formula, conclusions.values()))) == len(conclusions), made.name


def test_no_mutant_reads_like_its_statement():
    for seed in RANDOM[:30]:
        told_apart(random_statements.statement(seed)[0])


@pytest.mark.deep
@pytest.mark.parametrize("name", STATEMENTS)
def test_no_mutant_of_a_claim_reads_like_it(name):
    told_apart(STATEMENTS[name])


def test_prints_are_short():
    sentences = [len(printing.sentence(made)) for made in STATEMENTS.values()]
    lines = [len(line) for made in STATEMENTS.values() for line in printing.definitions(made)]
    assert median(sentences) <= 200
    assert max(sentences + lines) <= 600


def test_every_formula_is_latex_that_browsers_can_be_given():
    for made in STATEMENTS.values():
        shown = "".join(ET.fromstring(convert(printing.formula(made))).itertext())
        assert shown.strip() and "\\" not in shown, made.name
