"""Margins of the claims on finite width: cumulants, exact jets, exact interpolation in 1/T."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, close, identity, same, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.ledger.claim import Effort
from proofs_check.oracles.width import slopes_of_loss
from theory.landscape import width_limit as limit
from theory.landscape.symbolic import B
from theory.landscape.width import finite_width, width_terms
from theory.lowering.numeric import numeric
from theory.symbols import PARAMETERS, alpha1, alpha2, beta1, beta2

HALF = Fraction(1, 2)


def _gaussian_moment(tokens: Sequence[int]) -> int:
    """E of a product of standard Gaussians, one entry for each factor's index."""
    powers = [tokens.count(t) for t in set(tokens)]
    return 0 if any(power % 2 for power in powers) else prod(int(sp.factorial2(power - 1)) for power in powers)


def gram_moments(pairs: tuple[tuple[int, int], ...], covariance_of_unequal: int = 0, largest_third: int = 8) -> Margin:
    """Cumulants of entries of G = U U^T times d^{order - 1}: they add over the d coordinates of the embeddings.

    Two pairs: the covariance is 1[ab = cd] + 1[ab = dc]; three: the joint cumulant is at most 8 in size.
    """
    first, *rest = pairs
    mean = {pair: _gaussian_moment(pair) for pair in pairs}
    if len(rest) == 1:
        (a, b), (c, d) = pairs
        value = _gaussian_moment(first + rest[0]) - mean[first] * mean[rest[0]]
        expected = int((a, b) == (c, d)) + int((a, b) == (d, c))
        return same(value, expected if {a, b} == {c, d} else covariance_of_unequal)
    second, third = rest
    value = _gaussian_moment(first + second + third) + 2 * mean[first] * mean[second] * mean[third]
    for alone, (left, right) in ((first, (second, third)), (second, (first, third)), (third, (first, second))):
        value -= mean[alone] * _gaussian_moment(left + right)
    return at_most(abs(value), largest_third)


def all_pairs(effort: Effort) -> list[dict[str, tuple[tuple[int, int], ...]]]:
    """Every two and every three entries of the Gram matrix of three tokens, the most that a third cumulant can join."""
    entries = list(itertools.combinations_with_replacement(range(3), 2))
    return [{"pairs": chosen} for order in (2, 3) for chosen in itertools.product(entries, repeat=order)]


def _rationals(seed: int, count: int, positive: bool) -> list[Fraction]:
    rng = np.random.default_rng(seed)
    values = [Fraction(int(rng.integers(1, 30)), int(rng.integers(1, 30))) for _ in range(count)]
    return values if positive else [value if rng.random() < 0.5 else -value for value in values]


