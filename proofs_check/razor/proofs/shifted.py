"""Scripts for the claims about heads whose keys are mixed with those before."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, eq, exp, lift, log
from proofs_check.language.notation import total, var, when
from proofs_check.razor.proofs.cache import tangent
from proofs_check.razor.proofs.scope import geometric, geometric_is
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.combined import combined
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    around,
    becomes,
    chain,
    closed,
    have,
    identity,
    known,
    linear,
    named,
    node_in,
    only,
    plainly,
    positive,
    resolved,
    search,
    split_sum,
    steps,
    termwise,
    times,
)
from proofs_check.rigour.tactics import Proof, Tactic, by, first

n, k, i, D, l, s, p, r, eps = map(var, (*"nkiDlspr", "eps"))  # noqa: E741
steep = 1 - exp(-l)

# -- mixed keys of coefficients p and +-r ------------------------------------------------------------------------------

target, fade = n - k, exp(-l * (n - i))
grown = total(i, 1, k, exp(l * i))
grown_is = eq(steep * grown, exp(l * k) - 1)
sum_grown = closed(grown, exp(l * (i - 1)), steep)  # the fact


def _weighed(found: Term, all_: Term, level: Term) -> Tactic:
    """The goal, a share of all that is at most 1/level, from this inequality, if all and level are positive."""
    return becomes(found, factor=all_ * level, why=linear((1, 0 < all_, 0 < level)))(known)


def _item(sign: int) -> Term:
    return exp(p * s[i] + when(i < 2, 0, sign * r * s[i - 1]) - l * (n - i))


def _later(q: Sequent) -> Proof:
    """A token that has one before it."""
    node = node_in(q.goal, "if")
    return by("logarithm", resolved(node, 1)(identity))(q)


def _opened(sign: int) -> tuple[Term, Term, Term, Step, Step]:
    """All tokens, the target, those after it without a choice; that the first are at least the others, and the sum of
    e^{l j}; and the step by which what the token before adds to the target, at most r D/2, becomes z.
    """
    all_, before_it = total(i, 1, n, _item(sign)), when(target < 2, 0, sign * r * s[target - 1])
    early, after = total(i, 1, target - 1, _item(sign)), total(i, target + 1, n, _item(sign))
    mine, mixed = exp(p * s[target] + before_it - l * k), exp(p * s[i] + sign * r * s[i - 1] - l * (n - i))
    plain = total(i, target + 1, n, mixed)
    enough, high = mine + plain <= all_, before_it <= r * D / 2
    return all_, mine, plain, chain(
        have(0 < steep), have(0 < all_), sum_grown,
        have(enough, steps(
            around(all_, target), have(0 <= early), termwise(after, "=", mixed, _later), combined)),
        have(high, by("cases", target < 2, small, *(resolved(before_it, which)(search) for which in (0, 1))))), named(
            before_it, "z", keep=(enough, high))  # fmt: skip


def _shifted_alike() -> Scripts:
    all_, mine_, plain, opened, free_z = _opened(1)
    v, x, z = s[target] + D / 2, var("x"), var("z")
    mine = exp(p * s[target] + z - l * k)
    low = exp(-(p + r) * D / 2 - l * (n - i))
    nearest, rest = total(i, target + 1, target + 1, plain.parts[4]), total(i, target + 2, n, plain.parts[4])
    next_, low_rest = exp(p * s[target + 1] + r * s[target] - l * (k - 1)), total(i, target + 2, n, low)
    near_low = exp(-p * D / 2 + r * s[target] - l * (k - 1))
    lift_, grow, wide = exp(z) <= exp(r * D / 2), 1 <= exp(l * (k - 1)), 1 <= grown * exp(-l)
    c = -l * k + l - r * D - p * D / 2

    def odds(at: Any) -> Term:
        return exp(l - r * D - p * at) * (grown * exp(-l) - 1 + exp(r * at))

    def core(at: Any, weight: Term = mine) -> Term:
        return weight * (1 + odds(at)) <= all_

    own = chain(
        free_z, have(lift_, by("logarithm", known)), split_sum(plain, target + 1),
        have(near_low <= next_, by("logarithm", combined)),
        termwise(rest, ">=", low, by("logarithm", search)), geometric(target + 2, n),
        have(core(v), times(steep)(linear(
            (1, 0 < steep, mine + plain <= all_), (-steep, eq(plain, nearest + rest)),
            (1, 0 < steep, near_low <= next_), (1, 0 < steep, low_rest <= rest),
            (-exp(-(p + r) * D / 2), geometric_is(target + 2, n)),
            (exp(z + c - l), grown_is), (1, lift_, exp(c), grow),
            (1, 0 < steep, lift_, exp(c + r * s[target] + r * D / 2))))))  # fmt: skip

    def bound(at: Any, *why: Step) -> Tactic:
        found = core(at, mine_)
        return steps(
            opened, have(grow), have(wide, times(steep)(combined)),
            have(0 < 1 + odds(at), combined),
            have(found, steps(own, *why, known)),
            _weighed(found, all_, 1 + odds(at)))  # fmt: skip

    parts = exp(-p * D) <= exp(-p * v), exp((r - p) * D) <= exp((r - p) * v)
    highest = chain(
        have(parts[0], by("logarithm", combined)),
        have(parts[1], by("logarithm", combined)),
        have(core(D), only(core(v), wide, *parts)(combined)))
    less, dear, y = odds(x) <= odds(v), exp(l - r * D), var("y") + D / 2
    turn, lines = eq(p * (grown * exp(-l) - 1), (r - p) * exp(r * x)), [(-p * y, -p * x), ((r - p) * y, (r - p) * x)]
    first_, second = (exp(there) * (1 + here - there) <= exp(here) for here, there in lines)
    lowest = chain(
        have(less, steps(
            named(s[target], "y", keep=(wide, turn)),
            *(have(fact, tangent(*line)) for fact, line in zip((first_, second), lines, strict=True)),
            linear((1, first_, wide, dear), (1, second, dear), (exp(l - r * D - p * x) * (y - x), turn)))),
        have(core(x), linear((1, core(v)), (1, less, mine))))  # fmt: skip
    return {"conclusion": by("split", bound(v), by("assume", bound(D, highest)), by("assume", bound(x, lowest)),
                             _attained(1, odds(D) + exp(-l - r * D / 2))),
            "defined": first(plainly, small, search), "points": lambda _: ALIKE}  # fmt: skip


def _attained(sign: int, odds: Term) -> Tactic:
    """The context of k + 2 tokens whose second one is the target: the odds against it."""

    def raw(x: Any) -> Term:
        return when(x < 2, sign * D / 2, when(x < 3, D / 2, -D / 2))

    item = exp(p * raw(i) + when(i < 2, 0, sign * r * raw(i - 1)) - l * (k + 2 - i))
    all_, rest, level = total(i, 1, k + 2, item), total(i, 4, k + 2, item), -(p + sign * r) * D / 2
    low, mine = exp(level - l * (k + 2 - i)), exp(p * D / 2 + r * D / 2 - l * k)
    grow, wide = 1 <= exp(l * (k - 1)), 1 <= grown * exp(-l)
    return steps(
        only(), have(0 < steep), positive(all_), sum_grown, have(grow), have(wide, times(steep)(combined)),
        have(0 < 1 + odds, combined),
        split_sum(all_, 3), termwise(rest, "=", low, by("logarithm", search)), geometric(4, k + 2, k + 2),
        becomes(eq(mine * (1 + odds), all_), factor=all_ * (1 + odds), why=linear((1, 0 < all_, 0 < 1 + odds))),
        times(steep), linear(
            (-steep, eq(all_, total(i, 1, 3, item) + rest)), (-steep, eq(rest, total(i, 4, k + 2, low))),
            (-exp(level), geometric_is(4, k + 2, k + 2)), (exp(level - l * k), grown_is)))  # fmt: skip


def _moved() -> Step:
    """The sum of the keys before, weighed, is e^l times that of the keys from the target to the last but one."""

    def pair(first_: Any) -> tuple[Term, Term]:
        return total(i, first_ + 1, n, fade * s[i - 1]), total(i, first_, n - 1, fade * s[i])

    (behind, here), (longer, more) = pair(target), pair(target - 1)
    step = steps(
        split_sum(longer, target), split_sum(more, target - 1),
        combined)
    return have(eq(behind, exp(l) * here), steps(only(), by("induct", "k", small, identity, step)))


# -- opposite signs: Jensen for the weights of the tokens after the target ---------------------------------------------

z, u = var("z"), var("u")
weights, few = total(i, target + 1, n, fade), total(i, target + 1, n - 1, fade)
keys, rest = total(i, target + 1, n, fade * s[i]), total(i, target + 1, n - 1, fade * s[i])
behind, from_target = total(i, target + 1, n, fade * s[i - 1]), total(i, target, n - 1, fade * s[i])
turn = r * exp(l)
# R, r of theory, the side of the case, and the end at which the tokens between have their keys
CASES = ((p, turn, turn <= p, -1), (r + p * steep, p, p <= turn, 1))


def _exponent(case: int) -> Term:
    steady, fading, _, _ = CASES[case]
    return -D * (steady + fading / grown)


def _mean(top: Term, case: int) -> Step:
    """The mean of the logits after the target is at least top + u, for a top of at most (p + r) D/2."""
    steady, fading, side, sign = CASES[case]
    end, under = sign * D / 2, top <= (p + r) * D / 2
    most = end * few <= rest if sign < 0 else rest <= end * few
    own, off = eq(from_target, exp(-l * k) * s[target] + rest), side.parts[2] - side.parts[1]
    alike, u_is = eq(weights, grown * exp(-l * k)), eq(grown * u, -D * (steady * grown + fading))

    def of_one(q: Sequent) -> Proof:
        x = var(q.variables[-1].name)
        return linear((1, -D / 2 <= s[x] if sign < 0 else s[x] <= D / 2, exp(-l * (n - x))))(q)

    return have((top + u) * weights <= p * keys - r * behind, steps(
        split_sum(keys, n - 1), split_sum(from_target, target),
        have(own, combined), _moved(), geometric(target + 1, n),
        geometric(target + 1, n - 1),
        have(alike, times(steep)(combined)), positive(weights),
        have(-D / 2 <= s[n]), have(s[target] <= D / 2), termwise(rest, "<=" if sign > 0 else ">=", end * fade, of_one),
        times(steep), linear(
            (-steep * p, eq(keys, rest + total(i, n, n, fade * s[i]))), (steep * r, eq(behind, exp(l) * from_target)),
            (steep * r * exp(l), own), (1, 0 < steep, side, most), (off * D / 2, geometric_is(target + 1, n - 1)),
            (1, 0 < steep, 0 <= p, -D / 2 <= s[n]), (1, 0 < steep, 0 <= r, s[target] <= D / 2, exp(l - l * k)),
            (1, 0 < steep, under, 0 < weights), (steep * u, alike), (steep * exp(-l * k), u_is),
            (D / 2 * (p + r), geometric_is(target + 1, n)), (-D * steady * exp(-l * k), grown_is))))  # fmt: skip


def _jensen(top: Term, plain: Term, case: int) -> tuple[Term, Step]:
    """The tokens after the target are at least e^{top + u} phi e^{-lk}, where u is that exponent."""
    level = top + u
    same = grown * exp(-l * k) <= weights
    body = fade * exp(level) * (1 + p * s[i] - r * s[i - 1] - level)
    fact = exp(level) * grown * exp(-l * k) <= plain

    def tangents(q: Sequent) -> Proof:
        x = var(q.variables[-1].name)
        far_off = l * (n - x)
        return tangent(p * s[x] - r * s[x - 1] - far_off, level - far_off)(q)

    return fact, have(fact, steps(
        _mean(top, case), geometric(target + 1, n), have(same, times(steep)(combined)),
        termwise(plain, ">=", body, tangents), linear(
            (1, total(i, target + 1, n, body) <= plain), (1, level * weights <= p * keys - r * behind, exp(level)),
            (1, same, exp(level)))))  # fmt: skip


def _named(case: int) -> Step:
    """The exponent becomes u."""
    steady, fading, _, _ = CASES[case]
    at = _exponent(case)
    whole_is = eq(grown * at, -D * (steady * grown + fading))
    return chain(have(whole_is, identity), named(at, "u", keep=(whole_is,)))


def _one_token(case: int) -> tuple[Term, Term, Step]:
    """All tokens, the target, and that it weighs at most one in 1 + phi e^u."""
    all_, mine_, plain, opened, free_z = _opened(-1)
    at, top = _exponent(case), p * s[target] + z
    jensen = _jensen(top, plain, case)[1]
    prove = steps(
        _named(case), free_z, have(s[target] <= D / 2),
        have(top <= (p + r) * D / 2, combined), jensen,
        combined)  # fmt: skip
    return all_, mine_, chain(
        opened, positive(grown), have(0 < 1 + grown * exp(at), combined),
        have(mine_ * (1 + grown * exp(at)) <= all_, prove))  # fmt: skip


def _shifted_opposite() -> Scripts:
    def bound(case: int) -> Tactic:
        all_, mine, found = _one_token(case)
        level = 1 + grown * exp(_exponent(case))
        return by("assume", found(_weighed(mine * level <= all_, all_, level)))

    worst = (grown - exp(l)) * exp(-p * D) + exp(l - (p + r) * D) + exp(-l - p * D - r * D / 2)
    return {"conclusion": by("split", bound(0), bound(1), _attained(-1, worst)),
            "defined": first(plainly, small, search), "points": lambda _: OPPOSITE}  # fmt: skip


def _many_tokens(case: int) -> tuple[Term, Term, Step]:
    """All tokens, those from the target back, and that these weigh at most one in 1 + (e^{lk} - 1) e^u."""
    all_, _, plain, _, _ = _opened(-1)
    far, near = total(i, 1, target, _item(-1)), total(i, target + 1, n, _item(-1))
    top, high, at = (p + r) * D / 2, exp((p + r) * D / 2 - l * (n - i)), _exponent(case)
    fast = 1 <= exp(l * k)
    level, (fact, jensen) = 1 + (exp(l * k) - 1) * exp(at), _jensen(top, plain, case)

    def of_one(q: Sequent) -> Proof:
        node, x = node_in(q.goal, "if"), var(q.variables[-1].name)
        ways = [resolved(node, which)(search) for which in (0, 1)]
        return by("logarithm", by("cases", x < 2, small, *ways))(q)

    prove = steps(
        _named(case), have(top <= (p + r) * D / 2), jensen, termwise(far, "<=", high, of_one), geometric(1, target),
        times(steep),
        linear((1, 0 < steep, fact), (-steep, eq(near, plain)), (-steep, eq(all_, far + near)),
               (1, 0 < steep, far <= total(i, 1, target, high), fast, exp(u)), (1, fast, exp(top + u - l * n)),
               (exp(top + u) * (exp(l * k) - 1), geometric_is(1, target)),
               (-exp(top + u - l * k), grown_is)))  # fmt: skip
    return all_, far, chain(
        have(0 < steep), have(0 < all_), sum_grown, positive(grown), have(fast),
        have(0 < level, combined), split_sum(all_, target), termwise(
            near, "=", plain.parts[4], _later),
        have(far * level <= all_, prove))  # fmt: skip


def _shifted_mass() -> Scripts:
    def bound(case: int) -> Tactic:
        all_, far, found = _many_tokens(case)
        level = 1 + (exp(l * k) - 1) * exp(_exponent(case))
        return by("assume", found(_weighed(far * level <= all_, all_, level)))

    return {"conclusion": by("split", bound(0), bound(1)), "defined": first(plainly, small, search),
            "points": lambda _: OPPOSITE}  # fmt: skip


# Three tokens: a high or low one, the target, a low one, as the bounds would have it, and ranges at which a thousandth
# shows. Two tokens of one logit, and x where the odds would be least if there were one token more.
HALF = Fraction(1, 2)
ALIKE = [
    {"n": 3, "k": 1, "l": 1, "D": 20, "p": 1, "r": 1, "s": (10, 10, -10), "x": 0},
    {"n": 2, "k": 1, "l": Fraction(6, 5), "D": 0, "p": 1, "r": Fraction(11, 10), "s": (0, 0),
     "x": log(exp(lift(Fraction(-6, 5))) / Fraction(1, 10)) / Fraction(11, 10)},
]  # fmt: skip
OPPOSITE = [
    {"n": 3, "k": 1, "l": 2, "D": 2, "p": 7, "r": 1, "s": (-1, 1, -1)},
    {"n": 3, "k": 1, "l": 5, "D": 1, "p": 20, "r": 1, "s": (-HALF, HALF, -HALF)},
]

SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "razor.thm1.shifted.alike": _shifted_alike,
    "razor.thm1.shifted.opposite": _shifted_opposite,
    "razor.sec3.1.shifted": _shifted_mass,
}
