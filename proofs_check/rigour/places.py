"""Tactics for sums over places whose terms are pieces: cut where a piece ends, settle each `if`, count the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

from proofs_check.core.domain import Sequent, Variable, facts, taken
from proofs_check.core.normal import back, canonical, normal, plus
from proofs_check.core.terms import ONE, ZERO, Term, eq, free, fresh, negation, substitute, walk
from proofs_check.language.notation import each, fold
from proofs_check.rigour.arithmetic import of_facts, scaled, small
from proofs_check.rigour.nodes import exchanged
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

Settle = Callable[[int, Sequent, Term], tuple[Term, Tactic]]


def light(then: Tactic) -> Tactic:
    """Forgets the hypotheses that are about more than places."""

    def tactic(s: Sequent) -> Proof:
        heavy = [k for k, g in enumerate(s.given) if any(x.kind in ("fold", "if", "apply") for x in walk(g))]
        return by("forget", [], heavy, then)(s) if heavy else then(s)

    return tactic


def ordered(s: Sequent) -> Proof:
    """A formula about places, from the facts by linear combinations."""
    return light(_ordered)(s)


def _ordered(s: Sequent) -> Proof:
    kind, parts = s.goal.kind, s.goal.parts
    if kind == "and":
        return by("split", *(_ordered for _ in parts))(s)
    if kind == "or":
        return first(*(by("either", k, _ordered) for k in range(len(parts))))(s)
    plain = first(by("identity"), by("known"))
    if parts[0] == "=":
        return first(plain, by("split", _ordered, _ordered))(s)
    if parts[0] == "!=":
        return first(plain, by("apart", True, _ordered), by("apart", False, _ordered))(s)
    return first(plain, of_facts)(s)


def defined(s: Sequent) -> Proof:
    """A condition of definedness: most often that a sum of what is positive is not 0."""
    if s.goal.kind != "rel":
        return ordered(s)
    relation, _, b = s.goal.parts
    if relation == "!=":
        return first(by("apart", False, defined), by("apart", True, defined))(s)
    if relation == "<" and b.kind == "fold" and b.parts[0] == "sum":
        return by("termwise", b, ">", ZERO, small, small, ordered, of_facts)(s)
    return small(s)


def gap(a: Term, b: Term, then: Tactic) -> Tactic:
    """For whole a < b: a + 1 <= b is known in the rest. (If b < a + 1, the sum of 1 over b..a is a + 1 - b, and 0.)"""

    def contradiction(s: Sequent) -> Proof:
        k = Term("var", fresh("k", taken(s)))
        ones = fold("sum", k, b, a, ONE)
        empty, full = (partial(scaled, factor=factor, positive=ordered, then=ordered) for factor in (b - a, a + 1 - b))
        none = by("termwise", ones, "<=", ZERO, small, empty, [], full)
        return by("absurd", by("telescope", ones, each(k, k), ONE, small, ordered, none))(s)

    return by("have", a + 1 <= b, small, by("cases", a + 1 <= b, small, by("known"), contradiction), then)


def truth(s: Sequent, condition: Term) -> bool | None:
    """Whether linear combinations of the facts decide a condition."""
    given = tuple(g for g in s.given if not any(x.kind in ("fold", "if", "apply") for x in walk(g)))
    return _truth(Sequent(s.variables, given, condition))


@cache
def _truth(s: Sequent) -> bool | None:
    for formula, value in ((s.goal, True), (negation(s.goal), False)):
        with suppress(Failed):
            _ordered(replace(s, goal=formula))
            return value
    return None


def put_value(node: Term, value: Term, why: Tactic, then: Tactic) -> Tactic:
    """Puts a value that the node is shown to have for it, wherever it stands in the goal."""

    def tactic(s: Sequent) -> Proof:
        name = fresh("e", taken(s) | free(value))
        point = Variable(name, value, value)
        wider = exchanged(s.goal, node, Term("var", name))

        def range_(q: Sequent) -> Proof:
            if node not in q.goal.parts or value not in q.goal.parts:
                return defined(q)
            sign = ONE if q.goal.parts[1] is node else -ONE
            return first(by("identity"), by("linear", [[sign, [facts(q).index(fact)]]]))(q)

        fact = eq(node, value)
        rest = by("enumerate", name, by("forget", [], [len(s.given)], then))
        general = by("generalise", node, point.to_json(), wider, [], range_, by("enumerate", name, defined), rest)
        return by("have", fact, defined, why, general)(s)

    return tactic


def named(node: Term, then: Tactic, *, low: Term | None = None) -> Tactic:
    """Puts a new variable (above low) for the node in the goal; hypotheses stay with the node."""

    def tactic(s: Sequent) -> Proof:
        name = fresh("e", taken(s))
        wider = exchanged(s.goal, node, Term("var", name))
        new = Variable(name, low, None, low_open=low is not None)
        return by("generalise", node, new.to_json(), wider, [], defined, defined, then)(s)

    return tactic


def choices(s: Sequent, term: Term) -> Iterator[Term]:
    """The `if` nodes outside folds, innermost first."""
    for part in term.parts:
        if isinstance(part, Term) and term.kind not in ("fold", "each"):
            yield from choices(s, part)
    if term.kind == "if":
        yield term


def settled(s: Sequent, term: Term) -> Term:
    """The term with each `if` that the facts decide replaced by its value."""
    for node in choices(s, term):
        way = truth(s, node.parts[0])
        if way is not None:
            return settled(s, exchanged(term, node, node.parts[1 if way else 2]))
    return term


def settle(then: Tactic) -> Tactic:
    """Each `if` of the goal whose condition the facts decide is replaced by its value."""

    def tactic(s: Sequent) -> Proof:
        for node in choices(s, s.goal):
            way = truth(s, node.parts[0])
            if way is not None:
                which = 0 if way else 1
                why = by("resolve", node, which, small, ordered, by("known"))
                return put_value(node, node.parts[1 + which], why, tactic)(s)
        return then(s)

    return tactic


def _plain(number: int, inner: Sequent, body: Term) -> tuple[Term, Tactic]:
    return canonical(settled(inner, body)), settle(by("identity"))


def sum_value(s: Sequent, node: Term, cuts: Sequence[Term], each_piece: Settle = _plain) -> tuple[Term, Tactic]:
    """The value of the sum, and a tactic for node = value."""
    _, index, low, high, body = node.parts
    name = fresh(index, taken(s) | free(body))
    form = normal(ZERO)
    pieces: list[tuple[Term, Term, Tactic]] = []
    start = low
    for number, end in enumerate((*cuts, high)):
        inner = replace(s, variables=(*s.variables, Variable(name, start, end, whole=True)))
        one, why = each_piece(number, inner, substitute(body, {index: Term("var", name)}))
        piece = Term("fold", "sum", index, start, end, body)
        pieces.append((piece, one, why))
        form = plus(form, normal(one * (end - start + 1)))
        start = end + 1
    weights = [*([ONE] * len(cuts)), *(weight for _, one, _ in pieces for weight in (ONE, one))]

    def added(q: Sequent) -> Proof:
        known = facts(q)
        added_facts = q.given[-len(weights) :]
        zeros = [[weight, known.index(fact)] for weight, fact in zip(weights, added_facts, strict=True)]
        return by("scale", ONE, eq(ZERO, ZERO), zeros, defined, [], by("identity"))(q)

    def counted(number: int) -> Tactic:
        if number == len(pieces):
            return added
        piece, one, why = pieces[number]
        _, _, first_, last, _ = piece.parts
        i = Term("var", index)
        go = by("telescope", fold("sum", i, first_, last, ONE), each(i, i), ONE, [], ordered, counted(number + 1))
        return by("termwise", piece, "=", one, defined, light(why), [], go)

    def cut(number: int, rest: Term) -> Tactic:
        if number == len(cuts):
            return counted(0)
        at = cuts[number]
        following = Term("fold", "sum", index, at + 1, high, body)
        return by("split_sum", rest, at, defined, ordered, cut(number + 1, following))

    return back(form), light(cut(0, node))
