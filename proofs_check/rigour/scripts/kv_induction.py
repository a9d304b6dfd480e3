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


def fine(s: Sequent) -> Proof:
    return first(quick, by("apart", False, some), small)(s)


def have(lemma: Term, why: Tactic, then: Tactic) -> Tactic:
    return by("have", lemma, fine, why, then)


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
        kept = [replaced(g, node, Term("var", new.name)) for g in s.given if node in walk(g) and g.parts[1] is not node]
        return by("generalise", node, new.to_json(), wider, kept, first(same, fine), fine,
                  by("enumerate", new.name, then))(s)  # fmt: skip

    return tactic


def use(then: Tactic, keep: bool = False) -> Tactic:
    """The last hypothesis, an equality, is used everywhere in the goal, from left to right."""

    def tactic(s: Sequent) -> Proof:
        _, node, value = s.given[-1].parts
        rest = then if keep else by("forget", [], [len(s.given) - 1], then)
        fact = s.given[-1]

        def same(q: Sequent) -> Proof:
            if q.goal.parts[1:] not in ((node, value), (value, node)):
                return fine(q)
            return by("linear", [[ONE if q.goal.parts[1] is node else -ONE, [facts(q).index(fact)]]])(q)

        return put(node, value, same, rest)(s)

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


def abstract(nodes: Mapping[str, Term], then: Tactic) -> Tactic:
    """The nodes become variables of which the hypotheses are known, and no more; the old variables go."""

    def tactic(s: Sequent) -> Proof:
        def forgotten(q: Sequent) -> Proof:
            old = [v.name for v in q.variables if v.name not in nodes]
            return by("forget", old, [k for k, g in enumerate(q.given) if free(g) & set(old)], then)(q)

        step: Tactic = forgotten
        for name in reversed(nodes):
            step = _named(name, nodes[name], list(nodes.items()), step)
        return step(s)

    return tactic


def _named(name: str, node: Term, pairs: list[tuple[str, Term]], then: Tactic) -> Tactic:
    def tactic(s: Sequent) -> Proof:
        new, here = Term("var", name), node
        for earlier, image in pairs[: [n for n, _ in pairs].index(name)]:
            here = replaced(here, image, Term("var", earlier))
        wider = replaced(s.goal, here, new)
        kept = [replaced(g, here, new) for g in s.given if here in walk(g)]
        return by("generalise", here, Variable(name).to_json(), wider, kept, small, fine, then)(s)

    return tactic


def some(s: Sequent) -> Proof:
    """A sum of exponentials over places that exist is positive."""
    node = s.goal.parts[2]
    if node.kind != "fold":
        raise Failed("no sum")
    return by("termwise", node, ">", ZERO, small, arithmetic.signs, quick, lp)(s)


def lp(s: Sequent) -> Proof:
    return arithmetic.linear(s, 1, False)


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
                then_ = have(eq(node, value), same, use(tactic))
                below = any(n.kind == "div" and node in walk(n.parts[1]) for n in walk(s.goal))
                return have(node > 0, some, then_)(s) if below else then_(s)
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


def _cut(node: Term, then: Tactic) -> Tactic:
    """A sum over 1..L as its first term, its last one and those between."""
    operation, index, low, high, body = node.parts
    rest = Term("fold", operation, index, ONE + 1, high, body)
    return by("split_sum", node, ONE, small, small, use(
        by("split_sum", rest, high - 1, small, small, use(then))))  # fmt: skip


def _discrepancy() -> Mapping[str, Tactic]:
    def main(s: Sequent) -> Proof:
        causal = s.goal.parts[1].parts[0]
        above, below = causal.parts
        return have(below > 0, some, _cut(above, _cut(below, settled(by("identity")))))(s)

    return {"conclusion": main}


SCRIPTS["kv.thm3.3.discrepancy"] = _discrepancy


def cleared(why: Tactic, then: Tactic) -> Tactic:
    """The goal without its denominators."""

    def tactic(s: Sequent) -> Proof:
        factor, image = arithmetic.cleared(arithmetic.margin_of(s))
        return arithmetic.scaled(s, factor, why, then, image)

    return tactic


def haves(*lemmas: tuple[Term, Tactic], then: Tactic) -> Tactic:
    for lemma, why in reversed(lemmas):
        then = have(lemma, why, then)
    return then


def _mean_bound(node: Term, end: Term, above: bool) -> Tactic:
    """sum e^z x <= max sum e^z, or min sum e^z <= sum e^z x, for the max or min of x."""
    weight = node.parts[4].parts[0]

    def each_one(s: Sequent) -> Proof:
        place = Term("var", s.variables[-1].name)
        here = substitute(weight, {node.parts[1]: place})
        return by("member", end, place, small, small, combine((1, here, -1)))(s)

    return by("termwise", node, "<=" if above else ">=", weight * end, small, each_one, small, lp)


def _range() -> Mapping[str, Tactic]:
    f, g, x, y, a, z, high, low = map(var, ("f'", "g'", "x'", "y'", "n'", "z'", "M'", "m'"))

    def main(s: Sequent) -> Proof:
        gap = s.goal.parts[1].parts[1]
        causal, (_, head) = gap.parts[0], gap.parts[1].parts
        share, spread = s.goal.parts[2].parts
        (first_, last), inner = share.parts[0].parts, share.parts[1].parts[1]
        largest, (_, least) = spread.parts[0], spread.parts[1].parts
        above, below = head.parts
        c, L = var("c"), var("L")
        ends = [Term("item", "x", place, c) for place in (ONE, L)]
        both_ends = first_ + last
        value = (first_ * ends[0] + last * ends[1] - both_ends * (above / below)) / (both_ends + below)
        same = have(causal.parts[1] > 0, some, _cut(causal.parts[0], _cut(causal.parts[1], settled(by("identity")))))
        nodes = {"f'": first_, "g'": last, "x'": ends[0], "y'": ends[1], "n'": above, "z'": below,
                 "M'": largest, "m'": least}  # fmt: skip
        known = [(q > 0, arithmetic.signs) for q in (first_, last)]
        for end, place in ((largest, 0), (largest, 1), (least, 0), (least, 1)):
            fact = ends[place] <= end if end is largest else end <= ends[place]
            known.append((fact, by("member", end, (ONE, L)[place], small, small, by("known"))))
        known += [(above <= largest * below, _mean_bound(above, largest, True)),
                  (least * below <= above, _mean_bound(above, least, False))]  # fmt: skip
        up = combine((1, z > 0, f > 0, x <= high), (1, z > 0, g > 0, y <= high), (1, f > 0, low * z <= a),
                     (1, g > 0, low * z <= a))  # fmt: skip
        down = combine((1, z > 0, f > 0, low <= x), (1, z > 0, g > 0, low <= y), (1, f > 0, a <= high * z),
                       (1, g > 0, a <= high * z))  # fmt: skip
        inside = (f * x + g * y - (f + g) * (a / z)) / (f + g + z)
        node = absolute(inside)
        last_step = by("cases", inside >= 0, small, by("resolve", node, 0, small, by("known"), use(cleared(small, up))),
                       by("resolve", node, 1, small, small, use(cleared(small, down))))  # fmt: skip
        return have(below > 0, some, have(eq(gap, value), same, use(put(inner, below, by("identity"), haves(
            *known, then=abstract(nodes, last_step))))))(s)  # fmt: skip

    return {"conclusion": main}


SCRIPTS["kv.thm3.3.discrepancy.range"] = _range
