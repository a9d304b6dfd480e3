"""Margins for Theorem 3.2: error of the two-layer network in balls at rational points, its bounds, and its matrices."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_above, ball_at_least, close, identity, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.kv.induction.exact_heads import ball, balls, induction_head, two_layer
from proofs_check.kv.induction.general_checks import positive, tilt
from proofs_check.ledger.claim import Effort, MarginFunction, Point
from proofs_check.ledger.mathematical import identities
from theory import induction
from theory.induction.sharpness import COPY_ERROR_BOUNDS, copy_gap_residuals, r, score_range_residual
from theory.symbols import copy_slope, sigma
from theory.symbols import dim as d

DOMAINS = ("unit", "symmetric", "ball")
LOW = {"unit": 0, "symmetric": -1, "ball": -1}


def error(x, sigma_value, slope, ratio, itself=False, repaired=False) -> arb:
    """|IH - TF| in the largest coordinate, e^{-p} = ratio."""
    numbers = balls(sigma_value, slope)
    head, network = induction_head(x, numbers), two_layer(x, numbers, ratio, itself, repaired)
    return reduce(arb.max, (abs(a - b) for a, b in zip(head, network, strict=True)))


def sharp_bound(domain: str, size: int, sigma_value: Fraction, ratio: Fraction) -> arb:
    """tanh(d r / (2 sigma)), 2 tanh(d r / sigma), 2 tanh(r / sigma) as a ball."""
    argument = ball(sum(_axis(domain, size)) * ratio / sigma_value)
    return (argument / 2).tanh() if domain == "unit" else 2 * argument.tanh()


def within_sharp(domain, x, sigma_value, slope, ratio, factor=Fraction(1), **network) -> Margin:
    bound = sharp_bound(domain, len(x[0]), sigma_value, ratio)
    return ball_at_least(ball(factor) * bound - error(x, sigma_value, slope, ratio, **network))


def nearly_sharp(domain, x, sigma_value, slope, ratio, factor=Fraction(999, 1000)) -> Margin:
    """The error is at least `factor` times the sharp bound."""
    bound = sharp_bound(domain, len(x[0]), sigma_value, ratio)
    return ball_at_least(error(x, sigma_value, slope, ratio) - ball(factor) * bound)


def above_printed(size: Fraction, ratio: Fraction) -> Margin:
    """x = (1, 0, size, 1), d = 1, sigma = 1, m = 0: the error exceeds the printed bound, 4 r/(1 - r)."""
    return ball_above(error([[1], [0], [size], [1]], 1, 0, ratio), 4 * ratio / (1 - ratio))


def _axis(domain: str, size: int) -> list[int]:
    """Where the domain is widest: all ones, or in the ball the first direction alone."""
    return [1] + [int(domain != "ball")] * (size - 1)


def _token(rng: np.random.Generator, domain: str, size: int) -> list[Fraction]:
    """The end of an axis or a corner, or a point of sevenths inside, in the ball within ||x||_1 <= 1."""
    ends = rng.random() < 0.5
    if domain == "ball":
        return _axis(domain, size) if ends else [Fraction(int(v), 7 * size) for v in rng.integers(-7, 8, size)]
    low = 7 * LOW[domain]
    return [Fraction(int(v), 7) for v in (rng.choice((low, 7), size) if ends else rng.integers(low, 8, size))]


def sharp_point(domain: str, size: int, spread: Fraction, ratio: Fraction) -> Point:
    """low, high, low, high, high with d r / sigma = spread and the slope that balances tokens 3 and 4."""
    low, product, axis = LOW[domain], spread / ratio, _axis(domain, size)
    lost = ratio / (1 + ratio) + ratio / (1 + ratio + ratio**2)
    return {
        "domain": domain,
        "x": [[value * entry for entry in axis] for value in (low, 1, low, 1, 1)],
        "sigma_value": sum(axis) / product,
        "slope": (1 - low) * product * (1 - lost / 2),
        "ratio": ratio,
    }


def sharp_points(effort: Effort) -> list[Point]:
    spreads = (Fraction(1, 100), Fraction(1, 3), Fraction(2))
    return [sharp_point(name, size, s, Fraction(1, 10**5)) for name in DOMAINS for size in (1, 3) for s in spreads]


def domain_points(effort: Effort) -> Iterator[Point]:
    yield from sharp_points(effort)
    for index in range(60 if effort is Effort.QUICK else 1500):
        rng = np.random.default_rng([index, 7])
        domain, size = DOMAINS[index % len(DOMAINS)], int(rng.integers(1, 4))
        yield {
            "domain": domain,
            "x": [_token(rng, domain, size) for _ in range(int(rng.integers(3, 9)))],
            "sigma_value": Fraction(int(rng.integers(1, 40)), 10),
            "slope": Fraction(int(rng.integers(0, 20)), 10),
            "ratio": Fraction(int(rng.integers(1, 100)), 100),
        }


def proof(supremum: sp.Expr = r, high: int = 1, divisor: int = 4) -> Margin:
    """The sharp bound's steps: supremum of the copy error, range of the scores, and what a softmax moves, any size."""
    residuals = [*copy_gap_residuals(supremum), *(score_range_residual(low, high) for low in (0, -1))]
    return worst([tilt(divisor), *(identity(residual, 0) for residual in residuals)])


