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

from theory.alibi_head import Weights, array, checked
from theory.alibi_logs import log_1m_exp, log_odds, log_sum_of_powers, positive, share, softplus
from theory.alibi_sphere import sphere_maximum
from theory.box import Outcome


class Condition(NamedTuple):
    """Is kappa <= bound? low <= kappa <= high; low is ||x|| ||x - y|| of the post-norm states x, y (d_model,)."""

    outcome: Outcome
    bound: float
    low: float
    high: float
    x: np.ndarray
    y: np.ndarray


class Violation(NamedTuple):
    """A head of one dimension and a context - the target, then the query's state alone - above eps beyond L_h."""

    w_q: np.ndarray
    w_k: np.ndarray
    distance: int
    printed_scope: float
    weight: float


def printed_condition(gamma: ArrayLike, norm_bias: ArrayLike | None = None, norm: str = "rms") -> Condition:
    """Whether the printed theorem is true for these gains and this bias (d_model,).

    Exact where the bias is 0: kappa = 2 d lambda_max(P Gamma^2 P) >= 2 ||gamma||^2, with equality - the theorem is
    true - only for gains of one size, RMSNorm in one dimension, and LayerNorm in two. Exact too for gains of one size
    and any bias: with r = sqrt(d) |gamma_i|, kappa^2 = 4 r^2 (||b_1||^2 + (r + ||b_0||)^2), b_1 the part of b along
    the ones (LayerNorm; 0 for RMSNorm) and b_0 the rest. Otherwise kappa lies between a pair of states and the dual of
    a quadratic with two spheres; UNDECIDED where the two ends enclose the bound, or rounding could.
    """
    weights = _of_norm(gamma, norm_bias, norm)
    square = float(weights.gamma @ weights.gamma + weights.norm_bias @ weights.norm_bias)
    low, x, y = _pair(weights)
    exact = _one_size(weights)
    high = exact if exact is not None else max(_dual(weights), low)
    if not weights.norm_bias.any():
        outcome = Outcome.PROVED if _equal_without_bias(weights) else Outcome.REFUTED
    elif exact is not None and abs(exact - 2 * square) > 1e-12 * square:
        outcome = Outcome.PROVED if exact < 2 * square else Outcome.REFUTED
    elif low > 2 * square * (1 + 1e-12):
        outcome = Outcome.REFUTED
    else:
        outcome = Outcome.PROVED if high < 2 * square * (1 - 1e-12) else Outcome.UNDECIDED
    return Condition(outcome, 2 * square, low, high, x, y)


def violation(condition: Condition, slope: float, eps: float, strength: float | None = None) -> Violation:
    """A head and a distance beyond its printed scope where the weight exceeds eps; the theorem's counterexample.

    Args: condition, a REFUTED one; slope > 0; eps in (0, 1); strength, the norm of M (default: enough to exceed eps).
    Returns: w_q, w_k (1, d_model); the context has the state y at position 0 and x at each of `distance` later ones.
    """
    if condition.outcome is not Outcome.REFUTED:
        raise ValueError("the printed theorem is not refuted for these gains: there is no violation to build")
    positive("slope", slope)
    share("eps", eps)
    if strength is None:
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
    gains = array("gamma", gamma)
    if gains.ndim != 1 or not gains.size:
        raise ValueError(f"gamma has shape {gains.shape}: expected (d_model,)")
    row = np.ones((1, len(gains)))
    return checked(row, row, gains, norm_bias, norm=norm)


def _equal_without_bias(weights: Weights) -> bool:
    smallest = 2 if weights.norm == "layer" else 1
    return len(weights.gamma) <= smallest or len(set(np.abs(weights.gamma).tolist())) == 1


def _one_size(weights: Weights) -> float | None:
    """kappa in closed form, or None: gains of one size, or no bias."""
    d, gains, bias = len(weights.gamma), weights.gamma, weights.norm_bias
    layer = weights.norm == "layer"
    if not bias.any():
        return 2 * d * float(np.linalg.eigvalsh(_projection(d, layer) * gains**2 @ _projection(d, layer))[-1])
    if len(set(gains.tolist())) > 1 and (layer or len(set(np.abs(gains).tolist())) > 1):
        return None
    reach = math.sqrt(d) * abs(float(gains[0]))
    along = bias.mean() if layer else 0.0
    across = float(np.linalg.norm(bias - along))
    return 2 * reach * math.sqrt(d * along**2 + (reach + across) ** 2)


def _projection(d: int, layer: bool) -> np.ndarray:
    return np.eye(d) - (1 / d if layer else 0.0)


def _gains(weights: Weights) -> np.ndarray:
    """x - b = G z for z on the sphere of all n dimensions; (d_model, n)."""
    d = len(weights.gamma)
    if weights.norm == "rms":
        return np.diag(weights.gamma)
    basis = np.linalg.qr(np.column_stack([np.ones(d), np.eye(d)[:, 1:]]))[0][:, 1:]
    return weights.gamma[:, None] * basis


def _dual(weights: Weights) -> float:
    """min over t, r of the maximum of (t ||x||^2 + ||x - y||^2 / t)/2 on ||z||^2 + r ||z'||^2 = d (1 + r)."""
    gains, bias, d = _gains(weights), weights.norm_bias, float(len(weights.gamma))
    gram, pull, n = gains.T @ gains, gains.T @ bias, gains.shape[1]

    def bound(logs: np.ndarray) -> float:
        t, r = np.exp(np.clip(logs, -30, 30))
        cross = -gram / (2 * t * math.sqrt(r))
        matrix = np.block([[gram * (t + 1 / t) / 2, cross], [cross, gram / (2 * t * r)]])
        curvature, vectors = np.linalg.eigh(matrix)
        linear = vectors[:n].T @ (t / 2 * pull)
        return sphere_maximum(curvature, linear, d * (1 + r)).value + t / 2 * float(bias @ bias)

    found = minimize(bound, [math.log(2.0), 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    return float(found.fun)


def _pair(weights: Weights, starts: int = 12) -> tuple[float, np.ndarray, np.ndarray]:
    """The largest ||x|| ||x - y|| found by alternating ascent, from the top directions and from seeded points."""
    gains, bias = _gains(weights), weights.norm_bias
    radius = math.sqrt(len(weights.gamma))
    n = gains.shape[1]
    gram, pull = gains.T @ gains, gains.T @ bias
    curvature, vectors = np.linalg.eigh(gram)
    rng = np.random.default_rng(0)
    best = (-1.0, bias, bias)
    for start in [vectors[:, -1], -vectors[:, -1], *rng.standard_normal((starts, n))]:
        z = start * radius / np.linalg.norm(start)
        for _ in range(200):
            # the farthest y from x, then the best x for the ratio t = ||x - y|| / ||x||
            far = -vectors @ sphere_maximum(curvature, vectors.T @ (gram @ z), radius**2).point
            x, y = gains @ z + bias, gains @ far + bias
            value = float(np.linalg.norm(x) * np.linalg.norm(x - y))
            if value > best[0]:
                best = (value, x, y)
            # at x = 0 or x = y the ratio has no size, only a side; its square is formed
            t = float(np.clip(np.linalg.norm(x - y) / max(np.linalg.norm(x), 1e-300), 1e-100, 1e100))
            linear = vectors.T @ (t * pull - gram @ far / t)
            fresh = vectors @ sphere_maximum(curvature * (t + 1 / t), linear, radius**2).point
            if np.abs(fresh - z).max() <= 1e-12 * radius:
                break
            z = fresh
    return best
