"""The formulas of `theory/` as terms of the core: a sympy expression goes over once, and is written nowhere again.

What sympy simplified by a symbol's assumptions holds only where they do, so the symbol's place has to meet them: by its
declared domain, or as a number. The order of a sum and of a product is that of our own trees, not sympy's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sp

from proofs_check.core.domain import Variable
from proofs_check.core.terms import (
    FORMULAS,
    PI,
    Term,
    absolute,
    atan,
    cos,
    eq,
    exp,
    lift,
    log,
    ne,
    num,
    sin,
    sqrt,
    tanh,
    to_json,
)
from proofs_check.language.notation import when

Places = Mapping[sp.Symbol, Any]
_FUNCTIONS = {sp.log: log, sp.tanh: tanh, sp.sin: sin, sp.cos: cos, sp.atan: atan, sp.Abs: absolute}
_CHOICES = {sp.Max: "max", sp.Min: "min"}
_RELATIONS: dict[Any, Callable[[Term, Term], Term]] = {
    sp.Lt: lambda a, b: a < b, sp.Le: lambda a, b: a <= b, sp.Gt: lambda a, b: a > b, sp.Ge: lambda a, b: a >= b,
}  # fmt: skip
_SYMMETRIC = {sp.Eq: eq, sp.Ne: ne}


def term(expression: sp.Expr, places: Places) -> Term:
    """The expression with a variable, a term or a number in each symbol's place.

    Raises ValueError for what has no term (floats, other functions and powers), for a symbol without a place, and for
    one whose place does not visibly meet its assumptions.
    """
    kind = type(expression)
    if isinstance(expression, sp.Symbol):
        return _place(expression, places)
    if isinstance(expression, sp.Rational):
        return num(_fraction(expression))
    if expression is sp.pi:
        return PI
    if expression is sp.E:
        return exp(1)
    if isinstance(expression, sp.exp):  # sympy counts E**x, a power, among these
        return exp(term(expression.exp, places))
    if isinstance(expression, sp.Add):
        return _sum(expression, places)
    if isinstance(expression, sp.Mul | sp.Pow):
        negative, size = _signed(expression, places)
        return -size if negative else size
    if kind in _FUNCTIONS and len(expression.args) == 1:  # log(x, 2), unevaluated, has two
        return _FUNCTIONS[kind](term(expression.args[0], places))
    if kind in _CHOICES:
        return Term(_CHOICES[kind], *sorted((term(part, places) for part in expression.args), key=_order))
    if isinstance(expression, sp.Piecewise):
        return _cases(expression, places)
    raise ValueError(f"{expression} ({kind.__name__}) has no term")


# -- sums and products, in an order of our own ------------------------------------------------------------------------


class _Written:
    """A term by its text, which is long, and is written only where sizes do not tell."""

    def __init__(self, found: Term) -> None:
        self.found = found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Written) and self.found is other.found

    def __lt__(self, other: _Written) -> bool:
        return json.dumps(to_json(self.found)) < json.dumps(to_json(other.found))


def _order(found: Term) -> tuple[int, _Written]:
    return found.size, _Written(found)


def _fraction(number: sp.Rational) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _parts(kind: Any, expression: sp.Expr) -> Iterator[sp.Expr]:
    """The addends or factors, those of addends or factors that are such themselves included."""
    for part in expression.args if isinstance(expression, kind) else (expression,):
        if isinstance(part, kind):
            yield from _parts(kind, part)
        else:
            yield part


def _sum(expression: sp.Expr, places: Places) -> Term:
    """Large addends first, those with a minus after the others; a constant before them if positive, else behind."""
    constant, signed = Fraction(0), []
    for part in _parts(sp.Add, expression):
        if isinstance(part, sp.Rational):
            constant += _fraction(part)
        else:
            signed.append(_signed(part, places))
    ordered = sorted(signed, key=lambda part: (part[0], -part[1].size, _order(part[1])))
    terms = [-size if negative else size for negative, size in ordered]
    if not terms:
        return num(constant)
    rest = reduce(lambda a, b: a + b, terms)
    return rest if not constant else num(constant) + rest if constant > 0 else rest + num(constant)


def _signed(expression: sp.Expr, places: Places) -> tuple[bool, Term]:
    """Whether a minus stands before a product, and the product without it: small factors first, over a divisor."""
    number, above, below = Fraction(1), [], []
    for part in _parts(sp.Mul, expression):
        if isinstance(part, sp.Rational):
            number *= _fraction(part)
        elif not isinstance(part, sp.Pow) or isinstance(part, sp.exp):
            above.append(term(part, places))
        elif part.exp.is_Rational and part.exp < 0:
            below.append(_power(part, -part.exp, places))
        else:
            above.append(_power(part, part.exp, places))
    top = _product(abs(number.numerator), above)
    return number < 0, top if number.denominator == 1 and not below else top / _product(number.denominator, below)


def _product(number: int, factors: list[Term]) -> Term:
    kept = [num(number)] if number != 1 or not factors else []
    return reduce(lambda a, b: a * b, [*kept, *sorted(factors, key=_order)])


def _power(power: sp.Pow, exponent: sp.Expr, places: Places) -> Term:
    """The power's base to an exponent that is no longer negative."""
    base = term(power.base, places)
    if exponent.is_Integer:
        return base if exponent == 1 else base ** int(exponent)
    if exponent == sp.S.Half:
        return sqrt(base)
    raise ValueError(f"{power} (Pow) has no term: its exponent is neither whole nor a half")


