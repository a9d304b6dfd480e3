"""Script for the claim about what is reached and what is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.core.terms import Term, exp, log
from proofs_check.language.notation import total, var, when
from proofs_check.razor.proofs.scope import _beyond, far, geometric, nothing, whole
from proofs_check.rigour.combined import combined
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
from proofs_check.rigour.tactics import Tactic, by, first

n, w, k, i, D, a, delta, l = map(var, ("n", "w", "k", "i", "D", "a", "delta", "l"))  # noqa: E741
steep = 1 - exp(-l)


def exponentiated(then: Tactic) -> Tactic:
    """A comparison between the exponentials of both sides."""
    return by("exponentiate", then)


def _gap() -> Scripts:
    odds = 1 / delta - 1
    many, few, ratio, z = 1 + odds * exp(D), 1 + steep * exp(D), odds / steep, exp(-D) / steep
    basics = chain(
        have(0 < steep), have(1 <= odds, times(delta)(combined)),
        have(0 < ratio, times(steep)(combined)), have(0 < few),
        have(0 < many, combined))  # fmt: skip
    order = many <= ratio * few
    most = steps(basics, have(order, times(steep)(combined)), times(l), exponentiated,
                 becomes(order, factor=many)(known))  # fmt: skip

    def tight(one: Any) -> Tactic:
        """With a number in (0, 1] for the 1 of `many`."""
        sum_ = one + odds * exp(D)
        close, less = ratio * few <= (1 + z) * sum_, log(1 + z) <= z
        ends = log(ratio) + log(few) - log(sum_) <= log(1 + z)
        return steps(
            basics, have(0 < sum_, combined),
            have(close, times(steep)(combined)), have(0 < z), have(0 < 1 + z),
            at_least_one(z), have(less, exponentiated(known)),
            have(ends, exponentiated(becomes(close, factor=sum_)(known))), times(l),
            linear((1, ends), (1, less)))  # fmt: skip

    found = steps(basics, _whole_gap(odds, ratio, basics))
    longer = steps(have(0 < steep), have(1 <= few, combined), have(0 <= log(few), exponentiated(
        known)), have(0 <= log(few) / l, times(l)(known)), linear((1, 1), (2, 0 <= log(few) / l)))  # fmt: skip
    weaker = first(longer, tight(Fraction(9, 10)), tight(Fraction(999, 1000)))
    return {"conclusion": by("split", most, tight(1), by("assume", found)), "defined": plainly, "weaker": weaker,
            "points": lambda _: POINTS}  # fmt: skip


def _whole_gap(odds: Term, ratio: Term, basics: Step) -> Tactic:
    """From the two contexts, for whole tokens."""
    some, seen, more = 0 < whole, delta < far / whole, delta * whole < far
    power, grow = exp(l * w) < 1 + odds * exp(D), 1 <= exp(l * w)
    lost = chain(have(some), have(more, linear((1, seen, some))))
    outside = by("absurd", steps(
        nothing(far), times(delta * whole), combined))
    inside = steps(_beyond(), split_sum(whole, n - w), have(grow), times(delta * whole), combined)
    item, fall = exp(when(i < 2, a + D, a) - l * (k + 1 - i)), exp(a - l * (k + 1 - i))
    two, rest, own = total(i, 1, k + 1, item), total(i, 2, k + 1, item), exp(a + D - l * k)
    short, twice, reached = own / two < Fraction(1, 2), 2 * own < two, steep * exp(D) < exp(l * k) - 1
    weak = steps(
        split_sum(two, 1), termwise(rest, "=", fall, by("logarithm", search)), geometric(2, k + 1, k + 1),
        times(exp(a - l * k)), combined)  # fmt: skip
    shown = steps(only(short), positive(two), have(0 < steep), have(twice, linear((2, short, 0 < two))), weak)
    clear = becomes(steep * exp(l * w) < odds * exp(l * k), factor=steep * exp(l * w),
                    why=linear((1, 0 < steep, exp(l * w))))  # fmt: skip
    return steps(
        have(power, steps(only(seen, 1 <= odds), lost, have(0 <= w), cases(w <= n, outside)(inside))),
        have(reached, shown), only(power, reached), basics, times(l), exponentiated, clear,
        linear((1, 0 < steep, power), (1, 1 <= odds, reached), (1, reached), (1, 1 <= odds), (1, exp(-l))))  # fmt: skip


# Contexts with high logits beyond the window, w above k: two of the worst context's tokens high, or its logits turned
# round, and every k is beyond reach; the query's own weight left out; a range that is a tenth larger.
HIGH, WIDER = Fraction(16, 5), Fraction(827, 200)
POINTS = [
    {"n": 3, "k": 1, "w": 2, "l": 1, "D": 5, "a": 0, "s": (5, 0, 0), "delta": Fraction(1, 2)},
    {"n": 3, "k": 1, "w": 2, "l": 1, "D": 5, "a": -10, "s": (-5, -10, -10), "delta": Fraction(1, 2)},
    {"n": 10, "k": 3, "w": 4, "l": 1, "D": HIGH, "a": 0, "s": (HIGH,) * 6 + (0,) * 4, "delta": Fraction(1, 2)},
    *({"n": 16, "k": 5, "w": 6, "l": Fraction(7, 10), "D": WIDER, "a": 0, "s": (high,) * 10 + (low,) * 6,
       "delta": Fraction(1, 2)} for high, low in ((WIDER + Fraction(1, 10), 0), (WIDER, -Fraction(1, 10)))),
]  # fmt: skip

SCRIPTS: dict[str, Callable[[], Scripts]] = {"razor.thm1.gap": _gap}
