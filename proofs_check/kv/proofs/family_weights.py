"""Scripts for the family of shifts: M a multiple of the identity concentrates, and is right at every length."""

from __future__ import annotations

from collections.abc import Callable

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ONE, ZERO, Term, absolute, both, eq, exp, ne, unfold
from proofs_check.kv.formal import family as formal
from proofs_check.kv.proofs.family import each, extreme, fine
from proofs_check.kv.proofs.induction import counted, quick, settled, use
from proofs_check.language.notation import largest, least, var, when
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
    only,
    steps,
    tightened,
    times,
)
from proofs_check.rigour.tactics import Proof, Tactic, by, first

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


def put_at(t: Term, place: Term, then: Tactic) -> Tactic:
    """Where t is known to be this place, which is put for it."""
    name = t.parts[0]

    def put(q: Sequent) -> Proof:
        return tightened(name, place <= t, t <= place)(by("enumerate", name, then))(q)

    return chain(have(place <= t, each), have(t <= place, each))(put)


def only_at(t: Term, place: Term, then: Tactic) -> Step:
    """Goes on where t is another place; then: where it is this one."""
    return lambda other: by("cases", eq(t, place), quick, put_at(t, place, then), other)


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


def _parted(whole: Term) -> Step:
    """The sum as what stands before p + 1, there, and behind it."""
    back = Term("fold", "sum", "k", ONE, p + 1, whole.parts[4])
    return chain(
        *(lambda then, n=n, at=at: by("split_sum", n, at, quick, quick, then) for n, at in ((whole, p + 1), (back, p)))
    )


def ceiling(place: Term) -> Term:
    return when(eq(place, p + 1), TOP, LESS)


def _below(q: Sequent) -> Proof:
    """One weight is that of p + 1, or e^{score - c gap} at most."""
    place = var(q.variables[-1].name)
    fact = SPREAD <= score(p + 1) - score(place)
    away = by("logarithm", have(fact, _gap(place), quick)(linear((1, ZERO <= c, fact))))
    same = eq(score(place), score(p + 1))
    here = by("logarithm", have(same, put_at(place, p + 1, identity), quick)(linear((c, same))))
    ways = (by("resolve", ceiling(place), which, quick, known, use(then)) for which, then in ((0, here), (1, away)))
    return by("cases", eq(place, p + 1), quick, *ways)(q)


def _elsewhere(q: Sequent) -> Proof:
    place = var(q.variables[-1].name)
    return have(ne(place, p + 1), quick)(by("resolve", ceiling(place), 1, quick, known, use(identity)))(q)


def _off() -> Step:
    """The weights off p + 1 add up to (L - 1) e^{score - c gap} or less: all of them to that and the one of p + 1."""
    bound, ends, facts, sides = part(ONE, L, ceiling(k)), ((ONE, p, p), (p + 1 + 1, L, L - p - 1)), [], []
    for low, high, count in ends:
        piece, flat, ones = part(low, high, ceiling(k)), part(low, high, LESS), part(low, high, ONE)
        why = by("termwise", piece, "<=", LESS, quick, _elsewhere, quick, known)
        facts += [have(ones <= count, counted, quick), have(piece <= flat, why, quick)]
        sides += [(1, piece <= flat), (1, LESS, ones <= count)]
    there, every = ceiling(p + 1) <= TOP, WHOLE <= bound
    facts += [have(there, by("resolve", ceiling(p + 1), 0, quick, identity, use(identity)), quick),
              have(every, by("termwise", WHOLE, "<=", ceiling(k), quick, _below, quick, known), quick)]  # fmt: skip
    cuts = [eq(node, part(ONE, p, body) + at + part(p + 1 + 1, L, body))
            for node, body, at in ((WHOLE, WEIGHT, TOP), (bound, ceiling(k), ceiling(p + 1)))]  # fmt: skip
    facts += [have(cut, _parted(cut.parts[1])(each), quick) for cut in cuts]
    added = linear((1, every), (-1, cuts[0]), (1, cuts[1]), (1, there), *sides, defined=quick)
    return have(OFF, only()(steps(*facts, added)), quick)  # as if nothing else were known: it is quicker by far


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
        one, other = (by("resolve", node, which, quick, first(known, quick), use(then)) for which in (0, 1))
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
        sized = chain(have(u <= absolute(u), fine), have(-u <= absolute(u), fine))
        return have(bound, sized(_ways(values(place), arithmetic.of_facts)), quick)(
            linear((1, weight, bound), defined=quick)
        )(q)

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
    cut = eq(whole, part(ONE, p, body) + TOP * gain(p + 1) + part(p + 1 + 1, L, body))
    ahead = have(0 < whole, steps(have(cut, _parted(whole)(each), quick), *pieces, linear(
        (-1, cut), (1, part(ONE, p, WEIGHT * rest) <= part(ONE, p, body)),
        (1, part(p + 1 + 1, L, WEIGHT * rest) <= part(p + 1 + 1, L, body)),
        (1, TOP, most), (1, LESS, given), (1, OFF), (1, OFF, 0 <= absolute(u)), defined=quick)), quick)  # fmt: skip
    return {"conclusion": steps(*facts, have(most, at_target, quick), _off(), positive, have(0 <= absolute(u), fine),
                                ahead, times(WHOLE, known)(linear((1, 0 < whole)))), "defined": quick}  # fmt: skip


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "kv.beyond.family.gap": lambda: {"conclusion": _gap(), "defined": quick},
    "kv.beyond.family.attention": _attention,
    "kv.beyond.family.right": _right,
}

NEEDS = {
    "kv.beyond.family.right": "a search that ends: its script goes through with kv.beyond.family.gap granted at every "
    "place, and that one is proved; the whole has not been searched to the end",
}
