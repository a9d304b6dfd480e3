"""Comparisons of what was trained here: each has a p, and Holm's method corrects those of all claims at once.

The family is every comparison that a claim of this room lists as evidence, whether it came out or not: its size follows
from the claims. These are the claims that `docs/experiments.md` names.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

from proofs_check.evidence.counting import holm_level, rank_test
from proofs_check.evidence.margin import Margin, at_most, less, same, worst
from proofs_check.kv.trained.sweep_margins import Variant, budget, times, trained
from proofs_check.ledger.claim import Control, Effort, Evidence, points_of

HALF = Fraction(1, 2)


class Found(NamedTuple):
    """The share that is on the named side, ties by half; the two-sided p of no difference; what a statement may say."""

    share: Fraction
    p: Fraction
    said: str


@dataclass(frozen=True)
class Compared:
    """A margin: `test` comes out on the named side, the correction included; or, with told false, it does not come out.

    That it does not come out says nothing against a difference: the claim says its interval and no more.
    """

    test: Callable[..., Found]
    told: bool = True

    def __call__(self, said: str = "", **point: Any) -> Margin:
        found = self.test(**point)
        out = worst([at_most(found.p, level()), less(HALF, found.share)]) if self.told else less(level(), found.p)
        named = same(said or found.said, found.said)
        return out if named.value == 0 else named


def sooner(first: Variant, second: Variant, factor: Fraction = Fraction(1)) -> Found:
    """A run of the first arrives before `factor` times the steps of one of the second, by the rank test.

    Both are followed to one horizon, the earlier of the first's budget and `factor` times the second's: what is later,
    or has not arrived, is later than all that is not.
    """
    from dynamics.statistics.survival import probability_faster

    end = min(budget(first), factor * budget(second))
    scaled = times(first), [None if time is None else factor * time for time in times(second)]
    ours, theirs = ([time if time is not None and time <= end else None for time in one] for one in scaled)
    share = probability_faster(ours, theirs)
    late = ([float("inf") if time is None else time for time in one] for one in (ours, theirs))
    return Found(Fraction(share.value), rank_test(*late), "{:.2f} [{:.2f}, {:.2f}]".format(*share))


TOLD, UNTOLD = Compared(sooner), Compared(sooner, told=False)


def pair(first: Variant, second: Variant, said: str = "", factor: Fraction = Fraction(1)) -> dict[str, Any]:
    """A point of `sooner`, and the share with its interval that a statement names."""
    return {"first": first, "second": second, "factor": factor} | ({"said": said} if said else {})


SURE = (pair(("figure-1a", "kv-shift"), ("figure-1a", "vanilla-2")),)


def told(scope: str, pairs: Sequence[dict[str, Any]], *controls: Control) -> Evidence:
    """Each first is the sooner, after the correction."""
    exchanged = Control("exchanged", points=[one | {"first": one["second"], "second": one["first"]} for one in pairs])
    return trained(f"reaching 95 % first: {scope}", TOLD, pairs, exchanged, *controls)


def untold(scope: str, *pairs: dict[str, Any]) -> Evidence:
    """Shares with an interval that a statement names, none of which stands after the correction."""
    control = Control("one layer with KV shifting before two vanilla layers", points=SURE)
    return trained(f"reaching 95 % first: {scope}", UNTOLD, pairs, control)


def comparisons() -> Iterator[tuple[str, Compared, dict[str, Any]]]:
    """Claim, margin and point of every comparison of this room."""
    for info in iter_modules(import_module(__package__).__path__, f"{__package__}."):
        for claim in getattr(import_module(info.name), "CLAIMS", ()):
            for evidence in claim.evidence:
                if isinstance(evidence.margin, Compared):
                    for point in points_of(claim, evidence.points, Effort.QUICK):
                        yield claim.id, evidence.margin, {key: point[key] for key in point if key != "said"}


@cache
def level() -> Fraction:
    """The p at or below which a comparison stands, of those that Holm's method corrects together, each counted once."""
    once = {(margin.test, *sorted(point.items())): point for _, margin, point in comparisons()}
    return holm_level(test(**point).p for (test, *_), point in once.items())
