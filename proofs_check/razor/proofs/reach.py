"""Script for the claim about what is reached and what is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from proofs_check.core.terms import Term, eq, exp, log
from proofs_check.language.notation import total, var, when
from proofs_check.razor.proofs.scope import _beyond, beyond, far, geometric, nothing, parted, whole
from proofs_check.rigour.steps import (
    Scripts,
    Step,
    at_least_one,
    becomes,
    cases,
    chain,
    have,
    known,
    linear,
    only,
    plainly,
    positive,
    search,
    split_sum,
    steps,
    termwise,
    times,
)
from proofs_check.rigour.tactics import Tactic, by

n, w, k, i, D, a, delta, l = map(var, ("n", "w", "k", "i", "D", "a", "delta", "l"))  # noqa: E741
steep = 1 - exp(-l)


def exponentiated(then: Tactic) -> Tactic:
    """A comparison between the exponentials of both sides."""
    return by("exponentiate", then)


def _gap() -> Scripts:
    odds = 1 / delta - 1
    many, few, ratio, z = 1 + odds * exp(D), 1 + steep * exp(D), odds / steep, exp(-D) / steep
    basics = chain(
        have(0 < steep), have(1 <= odds, times(delta)(linear((2, delta <= Fraction(1, 2))))),
        have(0 < ratio, times(steep)(linear((1, 1 <= odds), (1,)))), have(0 < few),
        have(0 < many, linear((1,), (1, 1 <= odds, exp(D)), (1, exp(D)))))  # fmt: skip
    order, close = many <= ratio * few, ratio * few <= (1 + z) * many
    most = steps(basics, have(order, times(steep)(linear((1, 1 <= odds), (1, exp(-l))))), times(l), exponentiated,
                 becomes(order, factor=many)(known))  # fmt: skip
    ends, less = log(ratio) + log(few) - log(many) <= log(1 + z), log(1 + z) <= z
    tight = steps(
        basics, have(close, times(steep)(linear((1, 0 < steep), (1, exp(-D))))), have(0 < z), have(0 < 1 + z),
        at_least_one(z), have(less, exponentiated(known)),
        have(ends, exponentiated(becomes(close, factor=many)(known))), times(l),
        linear((1, ends), (1, less)))  # fmt: skip
    found = steps(basics, _whole_gap(odds, ratio, basics))
    return {"conclusion": by("split", most, tight, by("assume", found)), "defined": plainly}


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
    shown = steps(only(short), positive(two), have(0 < steep), have(twice, linear((2, short, 0 < two))), weak)
    clear = becomes(steep * exp(l * w) < odds * exp(l * k), factor=steep * exp(l * w),
                    why=linear((1, 0 < steep, exp(l * w))))  # fmt: skip
    return steps(
        have(power, steps(only(seen, 1 <= odds), lost, have(0 <= w), cases(w <= n, outside)(inside))),
        have(reached, shown), only(power, reached), basics, times(l), exponentiated, clear,
        linear((1, 0 < steep, power), (1, 1 <= odds, reached), (1, reached), (1, 1 <= odds), (1, exp(-l))))  # fmt: skip


SCRIPTS: dict[str, Callable[[], Scripts]] = {"razor.thm1.gap": _gap}
