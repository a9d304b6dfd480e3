"""Values of terms at points and on boxes: exact fractions where they stay exact, else intervals rounded outward by Arb.

An interval is a pair of Arb numbers without radius. `Undefined` is raised only where the term certainly has no value
anywhere in the box, `Unknown` where nothing finite can be said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb, fmpq

from proofs_check.core.terms import Term, free, holds, negation
from proofs_check.core.work import spend

Interval = tuple[arb, arb]
Value = Fraction | Interval
_INCREASING: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp, "tanh": arb.tanh, "atan": arb.atan, "log": arb.log, "sqrt": arb.sqrt,
}  # fmt: skip
_BITS = 4000  # a fraction that needs more goes on as an interval
_TERMS = 200_000  # a sum of more terms is not evaluated


class Unknown(Exception):
    """No finite interval can be given; the message says for what."""


class Undefined(Exception):
    """A term certainly has no value; the message says why. term: the innermost one."""

    term: Term | None = None


def interval(value: Value) -> Interval:
    """The interval of a value, its ends rounded outward."""
    if not isinstance(value, tuple):
        ball = arb(fmpq(value.numerator, value.denominator))
        return ball.lower(), ball.upper()
    return value


def hull(*values: arb) -> Interval:
    low, high = values[0].lower(), values[0].upper()
    for value in values[1:]:
        low, high = low.min(value.lower()), high.max(value.upper())
    return low, high


def times(x: Interval, y: Interval) -> Interval:
    if y[0] >= 0:  # the ends of x say which end of y they meet
        return (x[0] * y[0 if x[0] >= 0 else 1]).lower(), (x[1] * y[1 if x[1] >= 0 else 0]).upper()
    if x[0] >= 0:
        return times(y, x)
    return hull(x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1])


def plus(x: Interval, y: Interval) -> Interval:
    return (x[0] + y[0]).lower(), (x[1] + y[1]).upper()


def _exact(value: Fraction) -> bool:
    return value.numerator.bit_length() + value.denominator.bit_length() <= _BITS


class Evaluator:
    """The values of terms under one assignment; `inside` puts an index on top of it."""

    def __init__(self, env: Mapping[str, Any], outer: Evaluator | None = None) -> None:
        self.env = env
        self.outer = outer
        self.known: dict[Term, Value] = {}

    def inside(self, name: str, value: Fraction) -> Evaluator:
        return Evaluator({name: value}, self)

    def lookup(self, name: str) -> Any:
        if name in self.env:
            return self.env[name]
        if self.outer is None:
            raise Unknown(f"nothing is known about {name}")
        return self.outer.lookup(name)

    def value(self, term: Term) -> Value:
        """Where the term is defined, its value lies here. Raises Undefined or Unknown."""
        # A term free of the innermost index has the same value outside, where it is evaluated once.
        if self.outer is not None and not free(term) & self.env.keys():
            return self.outer.value(term)
        found = self.known.get(term)
        if found is None:
            try:
                found = self._value(term)
            except Undefined as reason:
                reason.term = term if reason.term is None else reason.term
                raise
            if isinstance(found, tuple) and not (found[0].is_finite() and found[1].is_finite()):
                raise Unknown(f"nothing finite is known about a {term.kind}")
            self.known[term] = found
        return found

    def _value(self, term: Term) -> Value:
        kind, parts = term.kind, term.parts
        if kind == "num":
            return parts[0] if _exact(parts[0]) else interval(parts[0])
        if kind == "pi":
            return arb.pi().lower(), arb.pi().upper()
        if kind == "var":
            found: Value = self.lookup(parts[0])
            return found
        if kind == "item":
            return self._item(parts[0], [self.value(index) for index in parts[1:]])
        if kind == "fold":
            return self._fold(*parts)
        if kind == "if":
            return self._if(*parts)
        if kind == "apply":
            return _apply(parts[0], self.value(parts[1]))
        if kind == "pow":
            return _power(self.value(parts[0]), parts[1])
        if kind == "div":
            return _combine("mul", self.value(parts[0]), _power(self.value(parts[1]), -1))
        if kind in ("add", "mul", "max", "min"):
            return reduce(lambda x, y: _combine(kind, x, y), [self.value(part) for part in parts])
        raise Unknown(f"a {kind} has no value")

    def _item(self, name: str, indices: list[Value]) -> Value:
        found = self.lookup(name)
        for index in indices:
            if not isinstance(index, Fraction):
                raise Unknown(f"an index of {name} is not certain")
            if not 1 <= index <= len(found):
                raise Undefined(f"{name} has no item {index}")
            found = found[int(index) - 1]
        value: Value = found
        return value

    def _fold(self, operation: str, index: str, low: Term, high: Term, body: Term) -> Value:
        first, last = self.value(low), self.value(high)
        if not (isinstance(first, Fraction) and isinstance(last, Fraction)) or last - first > _TERMS:
            raise Unknown(f"the bounds of {index} are not certain, or too far apart")
        spend(max(1, int(last - first)))
        values = [self.inside(index, Fraction(i)).value(body) for i in range(int(first), int(last) + 1)]
        if not values and operation in ("max", "min"):
            raise Undefined(f"the {operation} over no {index} at all")
        start: Value = Fraction(operation == "prod")
        name = {"sum": "add", "prod": "mul"}.get(operation, operation)
        return reduce(lambda x, y: _combine(name, x, y), values or [start])

    def _if(self, condition: Term, then: Term, otherwise: Term) -> Value:
        holds = self.truth(condition)
        if holds is not None:
            return self.value(then if holds else otherwise)
        try:
            one, other = interval(self.value(then)), interval(self.value(otherwise))
        except Undefined as reason:  # in a branch that may not be taken
            raise Unknown(str(reason)) from reason
        return hull(*one, *other)

    def truth(self, formula: Term) -> bool | None:
        """True or False where that is certain on the whole box, None where it is not."""
        return truth(formula, lambda relation, a, b: compare(relation, self.value(a), self.value(b)))


def truth(formula: Term, compared: Callable[[str, Term, Term], bool | None]) -> bool | None:
    """The truth of a formula by that of its comparisons: None where one is defined, and not decided.

    One false part makes a conjunction false, one true part a disjunction true, whatever the others are and wherever
    they stand. Raises Undefined where no part decides it and one certainly has no value, and Unknown where that may be.
    """
    kind, parts = formula.kind, formula.parts
    if kind == "rel":
        return compared(*parts)
    if kind == "iff":
        one, other = truth(parts[0], compared), truth(parts[1], compared)
        return None if one is None or other is None else one == other
    if kind == "implies":
        kind, parts = "or", (negation(parts[0]), parts[1])
    decisive, uncertain = kind == "or", False
    lacking: Undefined | Unknown | None = None
    for part in parts:
        try:
            found = truth(part, compared)
        except (Undefined, Unknown) as reason:
            lacking = reason if lacking is None or isinstance(reason, Unknown) else lacking
            continue
        if found is decisive:
            return decisive
        uncertain = uncertain or found is None
    if lacking is not None:
        # Where an undecided part may decide it, nothing is certain.
        raise Unknown(str(lacking)) if uncertain else lacking
    return None if uncertain else not decisive


def compare(relation: str, a: Value, b: Value) -> bool | None:
    """The truth of a relation between two values, None where the intervals overlap."""
    if not isinstance(a, tuple) and not isinstance(b, tuple):
        return holds(relation, a, b)
    (a0, a1), (b0, b1) = interval(a), interval(b)
    apart = bool(a1 < b0) or bool(b1 < a0)
    if relation in ("=", "!="):
        return (relation == "!=") if apart else None
    if relation == "<":
        return True if a1 < b0 else False if b1 <= a0 else None
    return True if a1 <= b0 else False if b1 < a0 else None


def _combine(kind: str, x: Value, y: Value) -> Value:
    if not isinstance(x, tuple) and not isinstance(y, tuple):
        exact = {"add": lambda: x + y, "mul": lambda: x * y, "max": lambda: max(x, y), "min": lambda: min(x, y)}[kind]()
        return exact if _exact(exact) else interval(exact)
    if kind == "mul" and ((not isinstance(x, tuple) and not x) or (not isinstance(y, tuple) and not y)):
        return Fraction(0)
    a, b = interval(x), interval(y)
    if kind == "add":
        return plus(a, b)
    if kind == "mul":
        return times(a, b)
    pick = arb.max if kind == "max" else arb.min
    return pick(a[0], b[0]), pick(a[1], b[1])


def _power(x: Value, n: int) -> Value:
    if not isinstance(x, tuple):
        if n < 0 and x == 0:
            raise Undefined("a division by zero")
        if max(x.numerator.bit_length(), x.denominator.bit_length()) * abs(n) <= _BITS:
            return x**n
        x = interval(x)
    base = x if n % 2 else _magnitude(x)
    powers = (base[0] ** abs(n), base[1] ** abs(n))
    if n >= 0:
        return hull(*powers)
    if not (powers[0] > 0 or powers[1] < 0):
        raise Unknown("a division by an interval that touches zero")
    return hull(1 / powers[0], 1 / powers[1])


def _magnitude(x: Interval) -> Interval:
    return x if x[0] >= 0 else (-x[1], -x[0]) if x[1] <= 0 else (arb(0), (-x[0]).max(x[1]))


def _apply(name: str, value: Value) -> Value:
    if not isinstance(value, tuple):
        if name == "abs":
            return abs(value)
        if value == 0 and name in ("sqrt", "sin", "tanh", "atan", "exp", "cos"):
            return Fraction(name in ("exp", "cos"))
        if name == "log" and value == 1:
            return Fraction(0)
    x = interval(value)
    if name == "abs":
        return _magnitude(x)
    if name in ("sin", "cos"):
        wave = (arb.sin if name == "sin" else arb.cos)(x[0].union(x[1]))
        return wave.lower().max(arb(-1)), wave.upper().min(arb(1))
    # The others increase where they have values: the logarithm of positive numbers, the root of those not negative.
    if name == "log" and not x[0] > 0:
        raise (Undefined if x[1] <= 0 else Unknown)("the logarithm of what may not be positive")
    if name == "sqrt" and not x[0] >= 0:
        raise (Undefined if x[1] < 0 else Unknown)("the root of what may be negative")
    return hull(*map(_INCREASING[name], x))
