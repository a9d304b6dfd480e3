"""The language of a file of claims: import from here, call `statement`, run `verify --claims FILE.py`.

    from proofs_check.language import exp, positive, real, statement

    D, eps = positive("D"), real("eps", 0, 1, open=True)
    statement("mine.form", for_all=[D, eps], says=eps / (1 + eps * (1 - exp(-D))) < eps)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proofs_check.core import statement as _core
from proofs_check.core.domain import Variable, ball, choice, positive, real, sequence, whole
from proofs_check.core.statement import (
    Definition,
    Statement,
    define,
    exists,
    limit,
    supremum,
    unique_minimiser,
    unique_zero,
)
from proofs_check.core.terms import (
    PI,
    Term,
    absolute,
    atan,
    both,
    cos,
    each,
    either,
    eq,
    exp,
    fold,
    iff,
    implies,
    largest,
    least,
    lift,
    log,
    ne,
    sin,
    sqrt,
    tanh,
    total,
    var,
    when,
)

STATED: list[Statement] = []


def statement(
    name: str, *, for_all: Sequence[Variable], says: Any, given: Sequence[Term] = (),
    using: Sequence[tuple[str, Definition]] = (),
) -> Statement:  # fmt: skip
    """State that for all variables, if all of `given`, then `says`; the statement is decided when the file has run."""
    made = _core.statement(name, for_all=for_all, says=says, given=given, using=using)
    STATED.append(made)
    return made


def call(name: str, *arguments: Any) -> Term:
    """A call of a definition made with `define` and listed in `using`."""
    return Term("call", name, *map(lift, arguments))


__all__ = [
    "PI", "absolute", "atan", "ball", "both", "call", "choice", "cos", "define", "each", "either", "eq", "exists",
    "exp", "fold", "iff", "implies", "largest", "least", "limit", "log", "ne", "positive", "real", "sequence", "sin",
    "sqrt", "statement", "supremum", "tanh", "total", "unique_minimiser", "unique_zero", "var", "when", "whole",
]  # fmt: skip
