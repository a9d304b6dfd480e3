"""Exactly when RazorAttention's Theorem 1 is true: a condition on the norm's gains and bias alone.

For fixed gains and bias the printed bound holds for every head, slope, eps and context if and only if
kappa = sup ||x|| ||x - y|| over post-norm x, y is at most 2 (||gamma||^2 + ||b||^2).
If: the own token alone gives weight <= e^{x.M(y - x) - slope n} <= e^{||M|| kappa - slope n} <= eps beyond L_h.
Only if: M = c x (y - x)^T / (||x|| ||y - x||) at a pair above the bound and c -> infinity (`violation`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from theory.alibi.head import Weights, checked, power_of_two
from theory.alibi.logs import log_1m_exp, log_odds, log_sum_of_powers, softplus
from theory.alibi.printed_certified import decide
from theory.alibi.sphere import sphere_maximum
from theory.checked import POSITIVE, SHARE, real, reals, sized
from theory.lowering.box import Outcome, outward
from theory.records import comparable


@comparable
class Condition(NamedTuple):
    """Whether kappa <= bound: proved, disproved, or UNDECIDED. It is certified that low <= kappa <= high.

    low is reached by the post-norm states x, y (d_model,), up to rounding; high is infinite where none was certified.
    """

    outcome: Outcome
    bound: float
    low: float
    high: float
    x: np.ndarray
    y: np.ndarray


@comparable
class Violation(NamedTuple):
    """A head of one dimension and a context - the target, then the query's state alone - above eps beyond L_h."""

    w_q: np.ndarray
    w_k: np.ndarray
    distance: int
    printed_scope: float
    weight: float


@sized(infinite=True)
def printed_condition(gamma: ArrayLike, norm_bias: ArrayLike | None = None, norm: str = "rms") -> Condition:
    """Whether the printed theorem is true for these gains and this bias (d_model,), taken at their exact values.

    Decided in rational arithmetic where the states x = gamma z + b lie on a round sphere of radius r = ||gamma||: gains
    of one size and any bias, RMSNorm in one dimension, LayerNorm in two. With b_0 the part of b in the sphere's own
    directions, kappa^2 = 4 r^2 (||b - b_0||^2 + (r + ||b_0||)^2), and the theorem is true iff
    2 r^3 ||b_0|| <= ||b||^2 (r^2 + ||b||^2). RMSNorm has b_0 = b: kappa = 2 r (r + ||b||), true iff b = 0 or
    ||b|| >= r. LayerNorm has b_0 = b less its part along gamma - along the ones only if the gains have one sign.
    Without bias kappa = 2 d lambda_max(P Gamma^2 P) >= 2 ||gamma||^2, with equality on round spheres only.
    Otherwise kappa is enclosed in balls between a pair of states and the dual of a quadratic with two spheres;
    UNDECIDED where the two ends enclose the bound.
    Raises: ValueError for a wrong shape, a number that is not finite, an unknown norm, or squares that overflow.
    """
    given = _of_norm(gamma, norm_bias, norm)
    # by a power of two: all is homogeneous, and squares would overflow or vanish
    scale = power_of_two(max(float(np.abs(given.gamma).max()), float(np.abs(given.norm_bias).max())))
    weights = given._replace(gamma=given.gamma / scale, norm_bias=given.norm_bias / scale)
    z, other = _pair(weights)
    x, y = (weights.gamma * point + weights.norm_bias for point in (z, other))
    found = decide(weights, z, other, _dual(weights, float(np.linalg.norm(x) * np.linalg.norm(x - y))))
    low, bound, high = outward(found.low)[0], float(found.bound), outward(found.high)[1]
    low, bound, high = (max(value, 0.0) * scale * scale for value in (low, bound, high))
    if not math.isfinite(low) or not math.isfinite(bound):
        raise ValueError(f"gamma or norm_bias is too large for its square, with entries up to {scale:g}")
    return Condition(found.outcome, bound, low, high, *(given.gamma * point + given.norm_bias for point in (z, other)))


@sized()
def violation(condition: Condition, slope: float, eps: float, strength: float | None = None) -> Violation:
    """A head and a distance beyond its printed scope where the weight exceeds eps; the theorem's counterexample.

    Args: condition, a REFUTED one; slope > 0; eps in (0, 1); strength, the norm of M (default: enough to exceed eps).
    Returns: w_q, w_k (1, d_model); the context has the state y at position 0 and x at each of `distance` later ones.
    """
    if condition.outcome is not Outcome.REFUTED:
        raise ValueError("the printed theorem is not refuted for these gains: there is no violation to build")
    if not condition.low > condition.bound:
        raise ValueError("kappa exceeds its bound by less than rounding: no violation can be built from floats")
    slope, eps = real("slope", slope, POSITIVE), real("eps", eps, SHARE)
    if strength is not None:
        strength = real("strength", strength, POSITIVE)
    else:
        # at most one beyond L_h the odds of the target are e^{c (kappa - bound) - slope} eps (1 - e^{-slope}) or more
        needed = slope - log_1m_exp(slope) - math.log(eps) + max(-log_odds(eps), 0.0) + 1
        strength = needed / (condition.low - condition.bound)
    along = condition.y - condition.x
    size = float(np.linalg.norm(condition.x) * np.linalg.norm(along))
    scope = (strength * condition.bound - math.log(eps)) / slope
    distance = math.floor(scope) + 1
    # weight 1 / (1 + e^{-c kappa} sum_{j=1}^{distance} e^{slope j})
    weight = math.exp(-softplus(log_sum_of_powers(distance, slope) - strength * size))
    factor = math.sqrt(strength / size)
    return Violation(factor * condition.x[None], factor * along[None], distance, scope, weight)


