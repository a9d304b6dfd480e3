"""Scripts for the claims about the scope of a head: Theorem 1, and what lies beyond a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, both, eq, exp, lift, log, substitute, walk
from proofs_check.language.notation import least, total, var, when
from proofs_check.rigour import arithmetic
from proofs_check.rigour.arithmetic import rewritten_as, small
from proofs_check.rigour.combined import combined
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    around,
    at_least_one,
    cases,
    chain,
    closed,
    fades,
    have,
    identity,
    known,
    linear,
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


def geometric(low: Any, high: Any, last: Any = n) -> Step:
    """The sum of e^{-l(last - i)}."""
    return closed(total(i, low, high, exp(-l * (last - i))), exp(-l * (last - i + 1)), steep)


def geometric_is(low: Any, high: Any, last: Any = n) -> Term:
    """The fact about it."""
    node = total(i, low, high, exp(-l * (last - i)))
    return eq(steep * node, exp(-l * (last - high)) - exp(-l * (last - low + 1)))


def _beyond(*, strict: bool = False) -> Step:
    """For w <= n (and w > 0, strictly): the sum beyond the window against the one inside."""
    grow = 1 < exp(l * w) if strict else 1 <= exp(l * w)
    prove = steps(
        have(grow), have(0 < steep), termwise(far, "<=", exp(a + D) * fade), termwise(near, ">=", exp(a) * fade),
        geometric(1, n - w), geometric(n - w + 1, n), times(steep), combined,
    )  # fmt: skip
    return have(strictly if strict else beyond, only(w <= n, 0 < w)(prove))


def nothing(node: Term) -> Step:
    """A sum over no index at all."""
    return termwise(node, "=", 0, by("absurd", small))


def exponential(lower: Any, upper: Any) -> Tactic:
    """The goal is e^lower <= e^upper."""
    return lambda q: rewritten_as(q, Term("rel", q.goal.parts[0], exp(lower), exp(upper)), by("logarithm", combined))


def _form() -> Scripts:
    scope, enough = (D - log(eps)) / l <= w, exp(D) <= eps * exp(l * w)
    basics = [only(scope), have(0 < whole), have(enough, exponential(D, log(eps) + l * w)), have(log(eps) < 0),
              have(0 < w, times(l)(combined)), have(0 <= far), have(exp(-D) <= 1)]  # fmt: skip
    inside = steps(_beyond(strict=True), split_sum(whole, n - w),
                   only(strictly, 0 <= far, enough, exp(-D) <= 1, parted), combined)  # fmt: skip

    def bound(core: Term) -> Tactic:
        return steps(*basics, have(core, cases(w <= n, nothing(far)(combined))(inside)), combined)

    parts = bound(far * (1 - eps * exp(-D)) <= eps * (whole - far)), bound(far < eps * whole)
    return {"conclusion": by("split", *parts, plainly), "defined": plainly}


# -- the supremum beyond a window --------------------------------------------------------------------------------------


def _discard_corrected() -> Scripts:
    core = far * seen <= whole
    inside = steps(have(0 <= w), _beyond(), split_sum(whole, n - w), combined)
    first = chain(have(0 < seen), have(0 < whole), have(0 <= far),
                  have(core, cases(w <= n, nothing(far)(combined))(inside)))  # fmt: skip
    bound = steps(only(), first, combined)
    scope = 1 + (1 / delta - 1) * exp(D)
    enough, power = log(scope) / l <= w, scope <= exp(l * w)
    less = by("assume", steps(only(enough), have(power, exponential(log(scope), l * w)), first, combined))

    item = exp(when(i <= n - w, a + D, a) - l * (n - i))
    beyond_, inner, all_ = total(i, 1, n - w, item), total(i, n - w + 1, n, item), total(i, 1, n, item)
    gap, grow = exp(-l * (n - w)), 1 <= exp(l * w)
    close = 1 / seen - beyond_ / all_ <= gap
    why = by("logarithm", search)
    near_it = steps(
        split_sum(all_, n - w), termwise(beyond_, "=", exp(a + D - l * (n - i)), why),
        termwise(inner, "=", exp(a - l * (n - i)), why), geometric(1, n - w), geometric(n - w + 1, n),
        have(all_ <= seen * (beyond_ + gap * all_), times(steep)(
            linear((1, 0 < steep, 0 <= beyond_, exp(l * (w - n))),
                   (1, 0 < steep, 0 < all_, grow, exp(l * (w - n) - D)), (steep * (1 - gap), eq(all_, beyond_ + inner)),
                   (-steep * (seen - 1), eq(beyond_, total(i, 1, n - w, exp(a + D) * fade))),
                   (-steep * (gap - 1), eq(inner, total(i, n - w + 1, n, exp(a) * fade))),
                   (-exp(a + D) * (seen - 1), geometric_is(1, n - w)),
                   (-exp(a) * (gap - 1), geometric_is(n - w + 1, n))))), combined,
    )  # fmt: skip
    rate = n * gap <= w + 1 / l
    y = l * (n - w)
    slow = steps(at_least_one(y), have(gap <= 1), have(0 < 1 / l), combined)
    within = steps(have(close, near_it), have(rate, slow), times(n), linear((1, 0 < n, close), (1, rate)))
    wide = steps(
        have(1 <= seen), have(0 < 1 / l), times(n * all_ * seen),
        linear((1, 1 <= seen, 0 < all_, 0 <= w), (1, n < w, 0 < all_), (1, 0 < 1 / l, 0 < all_, 0 < seen),
               (1, 0 < n, 0 <= beyond_, 0 < seen)))  # fmt: skip
    worst = steps(only(), *map(have, (0 < n, 0 < steep, grow, 0 < seen, 0 < all_, 0 <= beyond_)),
                  cases(w <= n, wide)(within))
    return {"conclusion": by("split", bound, less, worst), "defined": plainly}


# -- Theorem 1 corrected -----------------------------------------------------------------------------------------------


def _thm1_corrected() -> Scripts:
    gap = var("gap")
    target, logit = s[n - k], exp(s[n - k] - l * k)
    after, all_ = total(i, n - k + 1, n, term), total(i, 1, n, term)
    before, between = total(i, 1, n - k - 1, term), total(i, n - k + 1, n - 1, term)
    near = total(i, 1, k - 1, exp(-l * i))
    nearest = closed(near, -exp(-l * i), steep)
    given, same = target - s[n] <= gap, near <= total(i, n - k + 1, n - 1, fade)

    def weighed(drop: Term) -> tuple[Term, Step]:
        """One over the bound, the target having no more than this above the query's own logit."""
        level = 1 + exp(l * k) * (exp(-drop) + exp(-D) * near)
        core = logit * level <= all_
        return core, chain(
            only(given), have(0 < all_), have(0 < steep),
            have(exp(target - drop) <= exp(s[n]), by("logarithm", search)),
            have(same, steps(nearest, geometric(n - k + 1, n - 1), times(steep), combined)),
            around(all_, n - k), split_sum(after, n - 1), have(0 <= before),
            termwise(between, ">=", exp(target - D - l * (n - i)), by("logarithm", search)),
            have(core, combined), have(0 <= near), have(0 < level))  # fmt: skip

    (_, weigh), (core_far, weigh_far) = weighed(gap), weighed(D)
    scope = 1 + (1 / eps - 1) * (1 - exp(-l)) * exp(D)
    enough, power = log(scope) / l <= k, scope <= exp(l * k)
    less = by("assume", steps(
        have(power, only(enough)(exponential(log(scope), l * k))), have(core_far, weigh_far(known)),
        only(core_far, power), have(0 < all_), have(0 < steep), nearest,
        have(exp(-l) - exp(-l * k) <= steep * near, combined), times(steep * all_), combined))  # fmt: skip

    two, rest = (total(i, low, k + 1, exp(when(i < 2, a + D, a) - l * (k + 1 - i))) for low in (1, 2))
    open_ = chain(positive(two), have(0 < steep), split_sum(two, 1), termwise(
        rest, "=", exp(a - l * (k + 1 - i)), by("logarithm", search)), geometric(2, k + 1, k + 1))  # fmt: skip
    equal = steps(only(), open_, nearest, have(0 <= near), times(steep), combined)
    short, weak = k < log(scope) / l, exp(l * k) < scope
    above = by("assume", steps(have(weak, only(short)(exponential(l * k, log(scope)))), only(weak), open_,
                               times(steep * two), combined))  # fmt: skip
    return {"conclusion": by("split", weigh(combined), less, equal, above),
            "defined": first(only()(nonzero(two)), plainly)}  # fmt: skip


