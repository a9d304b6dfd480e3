"""Margins of the claims on temperature: the identities behind each theorem, enclosed slopes, Monte Carlo."""

from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, ball_at_least, ball_within, identity, less, worst
from proofs_check.oracles.width import gaussian_grams, gram_loss
from theory.landscape import temperature as t
from theory.symbols import alpha2, dim, n_tokens

B = sp.exp(alpha2)
ONE = Fraction(1)


def falls_without_end(threshold: int = 2) -> Margin:
    """e^L - 1 = e^{kappa u} + (T - 2) e^{kappa v}: u, v fall in alpha2, v < u, u has the sign of `threshold` - B."""
    exponents = [(2 - B) / (B + n_tokens), (1 - B) / (B + n_tokens)]
    grouped = 1 + sp.exp(t.kappa * exponents[0]) + (n_tokens - 2) * sp.exp(t.kappa * exponents[1])
    slopes = [-(n_tokens + 2) * B / (B + n_tokens) ** 2, -(n_tokens + 1) * B / (B + n_tokens) ** 2]
    pairs = [
        (sp.exp(t.infinite_width_loss()), grouped),
        *((sp.diff(exponent, alpha2), slope) for exponent, slope in zip(exponents, slopes, strict=True)),
        (exponents[0] - exponents[1], 1 / (B + n_tokens)),
        (exponents[0] * (B + n_tokens), threshold - B),
    ]
    return worst([identity(left, right) for left, right in pairs])


def even_after_tilt(rate: sp.Expr = dim) -> Margin:
    """Given r, e^{rate D} times the density of D is even: the ratio of its values at D and -D is 1."""
    density = t.conditional_density() * sp.exp(rate * t.margin)
    ratio = sp.exp(sp.expand(sp.expand_log(sp.log(density / density.subs(t.margin, -t.margin)), force=True)))
    return identity(ratio, 1)


def _shifted_gaussian(sign: int) -> tuple[sp.Expr, sp.Expr]:
    """Logarithms of e^{s D} density(D | r) and of e^{-r a} density(D - s r/d | r), a = s + sign s^2/(2d): equal."""
    tilted = sp.log(t.conditional_density()) + t.tilt * t.margin
    moved = sp.log(t.conditional_density().subs(t.margin, t.margin - t.tilt * t.square / dim))
    exponent = t.tilt + sign * t.tilt**2 / (2 * dim)
    return sp.expand_log(tilted, force=True), sp.expand_log(moved - t.square * exponent, force=True)


def _stretched_square() -> tuple[sp.Expr, sp.Expr]:
    """Logarithms of e^{-a r} density(r) and of c^{-d/2} times the density of r / c at r, c = 1 + 2a/d: equal."""
    rate = sp.Symbol("rate", positive=True)
    factor = 1 + 2 * rate / dim
    damped = sp.log(t.square_density()) - rate * t.square
    stretched = sp.log(factor * t.square_density().subs(t.square, factor * t.square)) - dim / 2 * sp.log(factor)
    return sp.expand_log(damped, force=True), sp.expand_log(stretched, force=True)


def moments_derived(sign: int = -1) -> Margin:
    """E e^{s D}: tilting moves the Gaussian of D given r, damping stretches the chi-square of r; even about s = d."""
    exponent = t.tilt + sign * t.tilt**2 / (2 * dim)
    shifted = t.moment_generating().subs(t.tilt, dim + t.tilt)
    return worst(
        [
            identity(*_shifted_gaussian(sign)),
            identity(*_stretched_square()),
            identity((1 + 2 * exponent / dim) ** (-dim / 2), t.moment_generating()),
            identity(sp.expand(shifted.base), sp.expand(shifted.subs(t.tilt, -t.tilt).base)),
        ]
    )


def odd_at_optimum(multiple: int = 2) -> Margin:
    """e^{-d D} D / (1 + e^{-kappa D}) at kappa = multiple * d is an odd function of D."""
    function = sp.exp(-dim * t.margin) * t.margin / (1 + sp.exp(-multiple * dim * t.margin))
    return identity(function + function.subs(t.margin, -t.margin), 0)


def convex_in_temperature(plant: int = 0) -> Margin:
    """d2/dkappa2 log(1 + sum_j e^{kappa D_j}) is a sum of squares times positive weights, here for two competitors."""
    first, second = margins = sp.symbols("first second", real=True)
    powers = [sp.exp(t.kappa * value) for value in margins]
    total = 1 + sum(powers)
    bend = sp.diff(sp.log(total), t.kappa, 2) + plant
    squares = powers[0] * first**2 + powers[1] * second**2 + powers[0] * powers[1] * (first - second) ** 2
    return identity(bend * total**2, squares)


