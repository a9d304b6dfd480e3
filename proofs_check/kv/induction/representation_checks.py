"""Margins for Theorem 3.2: error of the two-layer network in balls at rational points and in floats, and its bounds."""

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, at_most, ball_at_least, close, identity, same, worst
from proofs_check.evidence.tolerances import KERNEL
from proofs_check.kv.induction.exact_heads import ball, balls, induction_head, largest, two_layer
from proofs_check.kv.induction.general_checks import positive, tilt
from proofs_check.ledger.claim import Effort, Point
from theory import induction
from theory.induction.sharpness import (
    COPY_ERROR_BOUNDS,
    copy_gap_residuals,
    flat_witness_residual,
    r,
    score_range_residual,
    slope_witness_residual,
    uniform_sharpness_residual,
)
from theory.symbols import copy_slope, sigma
from theory.symbols import dim as d

DOMAINS = ("unit", "symmetric", "ball")
LOW = {"unit": 0, "symmetric": -1, "ball": -1}


def error(x, sigma_value, slope, ratio, itself=False, repaired=False) -> arb:
    """|IH - TF| in the largest coordinate, e^{-p} = ratio."""
    numbers = balls(sigma_value, slope)
    head, network = induction_head(x, numbers), two_layer(x, numbers, ratio, itself, repaired)
    return largest([a - b for a, b in zip(head, network, strict=True)])


def sharp_bound(domain: str, size: int, sigma_value: Fraction, ratio: Fraction) -> arb:
    """tanh(d r / (2 sigma)), 2 tanh(d r / sigma), 2 tanh(r / sigma) as a ball."""
    argument = ball((1 if domain == "ball" else size) * ratio / sigma_value)
    return (argument / 2).tanh() if domain == "unit" else 2 * argument.tanh()


def printed_bound(size: int, sigma_value: Fraction, ratio: Fraction) -> Fraction:
    """4 (d / sigma) r / (1 - r)."""
    return 4 * size / Fraction(sigma_value) * ratio / (1 - ratio)


def within_printed(domain, x, sigma_value, slope, ratio, itself=False, stretch=1) -> Margin:
    """The error is at most the printed bound; `stretch` takes longer tokens."""
    rows = [[stretch * value for value in row] for row in x]
    bound = ball(printed_bound(len(x[0]), sigma_value, ratio))
    return ball_at_least(bound - error(rows, sigma_value, slope, ratio, itself))


def within_sharp(domain, x, sigma_value, slope, ratio, factor=Fraction(1), **network) -> Margin:
    bound = sharp_bound(domain, len(x[0]), sigma_value, ratio)
    return ball_at_least(ball(factor) * bound - error(x, sigma_value, slope, ratio, **network))


def nearly_sharp(domain, x, sigma_value, slope, ratio, factor=Fraction(999, 1000)) -> Margin:
    """The error is at least `factor` times the sharp bound."""
    bound = sharp_bound(domain, len(x[0]), sigma_value, ratio)
    return ball_at_least(error(x, sigma_value, slope, ratio) - ball(factor) * bound)


def above_printed(size: Fraction, ratio: Fraction) -> Margin:
    """x = (1, 0, size, 1), d = 1, sigma = 1, m = 0: the error exceeds the printed bound."""
    x = [[Fraction(value)] for value in (1, 0, size, 1)]
    found, bound = error(x, Fraction(1), Fraction(0), ratio), ball(printed_bound(1, Fraction(1), ratio))
    return Margin(ball_at_least(found - bound, strict=True).value, str(bound), str(found))


def _token(rng: np.random.Generator, domain: str, size: int) -> list[Fraction]:
    """A corner or an inner point of the domain."""
    if domain == "ball":
        row = [Fraction(int(v), 60) for v in rng.integers(-60, 61, size)]
        scale = max(Fraction(1), sum(abs(v) for v in row))  # within ||x||_1 <= 1, inside the ball
        return [v / scale for v in row] if rng.random() < 0.5 else [Fraction(1), *[Fraction(0)] * (size - 1)]
    if rng.random() < 0.5:
        return [Fraction(int(v)) for v in rng.choice((LOW[domain], 1), size)]
    return [Fraction(int(v), 7) for v in rng.integers(7 * LOW[domain], 8, size)]


def sharp_point(domain: str, size: int, spread: Fraction, ratio: Fraction) -> Point:
    """low, high, low, high, high with d r / sigma = spread and the slope that balances tokens 3 and 4."""
    low, product = LOW[domain], spread / ratio
    lost = ratio / (1 + ratio) + ratio / (1 + ratio + ratio**2)
    unit = [Fraction(1)] * size if domain != "ball" else [Fraction(1), *[Fraction(0)] * (size - 1)]
    return {
        "domain": domain,
        "x": [[value * entry for entry in unit] for value in (low, 1, low, 1, 1)],
        "sigma_value": (1 if domain == "ball" else size) / product,
        "slope": (1 - low) * product * (1 - lost / 2),
        "ratio": ratio,
    }


def sharp_points(effort: Effort) -> list[Point]:
    spreads = (Fraction(1, 100), Fraction(1, 3), Fraction(2))
    return [sharp_point(name, size, s, Fraction(1, 10**5)) for name in DOMAINS for size in (1, 3) for s in spreads]


def _rational_points(domains: tuple[str, ...], count: int) -> Iterator[Point]:
    for index in range(count):
        rng = np.random.default_rng([index, 7])
        domain, size = domains[index % len(domains)], int(rng.integers(1, 4))
        yield {
            "domain": domain,
            "x": [_token(rng, domain, size) for _ in range(int(rng.integers(3, 9)))],
            "sigma_value": Fraction(int(rng.integers(1, 40)), 10),
            "slope": Fraction(int(rng.integers(0, 20)), 10),
            "ratio": Fraction(int(rng.integers(1, 100)), 100),
        }


