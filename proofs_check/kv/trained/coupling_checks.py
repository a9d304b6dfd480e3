"""Margins on the heads of trained one-layer models: the cells of Table 5, and the signs of the theorem's map.

Cells are counted in the gauge that compares sizes (`dynamics.heads.named.fix_gauge`); alpha and beta on the map are
multiplied by the head's own gains (`dynamics.heads.coupling`), which no gauge changes.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.evidence.counting import TwoByTwo, sign_test
from proofs_check.evidence.margin import Margin, different, identity, less, same, worst
from proofs_check.kv.trained.comparisons import Found
from proofs_check.ledger.mathematical import identities
from theory.landscape.symbolic import interior_table
from theory.shift.algebra import mixing_matrix, tokens
from theory.symbols import alpha1, alpha2, beta1

UPPER_RIGHT = ((0, 1), (0, 0))
SLACK = 0.5  # of alpha2 beta1, which reaches several hundred in induction heads
Head = Any
Pair = tuple[Fraction, Fraction]
Place = Callable[[Head], tuple[float, float]]


@lru_cache(maxsize=4)
def heads(seed: int | None) -> tuple[Head, ...]:
    """The shipped heads (None), or those of a model trained afresh."""
    from dynamics.heads.coupling import mixings
    from dynamics.heads.coupling_file import shipped_table

    if seed is None:
        return shipped_table().heads
    from dynamics.experiments.variants import PRESETS
    from dynamics.training.batches import heldout_rows
    from dynamics.training.loop import train

    (variant,) = PRESETS["coupling"].variants.values()
    training = variant.training.model_copy(update={"seed": seed})
    model = train(variant.config, training, device="cpu", progress=False).model
    return tuple(mixings(model.eval(), heldout_rows(training, variant.config.vocab), seed))


def counted(found: tuple[Head, ...], trained: bool = True) -> TwoByTwo:
    from dynamics.heads.coupling import cells, fixed

    pairs = ((h.alpha, h.beta) if trained else (h.start_alpha, h.start_beta) for h in found)
    return cells(fixed(*pair) for pair in pairs)


def _followers(seed: int | None) -> tuple[Head, ...]:
    return tuple(head for head in heads(seed) if head.successor > 0.5)


def all_upper_right(seed: int | None, chosen=_followers, trained: bool = True) -> Margin:
    """Each head named by its attention compares |alpha1| < |alpha2| and |beta1| > |beta2|."""
    found = [same(counted((head,), trained), UPPER_RIGHT) for head in chosen(seed)]
    return worst(found) if found else Margin(-1.0, "no head attends to the successor", "at least one")


def layers() -> list[tuple[Head, ...]]:
    """The shipped heads, layer by layer."""
    runs: dict[int, list[Head]] = {}
    for head in heads(None):
        runs.setdefault(head.seed, []).append(head)
    return [tuple(run) for run in runs.values()]


def by_layer(score: Callable[[tuple[Head, ...]], int]) -> Found:
    """The sign test over layers, those of score 0 left out: heads of one layer are not independent of each other."""
    lean = [found > 0 for layer in layers() if (found := score(layer))]
    return Found(Fraction(sum(lean), len(lean)), sign_test(sum(lean), len(lean)), f"{sum(lean)} of {len(lean)}")


def _association(counts: TwoByTwo) -> int:
    """a d - b c, of the sign of the association in a table."""
    return counts[0][0] * counts[1][1] - counts[0][1] * counts[1][0]


def coupled(trained: bool = True) -> Found:
    """Layers in which the sizes of alpha and beta go against each other: the corners off the diagonal prevail."""
    return by_layer(lambda layer: -_association(counted(layer, trained)))


def off_diagonal(trained: bool = True) -> Found:
    """Layers with more heads off the diagonal than on it."""
    return _weighed(((-1, 1), (1, -1)), trained)


def upper_right_larger(trained: bool = True) -> Found:
    """Layers with more heads in the upper right corner than in the lower left."""
    return _weighed(((0, 1), (-1, 0)), trained)


def _weighed(weights: TwoByTwo, trained: bool) -> Found:
    """Layers in which the sum of the counts, each times its weight, is positive."""
    return by_layer(lambda layer: int(np.vdot(weights, counted(layer, trained))))


def previous_and_own(head: Head) -> tuple[float, float]:
    return head.key[1], head.value[0]


def previous_and_previous(head: Head) -> tuple[float, float]:
    return head.key[1], head.value[1]


def signs(place: Place = previous_and_own) -> Found:
    """Layers in which more heads have alpha2 beta1 > 0 than not."""
    return by_layer(lambda layer: sum(1 if key * value > 0 else -1 for key, value in map(place, layer)))


def no_large_breach(seed: int | None, place: Place = previous_and_own) -> Margin:
    """alpha2 beta1 > -SLACK for every head, and far above 0 for some: the rule is not kept by vanishing."""
    products = [key * value for key, value in map(place, heads(seed))]
    return worst([less(-SLACK, min(products)), less(10.0, max(products))])


def sums_left_one(name: str) -> Margin:
    """|c1 + c2 - 1| > 1/10 in more than half of the heads."""
    away = sum(abs(sum(getattr(head, name)) - 1) > 0.1 for head in heads(None))
    return less(len(heads(None)), 2 * away)


def some_negative(name: str) -> Margin:
    """A tenth of the heads or more have a coefficient below -1/2."""
    below = sum(min(getattr(head, name)) < -0.5 for head in heads(None))
    return less(len(heads(None)), 10 * below)


def fate(name: str, found: tuple[Head, ...] | None = None) -> TwoByTwo:
    """Rows: c1 > c2 at the start, and not; columns: attends to the successor once trained, and not."""
    counts = [[0, 0], [0, 0]]
    for head in heads(None) if found is None else found:
        first, second = getattr(head, name)
        counts[first <= second][head.successor <= 0.5] += 1
    return (counts[0][0], counts[0][1]), (counts[1][0], counts[1][1])


def decides(name: str) -> Found:
    """Layers in which heads with c1 > c2 at the start are more often those that come to attend to the successor."""
    return by_layer(lambda layer: _association(fate(name, layer)))


def count(what: str, expected: tuple[int, ...], trained: bool = True) -> Margin:
    """The counts that a statement names, of the shipped heads."""
    agree = sum(key * value > 0 for key, value in map(previous_and_own, heads(None)))
    (first, second), (third, fourth) = counted(heads(None), trained)
    found = {
        "signs": (agree, len(heads(None))),
        "cells": (first, second, third, fourth),
        "fate": tuple(number for row in fate("start_beta") for number in row),
    }
    return same(found[what], expected)


def models_with_both(sign: int = 1) -> Found:
    """Layers in which a head has alpha2, beta1 > 1/2 and another both below -1/2 (sign -1: of opposite signs)."""
    return by_layer(lambda layer: 1 if _has_both(layer, sign) else -1)


def _has_both(layer: tuple[Head, ...], sign: int) -> bool:
    pairs = [*map(previous_and_own, layer)]
    return all(any(min(way * key, sign * way * value) > 0.5 for key, value in pairs) for way in (1, -1))


def outranks(factor: sp.Expr) -> Margin:
    """Numerators of the logits of the right answer and of an unrelated token, over one positive partition."""
    numerators = {entry.name: entry.numerator for entry in interior_table().classes}
    return identity(numerators["target"] - numerators["other"], factor * beta1)


def same_keys(length: int, scale: int = -1) -> Margin:
    """(-alpha, -W_K) makes the keys of (alpha, W_K)."""
    states, weights = tokens(length, 2), tokens(2, 2, "w")
    left = mixing_matrix((alpha1, alpha2), length) * states * weights
    right = mixing_matrix((-alpha1, -alpha2), length) * states * (scale * weights)
    return identities(list(left), list(right))


def moves(alpha: Pair, sign: int = -1) -> Margin:
    """Which of alpha1, alpha2 is larger is not what it was before."""
    return different(alpha[0] > alpha[1], sign * alpha[0] > sign * alpha[1])


def sizes_stay(alpha: Pair, sizes: Callable[[Fraction], Fraction] = abs) -> Margin:
    return same(sizes(alpha[0]) > sizes(alpha[1]), sizes(-alpha[0]) > sizes(-alpha[1]))


GRID = [Fraction(n, 4) for n in range(-6, 7)]
UNEQUAL = [{"alpha": (p, q)} for p in GRID for q in GRID if abs(p) != abs(q)]
