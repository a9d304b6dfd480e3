"""Structure and dependency graphs of an iGSM problem, what is computed for each parameter, and which are needed.

Source: Ye, Xu, Li and Allen-Zhu (2024), Physics of Language Models 2.1, arXiv:2407.20311, Section 2 and Appendix A;
the laws of the draws here are simpler ones of our own (`dynamics.tasks.igsm`).
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

CATEGORIES = "ABCD"
MOST_TERMS = 3


class Parameter(NamedTuple):
    """How many of `thing` each `owner` has: an item of the next category (instance), or a whole category (abstract).

    An item is the letter of its category and a number: "A2"; a category is the letter.
    """

    owner: str
    thing: str

    @property
    def abstract(self) -> bool:
        """Whether no sentence says it: it follows from the structure."""
        return self.thing in CATEGORIES


class Earlier(NamedTuple):
    """The result of an equation of the same step, by its index."""

    index: int


class Own(NamedTuple):
    """The number that the parameter's own sentence names."""


Operand = Parameter | Earlier | Own


class Equation(NamedTuple):
    """One operation, left op right; op "" is no arithmetic: the value of `left` itself."""

    op: str
    left: Operand
    right: Operand | None = None


class Definition(NamedTuple):
    """What a sentence says: [number more than | number times] one operand, their sum, or their difference.

    rule: "number" (no operands), "sum" (of one operand: itself), "difference", or "abstract", whose operands are the
    instance parameters (owner, b), each followed by (b, thing) where `thing` is not the category of b.
    change: "more", "times" or "".
    """

    rule: str
    operands: tuple[Parameter, ...] = ()
    change: str = ""

    @property
    def numbered(self) -> bool:
        """Whether it has a number of its own."""
        return self.rule == "number" or bool(self.change)


class Graph(NamedTuple):
    """definitions: of every parameter, each after those that it is defined by."""

    definitions: Mapping[Parameter, Definition]

    def needed(self, question: Parameter) -> list[Parameter]:
        """The question and all that it depends on, in the order of the definitions."""
        found, open_ = {question}, [question]
        while open_:
            for operand in self.definitions[open_.pop()].operands:
                if operand not in found:
                    found.add(operand)
                    open_.append(operand)
        return [parameter for parameter in self.definitions if parameter in found]

    def operations(self, question: Parameter) -> int:
        """Equations of the whole solution; as there, a number or a copy counts as one."""
        return sum(len(equations(self.definitions[parameter])) for parameter in self.needed(question))


@lru_cache(maxsize=4096)
def equations(definition: Definition) -> tuple[Equation, ...]:
    """The operations of a step, in the order of the stated solution: each takes two operands at most."""
    if definition.rule == "number":
        return (Equation("", Own()),)
    found: list[Equation] = []
    terms: list[Operand] = list(definition.operands)
    if definition.rule == "abstract":
        terms = list(_products(definition.operands, found))
    total = terms[0]
    for term in terms[1:]:
        found.append(Equation("-" if definition.rule == "difference" else "+", total, term))
        total = Earlier(len(found) - 1)
    if definition.change:
        found.append(Equation("+" if definition.change == "more" else "*", Own(), total))
    return tuple(found) or (Equation("", total),)


def _products(operands: Sequence[Parameter], found: list[Equation]) -> Iterator[Operand]:
    """The terms of an abstract parameter; products are appended to `found`."""
    at = 0
    while at < len(operands):
        if at + 1 < len(operands) and operands[at + 1].owner == operands[at].thing:
            found.append(Equation("*", operands[at], operands[at + 1]))
            yield Earlier(len(found) - 1)
            at += 2
        else:
            yield operands[at]
            at += 1


def evaluated(
    definition: Definition, values: Mapping[Parameter, int], number: int | None, modulus: int
) -> list[tuple[int, int | None, int]]:
    """Left, right and result of each of its equations, mod `modulus`; the last result is the parameter's value."""
    found: list[tuple[int, int | None, int]] = []

    def value(operand: Operand) -> int:
        if isinstance(operand, Parameter):
            return values[operand]
        if isinstance(operand, Earlier):
            return found[operand.index][2]
        assert number is not None
        return number

    for op, first, second in equations(definition):
        left, right = value(first), None if second is None else value(second)
        found.append((left, right, calculated(op, left, right) % modulus))
    return found