def symmetric_points(effort: Effort) -> Iterator[Point]:
    return _rational_points(("symmetric",), 60 if effort is Effort.QUICK else 1000)


def domain_points(effort: Effort) -> Iterator[Point]:
    yield from sharp_points(effort)
    yield from _rational_points(DOMAINS, 60 if effort is Effort.QUICK else 1500)


def _draw(rng: np.random.Generator, domain: str, count: int, length: int, size: int) -> np.ndarray:
    """(count, length, size): inner points, corners, and runs and alternations of the two ends along one direction."""
    low, shape = LOW[domain], (count, length, size)
    direction = np.eye(size)[0] if domain == "ball" else np.ones(size)
    runs = np.where(rng.random((count, length, 1)) < 0.5, low, 1.0) * direction
    phase = (np.arange(length)[:, None] + rng.integers(0, 2, (count, 1, 1))) % 2
    alternating = np.where(phase == 0, low, 1.0) * direction
    runs[:, -1], alternating[:, -1] = direction, direction
    shrink = np.sqrt(size) if domain == "ball" else 1.0
    inside = rng.uniform(low, 1.0, shape) / shrink
    corners = np.where(rng.random(shape) < 0.5, low, 1.0) / shrink
    return np.stack([inside, corners, runs, alternating])[rng.integers(0, 4, count), np.arange(count)]


def hunt(domain: str, length: int, dim: int, count: int, bound: str = "sharp", factor: float = 1.0, **mask) -> Margin:
    """Worst factor * bound - error over `count` random configurations, a third of them with balanced scores."""
    rng = np.random.default_rng([DOMAINS.index(domain), length, dim, count])
    x, product = _draw(rng, domain, count, length, dim), 10.0 ** rng.uniform(-2, 2, count)
    sigma_value = 1 / product if domain == "ball" else dim / product
    p = rng.uniform(0.01, 12, count)
    balanced = (1.0 - LOW[domain]) * product * (1.0 - np.exp(-p) * rng.uniform(0, 1, count))
    slope = np.stack([np.zeros(count), 10.0 ** rng.uniform(-3, 1.5, count), balanced])
    slope = slope[rng.integers(0, 3, count), np.arange(count)]
    network = induction.two_layer_variant(x, sigma_value, slope, p, **mask)
    gap = np.abs(induction.induction_head(x, sigma_value, slope) - network).max(axis=-1)
    if bound == "sharp":
        limit = induction.copy_error_bound(dim, sigma_value, p, domain)
    else:
        limit = induction.printed_copy_error_bound(dim, sigma_value, p)
    return at_most(gap, factor * limit, KERNEL)


def hunts(effort: Effort) -> list[Point]:
    """72 batches: about 2,000 configurations, 20,000 in full."""
    count = 28 if effort is Effort.QUICK else 278
    return [
        {"domain": domain, "length": length, "dim": size, "count": count}
        for domain, length, size in itertools.product(DOMAINS, range(3, 11), (1, 2, 5))
    ]


def cube_hunts(effort: Effort) -> list[Point]:
    return [point for point in hunts(effort) if point["domain"] != "ball"]


def proof(supremum: sp.Expr = r, high: int = 1, divisor: int = 4) -> Margin:
    """The sharp bound's steps: supremum of the copy error, range of the scores, and what a softmax moves, any size."""
    residuals = [
        *copy_gap_residuals(supremum),
        score_range_residual(0, high),
        score_range_residual(-1, high),
    ]
    return worst([tilt(divisor), *(identity(residual, 0) for residual in residuals)])


def attained(domain: str, lean: int = 1) -> Margin:
    """Limit of error less bound as p -> infinity with d e^{-p} / sigma fixed."""
    return identity(uniform_sharpness_residual(domain, lean), 0)


def first_order(domain: str, constant: sp.Rational) -> Margin:
    return identity(slope_witness_residual(domain, constant), 0)


def bound_slopes(domain: str, constant: sp.Rational) -> Margin:
    """The sharp bound over (d / sigma) e^{-p} as p -> infinity."""
    bound = COPY_ERROR_BOUNDS[domain].subs(sp.exp(-copy_slope), r)
    return identity(sp.limit(bound / r, r, 0) * sigma / d, constant)


def flat(factor: sp.Rational) -> Margin:
    return identity(flat_witness_residual(factor), 0)


def key_norm(dim: int, key: str = "paper", claimed: sp.Expr = 1 / sigma) -> Margin:
    """W_K W_K^T = claimed^2 I on its range, so that the operator norm is `claimed`; the entries are those of theory."""
    zero, one = sp.zeros(dim), sp.eye(dim)
    left, right = (zero, one / sigma) if key == "paper" else (-(1 - r) / r * one / sigma, one / (r * sigma))
    block = sp.Matrix.hstack(left, right)
    product = block * block.T
    return worst([identity(product[i, j], claimed**2 * int(i == j)) for i in range(dim) for j in range(dim)])


def below_printed(factor: int = 4) -> Margin:
    """2 tanh(A r) <= 2 A r < 4 A r/(1-r), A = d / sigma: the second difference is 2 A r (1 + r)/(1 - r), 0 < r < 1."""
    share, z, rest = d / sigma, sp.Symbol("z", nonnegative=True), sp.Symbol("rest", positive=True)
    difference = factor * share * r / (1 - r) - 2 * share * r
    return worst(
        [
            identity(sp.diff(z - sp.tanh(z), z), sp.tanh(z) ** 2),
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


def mentions_constant(symbols: tuple[str, ...]) -> Margin:
    """Is the constant C among the symbols of the bound?"""
    return same(symbols.count("C"), 1)
