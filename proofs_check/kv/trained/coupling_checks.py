"""Margins on the heads of trained one-layer models: the cells of Table 5, and the signs of the theorem's map.

Cells are counted in the gauge that compares sizes (`dynamics.heads.named.fix_gauge`); alpha and beta on the map are
multiplied by the head's own gains (`dynamics.heads.coupling`), which no gauge changes.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.evidence.counting import sign_test
from proofs_check.evidence.margin import Margin, different, identity, same, worst
from proofs_check.ledger.mathematical import identities
from proofs_check.records.shipped import Found, retrained
from theory.landscape.symbolic import interior_table
from theory.shift.algebra import mixing_matrix, tokens
from theory.symbols import alpha1, alpha2, beta1

Head = Any
TRAINED = ("coupling", "kv-shift-8")
Pair = tuple[Fraction, Fraction]


@lru_cache(maxsize=4)
def heads(seed: int | None) -> tuple[Head, ...]:
    """The shipped heads (None), or those of a model trained afresh."""
    from dynamics.heads.coupling import mixings
    from dynamics.heads.coupling_file import shipped_table

    if seed is None:
        return shipped_table().heads
    model, rows = retrained(TRAINED, seed)
    return tuple(mixings(model.eval(), rows, seed))


def follows(head: Head) -> bool:
    """Does it give the successor more than half of its attention?"""
    return bool(head.successor > 0.5)


def cells(found: Iterable[Head], trained: bool = True) -> tuple[int, ...]:
    """Upper left, upper right, lower left and lower right of Table 5, by size."""
    from dynamics.heads import coupling

    pairs = ((h.alpha, h.beta) if trained else (h.start_alpha, h.start_beta) for h in found)
    return tuple(number for row in coupling.cells(coupling.fixed(*pair) for pair in pairs) for number in row)


# Heads and whether they are taken as trained; what of a head is multiplied, with its own gains.
GROUPS = {
    "all heads": (lambda head: True, True),
    "heads with more than half of their attention on the successor": (follows, True),
    "the same heads at the start": (follows, False),
}
PRODUCTS: dict[str, Callable[[Head], float]] = {
    "alpha1 beta1": lambda head: head.key[0] * head.value[0],
    "alpha2 beta1": lambda head: head.key[1] * head.value[0],
    "alpha2 beta2": lambda head: head.key[1] * head.value[1],
}


def elsewhere(of: str, seed: int | None) -> float:
    """The share of heads outside of the upper right of Table 5 by size (|alpha1| < |alpha2|, |beta1| > |beta2|)."""
    chosen, trained = GROUPS[of]
    found = cells(filter(chosen, heads(seed)), trained)
    return 1 - found[1] / max(sum(found), 1)


def cells_by_size() -> tuple[int, ...]:
    """Heads in the upper left, upper right, lower left and lower right of Table 5 by size."""
    return cells(heads(None))


def layers() -> list[tuple[Head, ...]]:
    """The shipped heads, layer by layer."""
    runs: dict[int, list[Head]] = {}
    for head in heads(None):
        runs.setdefault(head.seed, []).append(head)
    return [tuple(run) for run in runs.values()]


def by_layer(score: Callable[[tuple[Head, ...]], float]) -> Found:
    """The sign test over layers, those of score 0 left out: heads of one layer are not independent of each other."""
    lean = [found > 0 for layer in layers() if (found := score(layer))]
    return Found(Fraction(sum(lean), len(lean)), sign_test(sum(lean), len(lean)), f"{sum(lean)} of {len(lean)}")


def _association(counts: Sequence[int]) -> int:
    """a d - b c, of the sign of the association in a table."""
    return counts[0] * counts[3] - counts[1] * counts[2]


def coupled(trained: bool = True) -> Found:
    """Of the layers that lean to one side, those in which the corners off the diagonal of Table 5 prevail."""
    return by_layer(lambda layer: -_association(cells(layer, trained)))


def off_diagonal(trained: bool = True) -> Found:
    """Of the layers that lean to one side, those with more heads off the diagonal of Table 5 than on it."""
    return by_layer(lambda layer: int(np.dot((-1, 1, 1, -1), cells(layer, trained))))


def upper_right_larger(trained: bool = True) -> Found:
    """Of the layers in which these corners differ, those with more heads in the upper right than in the lower left."""
    return by_layer(lambda layer: int(np.dot((0, 1, -1, 0), cells(layer, trained))))


def signs(product: str = "alpha2 beta1") -> Found:
    """Of the layers that lean to one side, those in which alpha2 beta1 is positive in most heads."""
    return by_layer(lambda layer: sum(1 if PRODUCTS[product](head) > 0 else -1 for head in layer))


def kept_signs() -> tuple[int, int]:
    """Heads with a positive alpha2 beta1, and all heads."""
    return sum(PRODUCTS["alpha2 beta1"](head) > 0 for head in heads(None)), len(heads(None))


def lowest(of: str, seed: int | None) -> float:
    """The least value of any head, with its own gains,"""
    return min(map(PRODUCTS[of], heads(seed)))


def highest(of: str, seed: int | None) -> float:
    """The largest value of any head, with its own gains,"""
    return max(map(PRODUCTS[of], heads(seed)))


def sums_off_one(of: str) -> float:
    """The share of heads whose two coefficients have a sum more than 1/10 away from 1."""
    return float(np.mean([abs(sum(getattr(head, of)) - 1) > 0.1 for head in heads(None)]))


def negative(of: str) -> float:
    """The share of heads with a coefficient below -1/2."""
    return float(np.mean([min(getattr(head, of)) < -0.5 for head in heads(None)]))


def _fate(name: str, found: Iterable[Head]) -> tuple[int, ...]:
    """Of heads with c1 > c2 at the start, and of the others, how many come to attend to the successor, how many not."""
    counts = [0, 0, 0, 0]
    for head in found:
        first, second = getattr(head, f"start_{name}")
        counts[2 * (first <= second) + (not follows(head))] += 1
    return tuple(counts)


def fates() -> tuple[int, ...]:
    """Heads that start with beta1 > beta2 and come to attend to the successor, or do not, and of the others."""
    return _fate("beta", heads(None))


def decides(name: str) -> Found:
    """Of the layers in which these shares differ, those where heads that start with {0}1 > {0}2 do so more often."""
    return by_layer(lambda layer: _association(_fate(name, layer)))


def models_with_both(sign: int = 1) -> Found:
    """Layers with an induction head (alpha2, beta1 > 1/2) and an anti-induction head (both < -1/2), own gains in."""
    return by_layer(lambda layer: 1 if _has_both(layer, sign) else -1)


def _has_both(layer: tuple[Head, ...], sign: int) -> bool:
    pairs = [(head.key[1], sign * head.value[0]) for head in layer]
    return all(any(min(way * key, way * value) > 0.5 for key, value in pairs) for way in (1, -1))


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


def moves(alpha: Pair, sign: int = -1, sizes: Callable[[Fraction], Fraction] = abs) -> Margin:
    """Which of alpha1, alpha2 is larger is not what it was before, and which of their sizes is."""
    first, second = alpha
    stay = same(sizes(first) > sizes(second), sizes(sign * first) > sizes(sign * second))
    return worst([different(first > second, sign * first > sign * second), stay])


GRID = [Fraction(n, 4) for n in range(-6, 7)]
UNEQUAL = [{"alpha": (p, q)} for p in GRID for q in GRID if abs(p) != abs(q)]
