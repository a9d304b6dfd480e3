"""What a statement means where every variable takes finitely many values, by enumeration.

The core decides obligations. That these say what the printed sentence says is tested against this module, which defines
each form of conclusion from its sentence and uses nothing of how the core unfolds, solves, arranges or proves.

A term has a value or None, a formula is True, False or None by Kleene's strong tables, and None is never good enough.
Functions have rational stand-ins with the same domains, for what a statement comes down to may not depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Definition, Form, Statement
from proofs_check.core.terms import Term

Number = Fraction | int
Env = Mapping[str, Any]  # a number, a (nested) tuple of numbers, or a Listed

_STAND_INS: Mapping[str, Callable[[Number], Number | None]] = {
    "exp": lambda x: 1 + x + x * x, "log": lambda x: x - 1 if x > 0 else None, "sqrt": lambda x: x if x >= 0 else None,
    "abs": abs, "sin": lambda x: x - 1, "cos": lambda x: 1 - x * x, "tanh": lambda x: Fraction(x) / 2,
    "atan": lambda x: Fraction(x) / 3,
}  # fmt: skip
_PI = 3
_JOINED: Mapping[str, Callable[[list[Number]], Number]] = {
    "add": sum, "sum": sum, "mul": math.prod, "prod": math.prod, "max": max, "min": min,
}  # fmt: skip


def _short(x: Number) -> Number:
    """The number, as an int where it is one: ints are quicker by far."""
    return x.numerator if x.denominator == 1 else x


class NoDomain(Exception):
    """An end or a size has no value at a point of the earlier variables, or a size is negative."""


class Listed(NamedTuple):
    """A comprehension as an argument: item k is the body at index = k, looked at when it is read."""

    index: str
    body: Term
    around: tuple[tuple[str, Any], ...]


@cache
def mentioned(term: Term) -> frozenset[str]:
    """The names of variables in the term that it does not bind."""
    kind, parts = term.kind, term.parts
    if kind == "fold":
        return mentioned(parts[2]) | mentioned(parts[3]) | mentioned(parts[4]) - {parts[1]}
    inner = frozenset().union(*(mentioned(part) for part in parts if isinstance(part, Term)))
    return inner - {parts[0]} if kind == "each" else inner | {parts[0]} if kind in ("var", "item") else inner


@cache
def _sorted_names(term: Term) -> tuple[str, ...]:
    return tuple(sorted(mentioned(term)))


@dataclass
class Model:
    """The values that numbers, and items of sequences, may take, before their domains are looked at; an index has none
    of its own and takes all whole numbers in its range. known: values by term and by what it mentions."""

    carriers: Mapping[str, Sequence[Number]]
    definitions: Mapping[str, Definition]
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def value(self, term: Term, env: Env) -> Any:
        """The number, or None."""
        return self._remembered(self._value, term, env)

    def truth(self, formula: Term, env: Env) -> bool | None:
        found: bool | None = self._remembered(self._truth, formula, env)
        return found

    def _remembered(self, what: Callable[[Term, Env], Any], term: Term, env: Env) -> Any:
        key = (term, *map(env.get, _sorted_names(term)))
        if key not in self.known:
            self.known[key] = what(term, env)
        return self.known[key]

    def _value(self, term: Term, env: Env) -> Any:
        kind, parts = term.kind, term.parts
        if kind == "num":
            return _short(parts[0])
        if kind == "pi":
            return _PI
        if kind == "var":
            return env.get(parts[0])
        if kind == "if":
            taken = self.truth(parts[0], env)
            return None if taken is None else self.value(parts[1 if taken else 2], env)
        if kind == "fold":
            return self._fold(*parts, env)
        if kind == "call":
            return self._call(self.definitions[parts[0]], parts[1:], env)
        numbers = [self.value(part, env) for part in parts if isinstance(part, Term)]
        if any(number is None for number in numbers):
            return None
        if kind == "item":
            return self._item(env.get(parts[0]), numbers)
        if kind == "apply":
            return _STAND_INS[parts[0]](numbers[0])
        if kind in ("div", "pow"):
            power = parts[1] if kind == "pow" else -1
            base, factor = (numbers[0], 1) if kind == "pow" else (numbers[1], numbers[0])
            return None if base == 0 and power < 0 else _short(factor * Fraction(base) ** power)
        return _short(_JOINED[kind](numbers))

    def _fold(self, operation: str, index: str, low: Term, high: Term, body: Term, env: Env) -> Any:
        ends = self.value(low, env), self.value(high, env)
        if None in ends:
            return None
        numbers = [self.value(body, {**env, index: i}) for i in range(int(ends[0]), int(ends[1]) + 1)]
        nothing = not numbers and operation in ("max", "min")
        return None if nothing or any(number is None for number in numbers) else _JOINED[operation](numbers)

    def _item(self, found: Any, indices: list[Any]) -> Any:
        for k in map(int, indices):
            if isinstance(found, Listed):
                found = self.value(found.body, {**dict(found.around), found.index: k}) if k >= 1 else None
            else:
                found = found[k - 1] if found is not None and 1 <= k <= len(found) else None
        return found

    def _call(self, definition: Definition, arguments: Sequence[Term], env: Env) -> Any:
        """Numbers are taken by value: without one of them the call has none, whether it is used or not."""
        taken = [self._argument(argument, env) for argument in arguments]
        if any(argument is None for argument in taken):
            return None
        return self.value(definition.body, dict(zip(definition.parameters, taken, strict=True)))

    def _argument(self, term: Term, env: Env) -> Any:
        if term.kind == "each":
            return Listed(*term.parts, tuple((name, env.get(name)) for name in _sorted_names(term)))
        return self.value(term, env)

    def _truth(self, formula: Term, env: Env) -> bool | None:
        kind, parts = formula.kind, formula.parts
        if kind == "rel":
            a, b = self.value(parts[1], env), self.value(parts[2], env)
            if a is None or b is None:
                return None
            return bool({"<": a < b, "<=": a <= b, "=": a == b, "!=": a != b}[parts[0]])
        truths = [self.truth(part, env) for part in parts]
        if kind == "iff":
            return None if None in truths else truths[0] == truths[1]
        if kind == "implies":
            truths[0] = None if truths[0] is None else not truths[0]
        decisive = kind != "and"
        return decisive if decisive in truths else None if None in truths else not decisive

    def points(self, variables: Iterable[Variable]) -> list[Env]:
        """Every point of the domain. Raises NoDomain."""
        found: list[Env] = [{}]
        for v in variables:
            found = [{**at, v.name: value} for at in found for value in self.values(v, at)]
        return found

    def values(self, v: Variable, at: Env) -> list[Any]:
        """What the variable may be after this point of the earlier ones. Raises NoDomain."""
        low, high, radius, *sizes = (self._end(end, at) for end in (v.low, v.high, v.radius, *v.sizes))
        if any(size < 0 for size in sizes):
            raise NoDomain(f"a size of {v.name}")
        carrier = self.carriers[v.name] if v.name in self.carriers else range(int(low), int(high) + 1)
        found: list[Any] = [x for x in carrier if lies(v, x, low, high)]
        for size in reversed(sizes):
            found = list(product(found, repeat=int(size)))
        if v.radius is None:
            return found
        return [xs for xs in found if radius >= 0 and sum(x * x for x in xs) <= radius * radius]

    def _end(self, end: Term | None, at: Env) -> Any:
        found = None if end is None else self.value(end, at)
        if found is None and end is not None:
            raise NoDomain(f"an end at {at}")
        return found

    def admits(self, v: Variable, x: Any, at: Env) -> bool:
        """Is x a value that lies in the domain of the number v?"""
        return x is not None and lies(v, x, self._end(v.low, at), self._end(v.high, at))

    def excluded(self, given: Iterable[Term], at: Env) -> bool:
        return any(self.truth(formula, at) is False for formula in given)


def lies(v: Variable, x: Number, low: Any, high: Any) -> bool:
    """Between the ends, whole where it has to be, and one of the values where there are some."""
    if (v.values and x not in v.values) or (v.whole and x.denominator != 1):
        return False
    above = low is None or low < x or (low == x and not v.low_open)
    return above and (high is None or x < high or (x == high and not v.high_open))


def means(statement: Statement, model: Model) -> bool:
    """Is the statement true in the model? A domain that is not defined somewhere makes it not true."""
    try:
        given = _conjuncts(statement.given)
        points = [at for at in model.points(statement.variables) if not model.excluded(given, at)]
        if isinstance(statement.says, Term):
            return _plain(statement.says, points, model)
        return FORMS[statement.says.kind](statement, statement.says, points, model)
    except NoDomain:
        return False


def fits(statement: Statement, form: Form, model: Model) -> bool:
    """Does the point that a witness or a supremum names exist at all parameters, and do what is said of it?"""
    try:
        named = [_named(statement, form, p, model) for p, _ in _families(statement, form, [], model)]
    except NoDomain:
        return False
    return all(here is not None and _reached(form, here, model) for here in named)


def _conjuncts(given: Iterable[Term]) -> list[Term]:
    """The hypotheses are one conjunction, and printed as one."""
    return [part for g in given for part in (_conjuncts(g.parts) if g.kind == "and" else [g])]


def _plain(says: Term, points: list[Env], model: Model) -> bool:
    """For all .. with .. and ..: says. At each point that no hypothesis excludes it has to be true."""
    return all(model.truth(says, at) is True for at in points)


def _families(statement: Statement, form: Form, points: list[Env], model: Model) -> Iterator[tuple[Env, list[Env]]]:
    """The points of the parameters, if no hypothesis on them alone excludes them, with those of all variables over it."""
    named = dict(form.at).keys()
    alone = [formula for formula in _conjuncts(statement.given) if not mentioned(formula) & named]
    for p in model.points(v for v in statement.variables if v.name not in named):
        if not model.excluded(alone, p):
            yield p, [at for at in points if p.items() <= at.items()]


def _met(statement: Statement, form: Form, at: Env, model: Model) -> bool:
    """Are the hypotheses true that mention what the point names?"""
    about = [formula for formula in _conjuncts(statement.given) if mentioned(formula) & dict(form.at).keys()]
    return all(model.truth(formula, at) is True for formula in about)


def _named(statement: Statement, form: Form, p: Env, model: Model) -> Env | None:
    """The named point over p, if it is defined, lies in the domain and meets the hypotheses."""
    point, here = dict(form.at), dict(p)
    for v in statement.variables:
        if v.name in point:
            x = model.value(point[v.name], p)
            if not model.admits(v, x, here):
                return None
            here[v.name] = x
    return here if _met(statement, form, here, model) else None


def _reached(form: Form, at: Env, model: Model) -> bool:
    """The claim of a witness is true here, or the value of a supremum is its bound."""
    if form.kind == "witness":
        return model.truth(form.terms[0], at) is True
    value, bound = (model.value(term, at) for term in form.terms)
    return value is not None and value == bound


def _witness(statement: Statement, form: Form, points: list[Env], model: Model) -> bool:
    """There is x with the claim, at all parameters: somewhere in the domain, whatever point is named."""
    return all(
        any(_met(statement, form, at, model) and _reached(form, at, model) for at in over)
        for _, over in _families(statement, form, points, model)
    )


def _supremum(statement: Statement, form: Form, points: list[Env], model: Model) -> bool:
    """The largest value of V is B, taken somewhere. One that is only approached has no finite model."""
    if form.step or form.strict:
        raise ValueError("a supremum with a step has no finite model")
    value, bound = form.terms
    below = _plain(value <= bound, points, model)
    return below and _witness(statement, form, points, model)


def _minimiser(statement: Statement, form: Form, points: list[Env], model: Model) -> bool:
    """V is least at the named point and nowhere else."""
    for p, over in _families(statement, form, points, model):
        here = _named(statement, form, p, model)
        if here is None:
            return False
        least = model.value(form.terms[0], here)
        others = [model.value(form.terms[0], at) for at in over if not here.items() <= at.items()]
        if others and (least is None or any(value is None or value <= least for value in others)):
            return False
    return True


def _zero(statement: Statement, form: Form, points: list[Env], model: Model) -> bool:
    """All vanish together at exactly one point, and that lies inside the box."""
    vanish = [[value is None or value == 0 for value in values] for values in _equations(form, points, model)]
    candidates = [at for at, zeros in zip(points, vanish, strict=True) if all(zeros)]
    if len(candidates) != 1 or any(None in values for values in _equations(form, candidates, model)):
        return False
    (at,) = candidates
    return all(low.parts[0] < at[name] < high.parts[0] for name, low, high in form.box)


def _equations(form: Form, points: list[Env], model: Model) -> list[list[Any]]:
    return [[model.value(term, at) for term in form.terms] for at in points]


FORMS: Mapping[str, Callable[[Statement, Form, list[Env], Model], bool]] = {
    "witness": _witness, "supremum": _supremum, "minimiser": _minimiser, "zero": _zero,
}  # fmt: skip
