"""Scripts for the claims about reach and about heads whose keys are mixed with those before."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, eq, exp, log
from proofs_check.language.notation import total, var, when
from proofs_check.razor.proofs.cache import tangent
from proofs_check.razor.proofs.scope import _beyond, beyond, exponential, far, geometric, nothing, parted, whole
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    around,
    at_least_one,
    becomes,
    cases,
    chain,
    closed,
    have,
    identity,
    known,
    linear,
    named,
    node_in,
    nonzero,
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

n, w, k, i, D, a, delta, l, s, p, r = map(var, ("n", "w", "k", "i", "D", "a", "delta", "l", "s", "p", "r"))  # noqa: E741
steep = 1 - exp(-l)

def exponentiated(then: Tactic) -> Tactic:
    """A comparison between the exponentials of both sides."""
    return by("exponentiate", then)


# -- what is reached and what is forgotten -----------------------------------------------------------------------------


def _gap() -> Scripts:
    odds = 1 / delta - 1
    many, few, ratio, z = 1 + odds * exp(D), 1 + steep * exp(D), odds / steep, exp(-D) / steep
    basics = chain(
        have(0 < steep), have(1 <= odds, times(delta)(linear((2, delta <= Fraction(1, 2))))),
        have(0 < ratio, times(steep)(linear((1, 1 <= odds), (1,)))), have(0 < few),
        have(0 < many, linear((1,), (1, 1 <= odds, exp(D)), (1, exp(D)))))  # fmt: skip
    order, close = many <= ratio * few, ratio * few <= (1 + z) * many
    most = steps(
        basics, have(order, times(steep)(linear((1, 1 <= odds), (1, exp(-l))))), times(l), exponentiated, becomes(order, factor=many)(known))  # fmt: skip
    ends, less = log(ratio) + log(few) - log(many) <= log(1 + z), log(1 + z) <= z
    tight = steps(
        basics, have(close, times(steep)(linear((1, 0 < steep), (1, exp(-D))))), have(0 < z), have(0 < 1 + z),
        at_least_one(z), have(less, exponentiated(known)),
        have(ends, exponentiated(becomes(close, factor=many)(known))), times(l), linear((1, ends), (1, less)))  # fmt: skip
    return {"conclusion": by("split", most, tight, by("assume", steps(basics, _whole_gap(odds, ratio, basics)))), "defined": plainly}


def _whole_gap(odds: Term, ratio: Term, basics: Step) -> Tactic:
    """From the two contexts, for whole tokens."""
    some, seen, more = 0 < whole, delta < far / whole, delta * whole < far
    power, grow = exp(l * w) < 1 + odds * exp(D), 1 <= exp(l * w)
    lost = chain(have(some), have(more, linear((1, seen, some))))
    outside = by("absurd", steps(
        nothing(far), times(delta * whole, linear((1, 0 < delta, some))), linear((1, more), (1, eq(far, 0)))))
    inside = steps(_beyond(), split_sum(whole, n - w), have(grow), times(delta * whole, linear((1, 0 < delta, some))),
                   linear((1, beyond), (1, more, exp(D)), (1, more, grow), (-exp(D), parted)))
    item, fall = exp(when(i < 2, a + D, a) - l * (k + 1 - i)), exp(a - l * (k + 1 - i))
    two, rest, own = total(i, 1, k + 1, item), total(i, 2, k + 1, item), exp(a + D - l * k)
    others, others_is = geometric(2, k + 1, k + 1)
    short, twice, reached = own / two < Fraction(1, 2), 2 * own < two, steep * exp(D) < exp(l * k) - 1
    weak = steps(
        split_sum(two, 1), termwise(rest, "=", fall, by("logarithm", search)), others, times(exp(a - l * k)),
        linear((1, 0 < steep, twice), (steep, eq(two, total(i, 1, 1, item) + rest)),
               (steep, eq(rest, total(i, 2, k + 1, fall))), (exp(a), others_is)))  # fmt: skip
    return steps(
        have(power, steps(only(seen, 1 <= odds), lost, have(0 <= w), cases(w <= n, outside)(inside))),
        have(reached, steps(only(short), positive(two), have(0 < steep), have(twice, linear((2, short, 0 < two))), weak)),
        only(power, reached), basics, times(l), exponentiated,
        becomes(steep * exp(l * w) < odds * exp(l * k), factor=steep * exp(l * w), why=linear((1, 0 < steep, exp(l * w)))),
        linear((1, 0 < steep, power), (1, 1 <= odds, reached), (1, reached), (1, 1 <= odds), (1, exp(-l))))  # fmt: skip


# -- mixed keys of coefficients p and +-r ------------------------------------------------------------------------------

target, fade = n - k, exp(-l * (n - i))
grown = total(i, 1, k, exp(l * i))
grown_is = eq(steep * grown, exp(l * k) - 1)


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
    up_to, after = total(i, 1, target, _item(sign)), total(i, target + 1, n, _item(sign))
    early, only_one = total(i, 1, target - 1, _item(sign)), total(i, target, target, _item(sign))
    mine, mixed = exp(p * s[target] + before_it - l * k), exp(p * s[i] + sign * r * s[i - 1] - l * (n - i))
    plain = total(i, target + 1, n, mixed)
    enough, high = mine + plain <= all_, before_it <= r * D / 2
    return all_, mine, plain, chain(
        have(0 < steep), have(0 < all_), closed(grown, exp(l * i), exp(l) - 1), have(grown_is, linear(
            (exp(-l), eq((exp(l) - 1) * grown, exp(l * (k + 1)) - exp(l))))),
        have(enough, steps(
            around(all_, target), have(0 <= early), termwise(after, "=", mixed, _later),
            linear((1, 0 <= early), (-1, eq(all_, up_to + after)), (-1, eq(up_to, early + only_one)),
                   (-1, eq(after, plain))))),
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
    fading, fading_is = geometric(target + 2, n)
    lift_, grow, wide = exp(z) <= exp(r * D / 2), 1 <= exp(l * (k - 1)), 1 <= grown * exp(-l)
    c = -l * k + l - r * D - p * D / 2

    def odds(at: Any) -> Term:
        return exp(l - r * D - p * at) * (grown * exp(-l) - 1 + exp(r * at))

    def core(at: Any, weight: Term = mine) -> Term:
        return weight * (1 + odds(at)) <= all_

    own = chain(
        free_z, have(lift_, by("logarithm", known)), split_sum(plain, target + 1),
        have(near_low <= next_, by("logarithm", linear((1, 0 <= p, -D / 2 <= s[target + 1])))),
        termwise(rest, ">=", low, by("logarithm", search)), fading,
        have(core(v), times(steep)(linear(
            (1, 0 < steep, mine + plain <= all_), (-steep, eq(plain, nearest + rest)), (1, 0 < steep, near_low <= next_),
            (1, 0 < steep, low_rest <= rest), (-exp(-(p + r) * D / 2), fading_is), (exp(z + c - l), grown_is),
            (1, lift_, exp(c), grow), (1, 0 < steep, lift_, exp(c + r * s[target] + r * D / 2))))))  # fmt: skip

    def bound(at: Any, *why: Step) -> Tactic:
        level, found = l - r * D - p * at, core(at, mine_)
        return steps(
            opened, have(grow), have(wide, times(steep)(linear((1, grow), (-exp(-l), grown_is)))),
            have(0 < 1 + odds(at), linear((1,), (1, wide, exp(level)), (1, exp(level + r * at)))),
            have(found, steps(own, *why, known)),
            becomes(found, factor=all_ * (1 + odds(at)), why=linear((1, 0 < all_, 0 < 1 + odds(at))))(known))  # fmt: skip

    parts = exp(-p * D) <= exp(-p * v), exp((r - p) * D) <= exp((r - p) * v)
    highest = chain(
        have(parts[0], by("logarithm", linear((1, 0 <= p, s[target] <= D / 2)))),
        have(parts[1], by("logarithm", linear((1, r <= p, s[target] <= D / 2)))),
        have(core(D), linear((1, core(v)), (1, parts[0], wide, exp(l - r * D), mine), (1, parts[1], exp(l - r * D), mine))))
    less, dear, y = odds(x) <= odds(v), exp(l - r * D), var("y") + D / 2
    turn, lines = eq(p * (grown * exp(-l) - 1), (r - p) * exp(r * x)), [(-p * y, -p * x), ((r - p) * y, (r - p) * x)]
    first_, second = (exp(there) * (1 + here - there) <= exp(here) for here, there in lines)
    lowest = chain(
        have(less, steps(
            named(s[target], "y", keep=(wide, turn)),
            *(have(fact, tangent(*line)) for fact, line in zip((first_, second), lines, strict=True)),
            linear((1, first_, wide, dear), (1, second, dear), (exp(l - r * D - p * x) * (y - x), turn)))),
        have(core(x), linear((1, core(v)), (1, less, mine))))  # fmt: skip
    some = linear((1,), (1, wide, exp(l - r * D - p * D)), (1, exp(l - p * D)), (1, exp(-l - r * D / 2)))
    return {"conclusion": by("split", bound(v), by("assume", bound(D, highest)), by("assume", bound(x, lowest)),
                             _attained(1, odds(D) + exp(-l - r * D / 2), some)),
            "defined": first(plainly, small, search)}  # fmt: skip


def _attained(sign: int, odds: Term, some: Tactic) -> Tactic:
    """The context of k + 2 tokens whose second one is the target: the odds against it."""

    def raw(x: Any) -> Term:
        return when(x < 2, sign * D / 2, when(x < 3, D / 2, -D / 2))

    item = exp(p * raw(i) + when(i < 2, 0, sign * r * raw(i - 1)) - l * (k + 2 - i))
    all_, rest, level = total(i, 1, k + 2, item), total(i, 4, k + 2, item), -(p + sign * r) * D / 2
    low, mine = exp(level - l * (k + 2 - i)), exp(p * D / 2 + r * D / 2 - l * k)
    fading, fading_is = geometric(4, k + 2, k + 2)
    grow, wide = 1 <= exp(l * (k - 1)), 1 <= grown * exp(-l)
    return steps(
        only(), have(0 < steep), positive(all_), closed(grown, exp(l * i), exp(l) - 1),
        have(grown_is, linear((exp(-l), eq((exp(l) - 1) * grown, exp(l * (k + 1)) - exp(l))))), have(grow),
        have(wide, times(steep)(linear((1, grow), (-exp(-l), grown_is)))), have(0 < 1 + odds, some),
        split_sum(all_, 3), termwise(rest, "=", low, by("logarithm", search)), fading,
        becomes(eq(mine * (1 + odds), all_), factor=all_ * (1 + odds), why=linear((1, 0 < all_, 0 < 1 + odds))),
        times(steep), linear(
            (-steep, eq(all_, total(i, 1, 3, item) + rest)), (-steep, eq(rest, total(i, 4, k + 2, low))),
            (-exp(level), fading_is), (exp(level - l * k), grown_is)))  # fmt: skip


def _moved() -> Step:
    """The sum of the keys before, weighed, is e^l times that of the keys from the target to the last but one."""

    def pair(first_: Any) -> tuple[Term, Term]:
        return total(i, first_ + 1, n, fade * s[i - 1]), total(i, first_, n - 1, fade * s[i])

    (behind, here), (longer, more) = pair(target), pair(target - 1)
    step = steps(
        split_sum(longer, target), split_sum(more, target - 1),
        linear((1, eq(longer, total(i, target, target, fade * s[i - 1]) + behind)),
               (-exp(l), eq(more, total(i, target - 1, target - 1, fade * s[i]) + here)),
               (1, eq(behind, exp(l) * here))))  # fmt: skip
    return have(eq(behind, exp(l) * here), steps(only(), by("induct", "k", small, identity, step)))


def _shifted_opposite() -> Scripts:
    all_, mine_, plain, opened, free_z = _opened(-1)
    z, u, y = map(var, "zuy")
    mine, level = exp(p * s[target] + z - l * k), p * s[target] + z + u
    keys, rest = total(i, target + 1, n, fade * s[i]), total(i, target + 1, n - 1, fade * s[i])
    from_target, weights = total(i, target, n - 1, fade * s[i]), total(i, target + 1, n, fade)
    few = total(i, target + 1, n - 1, fade)
    (sum_, sum_is), (short, short_is) = geometric(target + 1, n), geometric(target + 1, n - 1)
    behind = total(i, target + 1, n, fade * s[i - 1])
    same, alike = grown * exp(-l * k) <= weights, eq(weights, grown * exp(-l * k))

    def core(weight: Term, at: Term) -> Term:
        return weight * (1 + grown * exp(at)) <= all_

    def tangents(q: Sequent) -> Proof:
        x = var(q.variables[-1].name)
        far_off = l * (n - x)
        return tangent(p * s[x] - r * s[x - 1] - far_off, level - far_off)(q)

    def of_one(q: Sequent) -> Proof:
        x = var(q.variables[-1].name)
        return first(*(linear((1, fact, exp(-l * (n - x)))) for fact in (-D / 2 <= s[x], s[x] <= D / 2)))(q)

    def bound(steady: Term, fading: Term, side: Term, sign: int) -> Tactic:
        """For R and r as in theory, and the side of the case, in which the keys are best at -D/2 or at D/2."""
        end = sign * D / 2
        most = end * few <= rest if sign < 0 else rest <= end * few
        at, shape = -D * (steady + fading / grown), -D * (steady * grown + fading)
        found, whole_is, u_is = core(mine_, at), eq(grown * at, shape), eq(grown * u, shape)
        mean = level * weights <= p * keys - r * behind
        jensen = total(i, target + 1, n, fade * exp(level) * (1 + p * s[i] - r * s[i - 1] - level))
        own, off = eq(from_target, exp(-l * k) * s[target] + rest), side.parts[2] - side.parts[1]
        average = steps(
            split_sum(keys, n - 1), split_sum(from_target, target),
            have(own, linear((1, eq(from_target, total(i, target, target, fade * s[i]) + rest)))), _moved(), short,
            positive(weights), have(-D / 2 <= s[n]), termwise(rest, "<=" if sign > 0 else ">=", end * fade, of_one), named(s[target], "y", -D / 2, D / 2, keep=(own,)),
            times(steep), linear(
                (-steep * p, eq(keys, rest + total(i, n, n, fade * s[i]))), (steep * r, eq(behind, exp(l) * from_target)),
                (steep * r * exp(l), eq(from_target, exp(-l * k) * y + rest)), (1, 0 < steep, side, most),
                (off * D / 2, short_is), (1, 0 < steep, 0 <= p, -D / 2 <= s[n]),
                (1, 0 < steep, 0 <= r, y <= D / 2, exp(l - l * k)), (1, 0 < steep, 0 <= p, y <= D / 2, 0 < weights),
                (1, 0 < steep, z <= r * D / 2, 0 < weights), (steep * u, alike), (steep * exp(-l * k), u_is),
                (D / 2 * (p + r), sum_is), (-D * steady * exp(-l * k), grown_is)))  # fmt: skip
        even = times(steep)(linear((-1, sum_is), (exp(-l * k), grown_is)))
        prove = steps(
            have(whole_is, identity), named(at, "u", keep=(whole_is,)), free_z, sum_, have(same, even), have(alike, times(
                steep)(linear((1, sum_is), (-exp(-l * k), grown_is)))),
            have(mean, average), termwise(plain, ">=", jensen.parts[4], tangents),
            linear((1, mine + plain <= all_), (1, jensen <= plain), (1, mean, exp(level)), (1, same, exp(level))))
        return steps(
            opened, positive(grown), have(0 < 1 + grown * exp(at), linear((1,), (1, 0 < grown, exp(at)))),
            have(found, prove),
            becomes(found, factor=all_ * (1 + grown * exp(at)), why=linear((1, 0 < all_, 0 < 1 + grown * exp(at))))(known))

    turn = r * exp(l)
    first_, second = bound(p, turn, turn <= p, -1), bound(r + p * steep, p, p <= turn, 1)
    worst = (grown - exp(l)) * exp(-p * D) + exp(l - (p + r) * D) + exp(-l - p * D - r * D / 2)
    some = linear((1,), (1, 1 <= grown * exp(-l), exp(l - p * D)), (1, exp(l - (p + r) * D)),
                  (1, exp(-l - p * D - r * D / 2)))  # fmt: skip
    return {"conclusion": by("split", by("assume", first_), by("assume", second), _attained(-1, worst, some)),
            "defined": first(plainly, small, search)}  # fmt: skip


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "razor.thm1.gap": _gap,
    "razor.thm1.shifted.alike": _shifted_alike,
    "razor.thm1.shifted.opposite": _shifted_opposite,
}
