"""Scripts for the claims on the induction head of the KV-shifting paper: Theorems 3.2 and 3.3, Appendices A and M."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.core.domain import Sequent, Variable, facts, taken
from proofs_check.core.normal import back, canonical_formula
from proofs_check.core.terms import FALSE, ONE, ZERO, Term, absolute, both, children, cos, each, eq, exp, free, fresh, lift, negation, sin, sqrt, substitute, tanh, to_json, total, var, walk  # noqa: E501
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.auto import Search
from proofs_check.rigour.sums import use_last_equality
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
    """`linear` with its facts named by formulas, or counted from the last hypothesis: (coefficient, fact, ..);
    an exponential stands for its being positive."""

    def tactic(s: Sequent) -> Proof:
        known = facts(s)
        plain = [canonical_formula(f) for f in known]

        def number(fact: Any) -> Any:
            if isinstance(fact, Term) and fact.kind == "apply":
                return ["exp", to_json(fact.parts[1])]
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


def counted(s: Sequent, then: Tactic = by("identity")) -> Proof:
    """The sums of ones of the goal are counted."""
    for node in arithmetic.fold_atoms(back(arithmetic.margin_of(s))):
        if node.parts[4] is ONE:
            k = var(node.parts[1])
            return by("telescope", node, each(k, k), ONE, small, small,
                      lambda q: use_last_equality(q, then, drop=True))(s)  # fmt: skip
    return then(s)


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

        terms = s.goal.parts[0].parts[1]
        flat = total(var(i), low, high, 1 / sigma)
        done: Tactic = lambda q: arithmetic.linear(q, 1, False)  # noqa: E731
        whole = by("termwise", double, "=", 1 / sigma, small, row, small, done)
        bound = by("termwise", terms, "<=", 1 / sigma, small, auto(), small, done)
        return have(eq(flat, d / sigma), counted, have(eq(double, d / sigma), whole, by("split", bound, done)))(s)

    return {"conclusion": main}


SCRIPTS["kv.appA.step4"] = _norm


def lp(s: Sequent) -> Proof:
    return arithmetic.linear(s, 1, False)


def times(factor: Term, why: Tactic, then: Tactic) -> Tactic:
    """The goal times a positive factor."""
    return lambda s: arithmetic.scaled(s, factor, why, then)


def _lost() -> Mapping[str, Tactic]:
    p, n, j = var("p"), var("s"), var("j")
    whole, rest, ones = (total(j, low, n - 2, body) for low, body in ((0, exp(-p * j)), (1, exp(-p * j)), (0, ONE)))
    r, last = exp(-p), exp(-p * (n - 2))
    lost = absolute(1 / whole - 1)

    geometric = eq((r - 1) * whole, exp(-p * (n - 1)) - 1)
    enough, slow = (n - 1) * last <= whole, p * r <= 1

    def part(then: Tactic) -> Tactic:
        return by("resolve", lost, 1, small, times(whole, lp, lp), use(times(whole, lp, then)))

    compared = by("termwise", whole, ">=", last, small, auto(), small, combine((1, -1), (-last, eq(ones, n - 1))))
    upper = have(eq(ones, n - 1), counted, have(enough, compared, have(slow, auto(), times(p * n, small, combine(
        (2, enough), (1, n >= 2, last), (1, n >= 2, last, slow), (2, last, slow), (p * n, geometric))))))  # fmt: skip
    parts = by("split", part(combine((1, exp(-p * (n - 1))), (-ONE, geometric))), part(upper))
    first_term = by("split_sum", whole, ZERO, small, small, have(rest >= 0, auto(), lp))
    known = by("telescope", whole, each(j, exp(-p * j)), r - 1, small, small, parts)
    return {"conclusion": have(whole >= 1, first_term, known)}


SCRIPTS["kv.appA.step6.sharp"] = _lost


def _uniform() -> Mapping[str, Tactic]:
    return {"witness": by("cases", var("c") > 1, small, settled(auto()), settled(auto()))}


SCRIPTS["kv.appA.step7.uniform"] = _uniform


# -- Appendix M and Property 1 ------------------------------------------------------------------------------------------


def _row() -> Mapping[str, Tactic]:
    i, j, k = map(var, "ijk")

    def main(s: Sequent) -> Proof:
        whole, right = s.goal.parts[1:]
        first_part = total(k, 1, j, whole.parts[4])
        done = settled(by("identity"))
        inner = by("split_sum", first_part, i, small, small, use(done))
        none = by("termwise", right, "=", ZERO, small, by("absurd", lp), small, use(done))
        cut = by("cases", i <= j, small, inner, none)
        return by("split_sum", whole, j, small, small, use(cut))(s)

    return {"conclusion": main}


SCRIPTS["kv.property1.every_row"] = _row


# -- Theorem 3.3 --------------------------------------------------------------------------------------------------------


SCRIPTS["kv.thm3.3.corrected"] = lambda: {"conclusion": settled(by("identity"))}
