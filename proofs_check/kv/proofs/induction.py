"""Scripts for the claims on the induction head of the KV-shifting paper: Theorems 3.2 and 3.3, Appendix A."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent, Variable, taken
from proofs_check.core.normal import back
from proofs_check.core.terms import (
    ONE,
    ZERO,
    Term,
    absolute,
    both,
    children,
    eq,
    exp,
    free,
    fresh,
    negation,
    substitute,
    tanh,
    walk,
)
from proofs_check.language.notation import each, fold, total, var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import of_facts, small
from proofs_check.rigour.auto import Search
from proofs_check.rigour.nodes import exchanged
from proofs_check.rigour.steps import (
    Step,
    at_least_one,
    becomes,
    chain,
    cleared,
    closed,
    have,
    identity,
    known,
    linear,
    named,
    node_in,
    number_in,
    resolve,
    steps,
    termwise,
    times,
)
from proofs_check.rigour.sums import used
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

Script = Callable[[], Mapping[str, Tactic]]
SCRIPTS: dict[str, Script] = {}
_NEXT = "a script is written and not yet run to its end (it is slow): "
NEEDS: dict[str, str] = {
    "kv.thm3.2.sharp": f"{_NEXT}the cubes as in kv.thm3.2; in the ball the sums over tokens and coordinates change "
    "places (induction on d), and products are at most (|x|^2 + |y|^2)/2",
    "kv.thm3.2.repaired": f"{_NEXT}the key is a mean with weights w/B on x_s, r/(r B) on x_{{s-1}}, where (1 - r) B = "
    "1 - w, B = sum of r^{s-q}, w = r^s",
    "kv.thm3.2.attained": "two exponentials compared up to the weight of token 2: tanh is 1-Lipschitz",
    "kv.eq8.domain.unbounded": "the gain is positive, a/(a + b) against a'/(a' + b) at scores 1/(1 + r) and r/(1 + r)",
    "kv.appA.step2.sharp": "the sum of |p - q| is twice a difference of means of the values 1 (q <= p) and 0: `_means`",
    "kv.thm3.3.discrepancy.ball": "products in the ball as for kv.thm3.2.sharp; sum of e^{-m(L-s)} reversed, induction",
    "kv.thm3.3.discrepancy.long": "a telescoped geometric sum with m > 0, then one rational inequality in e^{-m L}",
    "kv.eq5.one_mixture": "sums over places cut at i, i + 1, T (places.py), then cases j = i, i + 2, T, other",
}


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


# -- Appendix A -------------------------------------------------------------------------------------------------------


def _eight() -> Mapping[str, Tactic]:
    p, w = var("p"), var("w")

    def main(s: Sequent) -> Proof:
        z = s.goal.parts[1].parts[1].parts[1]  # 8 tanh z
        r = exp(-p)
        goal = 8 * tanh(w) <= 8 * w / (1 - r)
        last = steps(shown(tanh(w) <= w, auto()), shown(w <= w / (1 - r), auto()), linear((8, -2), (8, -1)))
        return by("generalise", z, Variable("w", ZERO).to_json(), goal, [], small, small, last)(s)

    return {"conclusion": main}


SCRIPTS["kv.thm3.2.eight"] = _eight


def _norm() -> Mapping[str, Tactic]:
    def main(s: Sequent) -> Proof:
        double = s.goal.parts[1].parts[1]
        _, i, low, high, _ = double.parts
        sigma, d = var("sigma"), var("d")

        last = by("resolve", absolute(1 / sigma), 0, small, small, of_facts)

        def row(q: Sequent) -> Proof:
            node = q.goal.parts[1]
            here = Term("var", q.variables[-1].name)
            left = Term("fold", *node.parts[:3], here, node.parts[4])
            return steps(split_sum(node, here), split_sum(left, here - 1), settled, last)(q)

        terms = s.goal.parts[0].parts[1]
        flat = total(var(i), low, high, 1 / sigma)
        whole = by("termwise", double, "=", 1 / sigma, small, row, small, of_facts)
        bound = by("termwise", terms, "<=", 1 / sigma, small, auto(), small, of_facts)
        return steps(shown(eq(flat, d / sigma), counted), shown(eq(double, d / sigma), whole),
                     by("split", bound, of_facts))(s)  # fmt: skip

    return {"conclusion": main}


SCRIPTS["kv.appA.step4.meant"] = _norm


def _lost() -> Mapping[str, Tactic]:
    p, n, j = var("p"), var("s"), var("j")
    whole, rest, ones = (total(j, low, n - 2, body) for low, body in ((0, exp(-p * j)), (1, exp(-p * j)), (0, ONE)))
    r, last = exp(-p), exp(-p * (n - 2))
    lost = absolute(1 / whole - 1)

    geometric = eq((r - 1) * whole, exp(-p * (n - 1)) - 1)
    enough, slow, step = (n - 1) * last <= whole, 2 * p * r <= 1, 1 + p / 2 <= exp(p / 2)
    decays = steps(at_least_one(p / 2), times(exp(p)),
                   linear((1, step, step), (2, step), (1, p > 0, step), (1, (1 - p / 2) ** 2)))  # fmt: skip

    def part(then: Tactic) -> Tactic:
        below = times(whole, of_facts)
        return by("resolve", lost, 1, small, below(of_facts), use(below(then)))

    compared = by("termwise", whole, ">=", last, small, auto(), small, linear((1, -1), (-last, eq(ones, n - 1))))

    def least_loss(s: Sequent) -> Proof:
        most = number_in(s.goal.parts[2] * p * n)
        half = Fraction(1, 2)
        rows = ((most, enough), (most - half, n >= 2, last), (most - 1, last), (half, n >= 2, last, slow),
                (1, last, slow), (p * n, geometric))  # fmt: skip
        upper = steps(shown(eq(ones, n - 1), counted), shown(enough, compared), shown(slow, decays), times(p * n),
                      linear(*rows))  # fmt: skip
        return part(upper)(s)

    def farther(s: Sequent) -> Proof:
        """A share that is no larger lies no nearer to 1."""
        away = node_in(s.goal, "abs")
        share, known_share = away.parts[1] + 1, 1 / whole
        less, sums = share <= known_share, [x for x in walk(share) if x.kind == "fold" and x is not whole]
        longer = [first(termwise(whole, "<=", x.parts[4], auto())(of_facts),
                        split_sum(x, -ONE)(of_facts)) for x in sums]  # fmt: skip
        larger = chain(*(have(whole <= x, why) for x, why in zip(sums, longer, strict=True)))
        smaller = [chain(have(0 < x), have(1 / x <= known_share, times(x * whole, linear(
            (1, 0 < x, whole >= 1), (1, 0 < x)))(of_facts))) for x in sums]  # fmt: skip
        nearer = steps(resolve(lost, 1, below), resolve(away, 1, small), of_facts)
        return steps(shown(whole >= 1, first_term), larger, *smaller, have(less, small),
                     have(lost <= away, nearer), of_facts)(s)  # fmt: skip

    parts = by("split", part(linear((1, exp(-p * (n - 1))), (-1, geometric))), least_loss)
    first_term = by("split_sum", whole, ZERO, small, small, shown(rest >= 0, auto())(of_facts))
    below = times(whole, of_facts)(of_facts)
    geometric_sum = closed(whole, exp(-p * j), r - 1)
    return {"conclusion": steps(shown(whole >= 1, first_term), geometric_sum, parts), "weaker": farther}


SCRIPTS["kv.appA.step6.sharp"] = _lost


def _uniform() -> Mapping[str, Tactic]:
    return {"witness": by("cases", var("c") > 1, small, settled(auto()), settled(auto()))}


SCRIPTS["kv.appA.step7.uniform"] = _uniform


# -- Property 1 -------------------------------------------------------------------------------------------------------


def _row() -> Mapping[str, Tactic]:
    i, j, k = map(var, "ijk")

    def main(s: Sequent) -> Proof:
        whole, right = s.goal.parts[1:]
        done = settled(identity)
        inner = split_sum(total(k, 1, j, whole.parts[4]), i)(done)
        none = by("termwise", right, "=", ZERO, small, by("absurd", of_facts), small, use(done))
        return split_sum(whole, j)(by("cases", i <= j, small, inner, none))(s)

    return {"conclusion": main}


SCRIPTS["kv.property1.every_row"] = _row


# -- Theorem 3.3 ------------------------------------------------------------------------------------------------------


SCRIPTS["kv.thm3.3"] = lambda: {"witness": by("split", small, settled(identity))}
SCRIPTS["kv.thm3.3.corrected"] = lambda: {"conclusion": settled(identity)}


def _cut(node: Term) -> Step:
    """A sum over 1..L as its first term, its last one and those between."""
    operation, index, _, high, body = node.parts
    return chain(split_sum(node, ONE), split_sum(Term("fold", operation, index, ONE + 1, high, body), high - 1))


def _discrepancy() -> Mapping[str, Tactic]:
    def main(s: Sequent) -> Proof:
        causal = s.goal.parts[1].parts[0]
        above, below = causal.parts
        return steps(shown(below > 0, some), _cut(above), _cut(below), settled, identity)(s)

    return {"conclusion": main, "defined": small}


SCRIPTS["kv.thm3.3.discrepancy"] = _discrepancy


def _mean_bound(node: Term, end: Term, above: bool) -> Tactic:
    """sum e^z x <= max sum e^z, or min sum e^z <= sum e^z x, for the max or min of x."""
    weight = node.parts[4].parts[0]

    def each_one(s: Sequent) -> Proof:
        place = Term("var", s.variables[-1].name)
        here = substitute(weight, {node.parts[1]: place})
        return by("member", end, place, small, small, linear((1, here, -1)))(s)

    return by("termwise", node, "<=" if above else ">=", weight * end, small, each_one, small, of_facts)


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
        same = steps(shown(causal.parts[1] > 0, some), _cut(causal.parts[0]), _cut(causal.parts[1]), settled, identity)
        nodes = {"f'": first_, "g'": last, "x'": ends[0], "y'": ends[1], "n'": above, "z'": below,
                 "M'": largest, "m'": least}  # fmt: skip
        bounds: list[tuple[Term, Tactic]] = []
        signs = [(below > 0, some), *((q > 0, arithmetic.signs) for q in (first_, last))]
        for end, place in ((largest, 0), (largest, 1), (least, 0), (least, 1)):
            fact = ends[place] <= end if end is largest else end <= ends[place]
            bounds.append((fact, by("member", end, (ONE, L)[place], small, small, known)))
        bounds += [(above <= largest * below, _mean_bound(above, largest, True)),
                   (least * below <= above, _mean_bound(above, least, False))]  # fmt: skip
        up = linear((1, z > 0, f > 0, x <= high), (1, z > 0, g > 0, y <= high), (1, f > 0, low * z <= a),
                     (1, g > 0, low * z <= a))  # fmt: skip
        down = linear((1, z > 0, f > 0, low <= x), (1, z > 0, g > 0, low <= y), (1, f > 0, a <= high * z),
                       (1, g > 0, a <= high * z))  # fmt: skip
        inside = (f * x + g * y - (f + g) * (a / z)) / (f + g + z)
        node = absolute(inside)
        last_step = by("cases", inside >= 0, small, by("resolve", node, 0, fine, known, use(cleared()(up))),
                       by("resolve", node, 1, fine, linear((1, -1)), use(cleared()(down))))  # fmt: skip
        return steps(haves(*signs), shown(eq(gap, value), same), use, put(inner, below, identity), haves(*bounds),
                     abstract(nodes), last_step)(s)  # fmt: skip

    return {"conclusion": main, "defined": small}


SCRIPTS["kv.thm3.3.discrepancy.range"] = _range


def _matched() -> Mapping[str, Tactic]:
    i, L, sigma, m = map(var, ("i", "L", "sigma", "m"))

    match, far = exp(1 / sigma - m * (L - i - 1)), exp(-m * (L - 1)) <= 1
    ratio = exp(-1 / sigma + m * (L - i - 1))

    def small_share(share: Term) -> Tactic:
        """The weight of an end of the context is less than one over that of the match."""
        whole = share.parts[1]
        back_, before, after = (Term("fold", *whole.parts[:2], low, high, whole.parts[4])
                                for low, high in ((ONE, i + 1), (ONE, i), (i + 1 + 1, L)))  # fmt: skip
        cut = steps(split_sum(whole, i + 1), split_sum(back_, i), haves(
            (before >= 0, arithmetic.signs), (after > 0, some)), settled, of_facts)  # fmt: skip
        left = (1, ratio, match < whole)
        return steps(haves((whole > 0, some), (match < whole, cut), (far, auto())), settled, times(whole, known),
                     first(linear(left, (1, far)), linear(left)))  # fmt: skip

    def main(s: Sequent) -> Proof:
        shares = s.goal.parts[1].parts
        return steps(haves(*((share < ratio, small_share(share)) for share in shares)),
                     linear(*((1, share < ratio) for share in shares)))(s)  # fmt: skip

    return {"conclusion": main}


SCRIPTS["kv.thm3.3.discrepancy.matched"] = _matched


def _any_context() -> Mapping[str, Tactic]:
    i, k, L, sigma, m, r, high = map(var, ("i", "k", "L", "sigma", "m", "r", "M'"))
    match, own = exp(1 / sigma - m * (L - i - 1)), 1 / sigma - m * (L - i - 1)
    sizes = (exp(-m * k), exp(m * (L - i - 2) - 1 / sigma))
    before, after = total(r, 2, i, ONE), total(r, i + 2, L - 1, ONE)

    def below(score: Term, size: Term) -> Tactic:
        bound = exp(score) <= exp(size.parts[1] + own)
        return shown(bound, by("logarithm", arithmetic.linear))(linear((1, bound), (1, match, size <= high)))

    def each_one(s: Sequent) -> Proof:
        here = Term("var", s.variables[-1].name)
        found, none = below(1 / sigma - m * (L - here), sizes[0]), below(-m * (L - here), sizes[1])
        by_token = by("cases", eq(Term("item", "w", here - 1), 0), fine, settled(found), settled(none))
        return by("cases", here - 1 <= i - k, fine, first(by("absurd", of_facts), settled(by_token)), settled(none))(s)

    def main(s: Sequent) -> Proof:
        node, whole = node_in(s.goal, "max"), node_in(s.goal, "fold")
        largest = by("cases", sizes[0] <= sizes[1], fine, resolve(node, 1)(of_facts), resolve(node, 0)(of_facts))

        def part(a: Term, b: Term) -> Term:
            return Term("fold", *whole.parts[:2], a, b, whole.parts[4])

        one, two = part(whole.parts[2], i), part(i + 1 + 1, L - 1)
        bounded = [by("termwise", n, "<=", high * match, fine, each_one, fine, known) for n in (one, two)]
        flat = [Term("fold", *n.parts[:4], high * match) for n in (one, two)]
        p, q = var("p'"), var("q'")
        add = linear((1, p <= flat[0]), (1, q <= flat[1]), (high, match, eq(before, i - 1)),
                      (high, match, eq(after, L - 2 - i)))  # fmt: skip
        cut = steps(
            split_sum(whole, i + 1), split_sum(part(whole.parts[2], i + 1), i),
            haves((one <= flat[0], bounded[0]), (two <= flat[1], bounded[1])),
            called(one, "p'"), called(two, "q'"), settled, add)  # fmt: skip
        most = 1 + (L - 3) * high
        end = steps(
            haves((whole > 0, some), (eq(before, i - 1), counted), (eq(after, L - 2 - i), counted),
                  (whole <= most * match, cut)),
            settled, times(most, known), times(whole, known), linear((1, -1)))  # fmt: skip
        return steps(
            haves((sizes[0] <= node, largest), (sizes[1] <= node, largest),
                  (node > 0, linear((1, sizes[0] <= node), (1, sizes[0]))),
                  (1 + (L - 3) * node > 0, linear((1, L >= 3, node > 0), (1,)))),
            called(node, "M'"), end)(s)  # fmt: skip

    return {"conclusion": main}


SCRIPTS["kv.sec3.1.any_context.corrected"] = _any_context


# -- Theorem 3.2 ------------------------------------------------------------------------------------------------------


def _means(low: int, high: int) -> Tactic:
    """|n/z - n'/z'| <= (high - low) (G - 1)/(G + 1) for means whose weights differ by factors from 1/G to G."""
    n, z, n2, z2, G = map(var, ("n'", "z'", "n''", "z''", "G'"))
    width = high - low

    def side(p: Term, q: Term, p2: Term, q2: Term) -> Tactic:
        """p q' - p' q against (G - 1)(p + q)(p' + q')/(G + 1)."""
        least, split = p <= G * p2, 2 * p <= (G - 1) * q
        p, q, share = 0 <= p, 0 <= q, Fraction(1, width)
        rows = [(share, least, G >= 1, p), (2 * share, least, G >= 1, q), (2 * share, least, q)]
        one = [(share, ZERO + q.parts[2] <= G * q2, split), (share, G >= 1, p, p), (2 * share, G >= 1, p, q),
               (share, G >= 1, q, q)]  # fmt: skip
        other, most = (G - 1) * q.parts[2] < 2 * p.parts[2], q2 <= G * q.parts[2]
        two = [(share, G >= 1, most, other), (share, most, other), (share, G >= 1, (p.parts[2] - G * q.parts[2]) ** 2)]
        above = linear((1, z > 0, z2 > 0, G >= 1, G >= 1), (3, z > 0, z2 > 0, G >= 1), (2, z > 0, z2 > 0))
        return times(z * z2 * (G + 1) * G, above)(
            by("cases", split, fine, linear(*rows, *one), linear(*rows, *two)))  # fmt: skip

    P, Q, P2, Q2 = n - low * z, high * z - n, n2 - low * z2, high * z2 - n2
    return by("split", side(P, Q, P2, Q2), side(Q, P, Q2, P2))


def _layers(name: str, low: int, score: Tactic, most: Any) -> Tactic:
    """|IH - TF| < bound: scores move by at most W F/sigma, F = r V/(V + 1) < r, V = sum of e^{pq}, r = e^{-p}."""
    L, p, sigma, q = map(var, ("L", "p", "sigma", "q"))
    width = 1 - low
    many = total(q, 1, L, exp(p * q))
    size = most * exp(-p) * many / (many + 1) / sigma
    end_, H = most * exp(-p) / sigma, var("h'")
    G, R = exp(H), exp(end_)

    def main(s: Sequent) -> Proof:
        apart = s.goal.parts[1].parts[1]
        (n, z), (n2, z2) = apart.parts[0].parts, apart.parts[1].parts[1].parts
        _, r, first_, last, body = n.parts
        before, after, token = body.parts[0], n2.parts[4].parts[0], body.parts[1]
        gap = after.parts[1] - before.parts[1]
        up, down = fold("max", var(r), first_, last, gap), fold("min", var(r), first_, last, gap)

        def sums(one: Term, other: Term, value: Term, far: Term) -> Tactic:
            """sum one value <= G sum other value."""

            def each_one(t: Sequent) -> Proof:
                here = Term("var", t.variables[-1].name)
                a, b, v = (substitute(w, {r: here}) for w in (one, other, value))
                near = a <= exp(H + b.parts[1])
                moved = up <= H if far is up else -H <= down
                why = by("member", far, here, fine, fine, linear((1, -1), (1, moved)))
                return shown(near, by("logarithm", why))(linear((1, near, v >= 0)))(t)

            return by("termwise", fold("sum", var(r), first_, last, one * value), "<=", G * other * value,
                      fine, each_one, fine, known)  # fmt: skip

        def not_negative(value: Term) -> Tactic:
            def each_one(t: Sequent) -> Proof:
                here = {r: Term("var", t.variables[-1].name)}
                return linear((1, substitute(before, here), substitute(value, here) >= 0))(t)

            return by("termwise", fold("sum", var(r), first_, last, before * value), ">=", ZERO,
                      fine, each_one, fine, known)  # fmt: skip

        P, Q, P2, Q2 = n - low * z, z - n, n2 - low * z2, z2 - n2
        one, other = token - low, 1 - token
        K = width * (G - 1) / (G + 1)
        names = {"n'": n, "z'": z, "n''": n2, "z''": z2, "G'": G}
        positive: list[tuple[Term, Tactic]] = [(many > 0, some), (z > 0, some), (z2 > 0, some)]
        moved: list[tuple[Term, Tactic]] = [
            (up <= size, by("termwise", up, "<=", size, fine, score, fine, known)),
            (-size <= down, by("termwise", down, ">=", -size, fine, score, fine, known)),
            (0 <= size, arithmetic.signs),
            (size < end_, times(sigma * (many + 1), auto())(auto())),
        ]
        compared: list[tuple[Term, Tactic]] = [
            (G > 0, arithmetic.signs), (ONE <= G, auto()), (0 <= P, not_negative(one)), (0 <= Q, not_negative(other)),
            (P2 <= G * P, sums(after, before, one, up)), (P <= G * P2, sums(before, after, one, down)),
            (Q2 <= G * Q, sums(after, before, other, up)), (Q <= G * Q2, sums(before, after, other, down)),
        ]  # fmt: skip
        g, h = var("G'"), var("R'")
        below = steps(
            put(s.goal.parts[2], width * (R - 1) / (R + 1), identity),
            haves((R > 0, arithmetic.signs), (G < R, by("logarithm", known))), abstract({"G'": G, "R'": R}),
            times((g + 1) * (h + 1), linear((1, g > 0, h > 0), (1, g > 0), (1, h > 0), (1,))),
            linear((2 * width, g < h)))  # fmt: skip
        a = var("a'")
        end = by("cases", a >= 0, fine, *(by("resolve", absolute(a), w, fine, of_facts, use(of_facts)) for w in (0, 1)))
        return steps(
            haves(*positive, *moved), called(size, "h'"), haves(*compared),
            shown(both(apart <= K, -apart <= K), abstract(names)(_means(low, 1))), shown(K < s.goal.parts[2], below),
            abstract({"a'": apart, "k'": K, "e'": s.goal.parts[2]}), end)(s)  # fmt: skip

    return main


def _cube(name: str, low: int) -> Tactic:
    """The score moves by at most W F: each coordinate of the mean is D F off."""
    L, p, d, q, k = map(var, ("L", "p", "d", "q", "k"))
    width = 1 - low
    many = total(q, 1, L, exp(p * q))
    share = width * exp(-p) * many / (many + 1)

    def item(a: Term, b: Term) -> Term:
        return Term("item", name, a, b)

    def main(s: Sequent) -> Proof:
        here = Term("var", s.variables[-1].name)
        up = s.goal.parts[2].kind != "fold" and s.goal.parts[1].kind != "mul"
        ages = exp(-p * (here - 1 - q))
        below = total(q, 1, here - 1, ages)

        def off(at: Term) -> Term:
            return total(q, 1, here - 1, ages * item(q, at)) / below - item(here - 1, at)

        def row(t: Sequent) -> Proof:
            at = Term("var", t.variables[-1].name)
            u, v = item(L, at), off(at)
            facts_ = (v <= share, -v <= share)
            rows = [(Fraction(1, 2), u <= 1, facts_[up]), (Fraction(1, 2), -1 <= u, facts_[not up])]
            return steps(haves(*((fact, _mean(here, at, item, width, fact is facts_[0])) for fact in facts_),
                               (-1 <= u, of_facts)), linear(*rows))(t)  # fmt: skip

        sign = 1 if up else -1
        dot = total(k, 1, d, sign * item(L, k) * off(k))
        bound = total(k, 1, d, share)
        lemmas: list[tuple[Term, Tactic]] = [
            (below > 0, some), (dot <= bound, by("termwise", dot, "<=", share, fine, row, fine, known)),
            (eq(bound, d * share), counted),
        ]  # fmt: skip
        return steps(haves(*lemmas), times(var("sigma"), of_facts),
                     linear((1, dot <= bound), (1, eq(bound, d * share))))(s)  # fmt: skip

    return main


def _mean(here: Term, at: Term, item: Callable[[Term, Term], Term], width: int, up: bool) -> Tactic:
    """The mean over 1..s - 1 by e^{-p distance} is at most D r V/(V + 1) from its last token."""
    L, p, q = map(var, ("L", "p", "q"))
    ages, sign = exp(-p * (here - 1 - q)), 1 if up else -1
    below, rest = total(q, 1, here - 1, ages), total(q, 1, here - 2, ages)
    moved = sign * ages * (item(q, at) - item(here - 1, at))
    whole, part = total(q, 1, here - 1, moved), total(q, 1, here - 2, moved)
    many, fewer = total(q, 1, L, exp(p * q)), total(q, 1, here - 2, exp(p * q))
    left = total(q, here - 2 + 1, L, exp(p * q))
    share = exp(-p) * many / (many + 1)

    def each_one(s: Sequent) -> Proof:
        place = Term("var", s.variables[-1].name)
        x, y = item(place, at), item(here - 1, at)
        age = substitute(ages, {"q": place})
        both_ends = (x <= 1, 1 - width <= y) if up else (1 - width <= x, y <= 1)
        return linear(*((1, age, end) for end in both_ends))(s)

    cut = by("split_sum", whole, here - 2, fine, fine, linear((1, part <= width * rest), (1, -1)))
    count, geometric = eq(below, rest + 1), eq((exp(p) - 1) * rest, 1 - exp(-p * (here - 2)))
    exact = times(exp(p) * (many + 1), arithmetic.signs)(
        linear((1, exp(-p * (here - 2)), fewer <= many), (-many, count), (many, geometric)))  # fmt: skip
    lemmas: list[tuple[Term, Tactic]] = [
        (part <= width * rest, by("termwise", part, "<=", width * ages, fine, each_one, fine, known)),
        (whole <= width * rest, cut),
        (count, by("split_sum", below, here - 2, fine, fine, linear((1, -1)))),
        (geometric, by("telescope", rest, each(q, ages), exp(p) - 1, fine, fine, linear((1, -1)))),
        (left >= 0, arithmetic.signs),
        (fewer <= many, by("split_sum", many, here - 2, fine, fine, of_facts)),
        (rest <= share * below, exact),
    ]  # fmt: skip
    return steps(haves(*lemmas), times(below, known), linear(
        (1, whole <= width * rest), (width, rest <= share * below)))  # fmt: skip


def _theorem() -> Mapping[str, Tactic]:
    """Theorem 3.2 as printed."""
    d, p, sigma = map(var, ("d", "p", "sigma"))
    z, r = d * exp(-p) / sigma, exp(-p)

    def main(s: Sequent) -> Proof:
        sharp = s.goal.parts[1] < 2 * tanh(z)
        w, u = var("w'"), var("r'")
        weaker = steps(
            haves((z > 0, auto()), (r < 1, auto()), (r > 0, auto())), abstract({"w'": z, "r'": r}),
            haves((tanh(w) <= w, auto()), (w < 2 * w / (1 - u), auto())), linear((2, -2), (2, -1)))  # fmt: skip
        return steps(haves((sharp, _layers("x", -1, _cube("x", -1), 2 * d)), (2 * tanh(z) < 4 * z / (1 - r), weaker)),
                     linear((1, -1), (1, -2)))(s)  # fmt: skip

    return {"conclusion": main}


SCRIPTS["kv.thm3.2"] = _theorem


def _impossible() -> Mapping[str, Tactic]:
    """Where the first output is 0 the second, e^m times it, is 0 as well, and u is not."""

    def positive(s: Sequent) -> Proof:
        first, second = s.given[-1].parts[1], s.goal.parts[1]
        zero, some = eq(first.parts[0], 0), 0 < var("u") * second.parts[1]
        below = times(second.parts[1])(linear((1, some), (exp(var("m")), zero)))
        flat = becomes(eq(0, 0), (first.parts[1], s.given[-1]))(identity)
        return steps(have(zero, flat), have(some), by("apart", True, below))(s)

    return {"conclusion": by("either", 1, positive)}


SCRIPTS["kv.thm3.3.impossible"] = _impossible
