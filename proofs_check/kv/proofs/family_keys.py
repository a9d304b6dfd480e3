"""Scripts for the family of shifts: no weights where keys alone are shifted and weigh their own token as much."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from proofs_check.core.terms import ZERO, Term, eq, exp, lift
from proofs_check.kv.formal import family as formal
from proofs_check.kv.proofs.family import defined, fine, impossible, refuted
from proofs_check.rigour.steps import Scripts, Step, becomes, chain, have, identity, known, linear, only, steps, times
from proofs_check.rigour.tactics import Tactic, by

NAMES = (1, 2, 3)


def F(y: int, x: int) -> Term:
    """e^{r score} of the query y."""
    return exp(formal.r * formal.M[y, x])


def G(y: int, x: int) -> Term:
    return exp(formal.M[y, x])


def E(y: int, x: int, z: int, w: int) -> Term:
    """F(y, x) times the difference of the value scores of x for z and for w."""
    return F(y, x) * (formal.N[x, z] - formal.N[x, w])


def _numerator(sentence: list[int], target: int, other: int) -> tuple[Term, Term]:
    """The numerator of the lead of `target` over `other` in the logits, and its denominator."""
    y = sentence[-1]
    before = [lift(1), *(G(y, x) for x in sentence)]
    top = sum((E(y, x, target, other) * g for x, g in zip(sentence, before, strict=False)), lift(0))
    return top, sum((F(y, x) * g for x, g in zip(sentence, before, strict=False)), lift(0))


def _leads() -> tuple[list[Step], dict[tuple[int, ...], Term]]:
    """The alternatives denied, without denominators: by y, z, w and pattern."""
    facts, found, number = [], {}, 0
    for names in permutations(NAMES):
        for pattern, (places, against) in enumerate(formal.ONLY_KEY):
            top, mass = _numerator([names[x] for x in places], names[1], names[against])
            found[*names, pattern] = 0 < top
            facts.append(have(0 < top, times(1 / mass)(linear((1, number)))))
            number += 1
    return facts, found


def _excluded(y: int, z: int, w: int, sign: int, leads: dict[tuple[int, ...], Term]) -> Tactic:
    """0 < e of y, e of z < e of w, G_y < G_z and G_y < G_w (e = E, or -E with z and w in each other's place)."""
    ends = (z, w) if sign > 0 else (w, z)
    e = {x: sign * E(y, x, *ends) for x in (y, z, w)}
    g, gz, gw = G(y, y), G(y, z), G(y, w)
    own, order, high = 0 < e[y], e[z] < e[w], g < gw
    three, four, five, six = (leads[y, *pair, pattern] for pattern in (2, 3) for pair in ((z, w), (w, z)))
    apart, above = 0 < e[y] * (gz - gw), 0 < e[y] * (gz - gw) * (g - 1)
    cross = linear((1, three, g), (1, three, gw), (1, four, g), (1, four, gz),
                   *((1, order, x, v) for x in (g, gz) for v in (g, gw)))  # fmt: skip
    more = by("cases", 1 < g, fine, known, impossible(above.parts[2], known, linear((1, apart, g <= 1))))
    bigger = have(0 < e[y] + e[z], times(g + gz)(linear((1, three), (1, own, 1 < g))))
    smaller = have(0 < -e[y] - e[w], times(g)(linear((1, six), (1, own, high), (1, own))))
    return steps(have(apart, linear((1, five), (1, six), (1, order, g))), have(above, cross), have(1 < g, more),
                 bigger, smaller, by("absurd", linear_absurd(0 < e[y] + e[z], 0 < -e[y] - e[w], order)))  # fmt: skip


def linear_absurd(*facts: Term) -> Tactic:
    """The sum of these facts says 0 < 0."""
    total = sum((fact.parts[2] - fact.parts[1] for fact in facts), lift(0))
    return impossible(total, linear(*((1, fact) for fact in facts)), identity)


def _own_is_largest(y: int, z: int, w: int, leads: dict[tuple[int, ...], Term]) -> tuple[Step, list[Term]]:
    """G_z < G_y, and E_w < E_z of the pair z, w."""
    e, g, gz, gw = {x: E(y, x, z, w) for x in (y, z, w)}, G(y, y), G(y, z), G(y, w)
    products = [0 < (g - gz) * (e[z] - e[w]), 0 < (g - gw) * (e[z] - e[w])]
    sums = [have(fact, linear((1, leads[y, *pair, 0]), (1, leads[y, *reversed(pair), 1])))
            for fact, pair in zip(products, ((z, w), (w, z)), strict=True)]  # fmt: skip
    less, other, zero = e[w] < e[z], e[z] <= e[w], eq(e[y], 0)
    below = impossible(products[0].parts[2], known, linear((1, g <= gz, less)))
    five, six = leads[y, z, w, 3], leads[y, w, z, 3]
    step = e[y] * (gz - gw)
    none = by("absurd", becomes(ZERO <= ZERO, (gz - gw, zero), factor=step, why=linear(
        (1, five), (1, six), (1, other, g)))(identity))  # fmt: skip
    raised = [have(a < b, by("cases", a < b, fine, known, impossible(p.parts[2], known, linear((1, b <= a, other)))))
              for a, b, p in ((g, gz, products[0]), (g, gw, products[1]))]  # fmt: skip
    strict = have(e[z] < e[w], by("cases", e[z] < e[w], fine, known, impossible(
        products[0].parts[2], known, linear((1, e[w] <= e[z], g < gz)))))  # fmt: skip
    sign = by("cases", 0 < e[y], fine, _excluded(y, z, w, 1, leads), by("cases", e[y] < 0, fine, chain(
        have(0 < -e[y], linear((1, e[y] < 0))), have(-e[w] < -e[z], linear((1, e[z] < e[w]))))(
        _excluded(y, w, z, -1, leads)), have(zero, by("split", known, known))(none)))  # fmt: skip
    no = steps(*raised, strict, sign)
    order = have(less, by("cases", less, fine, known, by("absurd", no)))
    largest = have(gz < g, by("cases", gz < g, fine, known, below))
    kept = [leads[y, *pair, pattern] for pair in ((z, w), (w, z)) for pattern in range(4)]
    return chain(have(less, only(*kept)(steps(*sums, order, known))),
                 have(gz < g, steps(*sums, largest, known))), [less, gz < g]  # fmt: skip


def _only_key() -> Scripts:
    """For each query the score of its own token is the highest, and q b q, b q b ask for the opposite."""
    facts, leads = _leads()
    q, b, c = NAMES
    parts = [_own_is_largest(*names, leads) for names in ((q, b, c), (b, q, c), (c, b, q))]
    kept = [leads[q, b, c, 4], leads[b, q, c, 4], parts[0][1][1], parts[1][1][1], parts[2][1][0], formal.r >= 1]
    steps_ = [*facts, *(step for step, _ in parts), only(*kept)]
    return defined(conclusion=refuted(steps(*steps_, by("absurd", _crossed(q, b, c, kept)))))


def _crossed(q: int, b: int, c: int, kept: list[Term]) -> Tactic:
    one, other, _, _, order, ratio = kept
    mine = {x: formal.N[x, b] - formal.N[x, q] for x in (q, b)}
    up, down = 0 < mine[b], mine[q] < 0
    lower = have(down, times(F(c, q))(linear((1, order), (1, mine[b] <= 0, F(c, b)))))
    no_up = lower(impossible(one.parts[2], known, linear(
        (1, down, F(q, q)), (1, down, F(q, q), G(q, b)), (1, mine[b] <= 0, F(q, b), G(q, q)))))  # fmt: skip
    no_down = impossible(other.parts[2], known, linear(
        (1, up, F(b, b)), (1, up, F(b, b), G(b, q)), (1, 0 <= mine[q], F(b, q), G(b, b))))  # fmt: skip
    high = 0 < F(q, b) * G(q, q) * mine[b] + F(q, q) * G(q, b) * mine[q]
    low = 0 < -F(b, q) * G(b, b) * mine[q] - F(b, b) * G(b, q) * mine[b]
    m = formal.M
    sides = (
        formal.r * x + y for x, y in ((m[q, b] + m[b, q], m[q, q] + m[b, b]), (m[q, q] + m[b, b], m[q, b] + m[b, q]))
    )
    left, right = map(exp, sides)
    smaller = left <= right
    below = [
        have(x < y, by("cases", x < y, fine, known, _back(x, y))) for x, y in ((m[q, b], m[q, q]), (m[b, q], m[b, b]))
    ]
    why = by("logarithm", linear((1, ratio, m[q, b] < m[q, q]), (1, ratio, m[b, q] < m[b, b])))
    product = mine[b] * (left - right)
    joined = linear((1, high, F(b, q), G(b, b)), (1, low, F(q, q), G(q, b)))
    return steps(
        have(up, by("cases", up, fine, known, no_up)), have(down, by("cases", down, fine, known, no_down)),
        have(high, linear((1, one), (1, down, F(q, q)))), have(low, linear((1, other), (1, up, F(b, b)))),
        *below, have(smaller, why),
        impossible(product, joined, linear((1, up, smaller))))  # fmt: skip


def _back(x: Term, y: Term) -> Tactic:
    """e^x < e^y, and not x < y."""
    grown = have(exp(y) <= exp(x), by("logarithm", known))
    return grown(by("absurd", linear_absurd(exp(x) < exp(y), exp(y) <= exp(x))))


SCRIPTS: dict[str, Callable[[], Scripts]] = {"kv.beyond.family.only_key": _only_key}
