"""What a statement means where every variable takes finitely many values, by enumeration.

The core decides obligations. That these say what the printed sentence says is tested against this module, which defines
each form of conclusion from its sentence and uses nothing of how the core unfolds, solves, arranges or proves.

A term has a number or None, a formula is True, False or None by Kleene's strong tables, and None is never good enough.
Functions have rational stand-ins with the same domains, for what a statement comes down to may not depend on them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Any, NamedTuple

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Definition, Form, Statement
from proofs_check.core.terms import Term

Env = Mapping[str, Any]  # a number, a (nested) tuple of numbers, or a Listed
# What needs all its parts, and is None where it has no value.
_STRICT: Mapping[str, Callable[..., Any]] = {
    "pi": lambda: 3, "exp": lambda x: 1 + x + x * x, "log": lambda x: x - 1 if x > 0 else None,
    "sqrt": lambda x: x if x >= 0 else None, "abs": abs, "sin": lambda x: x - 1, "cos": lambda x: 1 - x * x,
    "tanh": lambda x: Fraction(x) / 2, "atan": lambda x: Fraction(x) / 3,
    "add": lambda *xs: sum(xs), "sum": lambda *xs: sum(xs), "mul": lambda *xs: math.prod(xs),
    "prod": lambda *xs: math.prod(xs), "max": lambda *xs: max(xs, default=None),
    "min": lambda *xs: min(xs, default=None), "div": lambda x, y: None if y == 0 else Fraction(x) / y,
    "pow": lambda x, n: None if x == 0 and n < 0 else Fraction(x) ** n,
    "<": operator.lt, "<=": operator.le, "=": operator.eq, "!=": operator.ne, "iff": operator.eq,
}  # fmt: skip


class NoDomain(Exception):
    """An end or a size has no value at a point of the earlier variables, a size is negative, or it is not told whether
    the hypotheses hold at a point."""


class Listed(NamedTuple):
    """A comprehension as an argument: item k is the body where the name is k, looked at when it is read."""

    name: str
    body: Term
    around: tuple[tuple[str, Any], ...]


@cache
def mentioned(term: Term) -> tuple[str, ...]:
    """The names of variables in the term that it does not bind."""
    parts = term.parts
    names = {name for part in parts if isinstance(part, Term) for name in mentioned(part)}
    if term.kind in ("fold", "each"):
        index, inner = parts[-4 if term.kind == "fold" else 0], mentioned(parts[-1])
        outer = {name for part in parts[2:-1] for name in mentioned(part)}
        names = outer | {name for name in inner if name != index}
    return tuple(sorted(names | {parts[0]} if term.kind in ("var", "item") else names))


def conjuncts(given: Iterable[Term]) -> list[Term]:
    """The hypotheses are one conjunction, and printed as one."""
    return [part for g in given for part in (conjuncts(g.parts) if g.kind == "and" else [g])]


@dataclass
class Model:
    """The values that numbers and items may take before their domains are looked at; an index has none of its own, and
    takes all whole numbers in its range. known: values by term and by what it mentions."""

    carriers: Mapping[str, Sequence[Any]]
    definitions: Mapping[str, Definition]
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def value(self, term: Term, env: Env) -> Any:
        """The number of a term, the truth of a formula, or None."""
        key = (term, *map(env.get, mentioned(term)))
        if key not in self.known:
            found = self._value(term.kind, term.parts, env)
            whole = isinstance(found, Fraction) and found.denominator == 1  # ints are quicker by far
            self.known[key] = int(found) if whole else found
        return self.known[key]

    def _value(self, kind: str, parts: Any, env: Env) -> Any:
        if kind == "num":
            return parts[0]
        if kind == "var":
            return env.get(parts[0])
        if kind == "each":
            return Listed(parts[0], parts[1], tuple((name, env.get(name)) for name in mentioned(parts[1])))
        if kind == "if":
            taken = self.value(parts[0], env)
            return None if taken is None else self.value(parts[1 if taken else 2], env)
        values = [self.value(part, env) for part in parts if isinstance(part, Term) and kind != "fold"]
        if kind == "fold":
            ends = [self.value(end, env) for end in parts[2:4]]
            if None in ends:
                return None
            values = [self.value(parts[4], {**env, parts[1]: i}) for i in range(int(ends[0]), int(ends[1]) + 1)]
        if kind in ("and", "or", "implies"):
            if kind == "implies" and values[0] is not None:
                values[0] = not values[0]
            decisive = kind != "and"
            return decisive if decisive in values else None if None in values else not decisive
        if any(value is None for value in values):
            return None
        if kind == "call":  # by value: without one of its numbers it has none, used or not
            definition = self.definitions[parts[0]]
            return self.value(definition.body, dict(zip(definition.parameters, values, strict=True)))
        if kind == "item":
            return self._item(env.get(parts[0]), values)
        values += [parts[1]] if kind == "pow" else []
        return _STRICT[parts[0] if kind in ("apply", "fold", "rel") else kind](*values)

    def _item(self, found: Any, indices: list[Any]) -> Any:
        for k in map(int, indices):
            if isinstance(found, Listed):
                found = self.value(found.body, {**dict(found.around), found.name: k})
            else:
                found = dict(enumerate(found or (), 1)).get(k)
        return found

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
            raise NoDomain
        carrier = self.carriers[v.name] if v.name in self.carriers else range(int(low), int(high) + 1)
        found: list[Any] = [x for x in carrier if self.admits(v, x, at)]
        for size in reversed(sizes):
            found = list(product(found, repeat=int(size)))
        if v.radius is not None:
            found = [xs for xs in found if 0 <= radius and sum(x * x for x in xs) <= radius**2]
        return found

    def _end(self, end: Term | None, at: Env) -> Any:
        found = None if end is None else self.value(end, at)
        if found is None and end is not None:
            raise NoDomain
        return found

    def admits(self, v: Variable, x: Any, at: Env) -> bool:
        """Is x a number that v may be, or that an item of v may be: between the ends, whole, one of the values?"""
        if x is None or (v.values and x not in v.values) or (v.whole and x.denominator != 1):
            return False
        low, high = self._end(v.low, at), self._end(v.high, at)
        above = low is None or low < x or (low == x and not v.low_open)
        return above and (high is None or x < high or (x == high and not v.high_open))

    def met(self, given: Iterable[Term], at: Env) -> bool | None:
        """Are all hypotheses true, is one false, or does none decide and one has no value?"""
        values = [self.value(formula, at) for formula in given]
        return False if False in values else None if None in values else True


def means(statement: Statement, model: Model) -> bool:
    """Is the statement true in the model? A domain or hypotheses without a value somewhere make it not true."""
    try:
        reading = Reading(statement, model)
        says = statement.says
        return reading.always(says) if isinstance(says, Term) else bool(getattr(reading, says.kind)(says))
    except NoDomain:
        return False


def fits(statement: Statement, form: Form, model: Model) -> bool:
    """Does the point that a witness or a supremum names exist at all parameters, and do what is said of it?

    Other points of the domain are not looked at.
    """
    try:
        reading = Reading(statement, model)
        return all(reading.reached(form, reading.named(form, p)) for p in reading.parameters(form))
    except NoDomain:
        return False


class Reading:
    """A statement in a model."""

    def __init__(self, statement: Statement, model: Model) -> None:
        self.variables, self.value, self.model = statement.variables, model.value, model
        self.given = conjuncts(statement.given)

    @cached_property
    def points(self) -> list[Env]:
        """Those that no hypothesis excludes. Raises NoDomain."""
        return [at for at in self.model.points(self.variables) if self.model.met(self.given, at) is not False]

    def always(self, says: Term) -> bool:
        """For all .. with .. and ..: says."""
        return all(self.model.met(self.given, at) and self.value(says, at) is True for at in self.points)

    def families(self, form: Form) -> Iterator[tuple[Env, list[Env]]]:
        """The points of the parameters, with the points over each."""
        points = self.points  # also where no parameter is met: an end without a value makes the statement not true
        for p in self.parameters(form):
            yield p, [at for at in points if p.items() <= at.items()]

    def parameters(self, form: Form) -> Iterator[Env]:
        """The points of the parameters that meet the hypotheses on these alone. Raises NoDomain."""
        names = dict(form.at).keys()
        alone = [formula for formula in self.given if names.isdisjoint(mentioned(formula))]
        for p in self.model.points(v for v in self.variables if v.name not in names):
            if (met := self.model.met(alone, p)) is None:
                raise NoDomain
            if met:
                yield p

    def named(self, form: Form, p: Env) -> Env | None:
        """The named point over p, if it is defined and lies in the domain."""
        point, here = dict(form.at), dict(p)
        for v in self.variables:
            if v.name in point:
                here[v.name] = self.value(point[v.name], p)
                if not self.model.admits(v, here[v.name], here):
                    return None
        return here

    def reached(self, form: Form, at: Env | None) -> bool:
        """Is this a point where the hypotheses on what the point names are true, and what is claimed of it?"""
        about = [formula for formula in self.given if not dict(form.at).keys().isdisjoint(mentioned(formula))]
        if form.kind != "minimiser":
            about += form.terms if form.kind == "witness" else [Term("rel", "=", *form.terms)]
        return at is not None and all(self.value(formula, at) is True for formula in about)

    def witness(self, form: Form) -> bool:
        """There is x with the claim: at all parameters somewhere in the domain, whatever point is named."""
        return all(any(self.reached(form, at) for at in over) for _, over in self.families(form))

    def supremum(self, form: Form) -> bool:
        """The largest value of V is B, taken somewhere. One that is only approached has no finite model."""
        if form.step or form.strict:
            raise ValueError("a supremum with a step has no finite model")
        return self.always(form.terms[0] <= form.terms[1]) and self.witness(form)

    def minimiser(self, form: Form) -> bool:
        """V is least at the named point and nowhere else."""
        for p, over in self.families(form):
            here = self.named(form, p)
            if here is None or not self.reached(form, here) or not all(self.model.met(self.given, at) for at in over):
                return False
            least = self.value(form.terms[0], here)
            others = [self.value(form.terms[0], at) for at in over if not here.items() <= at.items()]
            if others and (least is None or any(value is None or value <= least for value in others)):
                return False
        return True

    def zero(self, form: Form) -> bool:
        """All vanish together at exactly one point, and that lies inside the box."""
        rows = [(at, [self.value(term, at) for term in form.terms]) for at in self.points]
        left = [(at, values) for at, values in rows if not any(values)]  # each is 0 or has no value
        inside = [low.parts[0] < at[name] < high.parts[0] for at, _ in left for name, low, high in form.box]
        return len(left) == 1 and None not in left[0][1] and all(inside)

