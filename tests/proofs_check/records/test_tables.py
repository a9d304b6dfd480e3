"""Cells as terms: which cell an index takes, what a cell says, and what a rounded cell may stand for."""

from fractions import Fraction

import pytest

from proofs_check.core.enclose import Evaluator
from proofs_check.core.terms import lift
from proofs_check.language import eq, var, whole
from proofs_check.records import tables
from proofs_check.records.tables import count, number, numbers, pick, rounds


@pytest.mark.parametrize(
    ("value", "to", "digits", "said"),
    [("2.5", 2, 0, True), ("2.5", 3, 0, True), ("2.51", 2, 0, False), ("1.49", 2, 0, False), ("-2.5", -3, 0, True),
     ("0.125", "0.12", 2, True), ("0.125", "0.13", 2, True), ("0.126", "0.12", 2, False), ("0.06", "0.1", 1, True),
     ("0.15", 0, 1, False)],
)  # fmt: skip
def test_rounded_number_is_half_a_unit_away_at_most(value, to, digits, said):
    assert Evaluator({}).truth(rounds(lift(Fraction(value)), Fraction(to), digits)) is said


def test_index_takes_its_cell_counted_from_one():
    cells = [Fraction(n) for n in (7, 11, 13)]
    for place, wanted in ((1, 7), (2, 11), (3, 13), (4, 13), (0, 13)):
        assert Evaluator({"i": Fraction(place)}).value(pick(var("i"), cells)) == wanted


def test_count_goes_through_every_pair():
    i, j = whole("i", 1, 3), whole("j", 1, 4)
    assert Evaluator({}).value(count(eq(i, j), i, j)) == 3
    assert Evaluator({}).value(count(i + j >= 3, i, j)) == 11


@pytest.mark.parametrize(
    ("cell", "first", "all_of_them"),
    [("1,024 MB", 1024, [1024]), ("-0.5 (2.25)", Fraction(-1, 2), [Fraction(-1, 2), Fraction(9, 4)]), ("OOM", None, []),
     ("", None, []), ("97.8 / 100%", Fraction(489, 5), [Fraction(489, 5), 100])],
)  # fmt: skip
def test_number_that_a_cell_begins_with(cell, first, all_of_them):
    assert (number(cell), numbers(cell)) == (first, all_of_them)


def test_cell_without_a_number_stands_for_what_the_table_says(monkeypatch):
    printed = [["name", "a", "b"], ["x", "1", "OOM"], ["y", "2", {"cell": "3"}]]
    monkeypatch.setattr(tables, "_tables", lambda: {"mine: Table 1": printed})
    found = tables.Table("mine: Table 1").grid("c", blank=9).definition.body
    values = [Evaluator({"i": Fraction(i), "j": Fraction(j)}).value(found) for i in (1, 2) for j in (1, 2)]
    assert values == [1, 9, 2, 3]
