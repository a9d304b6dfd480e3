"""Derive a comparison from a known one by monotony: the sides differ in one subterm each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce

from proofs_check.core.domain import Sequent, facts
from proofs_check.core.normal import normal
from proofs_check.core.rules import FAULTS
from proofs_check.core.terms import ONE, ZERO, Term, conjuncts, exp, negation, substitute
from proofs_check.rigour.arithmetic import of_facts, ratio, signs, small
from proofs_check.rigour.points.sample import refuted
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by, first, no_way

Lemma = tuple[Term, Tactic]
Way = tuple[Sequence[Lemma], Tactic]  # lemmas, and what follows from them as the last facts


_MOST = 6  # hypotheses that are looked at, from the last one on


def from_known(otherwise: Tactic) -> Tactic:
    """The goal from one of the last hypotheses, of which it is a weaker variant; a conjunction part by part.

    otherwise: for a part that is none.
    """

    def tactic(s: Sequent) -> Proof:
        if s.goal.kind == "and":
            return by("split", *(tactic for _ in s.goal.parts))(s)
        if s.goal.kind == "implies":
            return first(by("known"), by("assume", first(*(_detached(k) for k in _implications(s)))), otherwise)(s)
        return first(by("known"), from_one, otherwise)(s)

    return tactic


def beyond(otherwise: Tactic) -> Tactic:
    """The same where the last hypothesis is an implication: from what it says, or by itself where it says nothing."""
    return lambda s: by("alternatives", len(s.given) - 1, first(_nowhere, otherwise), from_known(otherwise))(s)


def _nowhere(s: Sequent) -> Proof:
    """There is no such point: numbers or items would have to lie between ends that are in the wrong order."""
    tactic = first(by("absurd", small), *map(impossible, s.given))
    for v in s.variables:
        if v.sizes and v.low is not None and v.high is not None:
            tactic = by("have", v.low <= Term("item", v.name, *(ONE for _ in v.sizes)), small, by("known"), tactic)
    return tactic(s)


def _no_whole(s: Sequent) -> Proof:
    """Between numbers that the hypotheses name, a whole one has few values or none, and others deny those."""
    never = by("absurd", small)
    ends = [(k, side.parts[0]) for k, fact in enumerate(s.given) if fact.kind == "rel" and fact.parts[0] in ("<", "<=")
            for side in fact.parts[1:] if side.kind == "var" and s.variable(side.parts[0]).whole]  # fmt: skip
    return first(no_way, *(by("tighten", name, k, by("enumerate", name, never)) for k, name in ends))(s)


def from_one(s: Sequent) -> Proof:
    """A comparison from one of the last hypotheses."""
    if s.goal.kind != "rel" or s.goal.parts[0] == "!=":
        return no_way(s)
    near = [k for k, fact in enumerate(s.given[: -_MOST - 1 : -1], 1) if _comparable(fact, s.goal)]
    return first(*(partial(_multiple, k) for k in near), *(partial(_weaker, k) for k in near))(s)


def _multiple(place: int, s: Sequent) -> Proof:
    """a <= c b from a <= b, for a number c >= 1 and a that is not negative."""
    known, goal = s.given[-place], s.goal
    (relation, a, b), upper = known.parts, goal.parts[2]
    if relation != goal.parts[0] or a is not goal.parts[1]:
        raise Failed("another comparison")
    try:
        factor = ratio(normal(upper), normal(b))
    except FAULTS as fault:
        raise Failed(str(fault)) from fault
    if factor is None or factor < 1:
        raise Failed("no larger multiple")

    def added(t: Sequent) -> Proof:
        every = facts(t)
        rows = [[str(factor), [every.index(known)]], [str(factor - 1), [len(every) - 1]]]
        return by("linear", rows[: 1 + (factor > 1)])(t)

    return by("have", ZERO <= a, small, small, added)(s)


def _implications(s: Sequent) -> list[int]:
    """The known implications: from the same assumption as the goal's first."""
    same = [k for k, fact in enumerate(s.given) if fact.kind == "implies" and fact.parts[0] is s.goal.parts[0]]
    return same or [k for k, fact in enumerate(s.given) if fact.kind == "implies"][:_MOST]