def slope_sign(width: int, factor: Fraction, optimum: Fraction = ONE) -> Margin:
    """The slope at kappa = factor * 2d has the sign of factor - optimum; where they agree its enclosure is near 0."""
    slope = t.slope_in_temperature(factor * t.best_temperature(width), width)
    if factor == optimum:
        return ball_within(abs(slope), Fraction(1, 10**12))
    return ball_at_least(slope if factor > optimum else -slope, strict=True)


def bracket(at_double: bool, rest: int = 1) -> Margin:
    """With R = rest + (other competitors) > 1: the weights of D and -D in the slope at kappa = 2 d or d, z = d D > 0.

    At 2d the weight is 1 / (R e^{-z} + e^z), larger at z than at -z; at d it is 1 / (R + e^z), smaller. The slope
    integrates D times it against a density that is even once tilted: positive at 2d, negative at d.
    """
    others, z = sp.symbols("others z", positive=True)
    total = rest + others
    up, down = sp.exp(z), sp.exp(-z)
    if at_double:
        gap = 1 / (total * down + up) - 1 / (total * up + down)
        return identity(gap, others * (up - down) / ((total * down + up) * (total * up + down)))
    gap = 1 / (total + up) - 1 / (total + down)
    return identity(gap, -(up - down) / ((1 + others + up) * (1 + others + down)))


def jensen_minimum(best: sp.Expr = dim) -> Margin:
    """1 + 2 kappa/d - kappa^2/d^2 = 2 - (kappa - best)^2 / d^2, so the bound is least at `best`."""
    base = t.moment_generating().subs(t.tilt, t.kappa).base
    least = sp.log(1 + (n_tokens - 1) * 2 ** (-dim / 2))
    return worst(
        [
            identity(base, 2 - (t.kappa - best) ** 2 / dim**2),
            identity(t.jensen_bound().subs(t.kappa, best), least),
        ]
    )


def tangent(plant: int = 0) -> Margin:
    """log(1 + m) + (s - m)/(1 + m) - log(1 + s) is 0 with slope 0 at s = m and has second derivative > 0 in s."""
    s, mean = sp.symbols("s mean", positive=True)
    gap = sp.log(1 + mean) + (s - mean) / (1 + mean) - sp.log(1 + s)
    return worst(
        [
            identity(gap.subs(s, mean), plant),
            identity(sp.diff(gap, s).subs(s, mean), 0),
            identity(sp.diff(gap, s, 2), (1 + s) ** -2),
        ]
    )


@cache
def _margins(tokens: int, width: int, seed: int, count: int = 20_000) -> np.ndarray:
    """Margins of T - 1 competitors (count, T - 1), by embeddings themselves."""
    rng = np.random.default_rng(seed)
    target = rng.normal(size=(count, width)) / np.sqrt(width)
    others = rng.normal(size=(count, tokens - 1, width)) / np.sqrt(width)
    return np.einsum("njd,nd->nj", others, target) - (target**2).sum(axis=1)[:, None]


def _three_sigma(values: np.ndarray) -> float:
    return 3 * float(values.std(ddof=1)) / float(np.sqrt(len(values)))


def sampled_slope(tokens: int, width: int, temperature: float, rising: bool) -> Margin:
    """Monte-Carlo slope of E L in kappa, above 0 (`rising`) or below it by more than three standard errors."""
    margins = _margins(tokens, width, seed=tokens + width)
    powers = np.exp(temperature * margins)
    slope = (powers * margins).sum(axis=1) / (1 + powers.sum(axis=1))
    mean = float(slope.mean())
    return less(_three_sigma(slope), mean if rising else -mean)


def soft_attention(
    tokens: int, key_factor: float, read_factor: float, center: float = 1.1, count: int = 4000
) -> Margin:
    """d = 8, alpha = (0, gamma), beta = (kappa, 0): E L at gamma = kappa = center * d lies below that at the factors.

    The same embeddings at both, so the difference is known to within three standard errors.
    """
    width = 8
    best, other = (
        _soft_losses(tokens, width, key * width, read * width, count)
        for key, read in ((center, center), (key_factor, read_factor))
    )
    gap = other - best
    return less(_three_sigma(gap), float(gap.mean()))


@cache
def _soft_losses(tokens: int, width: int, gamma: float, temperature: float, count: int) -> np.ndarray:
    grams = gaussian_grams(np.random.default_rng(tokens), width, tokens, count)
    return gram_loss((0.0, gamma, temperature, 0.0), tokens // 2, grams)
