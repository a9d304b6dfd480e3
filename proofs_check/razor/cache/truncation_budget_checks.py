"""Margins of the claims on splitting a budget of dropped mass over the heads of a layer."""

import sympy as sp
from flint import arb

from proofs_check.evidence.margin import Margin, ball_at_least, identity, same, worst

BUDGET = sp.Symbol("budget", positive=True)
MASS, SLOPE, RANGE = sp.symbols("mass slope range", positive=True)


def _heads(count: int) -> tuple[tuple[sp.Symbol, ...], tuple[sp.Symbol, ...], list[sp.Expr]]:
    slopes, costs = sp.symbols(f"l0:{count}", positive=True), sp.symbols(f"c0:{count}", positive=True)
    reach = sum(1 / slope for slope in slopes)
    return slopes, costs, [BUDGET / (c * slope * reach) for slope, c in zip(slopes, costs, strict=True)]


def stationary(count: int, power: int = 1) -> Margin:
    """The split spends the budget, dW_h/d delta_h = -mu c_h with one mu, and W_h is convex: W = (D - ln delta)/l."""
    slopes, costs, masses = _heads(count)
    rates = [-1 / (slope**power * mass * c) for slope, mass, c in zip(slopes, masses, costs, strict=True)]
    window = (RANGE - sp.log(MASS)) / SLOPE
    return worst(
        [
            identity(sp.cancel(sum(c * mass for c, mass in zip(costs, masses, strict=True))), BUDGET),
            *(identity(sp.cancel(rate), sp.cancel(rates[0])) for rate in rates[1:]),
            identity(sp.diff(window, MASS), -1 / (SLOPE * MASS)),
            same(bool(sp.diff(window, MASS, 2).is_positive), True),
        ]
    )


def sharp_rate(curvature: int = 2) -> Margin:
    """W = ln[1 + (1/delta - 1) e^D] / l: W' = -1/(l delta (1 - a delta)), a = 1 - e^{-D}; W'' has the sign of 1 - 2 a
    delta, so W is convex up to delta = 1/2."""
    window = sp.log(1 + (1 / MASS - 1) * sp.exp(RANGE)) / SLOPE
    bend = 1 - sp.exp(-RANGE)
    inner = MASS * (1 - bend * MASS)
    return worst(
        [
            identity(sp.diff(window, MASS), -1 / (SLOPE * inner)),
            identity(sp.diff(-1 / (SLOPE * inner), MASS), (1 - curvature * bend * MASS) / (SLOPE * inner**2)),
        ]
    )


def saving(count: int, base: int = 0) -> Margin:
    """Equal shares less the split: sum (1/l) ln(delta / delta_equal) = R KL(p || uniform), p = 1/(l R), R = sum 1/l."""
    slopes, costs, _ = _heads(count)
    reach = sp.Symbol("reach", positive=True)
    gain = sum(
        sp.log(BUDGET / (c * slope * reach) / (BUDGET / (c * count))) / slope
        for slope, c in zip(slopes, costs, strict=True)
    )
    shares = [1 / (slope * reach) for slope in slopes]
    divergence = sum(p * sp.log(p * (count + base)) for p in shares)
    return identity(sp.expand_log(gain - reach * divergence, force=True).expand(), 0)


def saving_at(n_heads: int, divergence: str, tokens: int) -> Margin:
    """Slopes 2^{-8i/h}: KL to three digits and whole tokens, summed head by head; balls."""
    reaches = [arb(2) ** (arb(8 * i) / n_heads) for i in range(1, n_heads + 1)]
    total = sum(reaches, arb(0))
    found = sum((r / total * (r / total * n_heads).log() for r in reaches), arb(0))
    off = ball_at_least(arb("5e-4") - abs(found - arb(divergence)))
    return worst([off, ball_at_least(arb(1) / 2 - abs(found * total - tokens))])
