"""Margins on the shipped comparison at equal memory.

The thresholds were written down before the final run, for these reasons. A loss is small below 5 points of retrieval
(Table 3 calls 1.6 % of a score comparable; 5 points are some twelve of 256 questions, beyond chance) and below 1 % of
the bits; what is critical must cost at least as much. Heads that matter recover 80 % of what is lost without any
(Table 1: 97 %), heads that do not less than half (Table 1: 10 %): between them lies what one lucky draw adds.
Only signs are asked for where tokens and text are compared.
"""

from fractions import Fraction
from functools import cache
from typing import Any

from proofs_check.evidence.margin import Margin, at_most, less, worst

SMALL_LOSS, SMALL_EXTRA = 0.05, 0.01
RECOVERED, NOT_RECOVERED = 0.8, 0.5
SEEDS = (0, 1, 2)
TIGHT = ("8/25", "1/4", "1/8")  # the paper's own 3.125-fold compression, and beyond
# The head of each model that finds the needles, (layer, head): kept whole alone it answers 99 % or more, no other 33 %.
FINDERS = {0: (0, 3), 1: (0, 5), 2: (0, 7)}


@cache
def _comparison() -> Any:
    from dynamics.comparison.record import read_comparison

    return read_comparison()


def _cell(*wanted: Any) -> Any:
    """The cell of a policy, a budget and a seed."""
    return next(cell for cell in _comparison().cells if (cell.policy, cell.budget, cell.seed) == wanted)


@cache
def _measured(policy: str, budget: str, seed: int) -> tuple[float, float]:
    """Bits per byte and share of answered questions."""
    from dynamics.comparison.statistics import accuracy_of, bits_of

    cell = _cell(policy, "1" if policy == "full" else budget, seed)
    return bits_of(cell), accuracy_of(cell, _comparison().settings.pairs)


def _lost(policy: str, budget: str, seed: int) -> float:
    return _measured("full", budget, seed)[1] - _measured(policy, budget, seed)[1]


def _extra(policy: str, budget: str, seed: int) -> float:
    """Bits per byte above the full cache, as a share of its own."""
    full = _measured("full", budget, seed)[0]
    return (_measured(policy, budget, seed)[0] - full) / full


def each(*budgets: str, **rest: Any) -> tuple[dict, ...]:
    """A point for each budget and seed."""
    return tuple({"budget": budget, "seed": seed, **rest} for budget in budgets for seed in SEEDS)


def learnt(seed: int, policy: str = "full", budget: str = "1") -> Margin:
    """The model answers at least 90 % of the questions."""
    return at_most(0.9, _measured(policy, budget, seed)[1])


def nearly_lossless(budget: str, seed: int, policy: str = "razor") -> Margin:
    """Loses less than 5 points of retrieval and less than 1 % of the bits against the full cache."""
    lost, extra = less(_lost(policy, budget, seed), SMALL_LOSS), less(_extra(policy, budget, seed), SMALL_EXTRA)
    return worst([lost, extra])


def fails(budget: str, seed: int, policy: str) -> Margin:
    """Answers less than half of what the full cache answers."""
    return less(_measured(policy, budget, seed)[1], _measured("full", budget, seed)[1] / 2)


def random_sets(found: bool) -> list[dict]:
    """A point for each random set of heads that holds the model's finder, or for each that does not."""
    from dynamics.comparison.heads import chosen_heads
    from dynamics.comparison.plan import RANDOM, sizes

    comparison, points = _comparison(), []
    settings, config = comparison.settings, comparison.settings.config
    for heads in comparison.heads:
        for budget in TIGHT:
            total = config.n_layers * config.n_heads
            size = sizes(RANDOM, Fraction(budget), total, settings.context, settings.sinks, heads.protected)
            for draw in range(settings.draws):
                if (FINDERS[heads.seed] in chosen_heads(heads, size.protected, draw)) == found:
                    points.append({"budget": budget, "seed": heads.seed, "draw": draw})
    return points


def share_between(budget: str, seed: int, policy: str, least: float, most: float) -> Margin:
    """The share of questions that a policy answers lies between two numbers."""
    share = Fraction(_measured(policy, budget, seed)[1])
    return worst([at_most(Fraction(least), share), at_most(share, Fraction(most))])


def recovers_less_than(budget: str, most: float, token: str = "razor") -> Margin:
    """Of the mean bits that dropping costs without a token, the share that the token saves."""
    with_it, without = (sum(_extra(policy, budget, seed) for seed in SEEDS) for policy in (token, "razor, no token"))
    return less((without - with_it) / without, most)


def set_recovers(budget: str, seed: int, draw: int) -> Margin:
    """One random set recovers 80 % of what is lost without whole heads."""
    return at_most(RECOVERED, _recovered(budget, seed, draw))


def set_does_not(budget: str, seed: int, draw: int) -> Margin:
    """One random set recovers less than half."""
    return less(_recovered(budget, seed, draw), NOT_RECOVERED)


def _recovered(budget: str, seed: int, draw: int) -> float:
    settings, gap = _comparison().settings, _lost("razor, no heads", budget, seed)
    hits = _cell("razor, random heads", budget, seed).hits
    rows = hits[draw * settings.needle_rows : (draw + 1) * settings.needle_rows]
    share = sum(rows) / (settings.needle_rows * settings.pairs)
    return 1 - (_measured("full", budget, seed)[1] - share) / gap


def chosen_recover(budget: str, seed: int, chosen: str = "razor") -> Margin:
    """The chosen heads recover 80 % of what is lost without whole heads."""
    gap = _lost("razor, no heads", budget, seed)
    return worst([less(SMALL_LOSS, gap), at_most(RECOVERED, 1 - _lost(chosen, budget, seed) / gap)])


def better_retrieval(budget: str, seed: int, worse: str, better: str = "razor") -> Margin:
    """Answers at least 5 points more."""
    return at_most(SMALL_LOSS, _lost(worse, budget, seed) - _lost(better, budget, seed))


def better_text(budget: str, seed: int, worse: str, better: str = "razor") -> Margin:
    """Needs fewer bits per byte."""
    return less(_measured(better, budget, seed)[0], _measured(worse, budget, seed)[0])


def token_does_not(budget: str, seed: int, token: str = "razor", without: str = "razor, no token") -> Margin:
    """Without the compensation token neither 5 points more are lost nor 1 % more of the bits: it is not critical."""
    points = _lost(without, budget, seed) - _lost(token, budget, seed)
    bits = _extra(without, budget, seed) - _extra(token, budget, seed)
    return worst([less(points, SMALL_LOSS), less(bits, SMALL_EXTRA)])
