"""Scripts for the claims about the scope of a head: Theorem 1, and what lies beyond a window."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import ZERO, Term, both, eq, exp, lift, log, sqrt, substitute, walk
from proofs_check.language.notation import least, total, var, when
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import rewritten_as, small
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    around,
    at_least_one,
    becomes,
    cases,
    chain,
    closed,
    fades,
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
    resolve,
    resolved,
    search,
    split_sum,
    steps,
    termwise,
    tightened,
    times,
)
from proofs_check.rigour.sums import used
from proofs_check.rigour.tactics import Proof, Tactic, by, first

n, m, w, k, p, i, D, a, eps, delta = map(var, ("n", "m", "w", "k", "u", "i", "D", "a", "eps", "delta"))
l = var("l")  # noqa: E741
s = var("s")

# -- what lies beyond a window -----------------------------------------------------------------------------------------

term = exp(s[i] - l * (n - i))
far, near, whole = total(i, 1, n - w, term), total(i, n - w + 1, n, term), total(i, 1, n, term)
fade = exp(-l * (n - i))
steep = 1 - exp(-l)
seen = 1 + exp(-D) * (exp(l * w) - 1)
beyond, strictly = far * (exp(l * w) - 1) <= exp(D) * near, far * (exp(l * w) - 1) < exp(D) * near
parted = eq(whole, far + near)


def geometric(low: Any, high: Any, last: Any = n) -> tuple[Step, Term]:
    """The sum of e^{-l(last - i)}, and the fact about it."""
    node = total(i, low, high, exp(-l * (last - i)))
    return closed(node, exp(-l * (last - i + 1)), steep), eq(
        steep * node, exp(-l * (last - high)) - exp(-l * (last - low + 1)))


def _beyond(*, strict: bool = False) -> Step:
    """For w <= n (and w > 0, strictly): the sum beyond the window against the one inside."""
    above, below = exp(a + D) * fade, exp(a) * fade
    (one, one_is), (two, two_is) = geometric(1, n - w), geometric(n - w + 1, n)
    top, bottom = total(i, 1, n - w, above), total(i, n - w + 1, n, below)
    grow = 1 < exp(l * w) if strict else 1 <= exp(l * w)
    prove = steps(
        have(grow), have(0 < steep), termwise(far, "<=", above), termwise(near, ">=", below), one, two, times(steep),
        linear((1, 0 < steep, far <= top, grow), (1, 0 < steep, bottom <= near, exp(D)),
               (exp(a + D) * (exp(l * w) - 1), one_is), (-exp(a + D), two_is),
               (1, exp(a + D - l * n), grow)),
    )  # fmt: skip
    return have(strictly if strict else beyond, only(w <= n, 0 < w)(prove))


def nothing(node: Term) -> Step:
    """A sum over no index at all."""
    return termwise(node, "=", 0, by("absurd", small))


def exponential(lower: Any, upper: Any, why: Tactic) -> Tactic:
    """The goal is e^lower <= e^upper."""
    return lambda q: rewritten_as(q, Term("rel", q.goal.parts[0], exp(lower), exp(upper)), by("logarithm", why))


def _form() -> Scripts:
    scope, enough = (D - log(eps)) / l <= w, exp(D) <= eps * exp(l * w)
    core = far * (1 - eps * exp(-D)) <= eps * (whole - far)
    strict = far < eps * whole
    some = 0 < whole
    basics = [only(scope), have(some), have(enough, exponential(D, log(eps) + l * w, linear((1, scope, 0 < l)))),
              have(log(eps) < 0),
              have(0 < w, times(l)(linear((1, scope, 0 < l), (1, 0 <= D), (1, log(eps) < 0)))), have(0 <= far),
              have(exp(-D) <= 1)]  # fmt: skip
    less = 1 + eps * (1 - exp(-D))

    def outside(factor: Any) -> Tactic:
        return steps(nothing(far), linear((1, 0 < eps, some), (factor, eq(far, 0))))

    inside = chain(_beyond(strict=True), split_sum(whole, n - w),
                   only(strictly, 0 <= far, enough, exp(-D) <= 1, parted))
    prove = inside(
        linear((1, strictly, 0 < eps, exp(-D)), (1, 0 <= far, enough, exp(-D)), (-eps, parted)))
    prove_strict = inside(
        linear((1, strictly, 0 < eps, exp(-D)), (1, 0 <= far, enough, exp(-D)),
               (1, 0 <= far, 0 < eps, exp(-D) <= 1), (-eps, parted)))
    bound = steps(*basics, have(core, cases(w <= n, outside(less))(prove)),
                  times(whole * less, linear((1, some), (1, some, 0 < eps, exp(-D) <= 1))), linear((1, core)))
    below = steps(*basics, have(strict, cases(w <= n, outside(1))(prove_strict)),
                  times(whole, known), linear((1, strict)))
    return {"conclusion": by("split", bound, below, plainly), "defined": plainly}


# -- no decay ----------------------------------------------------------------------------------------------------------


def counted(low: Any, high: Any) -> tuple[Step, Term]:
    """The number of terms, and the fact about it."""
    ones = total(i, low, high, 1)
    return closed(ones, i), eq(ones, lift(high) - low + 1)


def _flat_mass() -> Scripts:
    gone, kept = total(i, 1, n, exp(s[i])), total(i, 1, m, exp(var("t")[i]))
    highest, lowest = total(i, 1, n, exp(a + D)), total(i, 1, m, exp(a))
    (many, many_is), (few, few_is) = counted(1, n), counted(1, m)

    def product(one: Term, other: Term) -> Tactic:
        return linear(*((1, 0 < x, 0 < y, *more) for x in (one, other) for y, *more in ((n,), (m, exp(-D)))))

    sizes = chain(only(), have(0 < n), have(0 < m), many, few)
    bound = steps(
        sizes, have(0 < gone), have(0 < kept), termwise(gone, "<=", exp(a + D)), termwise(kept, ">=", exp(a)),
        times((gone + kept) * (n + m * exp(-D)), product(gone, kept), n * kept - m * gone * exp(-D)),
        linear((1, 0 < n, lowest <= kept), (1, 0 < m, gone <= highest, exp(-D)),
               (-n * exp(a), few_is), (m * exp(a), many_is)),
    )  # fmt: skip
    attained = steps(
        sizes, have(0 < highest), have(0 < lowest),
        times((highest + lowest) * (n + m * exp(-D)), product(highest, lowest), n * lowest - m * highest * exp(-D)),
        linear((-n * exp(a), few_is), (m * exp(a), many_is)),
    )
    sums = steps(only(), have(0 < highest), have(0 < lowest),
                 by("apart", False, linear((1, 0 < highest), (1, 0 < lowest))))
    empty = first(*(tightened(name, var(name) < 1)(by("enumerate", name, search)) for name in ("n", "m")))
    return {"conclusion": by("split", bound, attained), "defined": first(plainly, sums), "weaker": empty}


def _no_decay() -> Scripts:
    scope = (1 / eps - 1) * exp(D)
    at, worst, high = k, exp(a + D), exp(s[n - k])
    body = exp(s[i])

    def part(low: Any, end: Any, what: Any = body) -> Term:
        return total(i, low, end, what)

    every = part(1, n)
    before, here_on, after = part(1, n - at - 1), part(1, n - at), part(n - at + 1, n)
    (count, count_is) = counted(n - at + 1, n)
    within = steps(
        by("assume", only(scope <= at)(steps(
            have(0 < every), have(high <= worst), around(every, n - at),
            have(0 <= before), termwise(after, ">=", exp(a)), count, times(every, known),
            linear((1, 0 < eps, 0 <= before), (1, 0 < eps, part(n - at + 1, n, exp(a)) <= after),
                   (1, scope <= at, 0 < eps, exp(a)), (1, eps < 1, high <= worst),
                   (-eps, eq(every, here_on + after)), (-eps, eq(here_on, before + part(n - at, n - at))),
                   (-eps * exp(a), count_is)))))
    )
    tall = exp(when(i < 2, a + D, a))
    two, rest = part(1, at + 1, tall), part(2, at + 1, tall)
    count, low_is = counted(2, at + 1)
    sharp = by("assume", steps(
        only(at < scope), have(0 < two), split_sum(two, 1),
        termwise(rest, "=", exp(a), by("logarithm", search)), count, times(two, known),
        linear((1, at < scope, 0 < eps, exp(a)), (eps, eq(two, part(1, 1, tall) + rest)),
               (eps, eq(rest, part(2, at + 1, exp(a)))), (eps * exp(a), low_is))))
    far, near = part(1, n - w), part(n - w + 1, n)
    (count, near_is), (all_count, all_is) = counted(n - w + 1, n), counted(1, n)
    outside = steps(have(0 <= far), linear((1, 0 <= far, 0 < n), (1, n < w, 0 < every, exp(D)),
                                              (1, 0 < n, 0 < every, 1 <= exp(D))))
    inside = steps(
        split_sum(every, n - w), termwise(near, "<=", worst), termwise(every, ">=", exp(a)), count, all_count,
        linear((1, 0 < n, near <= part(n - w + 1, n, worst)), (1, 0 <= w, part(1, n, exp(a)) <= every, exp(D)),
               (n, eq(every, far + near)), (n * worst, near_is), (-w * worst, all_is)))
    kept = steps(only(), have(0 < n), have(0 < every), have(1 <= exp(D)),
                 times(every * n, linear((1, 0 < every, 0 < n))),
                 cases(w <= n, outside)(inside))
    total_share = steps(have(0 < every), around(every, n - at), have(0 <= before), have(0 <= after), times(every),
                        linear((1, 1 <= eps, 0 < every), (1, 0 <= before), (1, 0 <= after),
                               (-1, eq(every, here_on + after)),
                               (-1, eq(here_on, before + part(n - at, n - at)))))  # fmt: skip
    never = by("assume", by("absurd", times(eps)(linear((1, at < scope, 0 < eps), (1, 1 <= eps, exp(D)),
                                                        (1, 1 <= at, 0 < eps)))))  # fmt: skip
    return {"conclusion": by("split", within, sharp, kept), "defined": plainly,
            "weaker": by("split", by("assume", total_share), never, kept)}  # fmt: skip


# -- the supremum beyond a window --------------------------------------------------------------------------------------


def _discard_corrected() -> Scripts:
    core, some = far * seen <= whole, 0 < whole
    inside = steps(have(0 <= w), _beyond(), split_sum(whole, n - w),
                   linear((1, beyond, exp(-D)), (-1, parted)))
    outside = steps(nothing(far), linear((1, some), (seen, eq(far, 0))))
    first = chain(have(0 < seen), have(some), have(0 <= far), have(core, cases(w <= n, outside)(inside)))
    bound = steps(only(), first, times(whole * seen, linear((1, some, 0 < seen))), linear((1, core)))
    scope = 1 + (1 / delta - 1) * exp(D)
    enough, power = log(scope) / l <= w, scope <= exp(l * w)
    less = by("assume", steps(
        only(enough), have(power, exponential(log(scope), l * w, linear((1, enough, 0 < l)))), first,
        times(whole, known),
        linear((1, 0 < delta, core), (1, 0 <= far, 0 < delta, power, exp(-D)))))  # fmt: skip

    item = exp(when(i <= n - w, a + D, a) - l * (n - i))
    beyond_, inner, all_ = total(i, 1, n - w, item), total(i, n - w + 1, n, item), total(i, 1, n, item)
    above, below = exp(a + D) * fade, exp(a) * fade
    (one, one_is), (two, two_is) = geometric(1, n - w), geometric(n - w + 1, n)
    gap, grow = exp(-l * (n - w)), 1 <= exp(l * w)
    close = 1 / seen - beyond_ / all_ <= gap
    why = by("logarithm", search)
    near_it = steps(
        split_sum(all_, n - w), termwise(beyond_, "=", exp(a + D - l * (n - i)), why),
        termwise(inner, "=", exp(a - l * (n - i)), why), one, two,
        times(steep * all_ * seen, linear((1, 0 < all_, 0 < seen, 0 < steep))),
        linear((1, 0 < steep, 0 <= beyond_, exp(l * (w - n))),
               (1, 0 < steep, 0 < all_, grow, exp(l * (w - n) - D)),
               (steep * (1 - gap), eq(all_, beyond_ + inner)),
               (-steep * (seen - 1), eq(beyond_, total(i, 1, n - w, above))), (-exp(a + D) * (seen - 1), one_is),
               (-steep * (gap - 1), eq(inner, total(i, n - w + 1, n, below))), (-exp(a) * (gap - 1), two_is)),
    )  # fmt: skip
    rate = n * gap <= w + 1 / l
    y = l * (n - w)
    slow = steps(at_least_one(y), have(gap <= 1), have(0 < 1 / l),
                 linear((1, 0 <= w, gap <= 1), (1, 0 < 1 / l, 1 + y <= exp(y), exp(-y)),
                        (1, 0 < 1 / l, exp(-y))))
    within = steps(have(close, near_it), have(rate, slow), times(n), linear((1, 0 < n, close), (1, rate)))
    wide = steps(
        have(1 <= seen), have(0 < 1 / l), times(n * all_ * seen, linear((1, 0 < n, 0 < all_, 0 < seen))),
        linear((1, 1 <= seen, 0 < all_, 0 <= w), (1, n < w, 0 < all_), (1, 0 < 1 / l, 0 < all_, 0 < seen),
               (1, 0 < n, 0 <= beyond_, 0 < seen)),
    )  # fmt: skip
    worst = steps(only(), have(0 < n), have(0 < steep), have(grow), have(0 < seen), have(0 < all_), have(0 <= beyond_),
                  cases(w <= n, wide)(within))
    return {"conclusion": by("split", bound, less, worst), "defined": plainly}


# -- Theorem 1 corrected -----------------------------------------------------------------------------------------------


def _thm1_corrected() -> Scripts:
    gap = var("gap")
    target, logit = s[n - k], exp(s[n - k] - l * k)
    up_to, after, all_ = total(i, 1, n - k, term), total(i, n - k + 1, n, term), total(i, 1, n, term)
    before, between = total(i, 1, n - k - 1, term), total(i, n - k + 1, n - 1, term)
    near = total(i, 1, k - 1, exp(-l * i))
    nearest = closed(near, -exp(-l * i), steep), eq(steep * near, exp(-l) - exp(-l * k))
    (middle, middle_is) = geometric(n - k + 1, n - 1)
    middle_sum = total(i, n - k + 1, n - 1, fade)
    given, some, same = target - s[n] <= gap, 0 < all_, near <= middle_sum
    low = exp(target - D - l * (n - i))

    def weighed(drop: Term) -> tuple[Term, Term, Step]:
        """One over the bound, the target having no more than this above the query's own logit; what is to show."""
        level = 1 + exp(l * k) * (exp(-drop) + exp(-D) * near)
        core, own = logit * level <= all_, exp(target - drop) <= exp(s[n])
        return level, core, chain(
            only(given), have(some), have(0 < steep), have(own, by("logarithm", search)),
            have(same, steps(nearest[0], middle, times(steep), linear((1, nearest[1]), (-1, middle_is)))),
            around(all_, n - k), split_sum(after, n - 1), have(0 <= before),
            termwise(between, ">=", low, by("logarithm", search)),
            have(core, linear(
                (1, 0 <= before), (1, total(i, n - k + 1, n - 1, low) <= between), (1, own), (1, same, exp(target - D)),
                (-1, eq(all_, up_to + after)), (-1, eq(up_to, before + total(i, n - k, n - k, term))),
                (-1, eq(after, between + total(i, n, n, term))))),
            have(0 <= near), have(0 < level))  # fmt: skip

    (level, core, weigh), (_, core_far, weigh_far) = weighed(gap), weighed(D)
    bound = steps(weigh, times(all_ * level, linear((1, some, 0 < level))), linear((1, core)))
    scope = 1 + (1 / eps - 1) * (1 - exp(-l)) * exp(D)
    enough, power = log(scope) / l <= k, scope <= exp(l * k)
    fill = exp(-l) - exp(-l * k) <= steep * near
    less = by("assume", steps(
        have(power, only(enough)(exponential(log(scope), l * k, linear((1, enough, 0 < l))))),
        have(core_far, weigh_far(known)), only(core_far, power), have(0 < all_), have(0 < steep), nearest[0],
        have(fill, linear((-1, nearest[1]))), times(steep * all_, linear((1, 0 < steep, 0 < all_))),
        linear((1, core_far, 0 < eps, 0 < steep), (1, exp(target - l * k - D), 0 < eps, power),
               (1, fill, 0 < eps, exp(target - D)))))  # fmt: skip

    item = exp(when(i < 2, a + D, a) - l * (k + 1 - i))
    two, rest, fall = total(i, 1, k + 1, item), total(i, 2, k + 1, item), exp(a - l * (k + 1 - i))
    others, others_is = geometric(2, k + 1, k + 1)
    first_, shape = total(i, 1, 1, item), exp(l * k - D) * (1 + near)
    open_ = chain(positive(two), have(0 < steep), split_sum(two, 1),
                  termwise(rest, "=", fall, by("logarithm", search)), others)
    parts = eq(two, first_ + rest), eq(rest, total(i, 2, k + 1, fall))
    equal = steps(
        only(), open_, nearest[0], have(0 <= near), have(0 < shape), times(steep * two * (1 + shape), linear(
            (1, 0 < steep, 0 < two), (1, 0 < steep, 0 < two, 0 < shape)), steep * (two - first_ * (1 + shape))),
        linear((-steep, parts[0]), (-steep, parts[1]), (-exp(a), others_is), (exp(a), nearest[1])),
    )  # fmt: skip
    short, weak = k < log(scope) / l, exp(l * k) < scope
    above = by("assume", steps(
        have(weak, only(short)(exponential(l * k, log(scope), linear((1, short, 0 < l))))), only(weak), open_,
        times(steep * two, linear((1, 0 < steep, 0 < two))),
        linear((1, weak, 0 < eps, exp(a - l * k)), (eps * steep, parts[0]), (eps * steep, parts[1]),
               (eps * exp(a), others_is))))  # fmt: skip
    return {"conclusion": by("split", bound, less, equal, above), "defined": first(only()(nonzero(two)), plainly)}


