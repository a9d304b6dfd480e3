"""Is kappa <= 2 (||gamma||^2 + ||b||^2)? Decided in rationals or balls, for the exact values of float64 arguments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

from theory.alibi.head import Weights
from theory.lowering.box import Outcome, to_ball
from theory.lowering.precision import working

PRECISION = 256
MARGINS = (48, 40, 30)  # bits: how far above a float64 multiplier one is tried that is certainly large enough


class Decision(NamedTuple):
    """Balls: the bound, a value that kappa reaches, one that it does not exceed (infinite where none was certified)."""

    outcome: Outcome
    bound: arb
    low: arb
    high: arb


def decide(weights: Weights, z: np.ndarray, other: np.ndarray, dual: tuple[float, float, float]) -> Decision:
    """Args: z, other (d_model,): directions of two points of the sphere; dual: t, rho and m of `_above`, m too small.

    The outcome rests on rational arithmetic where the states lie on a round sphere, or there is no bias.
    """
    with working(PRECISION):
        gains, bias = ([arb(v) for v in row.tolist()] for row in (weights.gamma, weights.norm_bias))
        layer, sphere = weights.norm == "layer", _round(weights)
        bound = 2 * (_square(gains) + _square(bias))
        low = _reached(gains, bias, *(_on_sphere(point, layer) for point in (z, other)))
        if sphere is not None:
            return Decision(_on_round(sphere, weights), bound, low, _kappa(*sphere, _square(bias)))
        t, rho, m = map(arb, dual)
        above = (_above(gains, bias, layer, t, rho, m * (1 + arb(2) ** -bits)) for bits in MARGINS)
        high = next((ball for ball in above if ball.is_finite()), arb("inf"))
        # without bias kappa = 2 d lambda_max(P Gamma^2 P) > 2 ||gamma||^2, as the eigenvalues are not all equal
        if low > bound or not weights.norm_bias.any():
            return Decision(Outcome.REFUTED, bound, low, high)
        return Decision(Outcome.PROVED if high <= bound else Outcome.UNDECIDED, bound, low, high)


def _on_round(sphere: tuple[Fraction, Fraction], weights: Weights) -> Outcome:
    square, inside = sphere
    size = _dot(_fractions(weights.norm_bias), _fractions(weights.norm_bias))
    # kappa^2 = 4 r^2 (||b||^2 + r^2 + 2 r ||b_0||) against 4 (r^2 + ||b||^2)^2, less what both have, squared
    holds = 4 * square**3 * inside <= (size * (square + size)) ** 2
    return Outcome.PROVED if holds else Outcome.REFUTED


def _kappa(square: Fraction, inside: Fraction, size: arb) -> arb:
    """2 r sqrt(||b||^2 + r^2 + 2 r ||b_0||)."""
    r2, b2 = to_ball(square), to_ball(inside)
    radius, part = (ball.sqrt() if ball > 0 else arb(0) for ball in (r2, b2))
    total = size + r2 + 2 * radius * part
    return 2 * radius * (total.sqrt() if total > 0 else arb(0))


def _round(weights: Weights) -> tuple[Fraction, Fraction] | None:
    """r^2 and ||b_0||^2 where the states fill a sphere of radius r around b in a subspace, b_0 the part of b in it.

    Gains of one size: all directions (RMSNorm) or those orthogonal to gamma (LayerNorm: z is orthogonal to the ones,
    so gamma * z is to gamma). One dimension: RMSNorm of width 1, and LayerNorm of width 2, along (gamma_1, -gamma_2).
    """
    gains, bias = _fractions(weights.gamma), _fractions(weights.norm_bias)
    d, layer = len(gains), weights.norm == "layer"
    square, size = _dot(gains, gains), _dot(bias, bias)
    if len({abs(g) for g in gains}) == 1:
        along = _dot(gains, bias) ** 2 / square if layer and square else Fraction(0)
        return square, size - along
    if layer and d == 2:
        return square, (gains[0] * bias[0] - gains[1] * bias[1]) ** 2 / square
    return None


def _fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(v) for v in values.tolist()]


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def _square(values: Sequence[arb]) -> arb:
    return sum((v * v for v in values), arb(0))


def _on_sphere(z: np.ndarray, layer: bool) -> list[arb]:
    """The point of the sphere in the direction of z."""
    point = [arb(v) for v in z.tolist()]
    mean = sum(point, arb(0)) / len(point) if layer else arb(0)
    point = [v - mean for v in point]
    factor = (len(point) / _square(point)).sqrt()
    return [v * factor for v in point]


def _reached(gains: Sequence[arb], bias: Sequence[arb], z: Sequence[arb], other: Sequence[arb]) -> arb:
    """||x|| ||x - y|| of two states."""
    state = [g * v + b for g, v, b in zip(gains, z, bias, strict=True)]
    apart = [g * (v - w) for g, v, w in zip(gains, z, other, strict=True)]
    product = _square(state) * _square(apart)
    return product.sqrt() if product > 0 else arb(0)


def _above(gains: Sequence[arb], bias: Sequence[arb], layer: bool, t: arb, rho: arb, m: arb) -> arb:
    """A ball of a bound on kappa, for t, rho > 0 and m large enough; infinite if it cannot be told that m is.

    ||x|| ||x - y|| <= (t ||x||^2 + ||x - y||^2 / t) / 2, a quadratic t/2 ||b||^2 + 2 l.w + w.M w in w = (z, z') with
    w.W w = d (1 + rho) on the spheres, W = (1, rho). With N = m W - M positive definite where w may lie, it is at most
    m d (1 + rho) + t/2 ||b||^2 + max (2 l.w - w.N w). N has a block of two numbers a coordinate. LayerNorm's two
    constraints U^T w = 0 take h.S^{-1} h off l.N^{-1} l, S = U^T N^{-1} U, h = U^T N^{-1} l; N is positive definite on
    them if it has as many negative eigenvalues as S, of size 2, has not positive ones (inertia of the bordered matrix).
    """
    value, negative = m * len(gains) * (1 + rho) + t / 2 * _square(bias), 0
    schur, pull = arb_mat(2, 2), arb_mat(2, 1)
    for gain, shift in zip(gains, bias, strict=True):
        cross = gain * gain / (2 * t)
        first, last = m - t / 2 * gain * gain - cross, m * rho - cross
        found = _inertia(first, cross, last)
        if found is None:
            return arb("inf")
        negative += 2 - found
        determinant, linear = first * last - cross * cross, t / 2 * gain * shift
        inverse = arb_mat([[last, -cross], [-cross, first]]) / determinant
        column = inverse * arb_mat(2, 1, [linear, 0])
        value += linear * column[0, 0]
        schur, pull = schur + inverse, pull + column
    if not layer:
        return value if negative == 0 else arb("inf")
    positive = _inertia(schur[0, 0], schur[0, 1], schur[1, 1])
    if positive is None or negative + positive != 2:
        return arb("inf")
    return value - (pull.transpose() * schur.solve(pull))[0, 0]


def _inertia(first: arb, cross: arb, last: arb) -> int | None:
    """How many eigenvalues of [[first, cross], [cross, last]] are > 0, the others being < 0; None if undecided."""
    determinant = first * last - cross * cross
    if determinant < 0:
        return 1
    if determinant > 0 and (first > 0 or first < 0):
        return 2 if first > 0 else 0
    return None
