"""From losses to a league table: what the rules say, with their simultaneous intervals."""

import math
from typing import Any, NamedTuple

import numpy as np

from dynamics.arena.budget import parameters
from dynamics.arena.bundle import Bundle
from dynamics.arena.engine import differences
from dynamics.arena.plan import ArenaPlan
from dynamics.statistics.rule import State, Verdict, decide


class Line(NamedTuple):
    """One comparison. difference, low, high: of the loss, variant over baseline less 1 (negative: better), in the mean
    of the logarithms; the ends are infinite where nothing is excluded, and all lines hold at once at the plan's level.
    """

    name: str
    variant: str
    baseline: str
    seeds: int
    difference: float
    low: float
    high: float
    verdict: Verdict
    state: State
    sentences: tuple[str, ...]


def lines(bundle: Bundle) -> list[Line]:
    """All comparisons that have a seed, in the order of the plan; of each, the seeds up to where its rule stopped."""
    found, table = bundle.losses, []
    for name, one in bundle.plan.comparisons.items():
        values = differences(one, found)
        if not values:
            continue
        said = decide(one.rule, values)
        mean = float(np.mean(values[: said.n]))
        ends = (math.expm1(-said.high), math.expm1(-said.low))
        stands = name, one.variant, one.baseline, said.n
        table.append(Line(*stands, math.expm1(mean), *ends, said.verdict, said.state, one.sentences))
    return table


def smallest(plan: ArenaPlan) -> float:
    """The smallest effect of interest: one for a whole plan."""
    return max(one.rule.smallest for one in plan.comparisons.values())


def as_records(bundle: Bundle) -> list[dict[str, Any]]:
    """A record a comparison, as JSON can hold it: an infinite end is None."""
    return [_record(line, bundle.plan) for line in lines(bundle)]


def _record(line: Line, plan: ArenaPlan) -> dict[str, Any]:
    config = plan.entries[line.variant].config
    return {
        "name": line.variant,
        "baseline": line.baseline,
        "seeds": line.seeds,
        "difference": line.difference,
        "low": line.low if line.low > -1 else None,
        "high": line.high if math.isfinite(line.high) else None,
        "outcome": outcome(line, smallest(plan)),
        "state": line.state.value,
        "parameters": parameters(config),
        "baseline_parameters": parameters(plan.entries[line.baseline].config),
        "sentences": list(line.sentences),
    }


WORDS = {
    Verdict.BETTER: "better by at least {x}",
    Verdict.WORSE: "worse by at least {x}",
    Verdict.SAME: "no difference larger than {x}",
    Verdict.AHEAD: "better",
    Verdict.BEHIND: "worse",
    Verdict.OPEN: "undecided",
    Verdict.APART: "intervals do not meet",
}


def outcome(line: Line, smallest: float) -> str:
    """What may be said of it, in words."""
    if line.state is State.FEW:
        return "not enough seeds"
    return WORDS[line.verdict].format(x=f"{100 * smallest:g} %")
