"""The notation that statements are written in: variables with their domains, functions, sums, conclusions, definitions.

Nothing is decided here. Each function builds a tree of the core, which is what is printed, and what is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Definition, Form, Statement
from proofs_check.core.terms import FUNCTIONS, NAME, Malformed, Term, lift


def var(name: str) -> Term:
    if not isinstance(name, str) or not NAME.match(name) or name in FUNCTIONS:
        raise Malformed(f"{name!r} is no name of a variable")
    return Term("var", name)


def _end(value: Any) -> Term | None:
    return None if value is None else lift(value)


def real(name: str, low: Any = None, high: Any = None, *, open: bool | str = False) -> Variable:
    """A real number from low to high (None: no end); open: True, or "low" or "high" for one open end."""
    if open not in (True, False, "low", "high"):
        raise Malformed(f"open= says which ends of {name} are left out: True, False, 'low' or 'high', got {open!r}")
    return Variable(name, _end(low), _end(high), open in (True, "low"), open in (True, "high"))


def positive(name: str) -> Variable:
    return real(name, 0, open="low")


def whole(name: str, low: Any = None, high: Any = None) -> Variable:
    """A whole number; it may be the size of a sequence and a bound of a sum."""
    return Variable(name, _end(low), _end(high), whole=True)


def choice(name: str, *values: Any) -> Variable:
    """One of finitely many numbers."""
    if not values:
        raise Malformed(f"{name} is a choice among nothing")
    numbers = tuple(lift(value).parts[0] for value in values)
    return Variable(name, whole=all(n.denominator == 1 for n in numbers), values=numbers)


def sequence(name: str, sizes: Any, low: Any = None, high: Any = None, *, open: bool | str = False) -> Variable:
    """Numbers x[1], .., x[size] between low and high; with several sizes x[i, j], .."""
    lengths = sizes if isinstance(sizes, tuple) else (sizes,)
    return replace(real(name, low, high, open=open), sizes=tuple(map(lift, lengths)))


def ball(name: str, size: Any, radius: Any) -> Variable:
    """A vector with sum of squares at most radius^2."""
    return Variable(name, sizes=(lift(size),), radius=lift(radius))


def iff(one: Term, other: Term) -> Term:
    return Term("iff", one, other)


def when(condition: Term, then: Any, otherwise: Any) -> Term:
    return Term("if", condition, lift(then), lift(otherwise))


def largest(*values: Any) -> Term:
    return Term("max", *map(lift, values))


def least(*values: Any) -> Term:
    return Term("min", *map(lift, values))


def fold(operation: str, index: Any, low: Any, high: Any, body: Any) -> Term:
    return Term("fold", operation, lift(index).parts[0], lift(low), lift(high), lift(body))


def total(index: Any, low: Any, high: Any, body: Any) -> Term:
    """The sum of body over the whole numbers low..high; 0 where high < low."""
    return fold("sum", index, low, high, body)


def each(index: Any, body: Any) -> Term:
    """The sequence whose item number index is body: an argument of a call."""
    return Term("each", lift(index).parts[0], lift(body))


def statement(
    name: str, *, for_all: Sequence[Variable], says: Any, given: Sequence[Term] = (),
    using: Sequence[tuple[str, Definition]] = (),
) -> Statement:  # fmt: skip
    """State that for all variables, if all of `given`, then `says`. `using`: the definitions it calls, in order."""
    ranked = tuple((n, replace(d, rank=k)) for k, (n, d) in enumerate(using))
    return Statement(name, tuple(for_all), tuple(given), says, ranked)


def define(name: str, parameters: Sequence[Any], body: Any) -> tuple[str, Definition]:
    """A definition with parameters, numbers or sequences (variables without domains)."""
    names = tuple(p.name if isinstance(p, Variable) else lift(p).parts[0] for p in parameters)
    return name, Definition(names, lift(body), 0)


def supremum(
    value: Any, bound: Any, at: Mapping[Any, Any], step: Any = None, rate: Any = None, *, attained: bool = True
) -> Form:
    terms = (lift(value), lift(bound)) if rate is None else (lift(value), lift(bound), lift(rate))
    return Form("supremum", terms, _pairs(at), "" if step is None else lift(step).parts[0], not attained)


def limit(value: Any, target: Any, step: Any, rate: Any) -> Form:
    return Form("limit", (lift(value), lift(target), lift(rate)), (), lift(step).parts[0])


def exists(at: Mapping[Any, Any], says: Term) -> Form:
    return Form("witness", (says,), _pairs(at))


def unique_minimiser(value: Any, at: Mapping[Any, Any]) -> Form:
    return Form("minimiser", (lift(value),), _pairs(at))


def unique_zero(equations: Sequence[Any], box: Mapping[str, tuple[Any, Any]]) -> Form:
    sides = tuple((name, lift(low), lift(high)) for name, (low, high) in box.items())
    return Form("zero", tuple(map(lift, equations)), (), "", False, sides)


def _pairs(at: Mapping[Any, Any]) -> tuple[tuple[str, Term], ...]:
    return tuple((name if isinstance(name, str) else lift(name).parts[0], lift(value)) for name, value in at.items())