def _detached(which: int) -> Tactic:
    """What the implication says, once it is assumed what it assumes, or something stronger; then on from there."""

    def tactic(s: Sequent) -> Proof:
        denial = conjuncts([negation(s.given[which].parts[0])])
        return by("alternatives", which, _refused(denial), first(by("known"), from_one))(s)

    return tactic


def _refused(denial: Sequence[Term]) -> Tactic:
    """These last hypotheses deny what the others say: a comparison, or a part of each of several alternatives."""

    def tactic(s: Sequent) -> Proof:
        if denial[-1].kind == "or":
            return by("alternatives", len(s.given) - 1, *(_refused(conjuncts([p])) for p in denial[-1].parts))(s)
        if denial[-1].kind == "rel" and denial[-1].parts[0] == "!=":
            return by("alternatives", len(s.given) - 1, _last_impossible, _last_impossible)(s)
        clashes = [_clash(fact) for fact in denial if fact.kind == "rel"]
        ways = [k for k, fact in enumerate(s.given) if fact.kind == "or"]
        each = first(*clashes, _nowhere)
        parted = (by("alternatives", k, *(each for _ in s.given[k].parts)) for k in ways)
        return first(*clashes, *parted, by("absurd", small))(s)

    return tactic


def _clash(fact: Term) -> Tactic:
    """A hypothesis whose contrary follows from another one."""
    other = negation(fact)
    strict = impossible(fact if fact.parts[0] == "<" else other)
    return by("have", other, small, first(by("known"), from_one), strict)


def _last_impossible(s: Sequent) -> Proof:
    return impossible(s.given[-1])(s)


def impossible(fact: Term) -> Tactic:
    """A strict comparison whose opposite follows: 1 <= 0 times its difference."""
    if fact.kind != "rel" or fact.parts[0] != "<":
        return no_way
    _, low, high = fact.parts
    return by("absurd", by("scale", high - low, high <= low, [], small, by("known"), of_facts))


def _comparable(known: Term, goal: Term) -> bool:
    """One side at most has changed."""
    if known.kind != "rel" or known.parts[0] not in ("<", "<="):
        return False
    return known.parts[1] is goal.parts[1] or known.parts[2] is goal.parts[2]


def _weaker(place: int, s: Sequent) -> Proof:
    """From the hypothesis at that place from the end."""
    known, goal = s.given[-place], s.goal
    (_, a, b), (_, lower, upper) = known.parts, goal.parts
    pairs = [pair for pair in ((lower, a), (b, upper)) if pair[0] is not pair[1]]
    # Where the known comparison is not strict, one of the steps has to be.
    relations: list[Sequence[str]] = [["<="] * len(pairs)]
    if goal.parts[0] == "<" and known.parts[0] != "<":
        relations = [["<" if k == strict else "<=" for k, _ in enumerate(pairs)] for strict, _ in enumerate(pairs)]
    return first(*(_chained([(Term("rel", r, *pair), ordered) for r, pair in zip(option, pairs, strict=True)],
                            _added(known, len(pairs))) for option in relations))(s)  # fmt: skip


def _chained(lemmas: Sequence[Lemma], tactic: Tactic) -> Tactic:
    """Each lemma as a fact beside the known one; then the tactic."""
    for formula, why in reversed(lemmas):
        tactic = by("have", formula, first(small, _nowhere), partial(_if_not_refuted, why), tactic)
    return tactic


def _if_not_refuted(why: Tactic, s: Sequent) -> Proof:
    if refuted(s):
        raise Failed("floats refute the step")
    return why(s)