# -- sinks -------------------------------------------------------------------------------------------------------------


def _sinks() -> Scripts:
    """steep (all - gone seen) = e^(a - l n) (e^(l (p + w)) - 1), so n (1/seen - gone/all) <= e^D reach."""
    item = exp(when(both(p < i, i <= n - w), a + D, a) - l * (n - i))

    def part(low: Any, high: Any, what: Any = item) -> Term:
        return total(i, low, high, what)

    sinks, gone, last, all_, early = part(1, p), part(p + 1, n - w), part(n - w + 1, n), part(1, n), part(1, n - w)
    below, above = exp(a - l * (n - i)), exp(a + D - l * (n - i))
    (one, one_is), (two, two_is), (three, three_is) = geometric(1, p), geometric(p + 1, n - w), geometric(n - w + 1, n)
    some, high, why = 0 < all_, 1 <= exp(D), by("logarithm", search)

    def steep_all(of_gone: Any) -> list[Any]:
        """What steep times the whole sum is, with the part that is dropped counted so often."""
        return [(-c, fact) for c, fact in (
            (steep, eq(all_, early + last)), (steep, eq(early, sinks + gone)), (steep, eq(sinks, part(1, p, below))),
            (steep * of_gone, eq(gone, part(p + 1, n - w, above))), (steep, eq(last, part(n - w + 1, n, below))),
            (exp(a), one_is), (exp(a + D) * of_gone, two_is), (exp(a), three_is))]  # fmt: skip

    near, faded, filled = exp(-l * (n - p - w)) <= 1, exp(-l * n) <= 1, exp(a) * (1 - exp(-l * n)) <= steep * all_
    wide, y = 1 <= exp(l * (p + w)), l * (n - p)
    tail = 2 * y * exp(-y) <= 1

    def within(h: Term) -> Tactic:
        """With e^(-l w) <= h <= 1: 1, or e^(-l) if w >= 1."""
        reach = (p + w) * h + 1 / (2 * l)
        share, room, grown = gone / all_, 0 <= reach, 1 <= h * exp(l * w)
        up, down, short = share <= 1 / seen, 1 / seen - share <= exp(D) * reach / n, n * exp(-y) <= reach
        scale = linear((1, 0 < steep, some, 0 < seen, 0 < n))
        inside = chain(
            split_sum(all_, n - w), split_sum(early, p), termwise(sinks, "=", below, why),
            termwise(gone, "=", above, why), termwise(last, "=", below, why), one, two, three,
            have(near), have(faded), have(wide), have(exp(-y) <= h), have(0 <= y), fades(y),
            have(short, linear((Fraction(1, 2), tail, 0 < 1 / l), (1, 0 <= p, exp(-y) <= h), (1, 0 <= w, 0 < h))),
            have(filled, linear((1, high, near, exp(a - l * w)), *steep_all(1))),
            have(up, times(steep * all_ * seen, linear((1, 0 < steep, some, 0 < seen)), steep * (all_ - gone * seen))(
                linear((1, exp(a - l * n), wide), *steep_all(1 - seen)))),
            have(down, times(steep * n * all_ * seen, scale,
                             exp(D) * reach * steep * all_ * seen - n * steep * (all_ - gone * seen))(
                linear((1, room, 0 < seen, filled, exp(D)), (1, room, faded, high, exp(a)),
                       (1, short, faded, exp(a + l * w)), (1, 0 < n, exp(a - l * n), near),
                       *[(-n * c, fact) for c, fact in steep_all(1 - seen)]))),
        )  # fmt: skip
        outside = chain(
            nothing(gone), have(up, times(all_ * seen, linear((1, some, 0 < seen)), all_ - gone * seen)(
                linear((1, some), (seen, eq(gone, 0))))),
            have(down, times(n * all_ * seen, linear((1, 0 < n, some, 0 < seen)),
                             exp(D) * reach * all_ * seen - n * (all_ - gone * seen))(
                linear((1, room, high, some), (1, 0 <= p, grown, some), (1, 0 <= w, grown, some),
                       (Fraction(1, 2), exp(l * w), 0 < 1 / l, some), (1, n - w < p, some),
                       (-n * seen, eq(gone, 0))))),
        )  # fmt: skip

        def finish(q: Sequent) -> Proof:
            node, end = node_in(q.goal, "abs"), q.goal.parts[2]
            enough, ratio = exp(D) * reach / n <= end, node.parts[1].parts[0]
            clear = steps(only(0 < n, 0 < 1 / l, h <= 1), times(n * exp(-D)), search)
            top = ratio.parts[0]
            same = first(identity, termwise(top, "=", substitute(item, {"i": var(top.parts[1])}), why)(used(identity)))
            return steps(have(enough, clear), have(eq(ratio, share), same),
                         resolve(node, 1, linear((1, up), (1, eq(ratio, share)))),
                         linear((1, down), (1, enough), (1, eq(node, 1 / seen - ratio)), (-1, eq(ratio, share))))(q)

        return steps(have(0 <= w), have(room), have(grown), have(0 < h), have(h <= 1),
                     cases(p <= n - w, outside(finish)), inside(finish))  # fmt: skip

    gap = steps(have(0 < n), have(0 < steep), have(0 < 1 / l), have(0 < exp(l * w)), have(high), have(0 < seen),
                positive(all_), first(within(exp(-l)), within(lift(1))))
    return {"gap": gap, "defined": plainly}


