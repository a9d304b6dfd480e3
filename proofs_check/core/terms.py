"""Terms and formulas: one closed tree with exact constants, which every statement, proof and printing is made of.

A node is a kind and its parts; nothing is simplified when it is built, so x/x stays x/x until someone shows x != 0.
Nodes are interned: two equal trees are one object, and equality of trees is identity.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar
from weakref import WeakValueDictionary

FUNCTIONS = ("exp", "log", "sqrt", "abs", "sin", "cos", "tanh", "atan")
FOLDS = ("sum", "prod", "max", "min")
RELATIONS = ("<", "<=", "=", "!=")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*'*\Z")
# The parts of a node: f fraction, s name, i int, t term, p formula, c comprehension or term; * repeats the last.
KINDS = {
    "num": "f", "pi": "", "var": "s", "item": "st*", "add": "tt*", "mul": "tt*", "div": "tt", "pow": "ti",
    "apply": "st", "max": "tt*", "min": "tt*", "if": "ptt", "fold": "ssttt", "call": "sc*",
    "each": "st", "rel": "stt", "and": "pp*", "or": "pp*", "implies": "pp", "iff": "pp",
}  # fmt: skip
FORMULAS = ("rel", "and", "or", "implies", "iff")
_DEPTH, _SIZE = 200, 100_000


class Malformed(ValueError):
    """A tree that is no term: the message names the part."""


class Arithmetic:
    """The operators of terms; a variable with its domain has them too."""

    __slots__ = ()

    def as_term(self) -> Term:
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise TypeError("a formula has no truth value here: join comparisons with both(a < b, b < c), not a < b < c")

    def __add__(self, other: Any) -> Term:
        return Term("add", lift(self), lift(other))

    def __radd__(self, other: Any) -> Term:
        return Term("add", lift(other), lift(self))

    def __sub__(self, other: Any) -> Term:
        return Term("add", lift(self), -lift(other))

    def __rsub__(self, other: Any) -> Term:
        return Term("add", lift(other), -lift(self))

    def __neg__(self) -> Term:
        term = lift(self)
        return Term("num", -term.parts[0]) if term.kind == "num" else Term("mul", num(-1), term)

    def __mul__(self, other: Any) -> Term:
        return Term("mul", lift(self), lift(other))

    def __rmul__(self, other: Any) -> Term:
        return Term("mul", lift(other), lift(self))

    def __truediv__(self, other: Any) -> Term:
        return Term("div", lift(self), lift(other))

    def __rtruediv__(self, other: Any) -> Term:
        return Term("div", lift(other), lift(self))

    def __pow__(self, other: Any) -> Term:
        if type(other) is not int:
            raise TypeError("a power has a whole exponent; write sqrt(x), or exp(a * log(x)), for others")
        return Term("pow", lift(self), other)

    def __lt__(self, other: Any) -> Term:
        return Term("rel", "<", lift(self), lift(other))

    def __le__(self, other: Any) -> Term:
        return Term("rel", "<=", lift(self), lift(other))

    def __gt__(self, other: Any) -> Term:
        return Term("rel", "<", lift(other), lift(self))

    def __ge__(self, other: Any) -> Term:
        return Term("rel", "<=", lift(other), lift(self))

    def __getitem__(self, index: Any) -> Term:
        term = lift(self)
        if term.kind != "var":
            raise TypeError("only a sequence has items")
        return Term("item", term.parts[0], *map(lift, index if isinstance(index, tuple) else (index,)))


class Term(Arithmetic):
    """One node. Build with the functions below, or with operators on terms, whole numbers and fractions."""

    __slots__ = ("__weakref__", "depth", "inside", "kind", "parts", "serial", "size")
    kind: str
    parts: tuple[Any, ...]
    depth: int
    serial: int
    size: int  # nodes, those that stand in several places counted there
    inside: tuple[Term, ...]  # the parts that are terms
    _all: ClassVar[WeakValueDictionary[tuple[Any, ...], Term]] = WeakValueDictionary()
    _made = 0

    def __new__(cls, kind: str, *parts: Any) -> Term:
        # A bool is an int and 1 == True: types are part of the key, or False would find the node of 0.
        key = (kind, *((type(part), part) for part in parts))
        known = cls._all.get(key)
        if known is not None:
            return known
        _check(kind, parts)
        made = object.__new__(cls)
        made.kind, made.parts = kind, parts
        made.inside = tuple(part for part in parts if isinstance(part, Term))
        made.depth = 1 + max((part.depth for part in made.inside), default=0)
        made.size = 1 + sum(part.size for part in made.inside)
        if made.depth > _DEPTH or made.size > _SIZE:
            raise Malformed(f"a term may be {_DEPTH} nodes deep and have {_SIZE} in all, and no more")
        Term._made += 1
        made.serial = Term._made
        cls._all[key] = made
        return made

    def as_term(self) -> Term:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Term, (self.kind, *self.parts))

    def __repr__(self) -> str:
        return f"<{self.kind} {json.dumps(to_json(self))}>"


def _check(kind: str, parts: tuple[Any, ...]) -> None:
    pattern = KINDS.get(kind)
    if pattern is None:
        raise Malformed(f"there is no kind of node {kind!r}")
    if pattern.endswith("*"):
        pattern = pattern[:-1] + pattern[-2] * (len(parts) - len(pattern) + 1)
    if len(parts) != len(pattern) or not all(map(_fits, pattern, parts)):
        shown = [part.kind if isinstance(part, Term) else repr(part)[:40] for part in parts]
        raise Malformed(f"a node {kind!r} cannot have the parts {', '.join(shown)}")
    # A name with other characters could be read as another one, or as a number.
    named = {"var": 0, "item": 0, "call": 0, "each": 0, "fold": 1}.get(kind)
    if named is not None and not NAME.match(parts[named]):
        raise Malformed(f"{parts[named][:40]!r} is no name")
    choices = {"apply": FUNCTIONS, "fold": FOLDS, "rel": RELATIONS}.get(kind)
    if choices is not None and parts[0] not in choices:
        raise Malformed(f"{parts[0]!r} is none of {', '.join(choices)}")


def _fits(code: str, part: Any) -> bool:
    if code == "f":
        return type(part) is Fraction
    if code == "i":
        return type(part) is int and abs(part) <= 10**6
    if code == "s":
        return type(part) is str
    if not isinstance(part, Term):
        return False
    return (part.kind in FORMULAS) == (code == "p") and (part.kind != "each" or code == "c")


def num(value: int | Fraction) -> Term:
    """An exact constant. Floats and strings are refused: .1 is not 1/10, and 3 * "1/10" repeats the string."""
    if type(value) is bool or not isinstance(value, int | Fraction):
        raise TypeError(f"{value!r} is no exact constant: write an int or a Fraction")
    return Term("num", Fraction(value))


def lift(value: Any) -> Term:
    """The term of a term, a variable, a whole number or a fraction."""
    return value.as_term() if isinstance(value, Arithmetic) else num(value)


PI = Term("pi")
ZERO, ONE = num(0), num(1)
TRUE, FALSE = Term("rel", "<=", ONE, ONE), Term("rel", "<=", ONE, ZERO)


def _function(name: str) -> Callable[[Any], Term]:
    return lambda x: Term("apply", name, lift(x))


exp, log, sqrt, absolute, sin, cos, tanh, atan = map(_function, FUNCTIONS)


def eq(a: Any, b: Any) -> Term:
    return Term("rel", "=", lift(a), lift(b))


def ne(a: Any, b: Any) -> Term:
    return Term("rel", "!=", lift(a), lift(b))


def joined(kind: str, terms: Sequence[Term], none: Term) -> Term:
    """The terms as parts of one node; a single one as it is."""
    return none if not terms else terms[0] if len(terms) == 1 else Term(kind, *terms)


def both(*formulas: Term) -> Term:
    return joined("and", formulas, TRUE)


def either(*formulas: Term) -> Term:
    return joined("or", formulas, FALSE)


def implies(given: Term, then: Term) -> Term:
    return Term("implies", given, then)


def children(term: Term) -> tuple[Term, ...]:
    return term.inside


def rebuild(term: Term, change: Callable[[Term], Term]) -> Term:
    """The node with each child changed."""
    return Term(term.kind, *(change(part) if isinstance(part, Term) else part for part in term.parts))


def walk(term: Term) -> Iterator[Term]:
    """Every distinct node, parents first."""
    seen: set[Term] = set()
    pending = [term]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            yield node
            pending += children(node)


_FREE: dict[int, frozenset[str]] = {}
_NAMES: dict[int, frozenset[str]] = {}


def names_in(term: Term) -> frozenset[str]:
    """Every name in the term, bound or not (and the words that nodes are written with)."""
    known = _NAMES.get(term.serial)
    if known is None:
        own = {part for part in term.parts if isinstance(part, str)}
        known = _NAMES[term.serial] = frozenset(own).union(*map(names_in, children(term)))
    return known


def free(term: Term) -> frozenset[str]:
    """The names of variables and sequences that are not bound inside."""
    known = _FREE.get(term.serial)
    if known is None:
        names = frozenset().union(*map(free, children(term)))
        if term.kind in ("var", "item"):
            names |= {term.parts[0]}
        elif term.kind == "fold":
            _, index, low, high, body = term.parts
            names = free(low) | free(high) | (free(body) - {index})
        elif term.kind == "each":
            names -= {term.parts[0]}
        known = _FREE[term.serial] = names
    return known


def fresh(stem: str, taken: frozenset[str] | set[str]) -> str:
    """A name like stem that is not taken."""
    while stem in taken:
        stem += "'"
    return stem


def substitute(term: Term, by: Mapping[str, Term]) -> Term:
    """Puts terms for free variables; for a sequence another one (a var) or a comprehension (an `each`).

    A bound index that a new term mentions is renamed first, so that nothing is captured.
    """
    memo: dict[Term, Term] = {}

    def put(node: Term) -> Term:
        if not free(node) & by.keys():
            return node
        if node not in memo:
            memo[node] = _put(node)
        return memo[node]

    def _put(node: Term) -> Term:
        if node.kind == "var":
            return by[node.parts[0]]
        if node.kind == "item":
            name, *places = node.parts
            indices = [put(place) for place in places]
            image = by.get(name, Term("var", name))
            if image.kind == "var":
                return Term("item", image.parts[0], *indices)
            if image.kind != "each":
                raise Malformed(f"{name} is a sequence, and a number was put for it")
            for index in indices:
                if image.kind != "each":
                    raise Malformed(f"{name} has more indices than what was put for it")
                image = substitute(image.parts[1], {image.parts[0]: index})
            return image
        if node.kind in ("fold", "each"):
            at = 1 if node.kind == "fold" else 0
            index = node.parts[at]
            inner = {name: image for name, image in by.items() if name != index and name in free(node)}
            incoming = frozenset().union(*map(free, inner.values()))
            # An index that a new term mentions gets a name that occurs nowhere here.
            new = fresh(index, incoming | free(node.parts[-1]) | inner.keys()) if index in incoming else index
            body = node.parts[-1] if new == index else substitute(node.parts[-1], {index: Term("var", new)})
            head = [put(part) if isinstance(part, Term) else part for part in node.parts[:-1]]
            head[at] = new
            return Term(node.kind, *head, substitute(body, inner))
        return rebuild(node, put)

    return put(term)


def holds(relation: str, a: Fraction, b: Fraction) -> bool:
    """Does the relation hold between two numbers?"""
    return {"<": a < b, "<=": a <= b, "=": a == b, "!=": a != b}[relation]


def negation(formula: Term) -> Term:
    """The formula that holds exactly where this one, being defined, does not."""
    kind, parts = formula.kind, formula.parts
    if kind == "rel":
        relation, a, b = parts
        if relation in ("=", "!="):
            return Term("rel", "!=" if relation == "=" else "=", a, b)
        return Term("rel", "<=" if relation == "<" else "<", b, a)
    if kind in ("and", "or"):
        return Term("or" if kind == "and" else "and", *map(negation, parts))
    if kind == "implies":
        return Term("and", parts[0], negation(parts[1]))
    return Term("iff", parts[0], negation(parts[1]))


def to_json(term: Term) -> list[Any]:
    return [term.kind, *(to_json(p) if isinstance(p, Term) else str(p) if isinstance(p, Fraction) else p
                         for p in term.parts)]  # fmt: skip


_RATIONAL = re.compile(r"-?[0-9]{1,2000}(/[0-9]{1,2000})?\Z")


def rational(text: Any) -> Fraction:
    """The number that "3" or "-1/7" writes. Raises Malformed for anything else, 1/0 included."""
    if type(text) is not str or not _RATIONAL.match(text) or not int(text.partition("/")[2] or 1):
        raise Malformed(f"{text!r} is not a rational number")
    return Fraction(text)


def from_json(data: Any, depth: int = _DEPTH) -> Term:
    """The term that plain lists write. Raises Malformed for whatever is none."""
    if not isinstance(data, list) or not data or type(data[0]) is not str or depth == 0:
        raise Malformed(f"{str(data)[:60]!r} is no term")
    kind, *parts = data
    if kind == "num":
        return Term("num", *map(rational, parts))
    return Term(kind, *(from_json(part, depth - 1) if isinstance(part, list) else part for part in parts))


def digest(data: Any) -> str:
    """sha256 of the canonical JSON of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def conjuncts(formulas: Sequence[Term]) -> tuple[Term, ...]:
    """The formulas with every `and` taken apart."""
    flat: list[Term] = []
    for formula in formulas:
        flat += conjuncts(formula.parts) if formula.kind == "and" else [formula]
    return tuple(flat)
