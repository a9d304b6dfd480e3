"""Margins of the sharp bounds of a compensation token: Lambda(r), tanh(Lambda/4), tanh(r/4)."""

import numpy as np
import sympy as sp

from proofs_check.evidence.margin import Margin, at_most, identity, same, worst
from proofs_check.evidence.tolerances import KERNEL
from theory.cache import compensation_bounds as b

STEP = sp.Symbol("delta", real=True)


def deficit(count: int, drift: int = 0) -> Margin:
    """Z_D / e^{q.khat} - N = sum (e^{delta_m} - 1 - delta_m), as sum delta_m = 0; e^x - 1 - x > 0 but at x = 0."""
    steps = list(sp.symbols(f"delta0:{count - 1}", real=True))
    steps.append(drift - sum(steps))
    excess = sp.exp(STEP) - 1 - STEP
    return worst(
        [
            identity(sum(sp.exp(x) for x in steps) - count, sum(excess.subs(STEP, x) for x in steps)),
            identity(excess.subs(STEP, 0), 0),
            identity(sp.diff(excess, STEP).subs(STEP, 0), 0),
            same(bool(sp.diff(excess, STEP, 2).is_positive), True),
        ]
    )


def mass_gap(half: bool = False) -> Margin:
    """tanh(lambda/4) - (T - That) is a square times positive terms, t = e^{lambda/2}, c = Z_K / Zhat.

    With c = (1 - p) / p it is the same for the weight of a share p of two values against its share.
    """
    t, c, p = sp.symbols("t c p", positive=True)
    bound = (t - 1) / (t + 1) / (2 if half else 1)
    gap = t**2 / (t**2 + c) - 1 / (1 + c)
    left = (t - 1) * (t - c) ** 2 / ((t + 1) * (t**2 + c) * (1 + c))
    two_values = p * t**2 / (1 - p + p * t**2) - p
    return worst([identity(bound - gap, left), identity(gap.subs(c, (1 - p) / p), two_values)])


def random_error(seed: int, factor: float = 1.0) -> Margin:
    """Random heads with logits up to 12.1 apart, by direct sums: both bounds on ||o - o_comp||, and the one on
    ||vbar - vhat||."""
    rng = np.random.default_rng(seed)
    scale = rng.uniform(0, 12)
    n, kept = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    logits, values = scale * (rng.random(n + kept) > 0.5) + 0.1 * rng.random(n + kept), rng.normal(size=(n + kept, 2))
    if seed % 2:
        values = np.sign(values[:, :1]) * np.array([[1.0, 0.0]])
        logits[n:] -= 3
    weights, token = np.exp(logits), n * np.exp(logits[:n].mean())
    mean_value = values[:n].mean(0)
    full = weights @ values / weights.sum()
    kept_sum = weights[n:] @ values[n:]
    compensated = (token * mean_value + kept_sum) / (token + weights[n:].sum())
    dropped_mean = weights[:n] @ values[:n] / weights[:n].sum()
    spread = np.ptp(logits[:n])
    inner, whole = _diameter(values[:n]), _diameter(values)
    share = token / (token + weights[n:].sum())
    apart = np.linalg.norm(dropped_mean - kept_sum / weights[n:].sum())
    error = float(np.linalg.norm(full - compensated))
    bounds = [
        float(b.error_bound(spread, share, apart, inner)),
        float(b.total_error_bound(spread, whole)),
        float(b.mean_gap_bound(spread)) * inner,
    ]
    sides = [error, error, float(np.linalg.norm(dropped_mean - mean_value))]
    return at_most(sides, [factor * bound for bound in bounds], slack=KERNEL)


def _diameter(values: np.ndarray) -> float:
    return max(float(np.linalg.norm(x - y)) for x in values for y in values)
