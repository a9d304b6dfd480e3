"""sympy expressions as Arb balls: the lowering that proofs rest on.

sympy's `lambdify` is not rigorous for Arb (it prints rationals as float divisions and pi as `math.pi`), so expressions
are lowered here by hand. A ball that is not finite says "nothing is known" (a pole, a logarithm near zero) and never
proves anything. Arb: F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import sympy
from flint import arb, ctx, fmpq
from sympy.logic.boolalg import And, Boolean, BooleanFalse, BooleanTrue, Not, Or

from theory.lowering.alone import alone
from theory.lowering.box import Box, Exact, Outcome, exact, outward, symbols_in, to_ball

__all__ = [
    "BallFunction",
    "Box",
    "Exact",
    "Interval",
    "Outcome",
    "exact",
    "outward",
    "symbols_in",
    "to_ball",
]

Interval = tuple[arb, arb]
_NOTHING = (arb("nan"), arb("nan"))


def _hull(*values: arb) -> Interval:
    """The ends of the smallest interval around some balls; arb's own union loses 1e-9 of the width at each end."""
    low, high = values[0].lower(), values[0].upper()
    for value in values[1:]:
        low, high = low.min(value.lower()), high.max(value.upper())
    return low, high


def _add(x: Interval, y: Interval) -> Interval:
    return (x[0] + y[0]).lower(), (x[1] + y[1]).upper()


def _times(x: Interval, y: Interval) -> Interval:
    (a, b), (c, d) = x, y
    if not (a <= b and c <= d):  # an end is no number: where a factor is not defined, neither is the product
        return _NOTHING
    # Signs say which ends make the least product and the largest; where both intervals straddle 0 all four are asked.
    if a >= 0:
        low, high = (a * c, b * d) if c >= 0 else (b * c, a * d) if d <= 0 else (b * c, b * d)
    elif b <= 0:
        low, high = (a * d, b * c) if c >= 0 else (b * d, a * c) if d <= 0 else (a * d, a * c)
    elif c >= 0:
        low, high = a * d, b * d
    elif d <= 0:
        low, high = b * c, a * c
    else:
        return _hull(a * c, a * d, b * c, b * d)
    return low.lower(), high.upper()


