"""Attention variants of equal parameters on packed text: losses against vanilla, and what each costs.

Intervals hold for all comparisons of the arena at once, whenever one looked. Between the dotted lines a difference is
smaller than x, the smallest that the plan cares for. Small models, short training: of no larger ones anything follows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynamics.arena.bundle import shipped_arena, shipped_speeds
from dynamics.arena.league import cost, lines, outcome, smallest
from dynamics.arena.variants import BASELINE, VARIANTS

from .arena_panels import draw_league

QUICK_SIZE, FULL_SIZE = 8, 100
UNIT = "variants at most"
draw = draw_league


class Data(NamedTuple):
    """A row a variant, the best first."""

    names: NDArray
    seeds: NDArray
    ends: NDArray  # (variant, 3): low, mean, high, shares of the loss of vanilla
    outcomes: NDArray
    parameters: NDArray
    speed: NDArray  # tokens a second of training, of vanilla's; NaN: not measured
    cache: NDArray  # bytes a token, half precision
    smallest: NDArray


def compute(size: int = FULL_SIZE) -> Data:
    """The shipped league; at most `size` variants."""
    bundle = shipped_arena("league")
    x, speeds = smallest(bundle.plan), shipped_speeds(bundle.plan)
    found = [line for line in lines(bundle) if line.baseline == BASELINE and line.variant in VARIANTS]
    found = sorted(found, key=lambda line: line.difference)[:size]
    spent = [cost(bundle.plan, line.variant, speeds and speeds.speeds) for line in found]
    base = cost(bundle.plan, BASELINE, speeds and speeds.speeds).tokens_per_second
    shares = [one.tokens_per_second / base if base and one.tokens_per_second else np.nan for one in spent]
    return Data(
        names=np.array([line.variant for line in found]),
        seeds=np.array([line.seeds for line in found]),
        ends=np.array([(line.low, line.difference, line.high) for line in found]),
        outcomes=np.array([outcome(line, x) for line in found]),
        parameters=np.array([one.parameters for one in spent]),
        speed=np.array(shares),
        cache=np.array([one.cache for one in spent]),
        smallest=np.array(x),
    )
