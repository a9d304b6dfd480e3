"""Scripts for the claims on the family of shifts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ONE, ZERO, Term, absolute, both, eq, exp, lift, ne, substitute, unfold
from proofs_check.kv.formal import family as formal
from proofs_check.kv.proofs.induction import counted, quick, settled
from proofs_check.language.notation import largest, least, var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.places import settle
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    becomes,
    chain,
    have,
    identity,
    known,
    linear,
    named,
    node_in,
    only,
    steps,
    tightened,
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
    return {"conclusion": by("split", identity, identity)}


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


def mean(matrix: str) -> Term:
    """Of the six renamings of three letters: the diagonal over the rest, six times."""
    m = var(matrix)
    pairs = list(permutations((1, 2, 3), 2))
    return sum((2 * m[i, i] for i in (1, 2, 3)), lift(0)) - sum((m[i, j] for i, j in pairs), lift(0))


def _decodes() -> Scripts:
    """Six sums: of the hypotheses on the third letter, and on the one before."""
    v0, v1, size = formal.v0, formal.v1, mean("N")
    sums = chain(*(have(0 < form * size, linear(*((1, 2 * number + which) for number in range(6))))
                   for which, form in ((1, v0), (0, v0 - v1))))  # fmt: skip
    below = have(0 < 1 - v1 / v0, times(v0 * size, known)(linear((1, 0 < (v0 - v1) * size))))
    lead = below(extremes("min", arithmetic.of_facts))
    return {"conclusion": by("assume", sums(by("split", not_zero(v0, size), lead)))}


def _necessary() -> Scripts:
    """Each place loses to p + 1 in the mean over six renamings; then by the ratios."""
    q0, q1, k0, k1, size = formal.q0, formal.q1, formal.k0, formal.k1, mean("M")
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
    return defined(conclusion=refuted(steps(*sums, by("absurd", only(*kept)(steps(*names, only(*lead.values()), last))))))


# -- point 4 -----------------------------------------------------------------------------------------------------------

NAMES = (1, 2, 3)


def F(y: int, x: int) -> Term:  # noqa: N802
    """e^{r score} of the query y."""
    return exp(formal.r * formal.M[y, x])


def G(y: int, x: int) -> Term:  # noqa: N802
    return exp(formal.M[y, x])


def E(y: int, x: int, z: int, w: int) -> Term:  # noqa: N802
    """F times what the value of x has for z over w."""
    return F(y, x) * (formal.N[x, z] - formal.N[x, w])


def _numerator(sentence: list[int], target: int, other: int) -> tuple[Term, Term]:
    """Of the target's lead; and the denominator."""
    y = sentence[-1]
    before = [lift(1), *(G(y, x) for x in sentence)]
    top = sum((E(y, x, target, other) * g for x, g in zip(sentence, before)), lift(0))
    return top, sum((F(y, x) * g for x, g in zip(sentence, before)), lift(0))


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
    own, order, low, high = 0 < e[y], e[z] < e[w], g < gz, g < gw
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
    first_, second = (impossible(product.parts[2], known, linear((1, side, order)))
                      for product, side, order in ((products[0], g <= gz, less), (products[1], gz <= g, other)))
    five, six = leads[y, z, w, 3], leads[y, w, z, 3]
    step = e[y] * (gz - gw)
    none = by("absurd", becomes(ZERO <= ZERO, (gz - gw, zero), factor=step, why=linear(
        (1, five), (1, six), (1, other, g)))(identity))  # fmt: skip
    raised = [have(a < b, by("cases", a < b, fine, known, impossible(p.parts[2], known, linear((1, b <= a, other)))))
              for a, b, p in ((g, gz, products[0]), (g, gw, products[1]))]  # fmt: skip
    strict = have(e[z] < e[w], by("cases", e[z] < e[w], fine, known, impossible(
        products[0].parts[2], known, linear((1, e[w] <= e[z], g < gz)))))  # fmt: skip
    del second
    sign = by("cases", 0 < e[y], fine, _excluded(y, z, w, 1, leads), by("cases", e[y] < 0, fine, chain(
        have(0 < -e[y], linear((1, e[y] < 0))), have(-e[w] < -e[z], linear((1, e[z] < e[w]))))(
        _excluded(y, w, z, -1, leads)), have(zero, by("split", known, known))(none)))  # fmt: skip
    no = steps(*raised, strict, sign)
    order = have(less, by("cases", less, fine, known, by("absurd", no)))
    largest = have(gz < g, by("cases", gz < g, fine, known, first_))
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
    one, other, own, own_b, order, ratio = kept
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
    sides = (formal.r * x + y for x, y in ((m[q, b] + m[b, q], m[q, q] + m[b, b]), (m[q, q] + m[b, b], m[q, b] + m[b, q])))
    left, right = map(exp, sides)
    less = [have(fact, by("logarithm", known)) for fact in ()]
    smaller = left <= right
    below = [have(x < y, by("cases", x < y, fine, known, _back(x, y))) for x, y in ((m[q, b], m[q, q]), (m[b, q], m[b, b]))]
    why = by("logarithm", linear((1, ratio, m[q, b] < m[q, q]), (1, ratio, m[b, q] < m[b, b])))
    product = mine[b] * (left - right)
    return steps(
        have(up, by("cases", up, fine, known, no_up)), have(down, by("cases", down, fine, known, no_down)),
        have(high, linear((1, one), (1, down, F(q, q)))), have(low, linear((1, other), (1, up, F(b, b)))),
        *less, *below, have(smaller, why),
        impossible(product, linear((1, high, F(b, q), G(b, b)), (1, low, F(q, q), G(q, b))), linear((1, up, smaller))))  # fmt: skip


