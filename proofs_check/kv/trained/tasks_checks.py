"""Margins on the shipped sweeps of the other tasks - 3-grams, hops, associative recall - and on these tasks' rows."""

import itertools
from fractions import Fraction
from statistics import median

from proofs_check.evidence.margin import Margin, at_most, less, same, worst
from proofs_check.kv.trained.hop_data import ERRORS, HOPS, ROWS, positions
from proofs_check.records.shipped import Run, shipped


def final_error(of: Run) -> float:
    """The median over seeds of the held-out error at the end."""
    return median(1 - result.accuracy[-1] for result in shipped(of))


def largest_gap(of: tuple[Run, Run]) -> float:
    """The largest difference of the median accuracies of two models after equally many steps."""
    curves = [_median_curve(one) for one in of]
    longest = max(map(len, curves))
    a, b = (curve + curve[-1:] * (longest - len(curve)) for curve in curves)  # a run that stopped keeps its last score
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def _median_curve(run: Run) -> list[float]:
    curves = [result.accuracy for result in shipped(run)]
    longest = max(map(len, curves))
    held = [curve + curve[-1:] * (longest - len(curve)) for curve in curves]
    return [median(scores) for scores in zip(*held, strict=True)]


def look_up(size: int, weight: Fraction, assumed: Fraction | None = None) -> Margin:
    """The units of a look-up MLP after one attention layer: 1 at the row's own pair, 0 at every other, for all rows.

    At the second token of a row (a, b) the stream holds the one-hot of b and, in other dimensions, what a head with
    `weight` on the first token reads: w e_a + (1 - w) e_b, so that u_a is linear in both. One unit a pair (first,
    second), relu(u[first] + e_b[second] - 1): any table is then a matrix of one-hot answers, one column a unit.
    """
    pairs, w = list(itertools.product(range(size), repeat=2)), assumed or weight
    found = []
    for a, b in pairs:
        read = [weight * (a == token) + (1 - weight) * (b == token) for token in range(size)]
        first = [(read[token] - (1 - w) * (b == token)) / w for token in range(size)]
        found.append([max(first[one] + (b == two) - 1, Fraction(0)) for one, two in pairs])
    return same(found, [[Fraction(row == column) for column in pairs] for row in pairs])


def roles(task: str, chained: bool) -> Margin:
    """Which of the places of a row's pairs are both asked for as a key and answered as a value, over 4000 rows.

    Chained: all but the first and the last; else: none.
    """
    from dynamics.tasks.induction import Induction
    from dynamics.tasks.mqar import MQAR
    from dynamics.training.batches import heldout_rows
    from dynamics.training.settings import TrainConfig

    settings = {"induction": Induction(pool=12), "mqar": MQAR()}[task]
    batch = heldout_rows(TrainConfig(task=settings, heldout_rows=4000), 43)
    n_tokens = 5 if task == "induction" else 8  # a row of 5 distinct tokens; 4 pairs
    seen = batch.position[batch.query_index == n_tokens] if task == "induction" else batch.position
    both = {int(place) for place in seen} & {int(place) - 1 for place in seen}
    expected = range(1, n_tokens - 1) if chained else ()
    return same((n_tokens, *expected), (n_tokens, *sorted(both)))


def _published(layers: int, heads: int) -> list[Fraction]:
    """Rates of errors at 1 to 16 hops in the cited code's own results."""
    return [Fraction(count, ROWS * positions(k)) for k, count in zip(HOPS, ERRORS[layers, heads], strict=True)]


def five_layers(layers: int = 5, heads: int = 4) -> Margin:
    """At most 4 % to 8 hops, more beyond, and 41 % at 16."""
    found, bound = _published(layers, heads), Fraction(1, 25)
    last = at_most(Fraction(41, 100), found[-1]), at_most(found[-1], Fraction(42, 100))
    return worst([at_most(max(found[:8]), bound), less(bound, min(found[8:])), *last])


def eight_heads(heads: int = 8) -> Margin:
    """At most 3 % to 16 hops."""
    return at_most(max(_published(5, heads)), Fraction(3, 100))
