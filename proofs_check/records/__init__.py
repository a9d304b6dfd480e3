"""Records: what a paper prints, how it is read, what is meant instead. Verdict, severity and words are computed."""

from proofs_check.ledger.readings import READINGS
from proofs_check.ledger.rule import Rule, no_choice, parted, rule, states
from proofs_check.records.quoted import quoted
from proofs_check.records.runs import runs
from proofs_check.records.tables import Table, column, constant, count, derived, every, grid, numbers, one, rounds

__all__ = [
    "READINGS",
    "Rule",
    "Table",
    "column",
    "constant",
    "count",
    "derived",
    "every",
    "grid",
    "no_choice",
    "numbers",
    "one",
    "parted",
    "quoted",
    "rounds",
    "rule",
    "runs",
    "states",
]  # fmt: skip
