"""Interval values of a sympy expression by plain recursion: the checker's own evaluator.

Like `theory.lowering.ball` it passes intervals with exact dyadic ends along, each rounded outward by Arb, and so it
shares Arb's elementary functions with it; it shares no code: recursion over the tree instead of a compiled list of
steps, powers, products and branches written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import Any

import sympy
from flint import arb, fmpq

Interval = tuple[arb, arb]
_INCREASING: dict[Any, Callable[[arb], arb]] = {
    sympy.exp: arb.exp, sympy.log: arb.log, sympy.tanh: arb.tanh, sympy.sinh: arb.sinh, sympy.atan: arb.atan,
}  # fmt: skip
_COMPARE: dict[Any, Callable[[Interval, Interval], bool]] = {
    sympy.StrictLessThan: lambda x, y: bool(x[1] < y[0]),
    sympy.LessThan: lambda x, y: bool(x[1] <= y[0]),
    sympy.StrictGreaterThan: lambda x, y: bool(x[0] > y[1]),
    sympy.GreaterThan: lambda x, y: bool(x[0] >= y[1]),
}


class Unknown(Exception):
    """No finite interval can be given; the message says for what."""


def ends(value: arb) -> Interval:
    """The interval of a ball."""
    return value.lower(), value.upper()


def _hull(*values: arb) -> Interval:
    return reduce(arb.min, [v.lower() for v in values]), reduce(arb.max, [v.upper() for v in values])


def times(x: Interval, y: Interval) -> Interval:
    """The product of two intervals."""
    return _hull(x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1])


def _magnitude(x: Interval) -> Interval:
    return x if x[0] >= 0 else (-x[1], -x[0]) if x[1] <= 0 else (arb(0), (-x[0]).max(x[1]))


def _power(x: Interval, expr: sympy.Expr, value: Callable[[sympy.Expr], Interval]) -> Interval:
    n = expr.exp
    if not n.is_Rational:
        if not x[0] > 0:
            raise Unknown(f"a power of a base that is not certainly positive: {expr}")
        low, high = times(value(n), _hull(x[0].log(), x[1].log()))
        return _hull(low.exp(), high.exp())
    p, q = abs(int(n.p)), int(n.q)
    base = x if q > 1 or p % 2 else _magnitude(x)
    if q > 1 and not base[0] >= 0:
        raise Unknown(f"a root of a base that may be negative: {expr}")
    powers = [(end if q == 1 or end.is_zero() else end.root(q)) ** p for end in base]
    if n > 0:
        return _hull(*powers)
    if not (powers[0] > 0 or powers[1] < 0):
        raise Unknown(f"a division by an interval that touches zero: {expr}")
    return _hull(1 / powers[0], 1 / powers[1])


def _piecewise(expr: sympy.Piecewise, value: Callable[[sympy.Expr], Interval]) -> Interval:
    possible: list[arb] = []
    for piece, condition in expr.args:
        opposite = sympy.Not(condition)
        if condition == sympy.true or condition.func in _COMPARE:
            sides = [] if condition == sympy.true else [value(condition.lhs), value(condition.rhs)]
            if not all(end.is_finite() for side in sides for end in side):
                raise Unknown(f"the condition {condition} compares what may not be defined")
            no = condition != sympy.true and _COMPARE[opposite.func](value(opposite.lhs), value(opposite.rhs))
            yes = condition == sympy.true or _COMPARE[condition.func](*sides)
        else:
            raise Unknown(f"the condition {condition} is beyond this evaluator")
        possible += [] if no else value(piece)
        if yes:
            return _hull(*possible)
    raise Unknown(f"no branch of {expr} is certain")


def enclose(expr: sympy.Expr, env: Mapping[str, Interval]) -> Interval:
    """Exact ends (low, high) with low <= expr <= high wherever each symbol lies in its interval. Raises Unknown."""

    @cache
    def value(e: sympy.Expr) -> Interval:
        if e.is_Symbol:
            return env[e.name]
        if e.is_Rational:
            return ends(arb(fmpq(int(e.p), int(e.q))))
        if e in (sympy.pi, sympy.E):
            return ends(arb.pi() if e == sympy.pi else arb.const_e())
        if isinstance(e, sympy.Piecewise):
            return _piecewise(e, value)
        if not e.args:
            raise Unknown(f"the constant {e} is beyond this evaluator")
        if e.func in _INCREASING:
            return _hull(*map(_INCREASING[e.func], value(e.args[0])))
        if e.is_Add:
            return reduce(lambda s, t: ((s[0] + t[0]).lower(), (s[1] + t[1]).upper()), map(value, e.args))
        if e.is_Mul:
            return reduce(times, map(value, e.args))
        if e.is_Pow:
            return _power(value(e.base), e, value)
        x = value(e.args[0])
        if e.func in (sympy.sin, sympy.cos):
            wave = (arb.sin if e.func == sympy.sin else arb.cos)(x[0].union(x[1]))
            return wave.lower().max(-1), wave.upper().min(1)
        if e.func in (sympy.Max, sympy.Min):
            pick = arb.max if e.func == sympy.Max else arb.min
            return reduce(lambda s, t: (pick(s[0], t[0]), pick(s[1], t[1])), map(value, e.args))
        if e.func == sympy.cosh:
            return _hull(*map(arb.cosh, _magnitude(x)))
        if e.func == sympy.Abs:
            return _magnitude(x)
        raise Unknown(f"{e.func} is beyond this evaluator")

    low, high = value(expr)
    if not (low.is_finite() and high.is_finite()):
        raise Unknown(f"nothing is known about {expr} on this region")
    return low, high