# -- cases ------------------------------------------------------------------------------------------------------------


def _cases(expression: sp.Piecewise, places: Places) -> Term:
    *cases, (otherwise, last) = expression.args
    if last != sp.true:
        raise ValueError(f"{expression} (Piecewise) has no term: it has no value where no condition holds")
    found = term(otherwise, places)
    for value, condition in reversed(cases):
        found = when(_condition(condition, places), term(value, places), found)
    return found


def _condition(condition: sp.Basic, places: Places) -> Term:
    kind = type(condition)
    if kind in _RELATIONS:
        return _RELATIONS[kind](*(term(side, places) for side in condition.args))
    if kind in _SYMMETRIC:
        return _SYMMETRIC[kind](*sorted((term(side, places) for side in condition.args), key=_order))
    raise ValueError(f"{condition} ({kind.__name__}) is no comparison")


# -- symbols and what is assumed of them -------------------------------------------------------------------------------


def _place(symbol: sp.Symbol, places: Places) -> Term:
    if symbol not in places:
        raise ValueError(f"the symbol {symbol} has no place")
    place = places[symbol]
    if isinstance(place, Variable) and place.sizes:
        raise ValueError(f"the symbol {symbol} is a number, and {place.name} is a sequence")
    found = lift(place)
    if found.kind in (*FORMULAS, "each"):
        raise ValueError(f"what is put for the symbol {symbol} is no number")
    assumed, known = symbol.assumptions0, _known(place)
    failed = sorted(name for name in assumed if any(getattr(it, f"is_{name}") is not assumed[name] for it in known))
    if failed:
        named = [name for name in failed if assumed[name] and not name.startswith("extended")] or failed
        raise ValueError(f"{symbol} is assumed {', '.join(named)}, and its place is not visibly so")
    return found


def _known(place: Any) -> list[sp.Basic]:
    """Numbers or a symbol of which no more is known than of the place, so that sympy draws the same conclusions."""
    found = lift(place)
    if found.kind == "num":
        return [_rational(found.parts[0])]
    if not isinstance(place, Variable):
        return [sp.Dummy(real=True)]
    if place.values:
        return [_rational(value) for value in place.values]
    sign = {}
    if place.low is not None and place.low.kind == "num" and place.low.parts[0] >= 0:
        above = place.low.parts[0] > 0 or place.low_open
        sign = {"positive": True} if above else {"nonnegative": True}
    elif place.high is not None and place.high.kind == "num" and place.high.parts[0] <= 0:
        below = place.high.parts[0] < 0 or place.high_open
        sign = {"negative": True} if below else {"nonpositive": True}
    return [sp.Dummy(real=True, **({"integer": True} if place.whole else {}), **sign)]


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)