def _increasing(function: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    """An increasing function takes an interval to its values at the ends; arb's own overestimates on wide balls."""
    return lambda x: (function(x[0]).lower(), function(x[1]).upper())


def _magnitude(x: Interval) -> Interval:
    if x[0] >= 0:
        return x
    return (-x[1], -x[0]) if x[1] <= 0 else (arb(0).min(x[1]), (-x[0]).max(x[1]))


def _cosh(x: Interval) -> Interval:
    return _increasing(arb.cosh)(_magnitude(x))


def _wave(function: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    def enclose(x: Interval) -> Interval:
        value = function(x[0].union(x[1]))
        return value.lower().max(-1), value.upper().min(1)

    return enclose


def _inverse(x: Interval) -> Interval:
    return ((1 / x[1]).lower(), (1 / x[0]).upper()) if x[0] > 0 or x[1] < 0 else _NOTHING


def _integer_power(x: Interval, n: int) -> Interval:
    if n < 0:
        return _inverse(_integer_power(x, -n))
    return _increasing(lambda end: end**n)(x if n % 2 else _magnitude(x))


def _root_power(x: Interval, p: int, q: int, nonnegative: bool) -> Interval:
    """x^(p/q) with q > 1, for x >= 0; if sympy knows that x >= 0, a negative part of the interval is only rounding."""
    if p < 0:
        return _inverse(_root_power(x, -p, q, nonnegative))
    low, high = x
    if nonnegative and low < 0 <= high:
        low = arb(0)
    # arb's own root of zero is NaN.
    return _increasing(lambda end: end if end.is_zero() else end.root(q) ** p)((low, high)) if low >= 0 else _NOTHING


def _power(x: Interval, y: Interval) -> Interval:
    return _exp(_times(y, _log(x))) if x[0] > 0 else _NOTHING


_exp = _increasing(arb.exp)
_log = _increasing(arb.log)
_FUNCTIONS: dict[type[sympy.Basic], Callable[[Interval], Interval]] = {
    sympy.exp: _exp,
    sympy.log: _log,
    sympy.tanh: _increasing(arb.tanh),
    sympy.sinh: _increasing(arb.sinh),
    sympy.atan: _increasing(arb.atan),
    sympy.cosh: _cosh,
    sympy.sin: _wave(arb.sin),
    sympy.cos: _wave(arb.cos),
    sympy.Abs: _magnitude,
}
_FOLDS: dict[type[sympy.Basic], Callable[[Interval, Interval], Interval]] = {
    sympy.Add: _add,
    sympy.Mul: _times,
    sympy.Max: lambda x, y: (x[0].max(y[0]), x[1].max(y[1])),
    sympy.Min: lambda x, y: (x[0].min(y[0]), x[1].min(y[1])),
}


def _constant(ball: Callable[[], arb]) -> Callable[[list[Interval]], Interval]:
    """A step that gives the number's interval, computed once at each precision."""
    kept: dict[int, Interval] = {}

    def step(_: list[Interval]) -> Interval:
        if ctx.prec not in kept:
            kept[ctx.prec] = _hull(ball())
        return kept[ctx.prec]

    return step


def _less(x: Interval, y: Interval) -> Outcome:
    return Outcome.PROVED if x[1] < y[0] else Outcome.REFUTED if x[0] >= y[1] else Outcome.UNDECIDED


def _equal(x: Interval, y: Interval) -> Outcome:
    if x[1] < y[0] or y[1] < x[0]:
        return Outcome.REFUTED
    return Outcome.PROVED if x[0] == x[1] == y[0] == y[1] else Outcome.UNDECIDED


def _defined(values: Sequence[Interval], *slots: int) -> bool:
    return all(end.is_finite() for slot in slots for end in values[slot])


def _negate(outcome: Outcome | None) -> Outcome | None:
    opposite: dict[Outcome | None, Outcome] = {Outcome.PROVED: Outcome.REFUTED, Outcome.REFUTED: Outcome.PROVED}
    return opposite.get(outcome, outcome)


def _conjunction(outcomes: Sequence[Outcome | None]) -> Outcome | None:
    if None in outcomes:
        return None
    if Outcome.REFUTED in outcomes:
        return Outcome.REFUTED
    return Outcome.UNDECIDED if Outcome.UNDECIDED in outcomes else Outcome.PROVED


_RELATIONS: dict[type[sympy.Basic], Callable[[Interval, Interval], Outcome | None]] = {
    sympy.StrictLessThan: _less,
    sympy.LessThan: lambda x, y: _negate(_less(y, x)),
    sympy.StrictGreaterThan: lambda x, y: _less(y, x),
    sympy.GreaterThan: lambda x, y: _negate(_less(x, y)),
    sympy.Equality: _equal,
    sympy.Unequality: lambda x, y: _negate(_equal(x, y)),
}


class BallFunction:
    """Enclosures of sympy expressions: called with one ball a name, in order, it returns one ball an expression.

    Inside, intervals with exact ends are passed along; `on` returns them, as a ball cannot say that it ends at zero.
    Each distinct subexpression is evaluated once, at the precision of the caller: that of the enclosing
    `theory.lowering.precision.working`, else `flint.ctx.prec`, and no other thread's.
    Where a Piecewise condition is undecided on the balls, the branches it leaves possible are joined.
    Raises ValueError for anything outside the supported functions, for floats, and for a symbol without an argument.
    """

    def __init__(self, exprs: Sequence[sympy.Expr], names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._slots: dict[sympy.Basic, int] = {}
        self._steps: list[Callable[[list[Interval]], Interval]] = []
        self._results = [self._slot(sympy.sympify(expr, strict=True)) for expr in exprs]

    @alone
    def __call__(self, *balls: arb) -> tuple[arb, ...]:
        if len(balls) != len(self.names):
            raise ValueError(f"expected {len(self.names)} balls ({', '.join(self.names)}), got {len(balls)}")
        pairs = self._run([(ball.lower(), ball.upper()) for ball in balls])
        return tuple(low if low == high else low.union(high) for low, high in pairs)

    @alone
    def on(self, box: Box) -> tuple[Interval, ...]:
        """Exact ends (low, high) for each expression on a box with the same names in the same order."""
        if box.names != self.names:
            raise ValueError(f"the box has sides {', '.join(box.names)}, the function takes {', '.join(self.names)}")
        return self._run([(to_ball(low).lower(), to_ball(high).upper()) for _, low, high in box.sides])

    def _run(self, values: list[Interval]) -> tuple[Interval, ...]:
        for step in self._steps:
            values.append(step(values))
        return tuple(values[slot] for slot in self._results)

    def _slot(self, expr: sympy.Basic) -> int:
        if expr.is_Symbol:
            if expr.name not in self.names:
                raise ValueError(f"symbol {expr.name!r} is not among the arguments {', '.join(self.names)}")
            return self.names.index(expr.name)
        if expr not in self._slots:
            step = self._step(expr)
            self._steps.append(step)
            self._slots[expr] = len(self.names) + len(self._steps) - 1
        return self._slots[expr]

    def _step(self, expr: sympy.Basic) -> Callable[[list[Interval]], Interval]:
        if expr.is_Rational:
            constant = fmpq(int(expr.p), int(expr.q))
            return _constant(lambda: arb(constant))
        if expr == sympy.pi:
            return _constant(arb.pi)
        if expr == sympy.E:
            return _constant(arb.const_e)
        if isinstance(expr, sympy.Piecewise):
            return self._piecewise(expr)
        if isinstance(expr, sympy.Pow):
            return self._pow(expr.base, expr.exp)
        if type(expr) in _FUNCTIONS:
            function, slot = _FUNCTIONS[type(expr)], self._slot(expr.args[0])
            return lambda values: function(values[slot])
        if type(expr) in _FOLDS:
            fold, slots = _FOLDS[type(expr)], [self._slot(arg) for arg in expr.args]
            if len(slots) == 2:  # as most have
                left, right = slots
                return lambda values: fold(values[left], values[right])
            return lambda values: reduce(fold, [values[slot] for slot in slots])
        if expr.is_Float:
            raise ValueError(f"float constant {expr} has no exact meaning: write a Rational")
        raise ValueError(f"{type(expr).__name__} has no rigorous ball: {expr}")

    def _pow(self, base: sympy.Expr, exponent: sympy.Expr) -> Callable[[list[Interval]], Interval]:
        slot = self._slot(base)
        if exponent.is_Integer:
            n = int(exponent)
            return lambda values: _integer_power(values[slot], n)
        if exponent.is_Rational:
            p, q, nonnegative = int(exponent.p), int(exponent.q), base.is_nonnegative is True
            return lambda values: _root_power(values[slot], p, q, nonnegative)
        upper = self._slot(exponent)
        return lambda values: _power(values[slot], values[upper])

    def _piecewise(self, expr: sympy.Piecewise) -> Callable[[list[Interval]], Interval]:
        pieces = [(self._slot(value), self._condition(condition)) for value, condition in expr.args]

        def join(values: list[Interval]) -> Interval:
            possible: list[arb] = []
            for slot, condition in pieces:
                holds = condition(values)
                if holds is None:
                    return _NOTHING
                if holds is not Outcome.REFUTED:
                    possible += values[slot]
                if holds is Outcome.PROVED:
                    return _hull(*possible)
            return _NOTHING

        return join

    def _condition(self, condition: Boolean) -> Callable[[list[Interval]], Outcome | None]:
        """Whether the condition holds on the intervals; None where it compares what may not be defined there."""
        if isinstance(condition, BooleanTrue | BooleanFalse):
            constant = Outcome.PROVED if condition else Outcome.REFUTED
            return lambda _: constant
        if type(condition) in _RELATIONS:
            relation = _RELATIONS[type(condition)]
            left, right = self._slot(condition.lhs), self._slot(condition.rhs)
            return lambda values: relation(values[left], values[right]) if _defined(values, left, right) else None
        if isinstance(condition, And | Or | Not):
            parts = [self._condition(part) for part in condition.args]
            if isinstance(condition, And):
                return lambda values: _conjunction([part(values) for part in parts])
            if isinstance(condition, Or):
                return lambda values: _negate(_conjunction([_negate(part(values)) for part in parts]))
            return lambda values: _negate(parts[0](values))
        raise ValueError(f"condition {condition} is not a comparison that balls can decide")