def _added(known: Term, count: int) -> Tactic:
    """The sum of the known comparison and the last facts, the lemmas."""

    def tactic(s: Sequent) -> Proof:
        every = facts(s)
        used = [every.index(known), *range(len(every) - count, len(every))]
        return by("linear", [["1", [k]] for k in used])(s)

    return tactic


def ordered(s: Sequent) -> Proof:
    """low <= high (or low < high), two terms that differ at one place."""
    relation, low, high = s.goal.parts
    ways = [_chained(*way) for way in _steps(relation, low, high)]
    return first(by("identity"), signs, *(ways or [small]))(s)


def _steps(relation: str, low: Term, high: Term) -> list[Way]:
    """The ways from the places where the terms differ to the terms: lemmas, and how they give the goal."""

    def less(x: Term, y: Term) -> Lemma:
        return Term("rel", relation, x, y), ordered

    def sign(term: Term) -> Lemma:
        return Term("rel", relation, ZERO, term), _sign

    if high.kind == "mul" and high.parts[0] is low:
        return [([sign(low)], _product(1))]
    if low.kind == "mul" and low.parts[0] is high:
        return [([(Term("rel", relation, high, ZERO), small)], _product(1)), ([sign(high)], _product(1))]
    places = [k for k, (x, y) in enumerate(zip(low.parts, high.parts, strict=False)) if x is not y]
    if low.kind != high.kind or len(low.parts) != len(high.parts) or len(places) != 1:
        return []
    (k,) = places
    x, y, kind = low.parts[k], high.parts[k], low.kind
    if not isinstance(x, Term) or not isinstance(y, Term):
        return []
    if kind == "add":
        return [([less(x, y)], _product(1))]
    if kind == "mul":
        rest = Term("mul", ONE, *(part for j, part in enumerate(low.parts) if j != k))
        return [([less(x, y), (ZERO <= rest, small)], _product(2)), ([less(y, x), (rest <= ZERO, small)], _product(2))]
    if kind == "div":
        return _quotients(relation, low.parts, high.parts, k, less)
    if kind == "apply" and low.parts[0] == "abs":
        return [([less(x, y), (ZERO <= x, small)], _resolved(of_facts, (low, 0), (high, 0)))]
    if kind == "apply":
        return [([less(x, y)], _function(low.parts[0], x, y, relation))]
    if kind == "if" and relation == "<=":
        return [([], _branches(low, high) if k > 0 else _conditions(low, high))]
    if kind in ("max", "min") and relation == "<=" and len(low.parts) == 2:
        return [([less(x, y)], _extremes(low, high))]
    if kind == "fold" and low.parts[0] == "sum" and k == 4:
        return [([], by("termwise", low, relation, high.parts[4], small, ordered, small, by("known")))]
    if kind == "fold" and low.parts[0] == "sum" and k in (2, 3):
        return [([], _one_more(relation, low, high, k))]
    return []


def _quotients(
    relation: str, low: Sequence[Term], high: Sequence[Term], k: int, less: Callable[[Term, Term], Lemma]
) -> list[Way]:
    """x/d <= y/d for d > 0 (or the other way for d < 0), and n/x <= n/y for n >= 0 and 0 < y <= x."""
    if k == 0:
        under = low[1]
        return [
            ([less(low[0], high[0])], _cleared(under, Term("rel", relation, low[0], high[0]))),
            ([less(high[0], low[0])], _cleared(-under, Term("rel", relation, high[0], low[0]))),
        ]
    top, x, y = low[0], low[1], high[1]
    image = Term("rel", relation, top * y, top * x)
    return [([less(y, x), (Term("rel", relation, ZERO, top), small)], _cleared(x * y, image))]


def _cleared(factor: Term, image: Term) -> Tactic:
    return by("scale", factor, image, [], small, small, first(by("known"), _product(2)))


