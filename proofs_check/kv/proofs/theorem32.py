"""Scripts for Theorem 3.2 of the KV-shifting paper, and for what no head can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import (
    ONE,
    ZERO,
    Term,
    absolute,
    both,
    eq,
    exp,
    substitute,
    tanh,
)
from proofs_check.language.notation import each, fold, total, var
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import of_facts
from proofs_check.rigour.combined import combined
from proofs_check.rigour.settling import (
    abstract,
    auto,
    called,
    counted,
    fine,
    haves,
    put,
    shown,
    some,
    use,
)
from proofs_check.rigour.steps import (
    becomes,
    have,
    identity,
    known,
    linear,
    only,
    steps,
    times,
)
from proofs_check.rigour.tactics import Proof, Tactic, by

SCRIPTS: dict[str, Callable[[], Mapping[str, Tactic]]] = {}


def _means(low: int, high: int) -> Tactic:
    """|n/z - n'/z'| <= (high - low) (G - 1)/(G + 1) for means whose weights differ by factors from 1/G to G."""
    n, z, n2, z2, G = map(var, ("n'", "z'", "n''", "z''", "G'"))

    def side(p: Term, q: Term, p2: Term, q2: Term) -> Tactic:
        """p q' - p' q against (G - 1)(p + q)(p' + q')/(G + 1)."""
        square, ways = ZERO <= (p - G * q) ** 2, by("cases", 2 * p <= (G - 1) * q, fine, combined, combined)
        return steps(have(square, linear((1, square.parts[2]))), times(G), only(
            square, z > 0, z2 > 0, G >= 1, 0 <= p, 0 <= q, p <= G * p2, q <= G * q2, q2 <= G * q), ways)  # fmt: skip

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
        below = steps(
            put(s.goal.parts[2], width * (R - 1) / (R + 1), identity),
            haves((R > 0, arithmetic.signs), (G < R, by("logarithm", known))), abstract({"G'": G, "R'": R}),
            combined)  # fmt: skip
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
    lemmas: list[tuple[Term, Tactic]] = [
        (part <= width * rest, by("termwise", part, "<=", width * ages, fine, each_one, fine, known)),
        (whole <= width * rest, cut),
        (count, by("split_sum", below, here - 2, fine, fine, linear((1, -1)))),
        (geometric, by("telescope", rest, each(q, ages), exp(p) - 1, fine, fine, linear((1, -1)))),
        (left >= 0, arithmetic.signs),
        (fewer <= many, by("split_sum", many, here - 2, fine, fine, of_facts)),
        (rest <= share * below, times(exp(p))(combined)),
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


def _impossible(wanted: Any) -> Mapping[str, Tactic]:
    """Where the first output is 0 the second, e^m times it, is 0 as well, and not the number that is wanted."""

    def positive(s: Sequent) -> Proof:
        first, second = s.given[-1].parts[1], s.goal.parts[1]
        zero, some = eq(first.parts[0], 0), 0 < wanted * second.parts[1]
        below = times(second.parts[1])(linear((1, some), (exp(var("m")), zero)))
        flat = becomes(eq(0, 0), (first.parts[1], s.given[-1]))(identity)
        return steps(have(zero, flat), have(some), by("apart", True, below))(s)

    return {"conclusion": by("either", 1, positive)}


SCRIPTS["kv.thm3.3.impossible"] = lambda: _impossible(var("u"))
SCRIPTS["kv.thm3.3.denied"] = lambda: _impossible(ONE)
