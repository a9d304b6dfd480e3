"""Variables with their domains, sequents, and definedness: what a formula needs so that it says anything at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from proofs_check.core.terms import (
    FORMULAS,
    NAME,
    ONE,
    ZERO,
    Arithmetic,
    Malformed,
    Term,
    both,
    children,
    conjuncts,
    either,
    eq,
    free,
    fresh,
    from_json,
    holds,
    names_in,
    negation,
    num,
    rational,
    substitute,
    to_json,
)


@dataclass(frozen=True)
class Variable(Arithmetic):
    """A number, or with `sizes` a sequence (a matrix, ..) of numbers, between two ends; None is no end.

    The ends and sizes are terms in variables declared earlier. `whole`: whole numbers only. `values`: just these
    numbers. `radius`: the sum of squares of the sequence is at most radius^2.
    """

    name: str
    low: Term | None = None
    high: Term | None = None
    low_open: bool = False
    high_open: bool = False
    whole: bool = False
    sizes: tuple[Term, ...] = ()
    values: tuple[Fraction, ...] = ()
    radius: Term | None = field(default=None)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.match(self.name):
            raise Malformed(f"{self.name!r} is no name of a variable")
        if self.name == "pi":
            raise Malformed("pi is a number, and no name of a variable")
        if self.radius is not None and len(self.sizes) != 1:
            raise Malformed(f"{self.name} is no vector, so it lies in no ball")
        if self.values and (self.sizes or self.low is not None or self.high is not None):
            raise Malformed(f"{self.name} is a choice among values, and nothing else")
        if self.whole and any(value.denominator != 1 for value in self.values):
            raise Malformed(f"{self.name} is whole, and one of its values is not")
        for end in self.ends():
            if not isinstance(end, Term):
                raise Malformed(f"an end of {self.name} is no term")

    def as_term(self) -> Term:
        return Term("var", self.name)

    def ends(self) -> tuple[Term, ...]:
        """Every term that the domain is written with."""
        return tuple(end for end in (self.low, self.high, self.radius, *self.sizes) if end is not None)

    def bounds(self, value: Term) -> tuple[Term, ...]:
        """The formulas that put a value (of the variable, or of an item) between the ends."""
        if self.values:
            return (either(*(eq(value, num(v)) for v in self.values)),)
        parts = []
        if self.low is not None:
            parts.append(self.low < value if self.low_open else self.low <= value)
        if self.high is not None:
            parts.append(value < self.high if self.high_open else value <= self.high)
        return tuple(parts)

    def mapped(self, change: Callable[[Term], Term]) -> Variable:
        """The variable with each term of its domain changed."""
        ends = (None if end is None else change(end) for end in (self.low, self.high, self.radius))
        low, high, radius = ends
        return replace(self, low=low, high=high, radius=radius, sizes=tuple(map(change, self.sizes)))

    def substituted(self, by: Mapping[str, Term]) -> Variable:
        """The variable with other terms put for earlier variables in its ends."""
        return self.mapped(lambda end: substitute(end, by))

    def to_json(self) -> dict[str, Any]:
        ends = {name: getattr(self, name) for name in ("low", "high", "radius")}
        data: dict[str, Any] = {"name": self.name, **{k: to_json(t) for k, t in ends.items() if t is not None}}
        data |= {name: True for name in ("low_open", "high_open", "whole") if getattr(self, name)}
        if self.sizes:
            data["sizes"] = [to_json(size) for size in self.sizes]
        if self.values:
            data["values"] = [str(value) for value in self.values]
        return data

    @classmethod
    def from_json(cls, data: Any) -> Variable:
        if not isinstance(data, dict) or not data.keys() <= set(cls.__dataclass_fields__):
            raise Malformed("a variable is written with other fields")
        low, high, radius = (from_json(data[k]) if k in data else None for k in ("low", "high", "radius"))
        low_open, high_open, is_whole = (data.get(k, False) is True for k in ("low_open", "high_open", "whole"))
        sizes = tuple(from_json(size) for size in data.get("sizes", ()))
        values = tuple(rational(value) for value in data.get("values", ()))
        return cls(data.get("name", ""), low, high, low_open, high_open, is_whole, sizes, values, radius)


@dataclass(frozen=True)
class Sequent:
    """For all variables in their domains: if all of `given`, then `goal`."""

    variables: tuple[Variable, ...]
    given: tuple[Term, ...]
    goal: Term

    def variable(self, name: str) -> Variable:
        for known in self.variables:
            if known.name == name:
                return known
        raise Malformed(f"there is no variable {name}")

    def mentioning(self, name: str) -> list[str]:
        """The variables whose ends or sizes mention this one."""
        return [v.name for v in self.variables if any(name in free(end) for end in v.ends())]


def put(sequent: Sequent, name: str, value: Term) -> Sequent:
    """The sequent at one value of a variable, which is then none of its variables."""
    by = {name: value}
    variables = tuple(v.substituted(by) for v in sequent.variables if v.name != name)
    given = tuple(substitute(formula, by) for formula in sequent.given)
    return Sequent(variables, given, substitute(sequent.goal, by))


def solvable(sequent: Sequent) -> tuple[int, str] | None:
    """The first hypothesis `v = t` (or `t = v`) that gives a real number by others, and the number's name."""
    order = [v.name for v in sequent.variables]
    numbers = {v.name for v in sequent.variables if not (v.sizes or v.values or v.whole)}
    for which, formula in enumerate(sequent.given):
        for mine, other in (formula.parts[1:], formula.parts[:0:-1]) if formula.parts[0] == "=" else ():
            if mine.kind == "var" and mine.parts[0] in numbers - free(other):
                name = mine.parts[0]
                if not sequent.mentioning(name) or free(other) <= set(order[: order.index(name)]):
                    return which, name
    return None