# -- a scope that is no whole number -----------------------------------------------------------------------------------


def _discard() -> Scripts:
    top = var("numerator")
    scope, level = (top - log(eps)) / l, eps * exp(-top)
    item = exp(s[i] - l * (n - i))

    def out(what: Any, otherwise: Any = 0) -> Term:
        return when(scope < n - i, what, otherwise)

    def edge(place: Any) -> Term:
        """Its steps are at least (1 - e^-l) e^{-l(n - i)} at dropped tokens, and 0 at least at kept ones."""
        return least(exp(-l * (n - place + 1)), level)

    def token(yes: Callable[[Term], Tactic], no: Callable[[Term], Tactic]) -> Tactic:
        """For one token, dropped or kept."""

        def tactic(q: Sequent) -> Proof:
            x = var(q.variables[-1].name)
            nodes = [node for node in walk(q.goal) if node.kind == "if"]

            def branch(which: int) -> Tactic:
                return steps(*(resolved(node, which, known) for node in nodes), (yes, no)[which](x))

            return by("cases", scope < n - x, small, branch(0), branch(1))(q)

        return tactic

    def dropped(x: Term) -> Tactic:
        far_off = exp(-l * (n - x)) <= level
        return steps(have(far_off, exponential(-l * (n - x), log(eps) - top, linear((1, scope < n - x, 0 < l)))),
                     resolved(edge(x + 1), 0),
                     resolved(edge(x), 0, linear((1, far_off), (1, 0 < steep, exp(-l * (n - x))))), identity)

    def near_by(x: Term) -> Tactic:
        close, below = level <= exp(-l * (n - x)), exp(-l * (n - x + 1)) <= level
        return steps(have(close, exponential(log(eps) - top, -l * (n - x), linear((1, n - x <= scope, 0 < l)))),
                     resolved(edge(x + 1), 1),
                     cases(below, resolved(edge(x), 1)(identity)), resolved(edge(x), 0), linear((1, below)))

    def sums(body: Term) -> Term:
        return total(i, 1, n, body)

    def plain(x: Term) -> Tactic:
        """Nothing is left, or e^{logit} between its ends, times e^{-l(n - x)}."""
        ends = exp(a) <= exp(s[x]), exp(s[x]) <= exp(a + D)
        ways = (steps(have(end, by("logarithm", search)), linear((1, end, exp(-l * (n - x))))) for end in ends)
        return first(identity, *ways)

    gone, stay, gone_fade, stay_fade = sums(out(item)), sums(out(0, item)), sums(out(fade)), sums(out(0, fade))
    every, climb, some = sums(item), sums(edge(i + 1) - edge(i)), 0 < sums(item)
    (all_fade, all_is), low, start = geometric(1, n), exp(-l * n), edge(1)
    reach, short = steep * gone_fade <= level - start, steep * gone_fade <= level - low
    climbs, end = eq(climb, edge(n + 1) - start), edge(n + 1) <= level
    lowest, highest = exp(a) * stay_fade <= stay, gone <= exp(a + D) * gone_fade
    below, under = exp(D - top) <= 1, exp(-top) <= 1
    none = steps(
        have(level <= start, resolved(start, 1, linear((1, level < low)))(identity)),
        linear((1, 0 < steep, 0 < eps, some), (1, 0 < steep, highest), (1, reach, exp(a + D)),
               (1, level <= start, exp(a + D))))  # fmt: skip
    far_off = steps(
        have(low <= start, resolved(start, 0, linear((1, low <= level)))(identity)),
        have(short, linear((1, reach), (1, low <= start))),
        linear((1, 0 < steep, 0 < eps, lowest), (1, 0 < steep, eps < 1, highest), (1, short, 0 < eps, exp(a)),
               (1, short, eps < 1, exp(a + D)), (1, eps < 1, exp(a + D - l * n)),
               (1, eps < 1, 0 < eps, below, exp(a)), (1, 0 < eps, 0 < eps, under, exp(a)),
               (-steep * eps, eq(every, gone + stay)), (eps * steep * exp(a), eq(sums(fade), gone_fade + stay_fade)),
               (-eps * exp(a), all_is)))  # fmt: skip
    bound = steps(
        have(0 < steep), positive(every), have(below), have(under),
        termwise(sums(steep * out(fade)), "<=", edge(i + 1) - edge(i), token(dropped, near_by)), closed(climb, edge(i)),
        have(end, resolved(edge(n + 1), 1, linear((1, eps < 1), (1, 0 < eps, under)))(identity)),
        have(reach, linear((1, steep * gone_fade <= climb), (1, climbs), (1, end))),
        termwise(gone, "<=", exp(a + D) * out(fade), token(plain, plain)),
        termwise(stay, ">=", exp(a) * out(0, fade), token(plain, plain)),
        termwise(every, "=", out(item) + out(0, item), token(plain, plain)),
        termwise(sums(fade), "=", out(fade) + out(0, fade), token(plain, plain)), all_fade,
        times(steep * every, linear((1, 0 < steep, some)), steep * (eps * every - gone)),
        cases(low <= level, none), far_off)  # fmt: skip

    def cut(end: Any) -> tuple[Term, Term]:
        return total(i, 1, end, out(item)), total(i, 1, end, item)

    last, kept_last = total(i, n, n, out(item)), total(i, n, n, item)
    own = when(scope < n - n, exp(s[n] - l * (n - n)), 0)
    no_more = token(lambda _: identity, lambda _: arithmetic.small)
    some_gone = steps(termwise(gone, "<=", item, no_more),
                      linear((1, 1 < eps, some), (1, gone <= every)))  # fmt: skip
    none_above = steps(
        have(log(eps) <= 0), have(0 <= scope, times(l)(linear((1, 0 <= D), (1, D <= top), (1, log(eps) <= 0)))),
        split_sum(gone, n - 1), split_sum(every, n - 1), have(eq(last, 0), resolve(own, 1)(arithmetic.of_facts)),
        termwise(cut(n - 1)[0], "<=", item, no_more), linear(
            (1, cut(n - 1)[0] <= cut(n - 1)[1]), (1, exp(s[n])), (1, 1 <= eps, some),
            (1, eq(gone, cut(n - 1)[0] + last)), (1, eq(last, 0)),
            (-1, eq(every, cut(n - 1)[1] + kept_last))))  # fmt: skip
    whole_share = steps(positive(every), times(every), cases(1 < eps, none_above), some_gone)
    return {"conclusion": bound, "defined": plainly, "weaker": whole_share}


