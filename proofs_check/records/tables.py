"""Printed tables as terms: a cell is looked up by the numbers of its row and column, and keeps its printed value.

`tables.json` has the tables as `scripts.pages.transcribe` reads them from the papers' texts.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Definition, Statement
from proofs_check.core.terms import Term, absolute, eq, lift
from proofs_check.language import call, define, statement, total, var, when

FILE = Path(__file__).with_name("tables.json")
_NUMBER = re.compile(r"-?[\d,]*\.?\d+(e-?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """A definition that is called like a function: a number, a column of a table, or a whole table."""

    name: str
    definition: Definition

    def __call__(self, *indices: Any) -> Term:
        return call(self.name, *(indices or (1,)))  # a constant is a column of one number


class Table:
    """A table of a paper, as "razorattention: Table 1". Rows and columns have the names that are printed."""

    def __init__(self, name: str) -> None:
        self.header, *self.rows = [[_text(cell) for cell in row] for row in _tables()[name]]

    def column(self, name: str, title: str) -> Named:
        """The column of this title, from top to bottom, called `name`."""
        place = self.header.index(title)
        return column(name, [number(row[place]) for row in self.rows])

    def row(self, name: str, title: str) -> Named:
        """The row of this title, from left to right, called `name`."""
        return column(name, map(number, self.cells(title)))

    def cells(self, title: str) -> list[str]:
        """The row of this title as printed, without its title."""
        return next(row[1:] for row in self.rows if row[0] == title)

    def titles(self, name: str) -> Named:
        """The number in the title of each row."""
        return column(name, [numbers(row[0])[0] for row in self.rows])

    def said(self, name: str, *places: int) -> Named:
        """Numbers of a sentence or caption, in the order of these places (the first is 0)."""
        return column(name, [number(self.header[place]) for place in places])

    def grid(self, name: str, blank: Any = None, first: int = 1) -> Named:
        """All cells by row and column, from column `first` on; `blank` stands for a cell without a number."""
        return grid(name, [[blank if (n := number(cell)) is None else n for cell in row[first:]] for row in self.rows])

    def marks(self, name: str, text: str) -> Named:
        """1 where a cell is printed as this text, 0 elsewhere."""
        return grid(name, [[int(cell == text) for cell in row[1:]] for row in self.rows])


def number(cell: str | None) -> Fraction | None:
    """The number that a cell begins with, as printed, without its unit; None where there is none."""
    found = _NUMBER.match(cell or "")
    return None if found is None else Fraction(found[0].replace(",", ""))


def numbers(cell: str) -> list[Fraction]:
    """All the numbers in a cell."""
    return [Fraction(found[0].replace(",", "")) for found in _NUMBER.finditer(cell)]


def constant(name: str, value: Any) -> Named:
    """A single number: a column of one row, called `name()`."""
    return column(name, [value])


def column(name: str, cells: Iterable[Any]) -> Named:
    return Named(*define(name, [var("i")], pick(var("i"), list(cells))))


def grid(name: str, rows: Sequence[Sequence[Any]]) -> Named:
    j = var("j")
    return Named(*define(name, [var("i"), j], pick(var("i"), [pick(j, row) for row in rows])))


def derived(name: str, over: Sequence[Variable], value: Any) -> Named:
    """A number that is computed from others: row by row, cell by cell, or a single one, called `name()`."""
    return Named(*define(name, list(over) or [var("i")], value))


def pick(index: Any, values: Sequence[Any]) -> Term:
    """values[index], counted from 1; the last of them for any other index."""
    found = lift(values[-1])
    for place in range(len(values) - 1, 0, -1):
        found = when(eq(index, place), values[place - 1], found)
    return found


def count(condition: Any, *over: Variable) -> Term:
    """How many of the numbers `over`, each from its low to its high end, meet the condition."""
    found = when(condition, 1, 0)
    for v in reversed(over):
        found = total(v, v.low, v.high, found)
    return found


def rounds(value: Any, to: Any, digits: int = 0) -> Term:
    """Is the value `to` when it is rounded to so many digits after the point? Halfway both neighbours are right."""
    return absolute(value - to) <= Fraction(1, 2 * 10**digits)


def one(says: Any, *using: Named) -> Statement:
    """A statement about single numbers: `says` of the named ones."""
    return every((), says, *using)


def every(over: Sequence[Variable], says: Any, *using: Named, given: Sequence[Term] = ()) -> Statement:
    """A statement about every row, or cell: `says` for all numbers `over` that meet `given`."""
    return statement("", for_all=over, says=says, given=given, using=[(n.name, n.definition) for n in using])


def _text(cell: Any) -> str:
    """A cell as printed; where the text garbled it, as it was typed there. A lost one is empty."""
    return (cell["cell"] if isinstance(cell, dict) else cell) or ""


@cache
def _tables() -> Mapping[str, list[list[Any]]]:
    found: Mapping[str, list[list[Any]]] = json.loads(FILE.read_text("utf-8"))
    return found
