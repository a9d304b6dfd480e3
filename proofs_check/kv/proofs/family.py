"""Scripts for the claims on the family of shifts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ZERO, Term, eq, exp, lift, substitute
from proofs_check.kv.formal import family as formal
from proofs_check.language.notation import var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.steps import (
    Scripts,
    becomes,
    have,
    identity,
    known,
    linear,
    named,
    node_in,
    only,
    steps,
    times,
)
from proofs_check.rigour.tactics import Proof, Tactic, by, first

V = var("V")


def ordered(s: Sequent) -> Proof:
    """An index within its bounds; a sum of exponentials is not 0; what is known is not 0 either."""
    kind, parts = s.goal.kind, s.goal.parts
    if kind == "and":
        return by("split", *(ordered for _ in parts))(s)
    if parts[0] == "!=":
        return first(known, by("apart", False, by("signs", [], {})))(s)
    return first(identity, only(V >= 3, V >= 4, V >= 5)(arithmetic.of_facts))(s)


def defined(**scripts: Tactic) -> Scripts:
    return {**scripts, "defined": ordered}


def _same() -> Scripts:
    """Exponentials of the same scores, with the same values, in another order."""
    return {"conclusion": by("split", identity, by("either", 1, linear((1, -1))))}


def _after() -> Scripts:
    return {"conclusion": by("split", *[identity] * 4)}


# -- necessary ---------------------------------------------------------------------------------------------------------


def extreme(node: Term, then: Tactic) -> Tactic:
    """Which part the largest, or least, is: as a fact, case by case."""
    parts = node.parts

    def go(best: int, at: int) -> Tactic:
        if at == len(parts):
            return by("resolve", node, best, fine, each, then)
        order = parts[at] <= parts[best] if node.kind == "max" else parts[best] <= parts[at]
        return by("cases", order, fine, go(best, at + 1), go(at, at + 1))

    return go(0, 1)


def each(s: Sequent) -> Proof:
    if s.goal.kind == "and":
        return by("split", *(each for _ in s.goal.parts))(s)
    return first(known, arithmetic.of_facts)(s)


fine = arithmetic.small


def extremes(kind: str, then: Tactic) -> Tactic:
    """All nodes of the goal of this kind."""
    return lambda s: extreme(node_in(s.goal, kind), then)(s)


def not_zero(factor: Term, rest: Term) -> Tactic:
    """Since their product is positive."""
    zero = eq(factor, 0)
    absurd = becomes(ZERO <= ZERO, (rest, zero), factor=factor * rest, why=known)(identity)
    return by("cases", zero, fine, by("absurd", absurd), known)


def _decodes() -> Scripts:
    """Two tokens do, b and t behind a third one, and behind each other: a mutant may spoil what is said of a pair."""
    v0, v1, N = formal.v0, formal.v1, formal.N
    order = list(permutations((1, 2, 3)))

    def pair(b: int, t: int, third: int) -> Tactic:
        size = N[b, b] + N[t, t] - N[b, t] - N[t, b]
        facts = [0 < v0 * size, 0 < (v0 - v1) * size]
        behind = [2 * order.index(names) + 1 for names in ((third, b, t), (third, t, b))]
        each_other = [2 * order.index(names) for names in ((b, t, third), (t, b, third))]
        sums = (have(fact, linear(*((1, k) for k in told)))
                for fact, told in zip(facts, (behind, each_other), strict=True))  # fmt: skip
        below = have(0 < 1 - v1 / v0, times(v0 * size, known)(linear((1, facts[1]))))
        return steps(*sums, by("split", not_zero(v0, size), below(extremes("min", arithmetic.of_facts))))

    return {"conclusion": by("assume", first(pair(1, 2, 3), pair(1, 3, 2), pair(2, 3, 1)))}


def mean() -> Term:
    """Of the six renamings of three letters in M: the diagonal over the rest, six times."""
    pairs = list(permutations((1, 2, 3), 2))
    return sum((2 * formal.M[i, i] for i in (1, 2, 3)), lift(0)) - sum((formal.M[i, j] for i, j in pairs), lift(0))


def _necessary() -> Scripts:
    """Each place loses to p + 1 in the mean over six renamings; then by the ratios."""
    q0, q1, k0, k1, size = formal.q0, formal.q1, formal.k0, formal.k1, mean()
    product, r, s = q0 * k1 * size, var("r"), var("s")
    value = {"cc": ZERO, "bc": q1 * k0, "bb": q1 * k0 + q1 * k1, "cb": q1 * k1, "ac": q0 * k0, "ab": q0 * k0 + q1 * k1}
    ratio = {"cc": ZERO, "bc": r * s, "bb": r * s + s, "cb": s, "ac": r, "ab": r + s}
    own, previous = k0 / k1, q1 / q0
    sums, ratios, bounds, number = [], [], [], 0
    for sentence, best, high in ((formal.FIRST, q0 * k1, lift(1)), (formal.SECOND, q0 * k1 + q1 * k0, 1 + r * s)):
        for pair in map("".join, formal.compared(sentence)):
            form = 0 < (best - value[pair]) * size
            sums.append(have(form, linear(*((1, number + k) for k in range(6)))))
            number += 6
            if pair != "cc" or best is not q0 * k1:
                bounds.append(ratio[pair] < high)
                bound = substitute(bounds[-1], {"r": own, "s": previous})
                ratios.append(have(bound, times(product, known)(linear((1, form)))))
    gap = steps(*ratios, named(own, "r", keep=None), named(previous, "s", keep=None), only(*bounds),
                extremes("max", extremes("min", arithmetic.of_facts)))  # fmt: skip
    whole = by("split", not_zero(q0, k1 * size), not_zero(k1, q0 * size), gap)
    return defined(conclusion=by("assume", steps(*sums, whole)))


# -- point 3 -----------------------------------------------------------------------------------------------------------


def impossible(positive: Term, why: Tactic, most: Tactic) -> Tactic:
    """What is positive is at most 0."""
    return by("absurd", becomes(positive <= ZERO, factor=positive, why=why)(most))


def refuted(main: Tactic) -> Tactic:
    """One of the alternatives holds, or else the opposites of all contradict each other."""

    def tactic(s: Sequent) -> Proof:
        rest = by("cases", s.goal.parts[-1], fine, known, main)
        return by("either", len(s.goal.parts) - 1, rest)(s)

    return tactic


def _middle() -> Scripts:
    """a (d_q - d_u) > 0 for both others, for each of three tokens q; the one between the two others is none."""
    d = {q: formal.N[q, 4] - formal.N[q, 5] for q in (1, 2, 3)}
    power = {(q, x): exp(formal.k0 * (formal.q0 * formal.M[q, x] + formal.q1 * formal.M[4, x]))
             for q in d for x in range(1, 6)}  # fmt: skip
    slope = {q: formal.v1 * (power[q, 4] - power[q, 5]) for q in d}
    sums, kept = [], []
    for number, (q, u) in enumerate(permutations(d, 2)):
        mass = 2 * power[q, q] + 2 * power[q, 4] + power[q, u] + power[q, 5]
        kept.append(0 < slope[q] * (d[q] - d[u]))
        sums.append(have(kept[-1], times(1 / mass)(linear((1, 2 * number), (1, 2 * number + 1)))))
    names = [named(node, f"{letter}{q}", keep=None) for letter, nodes in (("a", slope), ("d", d))
             for q, node in nodes.items()]  # fmt: skip
    a, e = ({q: var(f"{letter}{q}") for q in d} for letter in "ad")
    lead = {(q, u): 0 < a[q] * (e[q] - e[u]) for q, u in permutations(d, 2)}

    def between(low: int, q: int, high: int, below: Term, above: Term) -> Tactic:
        one, other = lead[q, low], lead[q, high]
        product = a[q] ** 2 * (e[q] - e[low]) * (e[q] - e[high])
        return impossible(product, linear((1, one, other)), linear((1, a[q] ** 2, below, above)))

    def go(order: dict[tuple[int, int], Term], pairs: list[tuple[int, int]]) -> Tactic:
        if pairs:
            x, y = pairs[0]
            less, more = e[x] <= e[y], e[y] < e[x]
            return by("cases", less, fine, go({**order, (x, y): less}, pairs[1:]),
                      go({**order, (y, x): more}, pairs[1:]))  # fmt: skip
        low, q, high = next(x for x in permutations(d) if x[:2] in order and x[1:] in order)
        return between(low, q, high, order[low, q], order[q, high])

    last = go({}, [(1, 2), (1, 3), (2, 3)])
    return defined(
        conclusion=refuted(steps(*sums, by("absurd", only(*kept)(steps(*names, only(*lead.values()), last)))))
    )


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "kv.beyond.family.swapped": _same,
    "kv.beyond.family.unseen": _same,
    "kv.beyond.family.after": _after,
    "kv.beyond.family.decodes": _decodes,
    "kv.beyond.family.necessary": _necessary,
    "kv.beyond.family.middle": _middle,
    "kv.beyond.family.middle.difference": lambda: {"conclusion": identity},
}