def _product(count: int) -> Tactic:
    """The product (of one: the fact itself, in any positive multiple) of the last facts."""

    def tactic(s: Sequent) -> Proof:
        end = len(facts(s))
        return first(by("linear", [["1", [end - 1 - k for k in range(count)]]]), small)(s)

    return tactic


def _sign(s: Sequent) -> Proof:
    """0 <= b, by itself or because 0 <= a <= b is known."""
    relation, _, b = s.goal.parts
    above = [fact.parts[1] for fact in s.given if fact.kind == "rel" and fact.parts[2] is b]
    through = [_chained([(Term("rel", relation, ZERO, a), small)], _sums_of_two) for a in above]
    return first(small, *through)(s)


def _sums_of_two(s: Sequent) -> Proof:
    """The last fact and any other one, added."""
    end = len(facts(s))
    return first(*(by("linear", [["1", [end - 1]], ["1", [k]]]) for k in range(end - 1)))(s)


def _function(name: str, x: Term, y: Term, relation: str) -> Tactic:
    """An increasing function of the sides of the last fact."""
    known = by("known")
    if name == "exp":
        return by("logarithm", known)
    if name == "log":
        return by("exponentiate", known)
    if name == "tanh":  # 1 - 2/(e^2x + 1)
        image = Term("rel", relation, exp(2 * x), exp(2 * y))
        doubled = by("logarithm", lambda s: by("linear", [["2", [len(facts(s)) - 1]]])(s))
        return by("scale", (exp(2 * x) + 1) * (exp(2 * y) + 1) / 2, image, [], small, small, doubled)
    return small


def _resolved(then: Tactic, *nodes: tuple[Term, int]) -> Tactic:
    """Each of these nodes is the part of that number, as a fact: the first one's last."""
    return reduce(lambda rest, node: by("resolve", *node, small, small, rest), nodes, then)


def _compared(x: Term, y: Term) -> Tactic:
    return of_facts if x is y else by("have", x <= y, small, ordered, of_facts)


def _branches(low: Term, high: Term) -> Tactic:
    """Two that differ in one branch: they are compared in each."""
    ways = (_resolved(_compared(low.parts[1 + which], high.parts[1 + which]), (high, which), (low, which))
            for which in (0, 1))  # fmt: skip
    return by("cases", low.parts[0], small, *ways)


def _conditions(low: Term, high: Term) -> Tactic:
    """Two that differ in their condition: where both or neither holds, they agree."""

    def here(one: int, other: int) -> Tactic:
        tactic = first(_compared(low.parts[1 + one], high.parts[1 + other]), _nowhere, _no_whole)
        return _resolved(tactic, (low, one), (high, other))

    def cases(one: int) -> Tactic:
        return by("cases", high.parts[0], small, here(one, 0), here(one, 1))

    return by("cases", low.parts[0], small, cases(0), cases(1))


def _extremes(low: Term, high: Term) -> Tactic:
    """Two largest, or least, of two: each is one of the two."""
    tactic: Tactic = of_facts
    for node in (low, high):
        ways = [_resolved(tactic, (node, which)) for which in (0, 1)]
        tactic = by("cases", node.parts[0] <= node.parts[1], small, *(ways if node.kind == "min" else ways[::-1]))
    return tactic


def _one_more(relation: str, low: Term, high: Term, k: int) -> Tactic:
    """A sum with one term more, the first (k = 2) or the last, which is not negative; or two sums of no term."""
    _, index, first_, last, body = high.parts
    cut, at = (first_, first_) if k == 2 else (low.parts[3], last)
    extra = Term("rel", relation, ZERO, substitute(body, {index: at}))
    some = by("have", extra, small, small, by("split_sum", high, cut, small, small, of_facts))
    if relation == "<":
        return some
    none: Tactic = of_facts
    for node in (low, high):
        none = by("termwise", node, "=", ZERO, small, _nowhere, small, none)
    return first(some, by("cases", first_ <= last, small, some, none))
