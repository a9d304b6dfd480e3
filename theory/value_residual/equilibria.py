"""Where the drain flow with decay and a value residual comes to rest: one equilibrium, or two and a saddle between.

Put v_eff = mu v_1/(a^2 + mu) into (1 - a) variance = a ||v_eff||^2. With k = ||v_1||^2 / variance and the logit s,

    s = 2 ln(1 + a^2/mu) - ln k,    a = sigmoid(s).

The right side less s falls as s grows except where a^2 (3 - 4 a) > mu, and that is at most 1/4, at a = 1/2. So for
decay mu >= 1/4 there is one equilibrium for every k; below, three for the k between `fold_ratios`. The flow is one of
gradients, and F at the best v has its minima where the right side less s crosses 0 downwards: the outer two are stable.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.optimize import brentq
from scipy.special import logit

from theory.checked import POSITIVE, Range, elementwise, real, sized
from theory.lowering.digits import odds_share
from theory.records import comparable

FOLDING = Range(0.0, 0.25, open=True)  # decays with three equilibria for some v_1


@comparable
class Equilibria(NamedTuple):
    """Sink logit s and ||v_eff|| at the stable equilibrium with the least sink and at the one with the largest.

    Equal where there is one equilibrium.
    """

    low_logit: float
    low_norm: float
    high_logit: float
    high_norm: float


@elementwise("norm", "variance", "decay")
@sized()
def drain_equilibria(norm: float, variance: float, decay: float) -> Equilibria:
    """The stable points of the flow: s = 2 ln(1 + a^2/mu) - ln(||v_1||^2/variance), ||v_eff|| = mu ||v_1||/(a^2 + mu).

    The flow from v = 0 and a(0) <= variance/(variance + ||v_1||^2) goes to the one with the least sink: ds/dt falls
    with ||v_eff|| and its velocity with s, so s rises and ||v_eff|| falls all the way to the first point of rest. As
    mu -> 0 that is v_eff -> 0, a -> 1: the drain comes back.
    Args: norm ||v_1||, variance and decay mu, all > 0. Raises ValueError.
    """
    size, mu = real("norm", norm, POSITIVE), real("decay", decay, POSITIVE)
    log_ratio = 2.0 * math.log(size) - math.log(real("variance", variance, POSITIVE))
    low, high = _outer_roots(mu, log_ratio)
    return Equilibria(low, size * _kept(low, mu), high, size * _kept(high, mu))


@elementwise("decay")
@sized()
def fold_ratios(decay: float) -> tuple[float, float]:
    """The two ||v_1||^2/variance between which the flow has three equilibria: (1 + a^2/mu)^2 (1 - a)/a at the folds.

    The folds are the roots of a^2 (3 - 4 a) = mu on either side of 1/2. Args: decay mu strictly between 0 and 1/4:
    from 1/4 on there is one equilibrium for every v_1. Raises ValueError.
    """
    mu = real("decay", decay, FOLDING)
    least, most = (math.exp(_excess(s, mu, 0.0)) for s in _folds(mu))
    return least, most


def _excess(s: float, mu: float, log_ratio: float) -> float:
    """2 ln(1 + a^2/mu) - ln k - s: positive below the first equilibrium."""
    return 2.0 * _log1p_exp(2.0 * _log_sigmoid(s) - math.log(mu)) - log_ratio - s


def _log_sigmoid(s: float) -> float:
    return -_log1p_exp(-s)


def _log1p_exp(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _kept(s: float, mu: float) -> float:
    """mu / (a^2 + mu)."""
    return float(odds_share(math.log(mu) - 2.0 * _log_sigmoid(s)))


def _folds(mu: float) -> tuple[float, float]:
    """The logits of the roots of a^2 (3 - 4 a) = mu < 1/4, one on either side of a = 1/2.

    a = 1/4 + y/2 makes it 4 y^3 - 3 y = 1 - 8 mu, so y = cos(phi) or cos(2 pi/3 - phi), cos(3 phi) = 1 - 8 mu; the
    second is written so that it keeps its digits as mu falls.
    """
    phi = 2.0 / 3.0 * math.asin(min(1.0, 2.0 * math.sqrt(mu)))
    low = math.sin(phi / 2.0) ** 2 / 2.0 + math.sqrt(3.0) / 4.0 * math.sin(phi)
    return float(logit(low)), float(logit(0.25 + math.cos(phi) / 2.0))


def _outer_roots(mu: float, log_ratio: float) -> tuple[float, float]:
    """The least and the largest root of `_excess`: it falls, rises between the folds, and falls again."""
    # The logarithm of 1 + a^2/mu lies between 0 and that of 1 + 1/mu: the excess is > 0 at the start, < 0 at the end.
    start, end = -log_ratio - 1.0, 2.0 * _log1p_exp(-math.log(mu)) - log_ratio + 1.0
    if mu >= FOLDING.high:
        only = _root(start, end, mu, log_ratio)
        return only, only
    first, second = _folds(mu)
    low = _root(start, first, mu, log_ratio) if _excess(first, mu, log_ratio) <= 0.0 else None
    high = _root(second, end, mu, log_ratio) if low is None or _excess(second, mu, log_ratio) >= 0.0 else low
    return (high if low is None else low), high


def _root(start: float, end: float, mu: float, log_ratio: float) -> float:
    return float(brentq(_excess, start, end, args=(mu, log_ratio), xtol=1e-15, rtol=1e-15, maxiter=500))