def calculated(op: str, left: int, right: int | None) -> int:
    """left op right; left alone for op ""."""
    if right is None:
        return left
    return left + right if op == "+" else left - right if op == "-" else left * right


def draw_graph(rng: np.random.Generator, layers: int, items: int, names: int, edges: int) -> Graph:
    """Draw a structure and a definition of each of its parameters.

    Structure: 2..items of each category, named without repetition; each item below the first category belongs to one
    of those above it, and more pairs are joined until there are as many as a uniform draw between that and `edges`
    says, or all. Definitions: edges in a random order, each in terms of up to three parameters that are known by then;
    an abstract parameter is known once all that it is made of are.
    """
    pairs = _structure(rng, layers, items, names, edges)
    known: dict[Parameter, Definition] = {}
    waiting = _abstract(pairs)
    for index in rng.permutation(len(pairs)):
        known[pairs[index]] = _definition(rng, list(known))
        while ready := [each for each, rule in waiting.items() if all(part in known for part in rule.operands)]:
            known |= {each: waiting.pop(each) for each in ready}
    return Graph(known)


def _structure(rng: np.random.Generator, layers: int, items: int, names: int, edges: int) -> list[Parameter]:
    chosen = [
        [f"{category}{name}" for name in rng.permutation(names)[: rng.integers(2, items + 1)]]
        for category in CATEGORIES[:layers]
    ]
    levels = list(pairwise(chosen))
    joined = [Parameter(uppers[rng.integers(len(uppers))], lower) for uppers, lowers in levels for lower in lowers]
    others = [Parameter(a, b) for uppers, lowers in levels for a in uppers for b in lowers if (a, b) not in joined]
    more = int(rng.integers(min(len(joined), edges), edges + 1)) - len(joined)
    return joined + [others[index] for index in rng.permutation(len(others))[: max(more, 0)]]


def _abstract(pairs: Sequence[Parameter]) -> dict[Parameter, Definition]:
    """All abstract parameters of a structure: of each item, each category that it has anything of."""
    below: dict[str, list[str]] = {}
    for owner, thing in pairs:
        below.setdefault(owner, []).append(thing)
    found: dict[Parameter, Definition] = {}
    for owner in sorted(below, reverse=True):  # lower categories first
        parts: dict[str, list[Parameter]] = {}
        for thing in sorted(below[owner]):
            parts.setdefault(thing[0], []).append(Parameter(owner, thing))
            for deeper in [each.thing for each in found if each.owner == thing]:
                parts.setdefault(deeper, []).extend((Parameter(owner, thing), Parameter(thing, deeper)))
        for category, operands in parts.items():
            found[Parameter(owner, category)] = Definition("abstract", tuple(operands))
    return found


def _definition(rng: np.random.Generator, known: Sequence[Parameter]) -> Definition:
    """A number with chance 1/4; else one to three of what is known, two of them a difference with chance 1/2."""
    if not known or rng.random() < 0.25:
        return Definition("number")
    count = int(rng.integers(1, min(MOST_TERMS, len(known)) + 1))
    operands = tuple(known[index] for index in rng.permutation(len(known))[:count])
    rule = "difference" if count == 2 and rng.random() < 0.5 else "sum"
    return Definition(rule, operands, ("", "", "more", "times")[rng.integers(4)])


def template(graph: Graph, question: Parameter) -> tuple[tuple[object, ...], ...]:
    """What is computed, without names, numbers and the order of steps: the definitions that the question needs.

    Steps are numbered in the order in which a search from the question, operand after operand, completes them.
    Returns: of each step its operations and the numbers of its operands' steps. Swapped operands, or a sum in another
    order, make another template.
    """
    place: dict[Parameter, int] = {}
    steps: list[tuple[object, ...]] = []

    def visit(parameter: Parameter) -> int:
        if parameter not in place:
            definition = graph.definitions[parameter]
            ops = tuple(equation.op for equation in equations(definition))
            step = (ops, *map(visit, definition.operands))
            place[parameter] = len(steps)
            steps.append(step)
        return place[parameter]

    visit(question)
    return tuple(steps)


def template_byte(graph: Graph, question: Parameter) -> int:
    """The first byte of the SHA-256 of the template: what a split goes by."""
    return hashlib.sha256(repr(template(graph, question)).encode()).digest()[0]