def solved(sequent: Sequent, which: int, name: str) -> Sequent:
    """The sequent with t put for v, where `v = t` is hypothesis number `which`: v's ends become hypotheses on t.

    Where all hypotheses hold t has a value, v has it, and it lies between v's ends. Raises Malformed for another one.
    """
    known = sequent.variable(name)
    relation, *sides = sequent.given[which].parts
    mine = known.as_term()
    if relation != "=" or mine not in sides or known.sizes or known.values or known.whole:
        raise Malformed(f"hypothesis {which} gives no real number {name}")
    value = sides[1] if sides[0] is mine else sides[0]
    by = {name: value}
    variables = tuple(v.substituted(by) for v in sequent.variables if v.name != name)
    given = [substitute(other, by) for number, other in enumerate(sequent.given) if number != which]
    # Without ends nothing else might ask t for a value.
    bounds = known.bounds(value)
    given = [*bounds, *given] if bounds else [*given, value <= value]
    found = Sequent(variables, tuple(given), substitute(sequent.goal, by))
    check_formed(found)
    return found


def taken(sequent: Sequent) -> frozenset[str]:
    """Every name that the sequent uses, bound or not."""
    terms = (sequent.goal, *sequent.given, *(end for v in sequent.variables for end in v.ends()))
    return frozenset(v.name for v in sequent.variables).union(*map(names_in, terms))


def at_an_index(sequent: Sequent, fold: Term, avoiding: frozenset[str]) -> tuple[Sequent, Term]:
    """The sequent with one more variable, the index of the fold in its range by a new name; and that variable."""
    _, index, low, high, _ = fold.parts
    name = fresh(index, taken(sequent) | avoiding)
    return replace(sequent, variables=(*sequent.variables, Variable(name, low, high, whole=True))), Term("var", name)


def is_whole(term: Term, wholes: frozenset[str]) -> bool:
    """Is the term a whole number by its shape, these variables being whole?"""
    kind, parts = term.kind, term.parts
    if kind == "num":
        return bool(parts[0].denominator == 1)
    if kind == "var":
        return parts[0] in wholes
    if kind == "pow":
        return parts[1] >= 0 and is_whole(parts[0], wholes)
    if kind in ("add", "mul", "max", "min"):
        return all(is_whole(part, wholes) for part in parts)
    return kind == "if" and all(is_whole(part, wholes) for part in parts[1:])


def check_formed(sequent: Sequent) -> None:
    """Raises Malformed unless every name is declared once, before its use, and used as what it is."""
    ranks: dict[str, int] = {}
    wholes: set[str] = set()
    for known in sequent.variables:
        if known.name in ranks:
            raise Malformed(f"{known.name} is declared twice")
        for end in known.ends():
            _check_term(end, ranks, frozenset(wholes), set())
        if not all(is_whole(size, frozenset(wholes)) for size in known.sizes):
            raise Malformed(f"a size of {known.name} is no whole number")
        ranks[known.name] = len(known.sizes)
        if known.whole and not known.sizes:
            wholes.add(known.name)
    seen: set[Term] = set()
    for formula in (*sequent.given, sequent.goal):
        if formula.kind not in FORMULAS:
            raise Malformed(f"a {formula.kind} is no formula")
        _check_term(formula, ranks, frozenset(wholes), seen)


def _check_term(term: Term, ranks: dict[str, int], wholes: frozenset[str], seen: set[Term]) -> None:
    """seen: what was looked at with the same names declared."""
    if term in seen:
        return
    seen.add(term)
    if term.kind in ("var", "item"):
        name = term.parts[0]
        if name not in ranks:
            raise Malformed(f"{name} is not declared")
        if ranks[name] != len(term.parts) - 1:
            raise Malformed(f"{name} has {ranks[name]} indices, and is used with {len(term.parts) - 1}")
        if not all(is_whole(index, wholes) for index in term.parts[1:]):
            raise Malformed(f"an index of {name} is no whole number by its shape")
    if term.kind == "fold":
        _, index, low, high, body = term.parts
        if not (is_whole(low, wholes) and is_whole(high, wholes)):
            raise Malformed(f"the bounds of the index {index} are no whole numbers by their shape")
        _check_term(low, ranks, wholes, seen)
        _check_term(high, ranks, wholes, seen)
        _check_term(body, {**ranks, index: 0}, wholes | {index}, set())
        return
    if term.kind in ("call", "each"):
        raise Malformed("a definition was not unfolded")
    for child in children(term):
        _check_term(child, ranks, wholes, seen)


