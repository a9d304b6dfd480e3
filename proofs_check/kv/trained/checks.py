"""Measures of what was trained, by checkpoints and by sweeps, and margins on the tasks themselves."""

import itertools
from fractions import Fraction
from functools import lru_cache
from statistics import median

from dynamics.tasks.induction import as_induction, length_law
from proofs_check.evidence.margin import Margin, at_most, ball_at_least, less, same, worst
from proofs_check.kv.trained.hop_data import ERRORS, HOPS, ROWS, positions
from proofs_check.ledger.claim import Effort
from proofs_check.oracles.landscape import ball_one_hot_logits, sentence
from proofs_check.records.shipped import Run, retrained, settings, shipped


@lru_cache(maxsize=16)
def accuracy(of: Run, seed: int | None) -> float:
    """The share of held-out sentences that a model answers."""
    from dynamics.training import checkpoint
    from dynamics.training.evaluation import evaluate
    from dynamics.training.folder import heldout_of

    if seed is None:
        found = checkpoint.shipped(of[1])
        return float(evaluate(found.model, heldout_of(found)).accuracy)
    return float(evaluate(*retrained(of, seed)).accuracy)


def reruns(run: Run, effort: Effort) -> tuple[int | None, ...]:
    """What ships, and with full effort models that are trained afresh."""
    return (None,) if effort is Effort.QUICK else (None, 1, 2)


def apart(of: tuple[Run, Run]) -> float:
    """The difference of the shares of held-out sentences that two models answer."""
    first, second = (accuracy(one, None) for one in of)
    return first - second


def guess_accuracy(pool: int) -> float:
    """E 1/(T - 1) over the law of rows: a guess among the row's tokens other than the repeated one."""
    law = length_law(pool)
    return float(sum(p / (n_tokens - 1) for n_tokens, p in enumerate(law) if n_tokens > 1))


def over_guess(of: Run) -> float:
    """The median of the last accuracies, in parts of that of a guess among the sentence's tokens,"""
    task = settings(of)[1].task
    return median(one.accuracy[-1] for one in shipped(of)) / guess_accuracy(as_induction(task).pool)


def loss_falls(of: Run) -> float:
    """The fall of the held-out loss of each run that does not diverge, from its first score to its last."""
    losses = [one.loss for one in shipped(of)]
    return 0.0 if any(loss is None for run in losses for loss in run) else min(run[0] - run[-1] for run in losses)


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


def no_other_halves(tokens: int, claimed: tuple[str, str] = ("previous", "own")) -> Margin:
    """The usual second layer on states (x_s, x_{s-1}), two orthogonal halves; attention sharp on the highest scores.

    Of the four ways to read keys and values from the halves only one reads x_{i+1} alone for each i < T; "previous"
    stands for x_{s-1}.
    """
    right = list(itertools.product(("own", "previous"), repeat=2))
    for position in range(1, tokens):
        words = sentence(tokens, position)
        halves = {"own": words, "previous": [None, *words[:-1]]}
        highest = {way: max(word == words[-1] for word in half) for way, half in halves.items()}
        right = [(keys, values) for keys, values in right if {words[position]} == {
            value for key, value in zip(halves[keys], halves[values], strict=True)
            if (key == words[-1]) == highest[keys]}]
    return same(right, [claimed])


def one_mixture(tokens: int, position: int, quarters: int = 3, scale: int = 8) -> Margin:
    """Keys and values are the same mixture (1 - share) x_s + share x_{s-1}, scores times `scale`; one layer.

    With its own token taken off by the residual connection, the largest logit is that of the successor, strictly.
    """
    words, mixture = sentence(tokens, position), (Fraction(4 - quarters, 4), Fraction(quarters, 4))
    logits = ball_one_hot_logits(*(scale * part for part in mixture), *mixture, tokens, position)
    others = [logit for word, logit in enumerate(logits) if word not in (words[-1], words[position])]
    return worst([ball_at_least(logits[words[position]] - other, 0) for other in others] or [same(tokens, 2)])
