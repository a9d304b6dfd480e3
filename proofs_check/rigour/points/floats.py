"""Terms as ordinary functions of floats, for search only: fast, and believed in nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.core.terms import ZERO, Term, free
from proofs_check.language.notation import var
from proofs_check.rigour.nodes import all_exchanged

_HELP: dict[str, Any] = {
    "inf": math.inf, "nan": math.nan, "pi": math.pi, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos,
    "tanh": math.tanh, "atan": math.atan, "prod": math.prod, "fsum": math.fsum, "__builtins__": {},
    "max": max, "min": min, "sum": sum, "range": range, "int": int, "abs": abs, "float": float,
}  # fmt: skip


_NOWHERE = 10**9
_LONGEST = 100_000
WORK = [0]  # terms of sums that were gone through, ever: what an evaluation costs


def _tick(places: range) -> range:
    if places.stop - places.start > _LONGEST:
        raise ValueError("too long a sum")
    WORK[0] += len(places) + 1
    return places


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


def _log(x: float) -> float:
    return math.log(x) if x > 0 else math.nan


def function(term: Term) -> Callable[[Mapping[str, Any]], float]:
    """The term's value at a point given as a mapping; nan where it has none or floats do not reach."""
    source = f"lambda p: {_code(term, frozenset())}"
    made = eval(source, {**_HELP, "exp": _exp, "log": _log, "tick": _tick})

    def value(point: Mapping[str, Any]) -> float:
        try:
            found = made(point)
            return float(found) if isinstance(found, float | int) else math.nan
        except (ArithmeticError, ValueError, TypeError, LookupError, MemoryError):
            return math.nan

    return value


def _code(term: Term, bound: frozenset[str]) -> str:
    kind, parts = term.kind, term.parts

    def code(part: Term) -> str:
        return _code(part, bound)

    if kind == "num":
        value = parts[0]
        try:
            return f"({float(value)!r})"
        except OverflowError:
            return "inf" if value > 0 else "(-inf)"
    if kind == "pi":
        return "pi"
    if kind == "var":
        return _local(parts[0]) if parts[0] in bound else f"p[{parts[0]!r}]"
    if kind == "item":
        # No Python index reaches behind the beginning: an index below 1 is out of range.
        places = "".join(f"[int(at) - 1 if (at := {code(index)}) >= 1 else {_NOWHERE}]" for index in parts[1:])
        return f"p[{parts[0]!r}]{places}"
    if kind in ("add", "mul"):
        return "(" + (" + " if kind == "add" else " * ").join(map(code, parts)) + ")"
    if kind == "div":
        return f"({code(parts[0])} / {code(parts[1])})"
    if kind == "pow":
        return f"({code(parts[0])} ** {parts[1]})"
    if kind == "apply":
        return f"{parts[0]}({code(parts[1])})"
    if kind in ("max", "min"):
        return f"{kind}({', '.join(map(code, parts))})"
    if kind == "if":
        return f"({code(parts[1])} if {_condition(parts[0], bound)} else {code(parts[2])})"
    operation, index, low, high, body = parts
    # A fold inside that does not depend on the index is computed once, outside.
    outside = [node for node in _folds(body) if index not in free(node)]
    names = [f"h{len(bound)}_{k}" for k in range(len(outside))]
    inner = _code(all_exchanged(body, dict(zip(outside, map(var, names), strict=True))), bound | {index, *names})
    text = f"{operation}({inner} for {_local(index)} in tick(range(int({code(low)}), int({code(high)}) + 1)))"
    if not outside:
        return text
    return f"(lambda {', '.join(map(_local, names))}: {text})({', '.join(map(code, outside))})"


def _folds(term: Term) -> list[Term]:
    """The outermost folds inside a term whose bounds and body mention nothing bound in between."""
    if term.kind == "fold":
        return [term]
    return list(dict.fromkeys(f for part in term.parts if isinstance(part, Term) for f in _folds(part)))


def _local(name: str) -> str:
    return "v_" + name.replace("'", "_q")


def _condition(formula: Term, bound: frozenset[str]) -> str:
    kind, parts = formula.kind, formula.parts
    if kind == "rel":
        relation = {"=": "=="}.get(parts[0], parts[0])
        return f"({_code(parts[1], bound)} {relation} {_code(parts[2], bound)})"
    if kind in ("and", "or"):
        return "(" + f" {kind} ".join(_condition(part, bound) for part in parts) + ")"
    one, other = (_condition(part, bound) for part in parts)
    return f"({one} == {other})" if kind == "iff" else f"((not {one}) or {other})"


def margin(formula: Term) -> Callable[[Mapping[str, Any]], float]:
    """A number that is negative where the formula fails by that much, nan where it may not be defined."""
    kind, parts = formula.kind, formula.parts
    if kind == "rel":
        relation, a, b = parts[0], function(parts[1]), function(parts[2])
        plain = ZERO in parts

        def compare(point: Mapping[str, Any]) -> float:
            x, y = a(point), b(point)
            gap = y - x
            # Relative to the sides, but to a side that is written 0 that would only tell the sign.
            # Below 1e-6 the rounding of larger parts decides, and is not to be taken for a failure.
            scale = 1 + abs(gap) if plain else abs(x) + abs(y) + 1e-6
            # An overflow on the smaller side tells nothing.
            gap = gap / scale if math.isfinite(scale) else gap if gap > 0 else math.nan
            if relation in ("<", "<="):
                return gap
            # Equality to nine digits is taken for equality; only the core decides.
            return 1e-9 - abs(gap) if relation == "=" else abs(gap)

        return compare
    inner = [margin(part) for part in parts]
    if kind == "and":
        return lambda point: _least([m(point) for m in inner])
    if kind == "or":
        return lambda point: _most([m(point) for m in inner])
    if kind == "implies":
        return lambda point: _most([-inner[0](point), inner[1](point)])
    return lambda point: -abs(_sign(inner[0](point)) - _sign(inner[1](point)))


def _least(values: list[float]) -> float:
    """Of a conjunction: negative where one part is, whatever the others are."""
    lacking = any(map(math.isnan, values))
    known = min((v for v in values if not math.isnan(v)), default=math.nan)
    return known if known < 0 or not lacking else math.nan


def _most(values: list[float]) -> float:
    return -_least([-value for value in values])


def _sign(value: float) -> float:
    return math.copysign(1, value) if value else 0.0
