"""Margins for the claims about importance, spectra, similarity and drain."""

import math
from fractions import Fraction
from math import prod

import numpy as np

from proofs_check.evidence.margin import Margin, at_most, close, different, less, worst
from proofs_check.evidence.tolerances import KERNEL
from theory.sink import importance_entropy, uniform_causal_entropy

HALVES = np.array([[Fraction(1), Fraction(0)], [Fraction(1, 2), Fraction(1, 2)]])  # a causal matrix of two tokens
GAMMA = float(np.euler_gamma)


def rows_are_no_columns(axis: int = 1) -> Margin:
    """The means of the rows, as printed, are not what the tokens receive."""
    return different(list(HALVES.mean(axis)), list(HALVES.mean(0)))


def concentrated_is_lower(exchanged: bool = False) -> Margin:
    """What the matrix's tokens receive has less entropy e than halves: e^{4 e} = prod p^{-4 p}, a rational."""
    found = [prod(p ** int(-4 * p) for p in law) for law in (HALVES.mean(0), HALVES.mean(1))]
    value = less(*(reversed(found) if exchanged else found)).value
    uneven, even = (f"{math.log(power) / 4:.4f}" for power in found)
    return Margin(value, f"(3/4, 1/4) has a higher entropy than (1/2, 1/2), whose is {even}", f"it has {uneven}")


def _causal(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    weights = np.tril(np.exp(rng.normal(0, 2, (size, size))))
    return np.asarray(weights / weights.sum(1, keepdims=True))


def mixing_lowers(seed: int, mixed: float = 1.0, factor: float = 2.0) -> Margin:
    """e <= log l - 2 ((1 - A_ii)/l)^2 at the row that is mixed most; mixed: how far A is from the identity.

    At least (1 - A_ii)/l of the importances of tokens i.. is missing, and Pinsker's inequality has the rest.
    """
    attention = _causal(seed)
    attention = mixed * attention + (1 - mixed) * np.eye(len(attention))
    missing = (1 - float(attention.diagonal().min())) / len(attention)
    bound = math.log(len(attention)) - factor * missing**2
    return at_most(float(importance_entropy(attention)), bound, KERNEL)


def uniform_is_lower(length: int, printed: float, limit: float = 1 - GAMMA) -> Margin:
    """log l less the entropy: to four decimals, and below the limit by less than log l/l, the order of the first terms.
    """
    lost = math.log(length) - uniform_causal_entropy(length)
    return worst([less(abs(lost - printed), 5e-5), less(lost, limit), less(limit - lost, math.log(length) / length)])


def similarity_is_a_norm(seed: int, own: bool = False) -> Margin:
    """The double sum over pairs, and the same by one sum of directions; in its range."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 8))
    states = rng.normal(size=(size, 3))
    directions = states / np.linalg.norm(states, axis=1, keepdims=True)
    cosines = directions @ directions.T
    sums = cosines.sum() - (0 if own else np.trace(cosines)), np.linalg.norm(directions.sum(0)) ** 2 - size
    double, single = (float(total) / (size * (size - 1)) for total in sums)
    return worst([close(double, single, KERNEL), at_most(-1 / (size - 1), single, KERNEL),
                  at_most(single, 1.0, KERNEL)])  # fmt: skip
