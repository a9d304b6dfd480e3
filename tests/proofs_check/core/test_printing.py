"""What is printed is what is stated: a reader finds the trees again in the words, and no two mutants read alike."""

from fractions import Fraction
from importlib import import_module
from statistics import median

import pytest

from proofs_check.core import printing
from proofs_check.core.mutants import mutants
from proofs_check.core.statement import Statement
from proofs_check.core.terms import FORMULAS, Term
from proofs_check.language import absolute, both, each, eq, exp, fold, ne, total, var, when
from tests.proofs_check.core import random_statements, reading
from tests.proofs_check.core.canonical import canonical, of_statement

STATEMENTS = {
    name: made
    for paper in ("kv", "razor", "resformer", "waiver")
    for name, made in import_module(f"proofs_check.{paper}.formal").FORMAL.items()
}
RANDOM = range(120)


x, y, n, i, j, f = map(var, "xynijf")
AFTER = ((1, 2), (2, 3), (3, 1), (3, 2))
# What a slip of the printer would make another tree of, or hard to read.
WORDS = {
    "abs(x |y|) < |x|": absolute(x * absolute(y)) < absolute(x),
    "exp(-x y)/(-2) - 3 x": exp(-x * y) / -2 - 3 * x,
    "(x sum[i = 1..n] y i) (-x) - 2 sum[i = 1..n] i": x * total(i, 1, n, y * i) * -x - 2 * total(i, 1, n, i),
    "sum[i = 1..n, j = 1..i] max[n = 1..2] f[i, j]": total(i, 1, n, total(j, 1, i, fold("max", n, 1, 2, f[i, j]))),
    "#{i = 1..n: f[i] = 0 <= x}": total(i, 1, n, when(both(eq(f[i], 0), x >= 0), 1, 0)),
    "#{i = 1..n: f[i] != 0} (x/y)^2 * 0.05": total(i, 1, n, when(ne(f[i], 0), 1, 0)) * (x / y) ** 2 * Fraction(1, 20),
    "f(x[1, .], i -> x[i, i], i -> i[i])": Term("call", "f", each(i, x[1, i]), each(i, x[i, i]), each(i, i[i])),
    "f((1, x, then 0), i -> (1 if i = 0, 2 if i = 1, else 0))": Term(
        "call", "f", each(j, when(eq(j, 1), 1, when(eq(j, 2), x, 0))), each(i, when(eq(i, 0), 1, when(eq(i, 1), 2, 0)))
    ),
    "(1, x, then 0)[x] != y": ne(when(eq(x, 1), 1, when(eq(x, 2), x, 0)), y),
    "all[ij = 12 23 31 32] f[i] x <= f[j]": both(*(f[a] * x <= f[b] for a, b in AFTER)),
    "(all[ij = 12 23 31 32] f[i] x <= f[j]) and x < y": both(*(f[a] * x <= f[b] for a, b in AFTER), x < y),
}


def reread(made):
    """The statement and the definitions that it calls, as its print says them, and as they are."""
    said, known, bodies = reading.of_print(printing.sentence(made), printing.definitions(made))
    definitions = {name: d for name, d in made.definitions if name in known}
    stated = of_statement(made), {name: d.parameters for name, d in definitions.items()}
    return (said, known, bodies), (*stated, {name: canonical(d.body) for name, d in definitions.items()})


@pytest.mark.parametrize("words", WORDS)
def test_a_tree_has_these_words_and_they_are_read_as_it(words):
    tree = WORDS[words]
    assert printing.text(tree) == words
    reader = reading.Reader(words, {})
    found = reader.whole(reader.formula if tree.kind in FORMULAS else reader.sum)
    assert canonical(found) == canonical(tree)
    strict = {printing.latex(Term("rel", relation, x, y)) for relation in ("<", "<=", "=", "!=")}
    assert len(strict) == 4


@pytest.mark.parametrize(
    "step",
    [
        lambda t: when(x < 1, t, 0),
        lambda t: Term("call", "f", t),
        lambda t: Term("max", t, x),
        lambda t: (t + 1) * 2,
        lambda t: total(i, 1, 2, 1 / exp(t)),
        lambda t: when(both(x < t, x < 2), 1, 2),
        lambda t: Term("call", "f", each(i, t)),
    ],
)
def test_a_tree_as_deep_as_any_may_be_is_printed(step):
    tree = x
    while tree.depth < 190:
        tree = step(tree)
    assert len(printing.text(tree)) > 300 and printing.latex(tree)


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
    contents = [(of_statement(other), other) for other in (plain, *(m.statement for m in mutants(made)))]
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
