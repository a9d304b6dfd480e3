"""Rules about sums, products, largest and least, and the choices that an `if` makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from proofs_check.core.domain import Sequent, at_an_index, check_formed, needs, supposing
from proofs_check.core.normal import difference
from proofs_check.core.rules.checker import Checker, Rule, reject_unless
from proofs_check.core.terms import ZERO, Term, both, free, from_json, negation, substitute


def _adding(c: Checker, sequent: Sequent, fact: Term, term: Term, defined: Any, proof: Any) -> None:
    """Goes on with a fact about a sum; the sum, and the place where it is cut, are defined."""
    c.defined(sequent, term, defined)
    c.prove(supposing(sequent, fact), proof)


def _split_sum(c: Checker, sequent: Sequent, term: Any, at: Any, defined: Any, where: Any, proof: Any) -> None:
    """Sum (product) over low..high = over low..m and over m+1..high, for low - 1 <= m <= high."""
    node, m = from_json(term), from_json(at)
    operation, index, low, high, body = node.parts
    reject_unless(node.kind == "fold" and operation in ("sum", "prod"), "only sums and products split")
    parts = [Term("fold", operation, index, low, m, body), Term("fold", operation, index, m + 1, high, body)]
    check_formed(replace(sequent, goal=Term("rel", "=", parts[0], parts[1])))
    c.prove(replace(sequent, goal=both(low - 1 <= m, m <= high)), where)
    joined = Term("add" if operation == "sum" else "mul", *parts)
    _adding(c, sequent, Term("rel", "=", node, joined), both(node <= node, m <= m), defined, proof)


def _telescope(
    c: Checker, sequent: Sequent, term: Any, primitive: Any, factor: Any, defined: Any, where: Any, proof: Any
) -> None:
    """m body(i) = G(i + 1) - G(i): then m times the sum is G(high + 1) - G(low), for low <= high + 1.

    Geometric sums (G = r^i, m = r - 1) and counting (G = i, m = 1) are its cases. G has to be defined everywhere.
    """
    node, G, m = from_json(term), from_json(primitive), from_json(factor)
    operation, index, low, high, body = node.parts
    reject_unless(node.kind == "fold" and operation == "sum" and G.kind == "each", "only sums telescope")
    reject_unless(index not in free(m), "the factor depends on the index")
    inner, i = at_an_index(sequent, node, free(body))

    def at(place: Term) -> Term:
        return substitute(G.parts[1], {G.parts[0]: place})

    check_formed(replace(inner, goal=at(i) <= m))
    reject_unless(not list(needs(inner, at(i))) and not list(needs(sequent, m)), "G or m may be undefined")
    step = difference(at(i + 1) - at(i), m * substitute(body, {index: i}))
    reject_unless(step.is_zero, "the terms are not the differences")
    c.prove(replace(sequent, goal=low <= high + 1), where)
    fact = Term("rel", "=", m * node, at(high + 1) - at(low))
    check_formed(replace(sequent, goal=fact))
    _adding(c, sequent, fact, node, defined, proof)


def _termwise(
    c: Checker, sequent: Sequent, term: Any, relation: str, body: Any,
    defined: Any, termwise: Any, some: Any, proof: Any,
) -> None:  # fmt: skip
    """Terms that compare give sums that compare; strictly only where there is a term.

    For a largest (least) term: if each is <= B (>= B), so is the largest (least); B is then free of the index.
    """
    node, other = from_json(term), from_json(body)
    operation, index, low, high, mine = node.parts
    reject_unless(node.kind == "fold" and relation in ("<", "<=", "=", ">", ">="), "no termwise comparison")
    second = Term("fold", operation, index, low, high, other)
    if operation in ("max", "min"):
        reject_unless(index not in free(other) and relation == ("<=" if operation == "max" else ">="), "a side")
        second = other
    else:
        reject_unless(operation == "sum", "termwise comparison is for sums")
    inner, i = at_an_index(sequent, node, free(mine))
    c.defined(sequent, both(node <= node, second <= second), defined)
    pair = (substitute(mine, {index: i}), substitute(other, {index: i}))

    def compare(a: Term, b: Term) -> Term:
        return Term("rel", relation.replace(">", "<"), *((b, a) if ">" in relation else (a, b)))

    c.prove(replace(inner, goal=compare(*pair)), termwise)
    if relation in ("<", ">"):
        c.prove(replace(sequent, goal=low <= high), some)
    c.prove(supposing(sequent, compare(node, second)), proof)


def _member(c: Checker, sequent: Sequent, term: Any, place: Any, defined: Any, where: Any, proof: Any) -> None:
    """A term of a fold: at most the largest, at least the least."""
    node, at = from_json(term), from_json(place)
    operation, index, low, high, body = node.parts
    reject_unless(node.kind == "fold" and operation in ("max", "min"), "only a largest or least has members")
    one = substitute(body, {index: at})
    check_formed(replace(sequent, goal=Term("fold", "sum", "k", at, at, ZERO) <= one))
    c.prove(replace(sequent, goal=both(low <= at, at <= high)), where)
    fact = one <= node if operation == "max" else node <= one
    _adding(c, sequent, fact, both(node <= node, at <= at), defined, proof)


def _resolve(c: Checker, sequent: Sequent, term: Any, which: int, defined: Any, why: Any, proof: Any) -> None:
    """An `if` whose condition is known, |a| with a sign known, the largest or least of two that are compared."""
    node = from_json(term)
    kind, parts = node.kind, node.parts
    if kind == "if":
        condition, value = (parts[0] if which == 0 else negation(parts[0])), parts[1 + which]
    elif kind == "apply" and parts[0] == "abs":
        condition, value = (parts[1] >= ZERO, parts[1]) if which == 0 else (parts[1] <= ZERO, -parts[1])
    else:
        reject_unless(kind in ("max", "min"), "nothing to resolve")
        value = parts[which]
        others = [part for part in parts if part is not value] or [value]
        condition = both(*((other <= value if kind == "max" else value <= other) for other in others))
    c.defined(sequent, node, defined)
    c.prove(replace(sequent, goal=condition), why)
    c.prove(supposing(sequent, Term("rel", "=", node, value)), proof)


SUMS: dict[str, Rule] = {
    "split_sum": _split_sum, "telescope": _telescope, "termwise": _termwise, "member": _member, "resolve": _resolve,
}  # fmt: skip
