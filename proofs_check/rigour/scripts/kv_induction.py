"""Scripts for the claims on the induction head of the KV-shifting paper: Theorems 3.2 and 3.3, Appendices A and M."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.core.domain import Sequent, Variable, facts, taken
from proofs_check.core.normal import canonical_formula
from proofs_check.core.terms import FALSE, ONE, ZERO, Term, absolute, both, children, cos, each, eq, exp, free, fresh, lift, negation, sin, sqrt, substitute, tanh, total, var, walk  # noqa: E501
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.auto import Search
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

Script = Callable[[], Mapping[str, Tactic]]
SCRIPTS: dict[str, Script] = {}
NEEDS: dict[str, str] = {}


# -- tactics ----------------------------------------------------------------------------------------------------------


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
        return first(by("known"), by("apart", True, quick), by("apart", False, quick))(s)
    plain = first(by("identity"), by("known"), lambda q: arithmetic.linear(q, 1, False), arithmetic.signs)
    return first(plain, by("split", plain, plain))(s) if parts[0] == "=" else plain(s)


def have(lemma: Term, why: Tactic, then: Tactic) -> Tactic:
    return by("have", lemma, small, why, then)


def combine(*rows: tuple[Any, ...]) -> Tactic:
    """`linear` with its facts named by formulas, or counted from the last hypothesis: (coefficient, fact, ..)."""

    def tactic(s: Sequent) -> Proof:
        known = facts(s)
        plain = [canonical_formula(f) for f in known]

        def number(fact: Any) -> Any:
            if isinstance(fact, list):
                return fact
            if isinstance(fact, int):
                return known.index(s.given[fact])
            if canonical_formula(fact) not in plain:
                raise Failed("no such fact")
            return plain.index(canonical_formula(fact))

        combination = [[c if isinstance(c, Term) else str(c), [number(f) for f in fs]] for c, *fs in rows]
        return by("linear", combination)(s)

    return tactic


def replaced(term: Term, node: Term, image: Term) -> Term:
    if term is node:
        return image
    return Term(term.kind, *(replaced(p, node, image) if isinstance(p, Term) else p for p in term.parts))


def put(node: Term, value: Term, same: Tactic, then: Tactic) -> Tactic:
    """Writes value for a node of the goal that equals it."""

    def tactic(s: Sequent) -> Proof:
        new = Variable(fresh("t", taken(s)), value, value)
        wider = replaced(s.goal, node, Term("var", new.name))
        if wider is s.goal:
            raise Failed("the node does not occur")
        return by("generalise", node, new.to_json(), wider, [], first(same, small), small,
                  by("enumerate", new.name, then))(s)  # fmt: skip

    return tactic


def use(then: Tactic, keep: bool = False) -> Tactic:
    """The last hypothesis, an equality, is used everywhere in the goal, from left to right."""

    def tactic(s: Sequent) -> Proof:
        _, node, value = s.given[-1].parts
        rest = then if keep else by("forget", [], [len(s.given) - 1], then)
        same: Tactic = lambda q: by("linear", [[ONE if q.goal.parts[1] is node else -ONE, [facts(q).index(s.given[-1])]]])(q)  # noqa: E731, E501
        return put(node, value, first(same, lambda q: arithmetic.linear(q, 1, False)), rest)(s)

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
            return by("identity")(s)
        except Failed:
            pass
        if node.kind == "fold":
            return by("termwise", node, "=", value.parts[4], small, settled(by("identity")), small, by("known"))(s)
        for which in (0, 1):
            try:
                return by("resolve", node, which, small, quick, use(settled(by("identity"))))(s)
            except Failed:
                continue
        raise Failed("an if that stays")

    def tactic(s: Sequent) -> Proof:
        for node in nodes(s, s.goal):
            value = simple(s, node)
            if value is not node:
                return have(eq(node, value), same, use(tactic))(s)
        return then(s)

    return tactic


# -- Appendix A -------------------------------------------------------------------------------------------------------


def _eight() -> Mapping[str, Tactic]:
    d, sigma, p, w = map(var, ("d", "sigma", "p", "w"))

    def main(s: Sequent) -> Proof:
        z = s.goal.parts[1].parts[1].parts[1]  # 8 tanh z
        r = exp(-p)
        goal = 8 * tanh(w) <= 8 * w / (1 - r)
        last = have(tanh(w) <= w, auto(), have(w <= w / (1 - r), auto(), combine((8, -2), (8, -1))))
        return by("generalise", z, Variable("w", ZERO).to_json(), goal, [], small, small, last)(s)

    return {"conclusion": main}


SCRIPTS["kv.thm3.2.eight"] = _eight


def _norm() -> Mapping[str, Tactic]:
    def main(s: Sequent) -> Proof:
        double = s.goal.parts[1].parts[1]
        _, i, low, high, inner = double.parts
        sigma, d, at = var("sigma"), var("d"), var("i'")

        last = by("resolve", absolute(1 / sigma), 0, small, small, lambda q: arithmetic.linear(q, 1, False))

        def row(q: Sequent) -> Proof:
            node = q.goal.parts[1]
            here = Term("var", q.variables[-1].name)
            left = Term("fold", *node.parts[:3], here, node.parts[4])
            return by("split_sum", node, here, small, small, use(
                by("split_sum", left, here - 1, small, small, use(settled(last)))))(q)  # fmt: skip

        whole = by("termwise", double, "=", 1 / sigma, small, row, small, first(by("known"), auto()))
        terms = s.goal.parts[0].parts[1]
        bound = by("termwise", terms, "<=", 1 / sigma, small, auto(), small, auto())
        return have(eq(double, d / sigma), whole, by("split", bound, by("known")))(s)

    return {"conclusion": main}


SCRIPTS["kv.appA.step4"] = _norm
