"""Scripts for the one-repeat sentence and its landscape: the closed form for every T, and what is proved about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.normal import normal
from proofs_check.core.terms import ONE, ZERO, Term, eq, exp, free, log, num, walk
from proofs_check.kv.formal.definitions import closed
from proofs_check.language.notation import var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.auto import auto
from proofs_check.rigour.branch import boxes
from proofs_check.rigour.monotone import ordered
from proofs_check.rigour.nodes import exchanged, is_exp
from proofs_check.rigour.places import defined, named, put_value, settle, sum_value
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    at_least_one,
    becomes,
    cases,
    chain,
    cleared,
    coefficient,
    fades,
    have,
    identity,
    known,
    linear,
    node_in,
    only,
    resolve,
    search,
    steps,
    tightened,
    times,
)
from proofs_check.rigour.steps import named as called
from proofs_check.rigour.tactics import Failed, Proof, Tactic, by

T, i, j, k, n, u, a, b, a1, a2, b1, b2 = map(var, ("T", "i", "j", "k", "n", "u", "a", "b", "a1", "a2", "b1", "b2"))
gamma, sigma = var("gamma"), var("sigma")

# -- one-hot attention by places -------------------------------------------------------------------------------------


def closed_sum(node: Term, cuts: Sequence[Term], then: Tactic, each_piece: Any = None) -> Tactic:
    """Puts the value of a sum over places for it."""

    def tactic(s: Sequent) -> Proof:
        value, why = sum_value(s, node, cuts, each_piece) if each_piece else sum_value(s, node, cuts)
        return put_value(node, value, why, then)(s)

    return tactic


def folds(term: Term) -> list[Term]:
    """The sums of a term or formula that stand in no other sum."""
    if term.kind == "fold":
        return [term]
    return list(dict.fromkeys(f for part in term.parts if isinstance(part, Term) for f in folds(part)))


def closed_sums(cuts: Callable[[Term], Sequence[Term]], then: Tactic) -> Tactic:
    """Puts values for all sums over places, and for each `if`; cuts: where to cut a sum."""

    def tactic(s: Sequent) -> Proof:
        for node in folds(s.goal):
            return closed_sum(node, cuts(node), tactic)(s)
        return settle(then)(s)

    return tactic


def searched(depth: int = 5, steps: int = 400) -> Tactic:
    return lambda s: auto(s, depth=depth, steps=steps)


def exponential_pieces(cuts: Sequence[Callable[[Term], Sequence[Term]]]) -> Any:
    """The terms e^(sum / S) of a sum over tokens, piece by piece; cuts: where to cut the sum over places."""

    def piece(number: int, q: Sequent, body: Term) -> tuple[Term, Tactic]:
        top, under = body.parts[1].parts

        def why(z: Sequent) -> Proof:
            return closed_sum(z.goal.parts[1].parts[1].parts[0], cuts[number](last(z)), identity)(z)

        value, _ = sum_value(q, top, cuts[number](last(q)))
        return exp(value / under), why

    return piece


def same_value(s: Sequent) -> Proof:
    """a = b from the last fact a = c, b and c being equal in form."""
    return zeros((ONE, s.given[-1]))(s)


def last(s: Sequent) -> Term:
    return Term("var", s.variables[-1].name)


def _closed_loss() -> Tactic:
    """Loss by brute force = log(1 + odds): tokens in classes, places in classes for each."""
    at = [i - 1, i, i + 1, T]
    pieces = exponential_pieces([
        lambda t: [t - 1, t, t + 1, *at], lambda t: [i - 2, *at], lambda t: at, lambda t: [*at[:3], i + 2, T],
        lambda t: [*at[:3], t - 1, t, t + 1, T], lambda t: [*at[:3], T - 1, T],
    ])  # fmt: skip

    def main(s: Sequent) -> Proof:
        """The sums of weights first."""
        names = {v.name for v in s.variables}
        weights = (x for x in walk(s.goal) if x.kind == "fold" and is_exp(x.parts[4]) and free(x) <= names)
        one = next((x for x in weights if not folds(x.parts[4])), None)
        return numerator(s) if one is None else closed_sum(one, at, main)(s)

    def numerator(s: Sequent) -> Proof:
        target = s.goal.parts[1].parts[1].parts[1]
        return closed_sum(target.parts[0], [*at[:3], i + 2, T], tokens)(s)

    def tokens(s: Sequent) -> Proof:
        (log_of, other), rest = s.goal.parts[1].parts, s.goal.parts[2].parts[1]
        outer, target = log_of.parts[1], other.parts[1]
        value, why = sum_value(s, outer, [i - 2, i - 1, i, i + 1, T - 1], pieces)
        product = have(eq(outer, value), why, defined)(same_value)
        done = named(target, named(rest, by("exponentiate", identity), low=ZERO))
        return put_value(outer, exp(target) * rest, product, done)(s)

    return main


def _eq10() -> Scripts:
    return {"conclusion": _closed_loss(), "defined": defined}


def lp(s: Sequent) -> Proof:
    """A combination of products of two facts."""
    return arithmetic.linear(s, 2, False)


def _half() -> Scripts:
    """Both odds are T to e^g."""
    at = [i - 1, i, i + 1, T]

    def either_way(g: Term) -> Tactic:
        size, some = exp(g) + T, have(ZERO < log(T), by("exponentiate", small))
        last_step, order = (lp, known) if g is gamma else (times(log(T))(lp), steps(some, times(sigma / log(T)), known))
        one = steps(have(T <= exp(g), times(1 / (2 * size))(known)), have(log(T) <= g, by("exponentiate", known)),
                    some, last_step)  # fmt: skip
        other = steps(have(exp(log(T)) <= exp(g), by("logarithm", order)), cleared(), lp)
        return only()(by("split", by("assume", one), by("assume", other)))

    both_ways = by("split", either_way(gamma), either_way(1 / sigma))
    return {"conclusion": closed_sums(lambda _: at, both_ways), "defined": defined}


def decay(z: Term, why: Tactic = small) -> Step:
    """e^(-z) <= 1/(2z), for z > 0."""
    divided = times(2 * z, image=1 - 2 * z * exp(-z))(known)
    return chain(have(ZERO < z, why), have(ZERO <= z), fades(z), have(exp(-z) <= 1 / (2 * z), divided))


def log_at_most(X: Term, N: Term, most: Term, below: Tactic) -> Tactic:
    """log X - log N <= most, since X <= N (1 + most); below: a tactic for that."""
    first, second = X <= N * (1 + most), N * (1 + most) <= N * exp(most)
    return steps(have(first, below), have(ZERO < N, defined), at_least_one(most),
                 have(second, linear((1, ZERO < N, 1 + most <= exp(most)))), becomes(log(X) <= log(N) + most),
                 by("exponentiate", linear((1, first), (1, second))))  # fmt: skip


def logarithm_in(term: Term) -> Term:
    """What the logarithm of 1 + the odds is taken of."""
    logs = [x for x in walk(term) if x.kind == "apply" and x.parts[0] == "log"]
    found: list[Term] = [x.parts[1] for x in logs if x.parts[1].kind == "add"]
    return max(found, key=lambda x: x.depth)


def above_log(s: Sequent) -> Proof:
    """log N < log X, X being 1 + the odds, which exceeds N term by term."""
    X = logarithm_in(s.goal)
    times_log = -coefficient(s.goal.parts[1], log(X))
    shown = becomes(log(_other_logarithm(s.goal, X)) < log(X), factor=1 / times_log)
    return shown(by("exponentiate", small))(s)


def _other_logarithm(goal: Term, X: Term) -> Term:
    """What the other logarithm of the goal is taken of, or 1."""
    taken = [x.parts[1] for x in walk(goal) if x.kind == "apply" and x.parts[0] == "log" and x.parts[1] is not X]
    return max((x for x in taken if x.kind != "num"), key=lambda x: x.depth, default=ONE)


def _approached(s: Sequent) -> Proof:
    """log X - log N <= R from X <= N (1 + R), where every exponential of X that falls is at most 1/(2z)."""
    X = logarithm_in(s.goal)
    times_log = coefficient(s.goal.parts[1], log(X))
    N, most = _other_logarithm(s.goal, X), s.goal.parts[2] / times_log
    falling = dict.fromkeys(x for x in walk(X) if is_exp(x) and "u" in free(x) and normal(x.parts[1]).top)
    bounds, terms = [decay(-x.parts[1]) for x in falling], [X]
    for node in falling:
        terms.append(exchanged(terms[-1], node, 1 / (-2 * node.parts[1])))
    larger = [low <= high for low, high in pairwise(terms)]
    enough = terms[-1] <= N * (1 + most)
    each = chain(*(have(lemma, ordered) for lemma in larger))
    below = steps(chain(*bounds), each, have(enough, search), linear(*((1, lemma) for lemma in (*larger, enough))))
    return becomes(log(X) <= log(N) + most, factor=1 / times_log)(log_at_most(X, N, most, below))(s)


def infimum() -> Scripts:
    return {"bound": above_log, "approached": by("split", small, _approached), "defined": defined}


def _anti_induction() -> Scripts:
    """The exponents are -sign/(u S), each with a positive sign and an S of its own; the rate leaves a factor of 2."""
    A, B, rho = exp(a1), exp(a2), var("rho")
    signs = (2 * A - B - rho * (1 - B), 1 - B + rho * (A - 1), 1 - B)
    signed = chain(have(ZERO < signs[2]), have(ONE <= A), have(B <= 1),
                   have(ZERO < signs[0], times(1 / signs[2])(known)), have(ZERO < signs[1], lp))  # fmt: skip
    letters = [called(sign, f"x{k}", 0, open=True) for k, sign in enumerate(signs)]
    plain = chain(*letters, called(A, "x", 1), called(B, "y", 0, 1), only(), cleared())

    def main(s: Sequent) -> Proof:
        node, end = s.goal.parts[1:]
        X = logarithm_in(s.goal)
        inside, factor = node.parts[1], coefficient(node.parts[1], log(X))
        sizes = [node_in(part, "exp").parts[1].parts[1] for part in _weights(X)]
        falls = [sign / (u * S) for sign, S in zip(signs, sizes, strict=True)]
        decays = [decay(z, times(u * S, image=sign)(known)) for z, sign, S in zip(falls, signs, sizes, strict=True)]
        one, two, three = (exp(-z) <= 1 / (2 * z) for z in falls)
        below = linear((1, one), (2, two), (1, num(4) <= T, three))
        most = one.parts[2] + 2 * two.parts[2] + (T - 4) * three.parts[2]
        small_log, sign_known, enough = log(X) <= most, ZERO <= log(X), factor * most <= end
        return steps(
            *(have(ZERO < S) for S in sizes), have(small_log, log_at_most(X, ONE, most, chain(*decays)(below))),
            have(sign_known, by("exponentiate", small)), have(enough, plain(search)),
            resolve(node, 0, linear((factor, sign_known))),
            linear((factor, small_log), (1, enough), (1, eq(node, inside))))(s)  # fmt: skip

    return {"gap": signed(main), "defined": signed(defined)}


def zeros(*parts: tuple[Any, Term], factor: Term = ONE) -> Tactic:
    """An equality: its difference times the factor is this combination of equalities that are known."""
    return becomes(eq(ZERO, ZERO), *parts, factor=factor, why=defined, defined=defined)(identity)


def at_zero(name: str) -> Step:
    """Puts 0 for a variable that is known to be 0."""
    x = var(name)
    zero = eq(x, ZERO)
    return chain(have(x <= ZERO, linear((1, zero))), have(x >= ZERO, linear((-1, zero))),
                 tightened(name, x <= ZERO, x >= ZERO), lambda then: by("enumerate", name, then))  # fmt: skip


def _critical_point() -> Scripts:
    """Where the b-slopes vanish the a-slopes are linear in b1, b2, with a determinant that is not 0."""

    def main(s: Sequent) -> Proof:
        La1, La2, Lb1, Lb2 = s.goal.parts[0].parts[0].parts
        A, B = exp(a1), exp(a2)
        S = 2 * A + B + T - 2
        X = La1.parts[1].parts[0].parts[1]
        w_r, w_e, w_o = _weights(X)
        W = w_r + w_e + w_o
        first_row, second_row = eq(2 * w_r * b1 + w_e * b2, ZERO), eq(w_r * b2 - W * b1, ZERO)
        inner = 2 * X * b1, 2 * X * b2
        one_row = zeros((X * S / A, La1), (inner[0], Lb1), (inner[1], Lb2))
        other_row = zeros((X * S / B, La2), (X * b1, Lb1), (X * b2, Lb2))
        det = 2 * w_r**2 + w_e * W
        is_b1 = zeros((w_r, first_row), (-w_e, second_row), factor=det)
        is_b2 = zeros((W, first_row), (2 * w_r, second_row), factor=det)

        def linear_in(q: Sequent) -> Proof:
            by_b1, by_b2 = q.given[2:4]
            is_A = zeros((S / 2, by_b1), ((T - 1) * S / 2, by_b2))
            is_B = zeros((-S, by_b1), (S, by_b2))
            return by("split", is_A, is_B, identity, identity)(q)

        there = steps(have(first_row, one_row), have(second_row, other_row), have(eq(b1, ZERO), is_b1),
                      have(eq(b2, ZERO), is_b2), at_zero("b1"), at_zero("b2"), linear_in)  # fmt: skip

        def nowhere(q: Sequent) -> Proof:
            on_A, on_B = q.given[:2]
            flat_b1 = zeros((2 / (T * S), on_A), (-(T - 1) / (T * S), on_B))
            flat_b2 = zeros((2 / (T * S), on_A), (1 / (T * S), on_B))
            return by("split", identity, identity, flat_b1, flat_b2)(q)

        back = steps(at_zero("b1"), at_zero("b2"), nowhere)
        return by("split", by("split", by("assume", there), by("assume", back)), identity)(s)

    return {"conclusion": main, "defined": defined}


def _weights(X: Term) -> list[Term]:
    """The three terms of the odds in 1 + odds."""
    first_two, others = X.parts[1].parts
    return [*first_two.parts, others]


def loss_in(term: Term) -> Term:
    """The loss by brute force: log of a sum, less a logit."""
    for x in walk(term):
        first = x.parts[0] if x.kind == "add" else x
        if x is not first and first.kind == "apply" and first.parts[0] == "log" and first.parts[1].kind == "fold":
            return x
    raise Failed("no loss")


LONG = chain(have(num(4) <= T), tightened("T", num(4) <= T))


def by_form(loss: Term, form: Term, lemma: Term, why: Tactic) -> Step:
    """The loss is its closed form, and a lemma on that."""
    return chain(have(eq(loss, form), _closed_loss(), defined), have(lemma, why, defined))


def _fewer_tokens() -> Scripts:
    def main(s: Sequent) -> Proof:
        loss, form = loss_in(s.goal), closed(T, a1, a2, b1, b2)
        lemma, factor = s.goal.parts[1] <= form, coefficient(s.goal.parts[2], loss)
        more = [(factor - 1, ZERO <= form)] * (factor > 1)
        return by_form(loss, form, lemma, by("exponentiate", small))(have(ZERO <= form, by("exponentiate", small))(
            linear((1, lemma), (-factor, eq(loss, form)), *more)))(s)

    everywhere = {"T": 4, "i": 2, "a1": 0, "a2": 0, "b1": 0, "b2": 0}  # all logits are 0: log 4 on both sides
    return {"conclusion": LONG(main), "defined": LONG(defined), "points": lambda _: [everywhere]}


def _attention_minimum() -> Scripts:
    def bound(s: Sequent) -> Proof:
        loss, form = loss_in(s.goal), closed(T, a1, a2, b1, b2)
        above, factor = ZERO < form, coefficient(s.goal.parts[1], loss)
        return by_form(loss, form, above, by("exponentiate", small))(
            linear((-factor, above), (factor, eq(loss, form))))(s)  # fmt: skip

    def approached(s: Sequent) -> Proof:
        """Each exponent is at most -4/(u S), which leaves (T - 1) u S/8 beside 1."""
        loss, end = loss_in(s.goal), s.goal.parts[2]
        place, factor = _place_of(loss), coefficient(s.goal.parts[1], loss)
        form = closed(T, *place)
        A, B = (exp(at) for at in place[:2])
        S = 2 * A + B + T - 2
        z, most = 4 / (u * S), (T - 1) * S * u / 8
        length, low, high, size = num(4) <= T, 7 <= B, 2 * A + B <= 11, ZERO < u * S
        falls = [node_in(part, "exp") for part in _weights(form.parts[1])]
        lower = [fall <= exp(-z) for fall in falls]
        few = factor * (T - 1) * (T + 9) * u / 8 <= end
        below = steps(
            decay(z), *(have(fact, by("logarithm", times(u * S, image=-4 - u * fall.parts[1].parts[0])(lp)))
                        for fall, fact in zip(falls, lower, strict=True)),
            linear((1, lower[0]), (2, lower[1]), (1, length, lower[2]), (1, length, exp(-z) <= 1 / (2 * z)),
                   (3, exp(-z) <= 1 / (2 * z))),
        )  # fmt: skip
        return steps(
            *map(have, (length, low, high, 2 * A <= Fraction(9, 4), size, few)),
            by_form(loss, form, form <= most, log_at_most(form.parts[1], ONE, most, below)),
            linear((factor, form <= most), (factor / 8, high, ZERO < u, length), (3 * factor / 8, high, ZERO < u),
                   (1, few), (factor, eq(loss, form))))(s)  # fmt: skip

    return {"bound": LONG(bound), "approached": by("split", small, approached), "defined": defined}


def _place_of(loss: Term) -> tuple[Term, ...]:
    """a1, a2, b1, b2 of a loss by brute force: the factors of the four indicators."""
    bodies = [node.parts[4] for node in walk(loss.parts[1]) if node.kind == "fold"]
    exponential, values = next(body for body in bodies if body.kind == "mul").parts
    return tuple(part.parts[0] for part in (*exponential.parts[1].parts, *values.parts))


def _flat() -> Scripts:
    at = [i, i + 1, T]
    return {"gap": closed_sums(lambda _: at, searched()), "defined": defined}


def _levels() -> Scripts:
    """Both ranges lie within their bounds; n/20 is at most 9.95, and 92/20 and 93/20 lie on either side of the second.

    The number n is brought between two neighbours first: a box of many numbers would be cut along a and b as well.
    """
    over = steps(tightened("n", num(93) < n), boxes)
    between = steps(tightened("n", n <= 93, num(92) < n), boxes)
    apart = cases(n <= 92, cases(n <= 93, over)(between))(steps(tightened("n", n <= 92), boxes))
    return {"conclusion": by("split", *[boxes] * 5, apart), "defined": boxes}


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "kv.eq10.corrected": _eq10,
    "kv.beyond.temperature.half": _half,
    "kv.beyond.infimum.vanilla": infimum,
    "kv.beyond.infimum.v_shift": infimum,
    "kv.beyond.infimum.k_shift": infimum,
    "kv.beyond.route.anti_induction": _anti_induction,
    "kv.beyond.critical_point": _critical_point,
    "kv.thm3.4.minimum.corrected": _attention_minimum,
    "kv.thm3.4.small_t": _fewer_tokens,
    "kv.eq6.sigma.corrected": _flat,
    "kv.listing_l.levels": _levels,
}
NEEDS: dict[str, str] = {
    "kv.appC.every_position": "sum_value as in kv.eq10.corrected, in cases j against i - 1, i, i + 1, T (places.gap "
    "turns j < i - 1 into j + 1 <= i - 1), and i = T - 1, i = T apart",
    "kv.beyond.sign_rule": "sum_value with cuts at j - 1, j, j + 1, for j <= i - 2 and j >= i + 2 (places.gap); "
    "then e^x - 1 has the sign of x",
    "kv.fig2.two_tokens.loss": "the sums are constant in length and expand: settle, then exponentiate; the second part "
    "needs the lead affine in b and monotone in a at b = 0, 1",
    "kv.beyond.time.not_ahead": "theory.landscape.learning_order: G >= 0 and both brackets rising in T from 44 on",
    "kv.fig2.caption": "kv.beyond.box.minimiser, then exponentials term by term",
    "kv.beyond.box.minimiser": "margins affine in b: both ends; A + B >= 2 sqrt(e) > 2; (B - 1)/S and (B - 2 A)/S fall",
    "kv.beyond.box.minimum": "kv.fig2.caption; a Taylor remainder in t = 1/T with its third derivative on [0, 1/4]",
    "kv.beyond.box.kkt": "boxes in (a, b, 1/(T - 2)): b-slope < 0 for a <= 2/5, a-slope b f + w g with f, g > 0 beyond",
    "kv.beyond.slice.conditions": "clear denominators: S q_c and b K_c - R_c are an invertible combination of slopes",
    "kv.beyond.slice.fold": "branch and bound away from the Krawczyk box: the search spends its budget",
    "kv.sec5.query_kernel.no_scalar": "P1 P2 (g0 + g1)^2 + Q1 Q2 (g0 - g1)^2 = 0 as an explicit linear certificate",
}