def zero(residual: Callable[..., sp.Expr]) -> MarginFunction:
    """The margin of a residual of theory, which is 0 where its statement is proved."""
    return lambda **point: identity(residual(**point), 0)


def bound_slopes(domain: str, constant: sp.Rational) -> Margin:
    """The sharp bound over (d / sigma) e^{-p} as p -> infinity."""
    bound = COPY_ERROR_BOUNDS[domain].subs(sp.exp(-copy_slope), r)
    return identity(sp.limit(bound / r, r, 0) * sigma / d, constant)


def key_norm(dim: int, key: str = "paper", claimed: sp.Expr = 1 / sigma) -> Margin:
    """W_K W_K^T = claimed^2 I on its range, so that the operator norm is `claimed`; the entries are those of theory."""
    zero, one = sp.zeros(dim), sp.eye(dim)
    left, right = (zero, one / sigma) if key == "paper" else (-(1 - r) / r * one / sigma, one / (r * sigma))
    return identities(left * left.T + right * right.T, claimed**2 * one)


def below_printed(factor: int = 4) -> Margin:
    """2 tanh(A r) <= 2 A r < 4 A r/(1-r), A = d / sigma: the second difference is 2 A r (1 + r)/(1 - r), 0 < r < 1.

    tanh z <= z is part of `tilt`.
    """
    share, rest = d / sigma, sp.Symbol("rest", positive=True)
    difference = factor * share * r / (1 - r) - 2 * share * r
    return worst(
        [
            identity(difference, 2 * share * r * (1 + r) / (1 - r)),
            positive(sp.cancel(difference.subs(r, 1 / (1 + rest)))),
        ]
    )


def bounded_tokens(power: int = 3) -> Margin:
    """Entries up to B: scores as with B^2 / sigma, outputs B times as large, so 2 B tanh(B^2 A r) ~ 2 B^3 A r."""
    size = sp.Symbol("B", positive=True)
    one, other = sp.symbols("one other", real=True)
    bound = 2 * size * sp.tanh(size**2 * d / sigma * r)
    return worst(
        [
            identity((size * one) * (size * other) / sigma, size**2 * (one * other / sigma)),
            identity(sp.limit(bound / r, r, 0), 2 * size**power * d / sigma),
        ]
    )


def key_entries(dim: int, sigma_value: float, p: float, key: str, shrink: float = 1.0) -> Margin:
    """The largest singular values of W_Q and W_K as built: 1 and 1/sigma, or the repaired one's."""
    weights = induction.construction(dim, sigma_value, p, key)
    ratio = np.exp(-p)
    norm = 1 / sigma_value if key == "paper" else np.sqrt(1 + (1 - ratio) ** 2) / (ratio * sigma_value)
    found = [np.linalg.norm(matrix, 2) for matrix in (weights.query, weights.key)]
    return close(np.array(found) / [1.0, norm], np.array([1.0, shrink]), KERNEL)
