"""Steps that write what linear arithmetic decides: values of sums and of each `if`, wherever they stand in the goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs_check.core.domain import Sequent, Variable, taken
from proofs_check.core.normal import back
from proofs_check.core.terms import (
    ONE,
    ZERO,
    Term,
    children,
    eq,
    free,
    fresh,
    negation,
    substitute,
    walk,
)
from proofs_check.language.notation import var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import of_facts, small
from proofs_check.rigour.auto import Search
from proofs_check.rigour.nodes import exchanged
from proofs_check.rigour.steps import (
    Step,
    chain,
    closed,
    have,
    identity,
    known,
    linear,
    named,
    steps,
)
from proofs_check.rigour.sums import used
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first


def auto(depth: int = 4, steps: int = 60, looks: int = 300) -> Tactic:
    return lambda s: Search(steps, looks).prove(s, depth)


def quick(s: Sequent) -> Proof:
    """What holds by linear arithmetic in the facts."""
    kind, parts = s.goal.kind, s.goal.parts
    if kind == "and":
        return by("split", *(quick for _ in parts))(s)
    if kind == "or":
        return first(*(by("either", k, quick) for k in range(len(parts))))(s)
    if kind == "rel" and parts[0] == "!=":
        return first(known, by("apart", True, quick), by("apart", False, quick))(s)
    plain = first(identity, known, of_facts, arithmetic.signs, arithmetic.rounded)
    return first(plain, by("split", plain, plain))(s) if parts[0] == "=" else plain(s)


def fine(s: Sequent) -> Proof:
    return first(quick, by("apart", False, some), small)(s)


def shown(lemma: Term, why: Tactic) -> Step:
    """A lemma whose terms are defined, most often by what holds linearly."""
    return have(lemma, why, fine)


def haves(*lemmas: tuple[Term, Tactic]) -> Step:
    return chain(*(shown(lemma, why) for lemma, why in lemmas))


def called(node: Term, name: str) -> Step:
    """The term becomes a variable, of which the hypotheses are known."""
    return named(node, name, keep=None, why=fine, defined=fine)


def split_sum(node: Term, at: Term) -> Step:
    """The sum as two, the first up to a place, wherever it stands in the goal."""
    return lambda then: by("split_sum", node, at, fine, fine, use(then))


def put(node: Term, value: Term, same: Tactic) -> Step:
    """Writes value for a node of the goal that equals it."""
    return lambda then: lambda s: _put(node, value, same, then, s)


def _put(node: Term, value: Term, same: Tactic, then: Tactic, s: Sequent) -> Proof:
    new = Variable(fresh("t", taken(s)), value, value)
    wider = exchanged(s.goal, node, Term("var", new.name))
    if wider is s.goal:
        raise Failed("the node does not occur")
    kept = [exchanged(g, node, Term("var", new.name)) for g in s.given if node in walk(g) and g.parts[1] is not node]
    return by("generalise", node, new.to_json(), wider, kept, first(same, fine), fine,
              by("enumerate", new.name, then))(s)  # fmt: skip


def use(then: Tactic) -> Tactic:
    """The last hypothesis, an equality, is used everywhere in the goal, from left to right."""

    def tactic(s: Sequent) -> Proof:
        _, node, value = s.given[-1].parts
        rest = by("forget", [], [len(s.given) - 1], then)

        def same(q: Sequent) -> Proof:
            if q.goal.parts[1:] not in ((node, value), (value, node)):
                return fine(q)
            return linear((1 if q.goal.parts[1] is node else -1, -1))(q)

        return put(node, value, same)(rest)(s)

    return tactic


def simple(s: Sequent, term: Term) -> Term:
    """The term without the ifs whose condition linear arithmetic decides."""
    if not any(node.kind == "if" for node in walk(term)):
        return term
    if term.kind == "if":
        for which, condition in enumerate((term.parts[0], negation(term.parts[0]))):
            try:
                quick(Sequent(s.variables, s.given, condition))
            except Failed:
                continue
            return simple(s, term.parts[1 + which])
        return term
    if term.kind == "fold":
        operation, index, low, high, body = term.parts
        name = fresh(index, taken(s) | free(body))
        inner = Sequent((*s.variables, Variable(name, low, high, whole=True)), s.given, s.goal)
        better = simple(inner, substitute(body, {index: Term("var", name)}))
        return Term("fold", operation, index, low, high, substitute(better, {name: Term("var", index)}))
    return Term(term.kind, *(simple(s, p) if isinstance(p, Term) and p.kind not in ("rel", "and", "or") else p
                             for p in term.parts))  # fmt: skip


def abstract(nodes: Mapping[str, Term]) -> Step:
    """The nodes become variables of which the hypotheses are known, and no more; the old variables go."""

    def forgotten(then: Tactic) -> Tactic:
        def tactic(q: Sequent) -> Proof:
            old = [v.name for v in q.variables if v.name not in nodes]
            return by("forget", old, [k for k, g in enumerate(q.given) if free(g) & set(old)], then)(q)

        return tactic

    parts: list[Step] = []
    pairs = list(nodes.items())
    for number, (name, node) in enumerate(pairs):
        for earlier, image in pairs[:number]:
            node = exchanged(node, image, var(earlier))
        parts.append(called(node, name))
    return chain(*parts, forgotten)


def some(s: Sequent) -> Proof:
    """A sum of exponentials over places that exist is positive."""
    node = s.goal.parts[2]
    if node.kind != "fold":
        raise Failed("no sum")
    return by("termwise", node, ">", ZERO, small, arithmetic.signs, quick, known)(s)


def settled(then: Tactic) -> Tactic:
    """Without the ifs of the goal that linear arithmetic decides, inside sums as well."""

    def nodes(s: Sequent, term: Term) -> Any:
        names = {v.name for v in s.variables}
        if term.kind in ("fold", "if") and free(term) <= names:
            yield term
        else:
            for part in children(term):
                yield from nodes(s, part)

    def same(s: Sequent) -> Proof:
        """node = its simple form."""
        node, value = s.goal.parts[1:]
        try:
            return identity(s)
        except Failed:
            pass
        if node.kind == "fold":
            return by("termwise", node, "=", value.parts[4], small, settled(identity), small, known)(s)
        for which in (0, 1):
            try:
                return by("resolve", node, which, small, quick, use(settled(identity)))(s)
            except Failed:
                continue
        raise Failed("an if that stays")

    def tactic(s: Sequent) -> Proof:
        for node in nodes(s, s.goal):
            value = simple(s, node)
            if value is not node:
                below = node.kind == "fold" and any(n.kind == "div" and node in walk(n.parts[1]) for n in walk(s.goal))
                positive = shown(node > 0, some) if below else chain()
                return steps(positive, shown(eq(node, value), same), use, tactic)(s)
        return then(s)

    return tactic


def counted(s: Sequent) -> Proof:
    """The sums of ones of the goal are counted."""
    then = identity
    for node in arithmetic.fold_atoms(back(arithmetic.margin_of(s))):
        if node.parts[4] is ONE:
            k = var(node.parts[1])
            return steps(closed(node, k), used, then)(s)
    return then(s)