def _of_norm(gamma: ArrayLike, norm_bias: ArrayLike | None, norm: str) -> Weights:
    gains = reals("gamma", gamma)
    if gains.ndim != 1 or not gains.size:
        raise ValueError(f"gamma has shape {gains.shape}: expected (d_model,)")
    row = np.ones((1, len(gains)))
    return checked(row, row, gains, norm_bias, norm=norm)


def _basis(weights: Weights) -> np.ndarray:
    """The points z of the sphere are `basis` times those of a sphere of n dimensions: (d_model, n)."""
    d = len(weights.gamma)
    if weights.norm == "rms":
        return np.eye(d)
    return np.linalg.qr(np.column_stack([np.ones(d), np.eye(d)[:, 1:]]))[0][:, 1:]


_STARTS = (math.log(2.0), 0.0), (1.0, 1.0), (-1.0, 1.0), (0.7, -0.7)  # ln t and ln rho


def _dual(weights: Weights, reached: float) -> tuple[float, float, float]:
    """t, rho and the multiplier of a small maximum of (t ||x||^2 + ||x - y||^2 / t)/2, for decide.

    The maximum is over ||z||^2 + rho ||z'||^2 = d (1 + rho), and the smallest one over t and rho is looked for, from
    one start after another until it meets the value that a pair of states reaches: the simplex can stop at a kink.
    """
    gains, bias, d = weights.gamma[:, None] * _basis(weights), weights.norm_bias, float(len(weights.gamma))
    gram, pull, n = gains.T @ gains, gains.T @ bias, gains.shape[1]

    def largest(logs: np.ndarray) -> tuple[float, float, float, float]:
        t, rho = (float(v) for v in np.exp(np.clip(logs, -30, 30)))
        cross = -gram / (2 * t * math.sqrt(rho))
        matrix = np.block([[gram * (t + 1 / t) / 2, cross], [cross, gram / (2 * t * rho)]])
        curvature, vectors = np.linalg.eigh(matrix)
        linear = vectors[:n].T @ (t / 2 * pull)
        found = sphere_maximum(curvature, linear, d * (1 + rho))
        return found.value + t / 2 * float(bias @ bias), t, rho, found.multiplier

    options = {"xatol": 1e-9, "fatol": 1e-13}
    best = None
    for start in _STARTS:
        found = minimize(lambda logs: largest(logs)[0], start, method="Nelder-Mead", options=options)
        best = found if best is None or found.fun < best.fun else best
        if best.fun <= reached * (1 + 1e-6):
            break
    return largest(best.x)[1:]


def _pair(weights: Weights, starts: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """z, z' (d_model,) of the largest ||x|| ||x - y|| found by alternating ascent, from top and from seeded points."""
    basis, bias = _basis(weights), weights.norm_bias
    gains = weights.gamma[:, None] * basis
    radius = math.sqrt(len(weights.gamma))
    n = gains.shape[1]
    gram, pull = gains.T @ gains, gains.T @ bias
    curvature, vectors = np.linalg.eigh(gram)
    rng = np.random.default_rng(0)
    best = (-1.0, np.zeros(n), np.zeros(n))
    for start in [vectors[:, -1], -vectors[:, -1], *rng.standard_normal((starts, n))]:
        z = start * radius / np.linalg.norm(start)
        for _ in range(200):
            # the farthest y from x, then the best x for the ratio t = ||x - y|| / ||x||
            far = -vectors @ sphere_maximum(curvature, vectors.T @ (gram @ z), radius**2).point
            x, y = gains @ z + bias, gains @ far + bias
            value = float(np.linalg.norm(x) * np.linalg.norm(x - y))
            if value > best[0]:
                best = (value, z, far)
            # at x = 0 or x = y the ratio has no size, only a side; its square is formed
            t = float(np.clip(np.linalg.norm(x - y) / max(np.linalg.norm(x), 1e-300), 1e-100, 1e100))
            linear = vectors.T @ (t * pull - gram @ far / t)
            fresh = vectors @ sphere_maximum(curvature * (t + 1 / t), linear, radius**2).point
            if np.abs(fresh - z).max() <= 1e-12 * radius:
                break
            z = fresh
    return basis @ best[1], basis @ best[2]
