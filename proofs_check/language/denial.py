"""The denial of `there is a choice such that`: it is made from what is printed, and nobody writes it."""

from collections.abc import Mapping, Sequence
from typing import Any

from proofs_check.core.domain import Variable
from proofs_check.core.statement import Form, Statement
from proofs_check.core.terms import Term, either, eq, free, lift, negation, num, rebuild, substitute
from proofs_check.core.witness import truth
from proofs_check.language.notation import when

Input = Mapping[str, Any]  # whole numbers for some variables, lists of them (of lists) for sequences


def denial(printed: Statement, inputs: Sequence[Input]) -> Statement:
    """Whatever is chosen, what is printed is false at one of the inputs. The choice must be the same for all sequences.

    Raises: ValueError where nothing is chosen or something is assumed, where the choice that is named follows an input,
    and for inputs that lie outside the domain or have different numbers.
    """
    variables, given, says = printed.plain
    if not isinstance(says, Form) or says.kind != "witness" or given:
        raise ValueError(f"{printed.name} leaves nothing to choose, or assumes something")
    numbers, *others = [{k: lift(v) for k, v in one.items() if not isinstance(v, list)} for one in inputs]
    if any(one != numbers for one in others) or any(one.keys() != inputs[0].keys() for one in inputs):
        raise ValueError(f"the inputs of {printed.name} differ in more than their sequences")
    if any({name, *free(chosen)} & inputs[0].keys() for name, chosen in says.at):
        raise ValueError(f"the choice of {printed.name} follows an input")
    known = {v.name: v.substituted(numbers) for v in variables}
    if not all(_inside(known[name], value, known[name].sizes) for one in inputs for name, value in one.items()):
        raise ValueError(f"an input of {printed.name} lies outside its domain")
    formula = substitute(says.terms[0], numbers)
    left = tuple(v for name, v in known.items() if name not in inputs[0])
    return Statement(f"{printed.name}.denied", left, (), either(*(negation(_with(formula, one)) for one in inputs)))


def told(denied: Statement, inputs: Sequence[Input]) -> str:
    """The denial in words."""
    points = (", ".join(f"{name} = {value}" for name, value in one.items()) for one in inputs)
    return f"whatever {', '.join(v.name for v in denied.variables)} are, it fails at {' or at '.join(points)}"


def _inside(v: Variable, value: Any, sizes: Sequence[Term]) -> bool:
    """Is a whole number between the ends; or a list of this length, and each of its items?"""
    if sizes:
        fits = isinstance(value, list) and truth(eq(num(len(value)), sizes[0]), {}) is True
        return fits and all(_inside(v, item, sizes[1:]) for item in value)
    return type(value) is int and v.radius is None and all(truth(bound, {}) for bound in v.bounds(num(value)))


def _with(formula: Term, lists: Mapping[str, Any]) -> Term:
    """The formula with the items of lists in place of those of sequences."""

    def put(node: Term) -> Term:
        if node.kind == "item" and node.parts[0] in lists:
            return _item(lists[node.parts[0]], [put(place) for place in node.parts[1:]])
        return rebuild(node, put)

    return put(formula)


def _item(values: Any, places: Sequence[Term]) -> Term:
    if not places:
        return num(values)
    *items, found = (_item(value, places[1:]) for value in values)
    for number in range(len(items), 0, -1):
        found = when(eq(places[0], number), items[number - 1], found)
    return found