# -- states after a norm -----------------------------------------------------------------------------------------------


def root_positive(x: Term) -> Step:
    """0 < sqrt(x) for x > 0: otherwise x = sqrt(x)^2 <= 0."""
    root = sqrt(x)
    no = by("absurd", times(x, known, -x)(linear((1, 0 <= root, root <= 0))))
    return have(0 < root, have(0 <= root)(by("cases", 0 < root, small, known, no)))


def member(node: Term, at: Term) -> tuple[Step, Term]:
    """A sum of squares is at least one of them."""
    _, index, low, high, body = node.parts
    early, late, upper = (total(var(index), x, y, body) for x, y in ((low, at - 1), (at + 1, high), (low, at)))
    one = total(var(index), at, at, body)
    least_ = one <= node

    def square(q: Sequent) -> Proof:
        return linear((1, q.goal.parts[2]))(q)

    def not_negative(part: Term) -> Step:
        return have(0 <= part, termwise(part, ">=", 0, square)(known))

    proof = steps(around(node, at), not_negative(early), not_negative(late),
                  linear((1, 0 <= early), (1, 0 <= late), (-1, eq(node, upper + late)), (-1, eq(upper, early + one))))
    return have(least_, proof), least_


def _eq7_corrected() -> Scripts:
    d, h, g, b = map(var, "dhgb")

    def proof(c: int) -> Tactic:
        mean = total(k, 1, d, h[k]) / d

        def off(x: Any) -> Term:
            return h[x] - c * mean

        spread = total(i, 1, d, off(i) ** 2)
        factor = d + 1 - c
        root, r = sqrt(spread / d), var("r")
        state = total(i, 1, d, (g[i] * off(i) / r + b[i]) ** 2)

        def one(q: Sequent) -> Proof:
            x = var(q.variables[-1].name)
            z, largest_ = off(x) / r, d * off(x) ** 2 <= (d - c) * spread
            if c == 0:
                step, at_least = member(spread, x)
                why = steps(step, linear((1, 0 < d, at_least)))
            else:
                step, at_least = member(total(i, 1, d, ((d - 1) * off(i) + off(x)) ** 2), x)
                count, count_is = counted(1, d)
                weight = off(x) ** 2 - 2 * (d - 1) * off(x) * mean
                most = d**2 * off(x) ** 2 <= (d - 1) ** 2 * spread + d * off(x) ** 2
                why = steps(step, count, have(most, becomes(at_least, (weight, count_is))(known)),
                            times(d - 1), linear((1, most)))
            short, u = z**2 <= d - c, var("z")
            wider = (g[x] * u + b[x]) ** 2 <= factor * (g[x] ** 2 + b[x] ** 2)
            square = linear((1, (g[x] - b[x] * u) ** 2), (1, u**2 <= d - c, g[x] ** 2), (1, u**2 <= d - c, b[x] ** 2))
            return steps(have(largest_, why),
                         have(short, times(d * r**2, positive_square)(linear((1, largest_), (-(d - c), is_root)))),
                         named(z, "z", keep=(short,), goal=wider), square)(q)

        # With one coordinate there is 0 < 0 among the hypotheses.
        nothing_left = becomes(ZERO <= ZERO, factor=ZERO, why=known)(identity)
        alone = by("absurd", tightened("d", d <= 1)(by("enumerate", "d", nothing_left)))
        split: Step = cases(1 < d, alone) if c else chain()
        is_root = eq(d * r**2, spread)
        positive_square = linear((1, 0 < d, 0 < r, 0 < r))

        def bounded(q: Sequent) -> Proof:
            written = node_in(q.goal, "sqrt")
            return steps(named(written, "r", keep=(0 < written, eq(d * written**2, spread))),
                         termwise(state, "<=", factor * (g[i] ** 2 + b[i] ** 2), one), known)(q)

        return steps(split, have(0 < d), have(0 < spread / d, times(d)(known)), root_positive(spread / d),
                     have(eq(d * root**2, spread), identity), bounded)

    def nonzero_root(q: Sequent) -> Proof:
        inside = node_in(q.goal, "sqrt").parts[1]
        return steps(have(0 < d), have(0 < inside, times(d)(known)), root_positive(inside),
                     by("apart", False, known))(q)

    # The root first: a search for it spends the work of all.
    return {"conclusion": by("enumerate", "c", proof(0), proof(1)), "defined": first(nonzero_root, search)}


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "razor.thm1.corrected": _thm1_corrected,
    "razor.eq7.corrected": _eq7_corrected,
    "razor.sec3.1.discard.corrected": _discard_corrected,
    "razor.sec3.1.form": _form,
    "razor.sec3.1.discard.meant": _discard,
    "razor.sec3.1.sinks": _sinks,
    "razor.sec3.2.no_decay": _no_decay,
    "razor.sec3.2.flat_mass": _flat_mass,
}
NEEDS: dict[str, str] = {
    "razor.thm1.iff": "needs x.y <= |x| |y| as square roots, then the self term alone bounds the weight; the other way "
    "needs the two-token head's logits, whose states have to be generalised before a normal form is taken.",
    "razor.thm1.one_size": "needs |z_i|^2 summing to d for a normed state (gains of one size), the triangle inequality "
    "for |x - y| and |x|, and the states at the two extreme points in closed form.",
}