def _back(x: Term, y: Term) -> Tactic:
    """e^x < e^y, and not x < y."""
    grown = have(exp(y) <= exp(x), by("logarithm", known))
    return grown(by("absurd", linear_absurd(exp(x) < exp(y), exp(y) <= exp(x))))


# -- point 1: which weights do it ----------------------------------------------------------------------------------------

r, s_, p, L, w = formal.r, formal.s, formal.p, formal.L, formal.w
HIGH, LOW = largest(0, r, s_, r + s_, r * s_, r * s_ + s_), least(1, 1 + r * s_)
BOUNDS = [*(part <= HIGH for part in HIGH.parts), *(LOW <= part for part in LOW.parts)]
LAST = w[L - 1]


def _bounds(kind: str, node: Term) -> Step:
    facts = [bound for bound in BOUNDS if node in bound.parts]
    return have(both(*facts), only()(extreme(node, each)))


BOUNDED = chain(_bounds("max", HIGH), _bounds("min", LOW))


def on(condition: Term, then: Tactic) -> Tactic:
    """Both ways."""
    return by("cases", condition, quick, then, then)


def only_at(t: Term, place: Term, then: Tactic) -> Step:
    """Goes on where t is another place; then: where it is this one, which is put for it."""
    name = t.parts[0]

    def put(q: Sequent) -> Proof:
        return tightened(name, place <= t, t <= place)(by("enumerate", name, then))(q)

    here = chain(have(place <= t, each), have(t <= place, each))(put)
    return lambda other: by("cases", eq(t, place), quick, here, other)


def _gap(t: Term = formal.t) -> Tactic:
    """By what stands at the place t and before it."""
    after, last = have(0 < w[p + 1], known), have(0 < LAST, known)

    def successor(then: Tactic) -> Tactic:
        return on(eq(w[p + 1], LAST), then)

    def before(place: Term) -> Tactic:
        """x_{t-1} = x_{L-1}, or not, or there is none: what asks for it goes before what it says."""
        some = have(0 < w[place - 1], known)(on(eq(w[place - 1], LAST), successor(settle(each))))
        return by("cases", place >= 2, quick, some, successor(settled(settle(each))))

    other = have(0 < w[t], known)(on(eq(w[t], LAST), before(t)))
    places = steps(only_at(t, L, successor(settle(each))), only_at(t, p, before(p)), other)
    return steps(BOUNDED, after, last, places)


def opened(term: Term) -> Term:
    """Without calls."""
    return unfold(term, dict(formal.FORMAL["kv.beyond.family.right"].definitions))


def score(place: Term) -> Term:
    return opened(formal.call(formal.SCORE, w, L, p, place, r, s_))


k, c = formal.k, formal.c
SPREAD = LOW - HIGH
TOP, LESS = exp(c * score(p + 1)), exp(c * score(p + 1) - c * SPREAD)
WEIGHT = exp(c * score(k))


def part(low: Term, high: Term, body: Term = WEIGHT) -> Term:
    return Term("fold", "sum", "k", low, high, body)


WHOLE, HEAD, BACK, TAIL = part(ONE, L), part(ONE, p), part(ONE, p + 1), part(p + 1 + 1, L)
OFF = HEAD + TAIL <= (L - 1) * LESS


def _below(q: Sequent) -> Proof:
    """One weight off p + 1."""
    place = var(q.variables[-1].name)
    fact = SPREAD <= score(p + 1) - score(place)
    ahead = have(ne(place, p + 1), quick)
    return by("logarithm", steps(ahead, have(fact, _gap(place), quick), linear((1, ZERO <= c, fact))))(q)


def _off() -> Step:
    """The weights off p + 1 add up to (L - 1) e^{score - c gap} or less."""
    facts = []
    for piece, count in ((HEAD, p), (TAIL, L - p - 1)):
        low, high = piece.parts[2:4]
        flat, ones = part(low, high, LESS), part(low, high, ONE)
        facts += [have(ones <= count, counted, quick),
                  have(piece <= flat, by("termwise", piece, "<=", LESS, quick, _below, quick, known), quick)]  # fmt: skip
    added = linear((1, HEAD <= part(ONE, p, LESS)), (1, TAIL <= part(p + 1 + 1, L, LESS)),
                   (1, LESS, part(ONE, p, ONE) <= p), (1, LESS, part(p + 1 + 1, L, ONE) <= L - p - 1),
                   defined=quick)  # fmt: skip
    return have(OFF, steps(*facts, added), quick)


