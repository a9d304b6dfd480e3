"""Scripts for the claims on the induction head of the KV-shifting paper: Theorem 3.3, Appendix A."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from proofs_check.core.domain import Sequent, Variable
from proofs_check.core.terms import (
    ONE,
    ZERO,
    Term,
    absolute,
    eq,
    exp,
    substitute,
    tanh,
    walk,
)
from proofs_check.language.notation import total, var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import of_facts, small
from proofs_check.rigour.combined import combined
from proofs_check.rigour.settling import (
    abstract,
    auto,
    called,
    counted,
    fine,
    haves,
    put,
    settled,
    shown,
    some,
    split_sum,
    use,
)
from proofs_check.rigour.steps import (
    Step,
    chain,
    closed,
    fades,
    have,
    identity,
    known,
    linear,
    node_in,
    resolve,
    steps,
    termwise,
    times,
)
from proofs_check.rigour.tactics import Proof, Tactic, by, first

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

    enough = (n - 1) * last <= whole

    def part(then: Tactic) -> Tactic:
        below = times(whole, of_facts)
        return by("resolve", lost, 1, small, below(of_facts), use(below(then)))

    compared = by("termwise", whole, ">=", last, small, auto(), small, combined)

    def least_loss(s: Sequent) -> Proof:
        upper = steps(shown(eq(ones, n - 1), counted), shown(enough, compared), have(0 <= p), fades(p), times(p * n),
                      combined)  # fmt: skip
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

    parts = by("split", part(combined), least_loss)
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


SCRIPTS["kv.thm3.3.meant"] = lambda: {"witness": by("split", small, settled(identity))}
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
    f, g, x, y, a, z = map(var, ("f'", "g'", "x'", "y'", "n'", "z'"))

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
        inside = (f * x + g * y - (f + g) * (a / z)) / (f + g + z)
        node = absolute(inside)
        last_step = by("cases", inside >= 0, small, by("resolve", node, 0, fine, known, use(combined)),
                       by("resolve", node, 1, fine, linear((1, -1)), use(combined)))  # fmt: skip
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
        return steps(haves((whole > 0, some), (match < whole, cut), (far, auto())), settled,
                     times(whole, known), combined)  # fmt: skip

    def main(s: Sequent) -> Proof:
        shares = s.goal.parts[1].parts
        return steps(haves(*((share < ratio, small_share(share)) for share in shares)), combined)(s)

    return {"conclusion": main}


SCRIPTS["kv.thm3.3.discrepancy.matched"] = _matched


def _any_context() -> Mapping[str, Tactic]:
    i, k, L, sigma, m, r, high = map(var, ("i", "k", "L", "sigma", "m", "r", "M'"))
    match, own = exp(1 / sigma - m * (L - i - 1)), 1 / sigma - m * (L - i - 1)
    sizes = (exp(-m * k), exp(m * (L - i - 2) - 1 / sigma))
    before, after = total(r, 2, i, ONE), total(r, i + 2, L - 1, ONE)

    def below(score: Term, size: Term) -> Tactic:
        bound = exp(score) <= exp(size.parts[1] + own)
        return shown(bound, by("logarithm", arithmetic.linear))(combined)

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
            settled, times(most, known), times(whole, known), combined)  # fmt: skip
        return steps(
            haves((sizes[0] <= node, largest), (sizes[1] <= node, largest),
                  (node > 0, combined),
                  (1 + (L - 3) * node > 0, combined)),
            called(node, "M'"), end)(s)  # fmt: skip

    return {"conclusion": main}


SCRIPTS["kv.sec3.1.any_context.corrected"] = _any_context
