"""From losses to a league table: what the rules say, with their simultaneous intervals."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dynamics.arena.bundle import Bundle
from dynamics.arena.engine import differences
from dynamics.arena.plan import ArenaPlan
from dynamics.arena.record import Speed
from dynamics.model.sizes import cache_size, operations, parameters
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


class Cost(NamedTuple):
    """What an entry costs. cache: bytes a token in half precision; operations: of a token's forward pass, in a text of
    the training's length; tokens_per_second: of training, one thread, None where it was not measured.
    """

    parameters: int
    cache: int
    operations: int
    tokens_per_second: float | None


def cost(plan: ArenaPlan, entry: str, speeds: Mapping[str, Speed] | None = None) -> Cost:
    """Count an entry's budget; speeds as measured by `dynamics.arena.speed`."""
    config, length = plan.entries[entry].config, plan.entries[entry].training.length
    spent = operations(config, length)
    measured = None if speeds is None or entry not in speeds else speeds[entry].tokens_per_second
    return Cost(parameters(config), 2 * cache_size(config).per_token, spent.matmuls + spent.mixing, measured)


def as_records(bundle: Bundle, speeds: Mapping[str, Speed] | None = None) -> list[dict[str, Any]]:
    """A record a comparison, as JSON can hold it: an infinite end is None."""
    found = lines(bundle)
    costs = {
        entry: cost(bundle.plan, entry, speeds)
        for entry in {e for line in found for e in (line.variant, line.baseline)}
    }
    x = smallest(bundle.plan)
    return [_record(line, x, costs[line.variant], costs[line.baseline]) for line in found]


def _record(line: Line, x: float, mine: Cost, other: Cost) -> dict[str, Any]:
    return {
        "name": line.variant,
        "baseline": line.baseline,
        "seeds": line.seeds,
        "difference": line.difference,
        "low": line.low if line.low > -1 else None,
        "high": line.high if math.isfinite(line.high) else None,
        "outcome": outcome(line, x),
        "state": line.state.value,
        "parameters": mine.parameters,
        "baseline_parameters": other.parameters,
        "tokens/s": mine.tokens_per_second,
        "baseline_tokens/s": other.tokens_per_second,
        "cache bytes": mine.cache,
        "operations": mine.operations,
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
    """The outcome of a comparison in words."""
    if line.state is State.FEW:
        return "not enough seeds"
    return WORDS[line.verdict].format(x=f"{100 * smallest:g} %")
