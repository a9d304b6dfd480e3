"""Scripts for the family of shifts: M a multiple of the identity concentrates, and is right at every length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from proofs_check.core.calls import unfold
from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ONE, ZERO, Term, absolute, both, eq, exp, free, ne, negation
from proofs_check.kv.formal import family as formal
from proofs_check.kv.proofs.family import each, extreme, fine
from proofs_check.language.notation import largest, least, var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.places import choices, put_value, truth
from proofs_check.rigour.settling import counted, quick, use
from proofs_check.rigour.steps import Scripts, Step, chain, have, identity, known, linear, only, steps, times
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first

r, s, p, L, w, k, c = formal.r, formal.s, formal.p, formal.L, formal.w, formal.k, formal.c
HIGH, LOW = largest(0, r, s, r + s, r * s, r * s + s), least(1, 1 + r * s)
SPREAD = LOW - HIGH
TOKENS = (0 < w[p + 1], 0 < w[L - 1])


def opened(term: Term) -> Term:
    """Without calls. Where a call is `if x <= x then body else body`, since x may have no value, this is its body."""
    body = unfold(term, dict(formal.FORMAL["kv.beyond.family.gap"].definitions))
    return body.parts[1] if body.kind == "if" and body.parts[1] is body.parts[2] else body


def name(place: Term) -> Term:
    return opened(formal.call(formal.NAME, w, L, p, place))


def score(place: Term) -> Term:
    return opened(formal.call(formal.SCORE, w, L, p, place, r, s))


def reads(place: Term, token: Term) -> tuple[Term, Term]:
    """x_t = j and x_{t-1} = j, each 1 or 0."""
    holds, follows = (formal.call(kind, w, L, p, place, token) for kind in (formal.HOLDS, formal.FOLLOWS))
    return opened(holds), opened(follows)


AFTER, BEFORE, LAST = name(p + 1), name(p + 1 - 1), name(L - 1)  # x_{p+1}, x_p, x_{L-1}


# -- one place ---------------------------------------------------------------------------------------------------------


def within(node: Term) -> Step:
    """The largest, or least, against each of its parts."""
    ordered = [part <= node if node.kind == "max" else node <= part for part in node.parts]
    return have(both(*ordered), only()(extreme(node, each)))


def value(node: Term, which: int, why: Tactic = quick) -> Step:
    """What an `if` is, as a fact."""
    return have(eq(node, node.parts[1 + which]), by("resolve", node, which, quick, why, known), quick)


def bit(node: Term) -> Step:
    """0 <= it <= 1, as it is 1 or 0."""
    ways = (by("resolve", node, which, quick, each, each) for which in (0, 1))
    return have(both(ZERO <= node, node <= 1), only()(by("cases", node.parts[0], quick, *ways)), quick)


def apart(one: Term, another: Term) -> Step:
    """At most one of the two is 1: a place holds one token."""
    other = steps(value(another, 1), each)
    ways = [by("resolve", one, which, quick, known, then) for which, then in ((0, other), (1, each))]
    return have(one + another <= 1, by("cases", one.parts[0], quick, *ways), quick)


def outermost(term: Term) -> Iterator[Term]:
    """The `if` nodes that stand in no other, in order."""
    if term.kind == "if":
        yield term
        return
    for part in term.parts:
        if isinstance(part, Term):
            yield from outermost(part)


def settled_name(q: Sequent, node: Term) -> Step:
    """The token of a place whose `if` the facts decide."""
    if truth(q, node.parts[0]):
        return value(node, 0)
    return chain(have(0 < node.parts[2], known, quick), value(node, 1))


TARGET = chain(*(have(token, known, quick) for token in TOKENS), value(LAST, 1), value(AFTER, 1), value(BEFORE, 0))


def _gap(q: Sequent) -> Proof:
    """p + 1 reads 1, and r s if it holds x_{L-1}; t reads r, r s or 0, and s or 0.

    Both are linear in each number that is 0 or 1, or lies between, so they lie between their values at the corners.
    """
    none, one, same, no, own, behind, last, after = bits = list(outermost(q.goal.parts[2]))
    early, (_, before, _) = negation(behind.parts[0].parts[0]), behind.parts[0].parts[1].parts
    seen = steps(value(before, 1), have(0 < before.parts[2], known, quick), by("either", 1, quick))
    alone = by("cases", early, quick, by("either", 0, known), seen)
    place = free(early)
    names = dict.fromkeys(node for bit_ in bits for node in outermost(bit_.parts[0]) if not free(node) & place)
    facts = [*(settled_name(q, node) for node in names), bit(last), apart(own, last), value(behind, 1, alone),
             value(none, 1), value(one, 0), value(no, 1), *map(bit, (same, own, after)), *map(within, (HIGH, LOW))]
    corners = []
    for held, at in ((own + last <= 1, ZERO), (ZERO <= own, r), (ZERO <= last, r * s)):
        corners += [(1, held, after <= 1, at <= HIGH), (1, held, ZERO <= after, at + s <= HIGH)]
    ends = [(1, same <= 1, LOW <= 1), (1, ZERO <= same, LOW <= 1 + r * s)]
    zeros = [(-r, eq(none, 0)), (-1, eq(one, 1)), (1, eq(behind, 0))]
    rows = (linear(*corners, *ends, *zeros, (weight, eq(no, 0))) for weight in (-s, s))
    return steps(*facts, first(*rows))(q)


# -- all places --------------------------------------------------------------------------------------------------------

WEIGHT = exp(c * score(k))
TOP, LESS = exp(c * score(p + 1)), exp(c * score(p + 1) - c * SPREAD)


def part(low: Term, high: Term, body: Term = WEIGHT) -> Term:
    return Term("fold", "sum", "k", low, high, body)


ENDS = ((ONE, p, p), (p + 1 + 1, L, L - p - 1))  # off p + 1, and how many they are
WHOLE, HEAD, TAIL = part(ONE, L), part(ONE, p), part(p + 1 + 1, L)
OFF = HEAD + TAIL <= (L - 1) * LESS
PARTED = eq(WHOLE, HEAD + TOP + TAIL)


def parted(body: Term, there: Term) -> Step:
    """Split the sum at p + 1 into the part before, the term there, and the part after."""
    whole, back = part(ONE, L, body), part(ONE, p + 1, body)
    pieces = by("split_sum", whole, p + 1, quick, quick, by("split_sum", back, p, quick, quick, each))
    return have(eq(whole, part(ONE, p, body) + there + part(p + 1 + 1, L, body)), only()(pieces), quick)


def termwise(sum_: Term, relation: str, bound: Term, why: Tactic) -> Tactic:
    """As if nothing else were known, which is quicker by far."""
    return only()(by("termwise", sum_, relation, bound, quick, why, quick, known))


def _below(q: Sequent) -> Proof:
    """e^{c score} at most e^{c (the score of p + 1, less the gap)}."""
    place = var(q.variables[-1].name)
    elsewhere, fact = ne(place, p + 1), SPREAD <= score(p + 1) - score(place)
    lemma = chain(have(elsewhere, quick, quick), have(fact, only(elsewhere)(_gap), quick))
    return by("logarithm", lemma(linear((1, ZERO <= c, fact))))(q)


def _off() -> Step:
    """The weights off p + 1 add up to (L - 1) e^{score - c gap} or less."""
    facts, rows = [], []
    for low, high, count in ENDS:
        piece, flat, ones = part(low, high), part(low, high, LESS), part(low, high, ONE)
        facts += [have(ones <= count, counted, quick), have(piece <= flat, termwise(piece, "<=", LESS, _below), quick)]
        rows += [(1, piece <= flat), (1, LESS, ones <= count)]
    return have(OFF, only()(steps(*facts, linear(*rows, defined=quick))), quick)


POSITIVE = have(0 < WHOLE, termwise(WHOLE, ">", ZERO, arithmetic.signs), quick)


def _attention() -> Scripts:
    power = exp(c * SPREAD)
    mass = linear((1, 0 < WHOLE, L >= 3), (2, 0 < WHOLE), (1, 0 < WHOLE, power))
    last = linear((power, PARTED), (1, OFF, power))
    return {"conclusion": steps(_off(), POSITIVE, parted(WEIGHT, TOP), times(WHOLE * (L - 1 + power), mass)(last)),
            "defined": quick, "weaker": _weaker, "points": lambda _: POINTS[1:]}  # fmt: skip


# -- values ------------------------------------------------------------------------------------------------------------

u, j = formal.u, formal.j
SIZE, LEAD = absolute(u), least(1, 1 - u)
SIZES = chain(*(have(end <= SIZE, fine, quick) for end in (u, -u, ZERO)))


def gain(place: Term) -> Term:
    """What the target has over j at this place."""
    (target, behind), (own, before) = reads(place, AFTER), reads(place, j)
    return target + u * behind - own - u * before


def _trails(q: Sequent) -> Proof:
    """-(1 + |u|) or more: it is linear in what is 0 or 1."""
    place = var(q.variables[-1].name)
    (target, behind), (own, before) = reads(place, AFTER), reads(place, j)
    corners = ((behind <= 1, before <= 1, ZERO <= SIZE), (ZERO <= behind, before <= 1, -u <= SIZE),
               (behind <= 1, ZERO <= before, u <= SIZE), (ZERO <= behind, ZERO <= before, ZERO <= SIZE))  # fmt: skip
    rows = (1, ZERO <= target), (1, own <= 1), *((1, *corner) for corner in corners)
    bound = -1 - SIZE <= gain(place)
    lemma = only()(steps(SIZES, *map(bit, (target, behind, own, before)), linear(*rows)))
    return have(bound, lemma, quick)(linear((1, exp(c * score(place)), bound), defined=quick))(q)


def _leads() -> Step:
    """min(1, 1 - u) or more at p + 1: it holds the target, behind a token that may be j."""
    (_, behind), (own, before) = reads(p + 1, AFTER), reads(p + 1, j)
    facts = [TARGET, value(behind, 1), value(own, 1), bit(before), within(LEAD)]
    ends = [(1, before <= 1, LEAD <= 1), (1, ZERO <= before, LEAD <= 1 - u)]
    zeros = [(-u, eq(behind, 0)), (1, eq(own, 0))]
    return have(LEAD <= gain(p + 1), only(ne(j, AFTER))(steps(*facts, linear(*ends, *zeros))), quick)


def _right() -> Scripts:
    """What p + 1 reads is worth the lead or more to the target, what others read -(1 + |u|) or more."""
    body, low = WEIGHT * gain(k), WEIGHT * (-1 - SIZE)
    whole, given = part(ONE, L, body), (L - 1) * (1 + SIZE) < LEAD * exp(c * SPREAD)
    pairs = [(part(start, end, low), part(start, end, body)) for start, end, _ in ENDS]
    others = [have(bound <= sum_, termwise(sum_, ">=", low, _trails), quick) for bound, sum_ in pairs]
    there = TOP * gain(p + 1)
    cut = eq(whole, pairs[0][1] + there + pairs[1][1])
    rows = [(-1, cut), *((1, bound <= sum_) for bound, sum_ in pairs), (1, TOP, LEAD <= gain(p + 1)), (1, LESS, given),
            (1, OFF), (1, OFF, SIZE)]  # fmt: skip
    ahead = have(0 < whole, linear(*rows, defined=quick), quick)
    proof = steps(_leads(), _off(), *others, parted(body, there), ahead, POSITIVE, times(WHOLE, known),
                  linear((1, 0 < whole)))  # fmt: skip
    return {"conclusion": proof, "defined": quick, "weaker": _weaker, "points": lambda _: POINTS[:1]}


# Weights that all but ignore what is off p + 1 show a score that is a little wrong.
POINTS = [dict(zip("Lpwrscuj", point, strict=False)) for point in (
    (4, 2, (3, 3, 3, 2), Fraction(-1, 2), Fraction(-3, 10), 60, Fraction(999, 1000), 0),
    (5, 1, (1, 2, 1, 1, 1), Fraction(1, 2), 2, 10))]


# -- mutants that change nothing, or weaken ----------------------------------------------------------------------------


def put(node: Term, which: int, then: Tactic) -> Tactic:
    """The value of an `if` for it, as its condition holds or not."""
    return put_value(node, node.parts[1 + which], by("resolve", node, which, quick, first(known, quick), known), then)


def settled(then: Tactic) -> Tactic:
    """Each `if` that stands on one side alone, and all inside it, is replaced by its value, case by case; then those
    that the facts decide.
    """

    def tactic(q: Sequent) -> Proof:
        sides = [list(choices(q, side)) for side in q.goal.parts[1:]]
        alone = [node for mine, others in (sides, sides[::-1]) for node in mine if node not in others]
        nodes = [next(choices(q, alone[0]))] if alone else [n for n in sides[0] if truth(q, n.parts[0]) is not None]
        if not nodes:
            return then(q)
        way, ways = truth(q, nodes[0].parts[0]), [put(nodes[0], which, tactic) for which in (0, 1)]
        return (by("cases", nodes[0].parts[0], quick, *ways) if way is None else ways[not way])(q)

    return tactic


same_or_nowhere = first(identity, by("absurd", quick))


def _same_sum(mine: Term, other: Term) -> Tactic:
    """Term by term, and then the goal speaks of the other one."""
    same = by("termwise", mine, "=", other.parts[4], quick, settled(same_or_nowhere), quick, known)
    return have(eq(mine, other), only()(same), quick)(use(_weaker))


def _weaker(q: Sequent) -> Proof:
    """From the statement itself: its sums are the same term by term, or its sides are no farther apart."""
    before = q.given[-1]
    if q.goal.kind != "rel" or before.kind != "rel":
        raise Failed("no comparison")
    top = q.goal.parts[2]
    if top.kind == "if":  # of a call by value: its condition holds, whatever stands in the branch that is never read
        return put(top, 0, _weaker)(q)
    mine, others = (arithmetic.fold_atoms(formula) for formula in (q.goal, before))
    for changed in mine:
        if changed not in others:
            return first(*(_same_sum(changed, other) for other in others))(q)
    (_, low, high), (_, least_, most) = q.goal.parts, before.parts
    ends = [end for end in (low <= least_, most <= high) if end.parts[1] is not end.parts[2]]
    nearer = [have(end, only()(settled(each)), quick) for end in ends]
    return steps(*nearer, linear((1, before), *((1, end) for end in ends)))(q)


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "kv.beyond.family.gap": lambda: {"conclusion": _gap, "defined": quick, "weaker": _weaker},
    "kv.beyond.family.attention": _attention,
    "kv.beyond.family.right": _right,
}
