"""The language of a file of claims: import from here, call `statement`, run `verify --claims FILE.py`.

    from proofs_check.language import exp, positive, real, statement

    D, eps = positive("D"), real("eps", 0, 1, open=True)
    statement("mine.form", for_all=[D, eps], says=eps / (1 + eps * (1 - exp(-D))) < eps)
"""

from __future__ import annotations

from typing import Any

from proofs_check.core.terms import (
    PI,
    Term,
    absolute,
    atan,
    both,
    cos,
    either,
    eq,
    exp,
    implies,
    lift,
    log,
    ne,
    sin,
    sqrt,
    tanh,
)
from proofs_check.language.notation import (
    ball,
    choice,
    define,
    each,
    exists,
    fold,
    iff,
    largest,
    least,
    limit,
    positive,
    real,
    sequence,
    statement,
    supremum,
    total,
    unique_minimiser,
    unique_zero,
    var,
    when,
    whole,
)


def call(name: str, *arguments: Any) -> Term:
    """A call of a definition made with `define` and listed in `using`."""
    return Term("call", name, *map(lift, arguments))


__all__ = [
    "PI", "absolute", "atan", "ball", "both", "call", "choice", "cos", "define", "each", "either", "eq", "exists",
    "exp", "fold", "iff", "implies", "largest", "least", "limit", "log", "ne", "positive", "real", "sequence", "sin",
    "sqrt", "statement", "supremum", "tanh", "total", "unique_minimiser", "unique_zero", "var", "when", "whole",
]  # fmt: skip
