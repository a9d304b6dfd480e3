"""Margins for the claims about importance, spectra, similarity and drain."""

import math
from fractions import Fraction
from math import prod

import numpy as np

from proofs_check.evidence.margin import Margin, at_most, close, different, less, same, worst
from proofs_check.evidence.tolerances import ROUNDING
from theory.sink import entropy_bound, importance_entropy, token_importance, uniform_causal_entropy

HALVES = ((Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)))  # a causal matrix of two tokens
GAMMA = float(np.euler_gamma)


def _means(columns: bool) -> tuple[Fraction, ...]:
    rows = tuple(zip(*HALVES, strict=True)) if columns else HALVES
    return tuple(sum(row, Fraction(0)) / 2 for row in rows)


def rows_are_alike(columns: bool = False) -> Margin:
    """The means of both rows are 1/2; what the tokens receive is not."""
    one, two = _means(columns)
    return worst([same(one, two), different(one, _means(True)[0])])


def concentrated_is_lower(exchanged: bool = False) -> Margin:
    """What the matrix's tokens receive has less entropy e than halves: e^{4 e} = prod p^{-4 p}, a rational."""
    uneven, even = (prod(p ** int(-4 * p) for p in law) for law in (_means(True), _means(False)))
    return less(even, uneven) if exchanged else less(uneven, even)


def _causal(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    weights = np.tril(np.exp(rng.normal(0, 2, (size, size))))
    return np.asarray(weights / weights.sum(1, keepdims=True))


def first_forces(seed: int, share: float = 1.0) -> Margin:
    """The entropy is at most what the first token's importance leaves."""
    attention = _causal(seed)
    first = min(1.0, share * float(token_importance(attention)[0]))
    return at_most(float(importance_entropy(attention)), entropy_bound(len(attention), first), ROUNDING)


def uniform_is_lower(length: int, limit: float = 1 - GAMMA) -> Margin:
    """log l less the entropy is below the limit, and near it: what is missing is of order log l/l, the first terms'."""
    lost = math.log(length) - uniform_causal_entropy(length)
    return worst([less(lost, limit), less(limit - lost, math.log(length) / length)])


def similarity_is_a_norm(seed: int, own: bool = False) -> Margin:
    """The double sum over pairs, and the same by one sum of directions; in its range."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 8))
    states = rng.normal(size=(size, 3))
    directions = states / np.linalg.norm(states, axis=1, keepdims=True)
    cosines = directions @ directions.T
    double = float(cosines.sum() - (0 if own else np.trace(cosines))) / (size * (size - 1))
    single = (float(np.linalg.norm(directions.sum(0)) ** 2) - size) / (size * (size - 1))
    return worst([close(double, single, ROUNDING), at_most(-1 / (size - 1), single, ROUNDING),
                  at_most(single, 1.0, ROUNDING)])  # fmt: skip
