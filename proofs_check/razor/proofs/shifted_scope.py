"""Script for the claim that takes the odds of heads with mixed keys to distances."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.core.domain import Sequent
from proofs_check.core.terms import Term, exp, lift, log
from proofs_check.language.notation import var
from proofs_check.razor.proofs.scope import exponential
from proofs_check.razor.proofs.shifted import D, eps, grown, grown_is, k, l, steep, sum_grown
from proofs_check.rigour.arithmetic import small
from proofs_check.rigour.combined import combined
from proofs_check.rigour.steps import (
    Scripts,
    have,
    identity,
    known,
    linear,
    plainly,
    positive,
    search,
    steps,
    tightened,
    times,
)
from proofs_check.rigour.tactics import Proof, Tactic, by, first

odds, m, x, q = 1 / eps - 1, *map(var, "mxq")

# m is above the sum of e^{lj}, and bounds it no more; q is as large as a scope of k lets it be. For eps near 1 the odds
# are so small that a thousandth of 1/eps is as much.
POINTS = [{"k": 2, "l": 3, "D": 1, "x": Fraction(101, 8), "q": Fraction(769, 5), "m": 551, "eps": Fraction(999, 1000)}]


def _scope() -> Scripts:
    fixed, at = D * (x + q / m), -D * (x + q / grown)
    wide, steady, near = odds * exp(fixed), exp(D * x) <= exp(fixed), exp(l) <= grown

    def either_way(now: Sequent) -> Proof:
        place = next(number for number, fact in enumerate(now.given) if fact.kind == "or")
        one, two = m <= exp(l), m <= odds * exp(D * x)
        return by("alternatives", place, linear((1, one), (1, near)), linear(
            (1, two), (1, steady, 0 < odds), (1, wide <= grown)))(now)  # fmt: skip

    def bound(counts: Term, share: Term, *rows: Any) -> Tactic:
        """What counts is phi, or e^{lk} - 1, its steep-fold and at most phi."""
        power, low = 1 + wide * share <= exp(l * k), exp(-fixed) <= exp(at)
        return by("assume", steps(
            have(0 < steep), sum_grown, positive(grown),
            have(0 < odds, times(eps)(combined)),
            have(0 < 1 + wide * share, linear((1,), (1, 0 < odds, exp(fixed), *rows))),
            have(power, exponential(log(1 + wide * share), l * k)),
            have(1 <= exp(l * (k - 1))),
            have(near, times(steep)(combined)),
            have(wide <= counts, times(share)(linear((1, power), *([(-1, grown_is)] if rows else [])))),
            have(counts <= grown, identity if rows else linear((1, 0 < grown, exp(-l)), (-1, grown_is))),
            have(wide <= grown, combined),
            have(steady, by("logarithm", times(m)(combined))), have(m <= grown, either_way),
            have(low, by("logarithm", times(m * grown)(combined))),
            have(0 < counts), linear((1, low, 0 < counts), (1, wide <= counts, exp(-fixed)))))  # fmt: skip

    return {"conclusion": by("split", bound(grown, steep, 0 < steep), bound(exp(l * k) - 1, lift(1))),
            "defined": first(plainly, small, search, _defined()), "weaker": first(_no_distance(), _no_odds()),
            "points": lambda _: POINTS}  # fmt: skip


def _never(share: Any) -> Tactic:
    """No scope is 0."""
    wide = odds * exp(D * (x + q / m)) * share
    above = 0 < log(1 + wide)
    return steps(
        have(0 < steep), have(0 < odds, times(eps)(combined)), have(0 < wide),
        have(above, by("exponentiate", combined)),
        by("absurd", times(log(1 + wide))(combined)))  # fmt: skip


def _at_none(then: Tactic) -> Tactic:
    """What is left where k < 1."""
    return tightened("k", k < 1)(by("enumerate", "k", then))


def _no_distance() -> Tactic:
    return _at_none(by("split", by("assume", _never(steep)), by("assume", _never(lift(1)))))


def _defined() -> Tactic:
    """The sum that is divided by is none of no terms, where some scope is as short."""
    some = positive(grown)(by("apart", False, known))
    return by("cases", 1 <= k, small, some, _at_none(first(_never(steep), _never(lift(1)))))


def _no_odds() -> Tactic:
    """For eps = 1: they are none."""
    none = have(odds <= 0, times(eps)(combined))
    at = -D * (x + q / grown)
    return steps(none, positive(grown), have(1 <= exp(l * k)), by("split", *(
        by("assume", linear((1, odds <= 0), (1, fact, exp(at)))) for fact in (0 < grown, 1 <= exp(l * k)))))


SCRIPTS: dict[str, Callable[[], Scripts]] = {"razor.thm1.shifted.scope": _scope}