def needs(sequent: Sequent, term: Term) -> Iterator[Sequent]:
    """One sequent for each condition under which the term or formula, read from left to right, is defined."""
    kind, parts = term.kind, term.parts
    if kind == "fold":
        operation, index, low, high, body = parts
        yield from needs(sequent, low)
        yield from needs(sequent, high)
        if operation in ("max", "min"):
            yield replace(sequent, goal=low <= high)
        inner, i = at_an_index(sequent, term, free(term))
        yield from needs(inner, substitute(body, {index: i}))
        return
    if kind == "if":
        yield from needs(sequent, parts[0])
        yield from needs(supposing(sequent, parts[0]), parts[1])
        yield from needs(supposing(sequent, negation(parts[0])), parts[2])
        return
    if kind in ("and", "or", "implies"):
        for number, part in enumerate(parts):
            before = parts[:number] if kind != "or" else tuple(map(negation, parts[:number]))
            yield from needs(supposing(sequent, *before), part)
        return
    for child in children(term):
        yield from needs(sequent, child)
    if kind == "item":
        sizes = sequent.variable(parts[0]).sizes
        for index, size in zip(parts[1:], sizes, strict=True):
            yield replace(sequent, goal=both(ONE <= index, index <= size))
    elif (divisor := divided_by(term)) is not None:
        yield from _unless_plain(sequent, "!=", divisor, ZERO)
    elif kind == "apply" and parts[0] in ("log", "sqrt"):
        yield from _unless_plain(sequent, "<" if parts[0] == "log" else "<=", ZERO, parts[1])


def divided_by(term: Term) -> Term | None:
    """What the node divides by."""
    if term.kind == "pow" and term.parts[1] < 0:
        divisor: Term = term.parts[0]
        return divisor
    return term.parts[1] if term.kind == "div" else None


def _unless_plain(sequent: Sequent, relation: str, a: Term, b: Term) -> Iterator[Sequent]:
    """Nothing for a true comparison of two constants; what is false or not plain has to be proved."""
    if not (a.kind == b.kind == "num" and holds(relation, a.parts[0], b.parts[0])):
        yield replace(sequent, goal=Term("rel", relation, a, b))


def supposing(sequent: Sequent, *formulas: Term) -> Sequent:
    """The sequent with more hypotheses, every `and` taken apart."""
    return replace(sequent, given=(*sequent.given, *conjuncts(formulas)))


def needed(sequent: Sequent) -> list[Sequent]:
    """The conditions under which a sequent is defined: its ends, each hypothesis given those before it, its goal."""
    found: list[Sequent] = []
    for number, known in enumerate(sequent.variables):
        before = Sequent(sequent.variables[:number], (), sequent.goal)
        for end in known.ends():
            found += needs(before, end)
        # A sequence of a negative size is none.
        found += [replace(before, goal=ZERO <= size) for size in known.sizes if size.kind != "num"]
    for number, formula in enumerate(sequent.given):
        found += needs(replace(sequent, given=sequent.given[:number]), formula)
    found += needs(sequent, sequent.goal)
    return list(dict.fromkeys(found))


def facts(sequent: Sequent) -> list[Term]:
    """The atomic formulas that hold at each point of the sequent: ends of variables, of the items that occur, givens.

    An item counts only where its indices are free of bound names: it then stands in a defined formula, so it exists.
    """
    names = {v.name for v in sequent.variables}
    found: list[Term] = []
    for known in sequent.variables:
        if not known.sizes:
            found += known.bounds(Term("var", known.name))
        if known.radius is not None:
            k = fresh("k", taken(sequent))
            item = Term("item", known.name, Term("var", k))
            square = Term("fold", "sum", k, ONE, known.sizes[0], item**2)
            found += [square <= known.radius**2]
    for formula in (sequent.goal, *sequent.given):
        for node in _items(formula):
            if free(node) <= names:
                found += sequent.variable(node.parts[0]).bounds(node)
    found += conjuncts(sequent.given)
    return list(dict.fromkeys(found))


_ITEMS: dict[int, tuple[Term, ...]] = {}
_EVALUATED = {"fold": (2, 3), "if": (0,), "or": (0,), "and": (0,), "implies": (0,)}  # parts, where not all are


def _items(term: Term) -> tuple[Term, ...]:
    """The items that are evaluated whenever the term is: none inside a fold, a branch or a later alternative."""
    known = _ITEMS.get(term.serial)
    if known is None:
        places = _EVALUATED.get(term.kind, range(len(term.parts)))
        parts = [part for k, part in enumerate(term.parts) if k in places and isinstance(part, Term)]
        found = [term] if term.kind == "item" else []
        known = _ITEMS[term.serial] = tuple(dict.fromkeys([*found, *(item for part in parts for item in _items(part))]))
    return known