# -- sinks -------------------------------------------------------------------------------------------------------------


def _sinks() -> Scripts:
    """steep (all - gone seen) = e^(a - l n) (e^(l (p + w)) - 1), so n (1/seen - gone/all) <= e^D reach."""
    item = exp(when(both(p < i, i <= n - w), a + D, a) - l * (n - i))

    def part(low: Any, high: Any, what: Any = item) -> Term:
        return total(i, low, high, what)

    sinks, gone, last, all_, early = part(1, p), part(p + 1, n - w), part(n - w + 1, n), part(1, n), part(1, n - w)
    below, above = exp(a - l * (n - i)), exp(a + D - l * (n - i))
    high, why = 1 <= exp(D), by("logarithm", search)
    basics = 0 < n, 0 < steep, 0 < 1 / l, 0 < exp(l * w), high, 0 < seen
    near, faded, wide = exp(-l * (n - p - w)) <= 1, exp(-l * n) <= 1, 1 <= exp(l * (p + w))
    gone_is = eq(steep * gone, exp(a + D) * (exp(-l * w) - exp(-l * (n - p))))
    kept_is = eq(steep * (all_ - gone * seen), exp(a - l * n) * (exp(l * (p + w)) - 1))
    filled, y = exp(a) * (1 - exp(-l * n)) <= steep * all_, l * (n - p)

    def within(h: Term) -> Tactic:
        """With e^(-l w) <= h <= 1: 1, or e^(-l) if w >= 1."""
        reach = (p + w) * h + 1 / (2 * l)
        share, room, grown = gone / all_, 0 <= reach, 1 <= h * exp(l * w)
        up, down, short = share <= 1 / seen, 1 / seen - share <= exp(D) * reach / n, n * exp(-y) <= reach
        lost = exp(D) * reach * all_ * seen - n * (all_ - gone * seen)
        inside = chain(
            split_sum(all_, n - w), split_sum(early, p), termwise(sinks, "=", below, why),
            termwise(gone, "=", above, why), termwise(last, "=", below, why), geometric(1, p),
            geometric(p + 1, n - w), geometric(n - w + 1, n), have(gone_is, combined), have(kept_is, combined),
            only(*basics, 0 < all_, 0 <= w, room, grown, 0 < h, h <= 1, p <= n - w, gone_is, kept_is),
            *map(have, (near, faded, wide, exp(-y) <= h, 0 <= y)), fades(y), have(short, combined),
            have(filled, only(high, near, gone_is, kept_is)(combined)),
            have(up, steps(only(0 < steep, 0 < all_, 0 < seen, wide, kept_is), have(gone * seen <= all_, times(steep)(
                combined)), combined)),
            have(down, steps(times(n * all_ * seen, image=lost), times(steep), linear(
                (1, room, 0 < seen, filled, exp(D)), (1, room, faded, high, exp(a)), (1, short, faded, exp(a + l * w)),
                (1, 0 < n, exp(a - l * n), near), (n, kept_is)))))  # fmt: skip
        outside = chain(nothing(gone), have(up, combined), have(down, times(n * all_ * seen, image=lost)(combined)))

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

    gap = steps(*map(have, basics), positive(all_), first(within(exp(-l)), within(lift(1))))
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
        return steps(have(far_off, exponential(-l * (n - x), log(eps) - top)), resolved(edge(x + 1), 0),
                     resolved(edge(x), 0, combined), identity)  # fmt: skip

    def near_by(x: Term) -> Tactic:
        close, below = level <= exp(-l * (n - x)), exp(-l * (n - x + 1)) <= level
        return steps(have(close, exponential(log(eps) - top, -l * (n - x))), resolved(edge(x + 1), 1),
                     cases(below, resolved(edge(x), 1)(identity)), resolved(edge(x), 0), combined)

    def sums(body: Term) -> Term:
        return total(i, 1, n, body)

    def plain(x: Term) -> Tactic:
        """Nothing is left, or e^{logit} between its ends, times e^{-l(n - x)}."""
        ends = exp(a) <= exp(s[x]), exp(s[x]) <= exp(a + D)
        ways = (steps(have(end, by("logarithm", search)), linear((1, end, exp(-l * (n - x))))) for end in ends)
        return first(identity, *ways)

    gone, stay, gone_fade, stay_fade = sums(out(item)), sums(out(0, item)), sums(out(fade)), sums(out(0, fade))
    every, climb = sums(item), sums(edge(i + 1) - edge(i))
    low, start = exp(-l * n), edge(1)
    reach, short = steep * gone_fade <= level - start, steep * gone_fade <= level - low
    lowest, highest = exp(a) * stay_fade <= stay, gone <= exp(a + D) * gone_fade
    below, under = exp(D - top) <= 1, exp(-top) <= 1
    none = steps(have(level <= start, resolved(start, 1, combined)(identity)),
                 only(0 < steep, 0 < eps, 0 < every, highest, reach, level <= start), combined)  # fmt: skip
    far_off = steps(
        have(low <= start, resolved(start, 0, combined)(identity)), have(short, combined),
        linear((1, 0 < steep, 0 < eps, lowest), (1, 0 < steep, eps < 1, highest), (1, short, 0 < eps, exp(a)),
               (1, short, eps < 1, exp(a + D)), (1, eps < 1, exp(a + D - l * n)),
               (1, eps < 1, 0 < eps, below, exp(a)), (1, 0 < eps, 0 < eps, under, exp(a)),
               (-steep * eps, eq(every, gone + stay)), (eps * steep * exp(a), eq(sums(fade), gone_fade + stay_fade)),
               (-eps * exp(a), eq(steep * sums(fade), 1 - low))))  # fmt: skip
    bound = steps(
        have(0 < steep), positive(every), have(below), have(under),
        termwise(sums(steep * out(fade)), "<=", edge(i + 1) - edge(i), token(dropped, near_by)), closed(climb, edge(i)),
        have(edge(n + 1) <= level, resolved(edge(n + 1), 1, combined)(identity)), have(reach, combined),
        termwise(gone, "<=", exp(a + D) * out(fade), token(plain, plain)),
        termwise(stay, ">=", exp(a) * out(0, fade), token(plain, plain)),
        termwise(every, "=", out(item) + out(0, item), token(plain, plain)),
        termwise(sums(fade), "=", out(fade) + out(0, fade), token(plain, plain)), geometric(1, n),
        times(steep * every, image=steep * (eps * every - gone)), cases(low <= level, none), far_off)  # fmt: skip

    last = total(i, n, n, out(item))
    own = when(scope < n - n, exp(s[n] - l * (n - n)), 0)
    no_more = token(lambda _: identity, lambda _: arithmetic.small)
    some_gone = steps(termwise(gone, "<=", item, no_more), combined)
    none_above = steps(
        have(log(eps) <= 0), have(0 <= scope, times(l)(combined)), split_sum(gone, n - 1), split_sum(every, n - 1),
        have(eq(last, 0), resolve(own, 1)(arithmetic.of_facts)),
        termwise(total(i, 1, n - 1, out(item)), "<=", item, no_more), combined)  # fmt: skip
    whole_share = steps(positive(every), times(every), cases(1 < eps, none_above), some_gone)
    return {"conclusion": bound, "defined": plainly, "weaker": whole_share}


SCRIPTS: dict[str, Callable[[], Scripts]] = {
    "razor.thm1.corrected": _thm1_corrected,
    "razor.sec3.1.discard.corrected": _discard_corrected,
    "razor.sec3.1.form": _form,
    "razor.sec3.1.discard": _discard,
    "razor.sec3.1.sinks": _sinks,
}
NEEDS: dict[str, str] = {
    "razor.thm1.iff": "needs x.y <= |x| |y| as square roots, then the self term alone bounds the weight; the other way "
    "needs the two-token head's logits, whose states have to be generalised before a normal form is taken.",
    "razor.thm1.one_size": "needs |z_i|^2 summing to d for a normed state (gains of one size), the triangle inequality "
    "for |x - y| and |x|, and the states at the two extreme points in closed form.",
}