def _objects(values: Sequence[Fraction]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _exact_terms(
    parameters: Sequence[Fraction], tokens: int, position: int, attention: Sequence[Fraction], share: Sequence[Fraction]
) -> tuple[Fraction, Fraction]:
    """The shipped kernel on fractions, both softmaxes replaced by the given weights."""
    given: Iterator[np.ndarray] = iter((_objects(attention), _objects(share)))
    arrays = [np.array(value, dtype=object) for value in parameters]
    mean_shift, variance = width_terms(arrays, tokens, position, lambda _: next(given))
    return mean_shift.item(), variance.item()


def exact_terms(tokens: int, position: int, off_diagonal: Fraction = HALF, diagonal: int = 2) -> Margin:
    """c1 and v1 of the kernel against exact second and first derivatives of the loss in every entry of G.

    `off_diagonal` is the weight of d2L/dG_jk^2 in c1, `diagonal` that of (dL/dG_jj)^2 in v1.
    """
    parameters = _rationals(7 * tokens + position, 4, positive=False)
    keys = _rationals(11 * tokens + position, tokens + 1, positive=True)
    powers = _rationals(13 * tokens + position, tokens, positive=True)
    mean_shift, variance = Fraction(0), Fraction(0)
    for pair in itertools.combinations_with_replacement(range(tokens), 2):
        first, second = slopes_of_loss(parameters, position, keys, powers, pair)
        equal = pair[0] == pair[1]
        mean_shift += second * (1 if equal else off_diagonal)
        variance += first**2 * (diagonal if equal else 1)
    found = _exact_terms(parameters, tokens, position, [k / sum(keys) for k in keys], [p / sum(powers) for p in powers])
    return worst([same(found[0], mean_shift), same(found[1], variance)])


def every_position(effort: Effort) -> list[dict[str, int]]:
    return [{"tokens": t, "position": i} for t in range(2, 5 if effort is Effort.QUICK else 7) for i in range(1, t + 1)]


def variance_limit(plant: int = 0) -> Margin:
    """lim T v1 = (beta1 + beta2)^2 from the expression in 1/T, identically in the four parameters."""
    return identity(limit.limiting_variance(), (beta1 + beta2) ** 2 + plant)


@cache
def _scaled_variance() -> Callable[..., np.ndarray]:
    return numeric(limit.scaled_variance(), (*PARAMETERS, limit.x, limit.scale, *limit.OPAQUE))


@cache
def _opaque(tokens: int) -> Callable[..., np.ndarray]:
    values = limit.finite_values(tokens)
    return numeric([values[symbol] for symbol in (limit.x, limit.scale, *limit.OPAQUE)], PARAMETERS)


def variance_in_classes(tokens: int, position: int, seed: int, pushed: int = 0) -> Margin:
    """T v1 from seven kinds of tokens against the kernel; `pushed` moves the position."""
    parameters = np.random.default_rng(seed).uniform(-2, 2, size=4)
    kernel = tokens * finite_width(*parameters, tokens, position + pushed).variance
    return close(_scaled_variance()(*parameters, *_opaque(tokens)(*parameters)) / kernel, 1.0, KERNEL)


def _limiting_shift(parameters: dict[sp.Symbol, Fraction], own: Fraction, before: Fraction) -> Fraction:
    a1, a2, b1, b2 = (parameters[symbol] for symbol in PARAMETERS)
    opaque = sp.Dummy("B")
    formula = limit.limiting_mean_shift().subs(B, opaque)
    values = {alpha1: a1, alpha2: a2, beta1: b1, beta2: b2, opaque: before}
    value = formula.subs({symbol: sp.Rational(v.numerator, v.denominator) for symbol, v in values.items()})
    return Fraction(int(value.p), int(value.q))


def _constant_term(values: list[tuple[Fraction, Fraction]]) -> Fraction:
    """The value at 0 of the polynomial through the points, by Lagrange's formula."""
    total = Fraction(0)
    for x, y in values:
        total += y * prod((other / (other - x) for other, _ in values if other != x), start=Fraction(1))
    return total


_DEGREE = 8


def mean_shift_limit(seed: int, plant: int = 0) -> Margin:
    """lim T c1 by exact interpolation in x = 1/T of the kernel, at random rational parameters and e^{alpha}.

    At limiting weights (a_k = x e^{score}, p_k = x) T c1 is a Laurent polynomial in x: c1 has one sum over k and one
    over tokens (at most x^-2), T is x^-1, and a term has at most six factors a, p, w. So x^3 T c1 has degree at most
    _DEGREE; one point more than that needs checks the degree, and its coefficients of 1, x, x^2 must vanish.
    """
    parameters = _rationals(seed, 4, positive=False)
    own, before = _rationals(seed + 1, 2, positive=True)
    position, rows = 5, []
    for tokens in range(12, 12 + _DEGREE + 3):
        x = Fraction(1, tokens)
        attention = [x] * (tokens + 1)
        attention[position - 1] = attention[tokens] = own * x
        attention[position] = before * x
        shift, _ = _exact_terms(parameters, tokens, position, attention, [x] * tokens)
        rows.append((x, shift * tokens * x**3))
    margins = [same(_constant_term(rows[:-1]), _constant_term(rows[1:]))]  # the degree is as stated
    for _ in range(3):
        margins.append(same(_constant_term(rows), 0))
        rows = [(x, y / x) for x, y in rows]
    expected = _limiting_shift(dict(zip(PARAMETERS, parameters, strict=True)), own, before)
    return worst([*margins, same(_constant_term(rows), expected + plant)])