def _parted(whole: Term) -> Step:
    """The sum as what stands before p + 1, there, and behind it."""
    back = Term("fold", "sum", "k", ONE, p + 1, whole.parts[4])
    return chain(*(lambda then, n=n, at=at: by("split_sum", n, at, quick, quick, then) for n, at in ((whole, p + 1), (back, p))))


def _attention() -> Scripts:
    mass = L - 1 + exp(c * SPREAD)
    positive = have(0 < WHOLE, by("termwise", WHOLE, ">", ZERO, quick, arithmetic.signs, quick, known), quick)
    sum_is = eq(WHOLE, HEAD + TOP + TAIL)
    cut = have(sum_is, _parted(WHOLE)(each), quick)
    last = linear((exp(c * SPREAD), sum_is), (1, OFF, exp(c * SPREAD)))
    return {"conclusion": steps(_off(), positive, cut, times(WHOLE * mass, each_sign)(last)), "defined": quick}


def each_sign(q: Sequent) -> Proof:
    return linear((1, 0 < WHOLE, L >= 3), (2, 0 < WHOLE), (1, 0 < WHOLE, exp(c * SPREAD)))(q)


def _ways(nodes: list[Term], then: Tactic) -> Tactic:
    """Each `if` is one or the other, as a fact."""
    for node in nodes:
        one, other = (by("resolve", node, which, quick, known, then) for which in (0, 1))
        then = by("cases", node.parts[0], quick, one, other)
    return then


def _right() -> Scripts:
    """What p + 1 reads is worth the lead or more to the target, what others read -(1 + |u|) or more."""
    u, j = formal.u, formal.j
    name = opened(formal.call(formal.NAME, w, L, p, p + 1))

    def values(place: Term) -> list[Term]:
        """x_t = j, x_{t-1} = j, and so for the target."""
        return [opened(formal.call(kind, w, L, p, place, token)) for token in (j, name)
                for kind in (formal.HOLDS, formal.FOLLOWS)]  # fmt: skip

    def gain(place: Term) -> Term:
        own, before, target, behind = values(place)
        return target + u * behind - own - u * before

    def least_gain(q: Sequent) -> Proof:
        place = var(q.variables[-1].name)
        bound = -1 - absolute(u) <= gain(place)
        weight = exp(c * score(place))
        return have(bound, _ways(values(place), arithmetic.of_facts), quick)(linear((1, weight, bound), defined=quick))(q)

    body = WEIGHT * gain(k)
    whole, rest = part(ONE, L, body), -1 - absolute(u)
    lead = least(1, 1 - u)
    pieces = [have(part(low, high, WEIGHT * rest) <= part(low, high, body), by(
        "termwise", part(low, high, body), ">=", WEIGHT * rest, quick, least_gain, quick, each), quick)
        for low, high in ((ONE, p), (p + 1 + 1, L))]  # fmt: skip
    facts = (have(0 < w[p + 1], known), have(0 < TOP, arithmetic.signs, quick))
    successor = eq(name, w[p + 1])
    other = becomes(ne(j, name), (1, successor))(known)
    below = have(both(*(lead <= end for end in lead.parts)), only()(extreme(lead, each)))
    at_target = steps(have(successor, settle(each), quick), have(ne(j, w[p + 1]), other), below,
                      on(eq(j, 0), settle(each)))  # fmt: skip
    most = lead <= gain(p + 1)
    positive = have(0 < WHOLE, by("termwise", WHOLE, ">", ZERO, quick, arithmetic.signs, quick, known), quick)
    given = (L - 1) * (1 + absolute(u)) < lead * exp(c * SPREAD)
    ahead = have(0 < whole, steps(_parted(whole), *pieces, linear(
        (1, part(ONE, p, WEIGHT * rest) <= part(ONE, p, body)),
        (1, part(p + 1 + 1, L, WEIGHT * rest) <= part(p + 1 + 1, L, body)),
        (1, TOP, most), (1, LESS, given), (1, OFF), (1, OFF, 0 <= absolute(u)), defined=quick)), quick)  # fmt: skip
    return {"conclusion": steps(*facts, have(most, at_target, quick), _off(), positive, have(0 <= absolute(u), fine),
                                ahead, times(WHOLE, known)(linear((1, 0 < whole)))), "defined": quick}  # fmt: skip


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "kv.beyond.family.swapped": _same,
    "kv.beyond.family.unseen": _same,
    "kv.beyond.family.after": _after,
    "kv.beyond.family.decodes": _decodes,
    "kv.beyond.family.necessary": _necessary,
    "kv.beyond.family.middle": _middle,
    "kv.beyond.family.only_key": _only_key,
    "kv.beyond.family.gap": lambda: {"conclusion": _gap(), "defined": quick},
    "kv.beyond.family.attention": _attention,
    "kv.beyond.family.right": _right,
    "kv.beyond.family.middle.difference": lambda: {"conclusion": identity},
}
