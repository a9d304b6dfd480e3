"""Calls of definitions, unfolded. A number is taken by value: a call has a value only where its arguments have one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proofs_check.core.domain import divided_by
from proofs_check.core.terms import Malformed, Term, children, free, rebuild, substitute

# The parts that are read in each case, where not all are.
_READ = {"fold": (2, 3), "if": (0,), "and": (), "or": (), "implies": ()}


def unfold(term: Term, definitions: Mapping[str, Any]) -> Term:
    """The term with every call replaced by the body of its definition. Raises Malformed for an unknown one."""
    memo: dict[Term, Term] = {}

    def open_(node: Term) -> Term:
        if node not in memo:
            opened = rebuild(node, open_)
            memo[node] = _called(opened, definitions) if node.kind == "call" else opened
        return memo[node]

    return open_(term)


def _called(node: Term, definitions: Mapping[str, Any]) -> Term:
    """The body with the arguments in the places of the parameters.

    A number that the body may leave unread is asked for besides: `if x <= x then body else body` has the value of the
    body, and none where x has none.
    """
    name, *given = node.parts
    known = definitions.get(name)
    if known is None or len(known.parameters) != len(given):
        raise Malformed(f"{name} is not defined for {len(given)} arguments")
    # Definitions are written in order, each in terms of earlier ones: unfolding ends.
    body = unfold(known.body, {k: d for k, d in definitions.items() if d.rank < known.rank})
    made = substitute(body, dict(zip(known.parameters, given, strict=True)))
    read = _always_read(body)
    for parameter, argument in zip(known.parameters, given, strict=True):
        if argument.kind == "each":
            _check_items(name, body, parameter, argument, parameter in read)
        elif parameter not in read and any(True for _ in _partial(argument, frozenset())):
            made = Term("if", argument <= argument, made, made)
    return made


def _always_read(term: Term) -> set[str]:
    """The numbers and sequences that are read wherever the term has a value."""
    places = _READ.get(term.kind, range(len(term.parts)))
    inner = (_always_read(part) for k, part in enumerate(term.parts) if k in places and isinstance(part, Term))
    return ({term.parts[0]} if term.kind in ("var", "item") else set()).union(*inner)


def _check_items(name: str, body: Term, parameter: str, argument: Term, read: bool) -> None:
    """A sequence owes the items that are read, so that one with gaps has to be gone through, index by index.

    Where either all items have a value or none has, any one that is read tells.
    """
    indices: set[str] = set()
    while argument.kind == "each":
        index, argument = argument.parts
        indices.add(index)
    gaps = list(_partial(argument, frozenset(indices)))
    if (any(gaps) or (gaps and not read)) and not _goes_through(body, parameter, frozenset()):
        raise Malformed(f"an argument of {name} may have items without a value, and {name} reads but some of them")


def _partial(term: Term, moving: frozenset[str], moves: bool = False) -> Iterator[bool]:
    """For each part that may have no value: does it depend on an index? An item of a sequence at that index is none.

    moving: the indices; moves: whether one of them decides if this term is looked at.
    """
    kind, parts = term.kind, term.parts
    if kind == "fold":
        operation, index, low, high, body = parts
        ends = bool((free(low) | free(high)) & moving)
        if operation in ("max", "min"):
            yield moves or ends
        for end in (low, high):
            yield from _partial(end, moving, moves)
        yield from _partial(body, moving | {index} if ends else moving - {index}, moves or ends)
        return
    if kind == "if":
        yield from _partial(parts[0], moving, moves)
        for part in parts[1:]:
            yield from _partial(part, moving, moves or bool(free(parts[0]) & moving))
        return
    if kind in ("and", "or", "implies"):
        moves = moves or bool(free(term) & moving)
    divisor = divided_by(term)
    if divisor is not None and not (divisor.kind == "num" and divisor.parts[0]):
        yield moves or bool(free(divisor) & moving)
    if kind == "apply" and parts[0] in ("log", "sqrt") and not (parts[1].kind == "num" and parts[1].parts[0] > 0):
        yield moves or bool(free(parts[1]) & moving)
    if kind == "item" and not any(free(place) & moving for place in parts[1:]):
        yield moves
    for part in children(term):
        yield from _partial(part, moving, moves)


def _goes_through(term: Term, name: str, running: frozenset[str]) -> bool:
    """Does the term read the sequence at a place that an index of its own moves?"""
    if term.kind == "item" and term.parts[0] == name and any(free(place) & running for place in term.parts[1:]):
        return True
    bound = {"fold": term.parts[1:2], "each": term.parts[:1]}.get(term.kind, ())
    return any(_goes_through(part, name, running | {*bound}) for part in children(term))
