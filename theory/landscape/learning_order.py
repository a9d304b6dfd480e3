"""Gradient flow at finite T never runs ahead of its large-T limit: a proved lower end for the learning time.

Write A = e^{alpha1}, B = e^{alpha2}, S = T - 2 + 2A + B, D_c for the logit of class c less the target's, and p_t, p_r,
p_e, p_o for the shares of the target, the repeated token, the two edge tokens and the T - 4 others. Let R be the set
    1/2 <= A <= e,  alpha2 >= 0,  beta1 >= 0,  beta2 >= -beta1/4,  2 A beta1 + B |beta2| <= S.
Lemma. For T >= 44, in R, T beta1' <= B - 1 and T alpha2' <= beta1 B, the velocities of `theory.landscape.blow_up`.
Proof. beta1' = [(1 - p_t)(B - 1) - p_r (2A - 1)] / S with 2A >= 1, S >= T gives the first. alpha2' = B (beta1 - G) / S
(`brake` is G), so the second follows from G >= 0. With p_r = p_t e^{D_r}, p_e = 2 p_t e^{D_e}, dropping a term >= 0,
    G S / p_t >= beta1 (S - 2 A e^{D_r}) + beta2 (e^{D_r} (T - 1 + 2A) - 2 e^{D_e} (A - 1)),
and D_r <= (2 A beta1 + B |beta2|) / S <= 1. If beta2 >= 0: D_r - D_e = [(2A - 1) beta1 + (B - A) beta2] / S >= 1 - e
where A > 1 (as beta2 <= S/B <= S), and both brackets are >= 0 (`slack_above`). If beta2 < 0: |beta2| <= beta1/4 and,
where A < 1, D_e <= (1 - A) |beta2| / S <= 1/2, so that G S / p_t >= beta1 times `slack_below`. Both grow with T.
Theorem. The limit flow is cooperative and its remaining time s*(alpha2, beta1) falls in both, so along the flow in R
d/dt [t + T s*] >= 1 - 1 = 0: t >= T s*(start) - T s*(now). At loss eps, (T - 4) e^{D_o} <= e^eps - 1, hence
beta1 B >= S log((T - 4) / (e^eps - 1)), while s*(now) <= 1 / (beta1 B): the flow needs at least `earliest`.
"""

import math
from typing import NamedTuple

import numpy as np
import sympy as sp
from flint import arb
from numpy.typing import ArrayLike, NDArray

from theory.checked import NONNEGATIVE, Range, real, reals, sized
from theory.landscape import exact
from theory.landscape.symbolic import A, B, interior_table
from theory.lowering.alone import alone
from theory.symbols import alpha2, beta1, beta2, n_tokens

LEAST_TOKENS = 44
NAMES = ("alpha1", "alpha2", "beta1", "beta2")
_HIGHEST = 700.0  # of an exponent: e^700 is finite
REPEATED, EDGE, OTHER = SHARES = sp.symbols("p_repeated p_edge p_other", positive=True)  # of a whole class each


def slope_by_shares(symbol: sp.Symbol) -> sp.Expr:
    """-dL/d symbol = -sum_c p_c dD_c/d symbol, with the shares as free symbols."""
    table = interior_table()
    target = table.classes[0].numerator
    differences = [(c.numerator - target) / table.partition for c in table.classes[1:]]
    return -sum(share * sp.diff(d, symbol) for share, d in zip(SHARES, differences, strict=True))


def brake() -> sp.Expr:
    """G of the lemma: alpha2' = B (beta1 - G) / S."""
    total, target = interior_table().partition, 1 - sum(SHARES)
    first = target + (B - 1) * (OTHER + EDGE) / total - REPEATED * (2 * A - B) / total
    second = (REPEATED * (n_tokens - 1 + 2 * A) - EDGE * (A - 1)) / total
    return beta1 * first + beta2 * second


def velocity_forms() -> dict[sp.Symbol, sp.Expr]:
    """beta1' and alpha2' as the lemma writes them."""
    total, target = interior_table().partition, 1 - sum(SHARES)
    return {
        beta1: ((1 - target) * (B - 1) - REPEATED * (2 * A - 1)) / total,
        alpha2: B * (beta1 - brake()) / total,
    }


@alone
def slack_above(n_tokens: int) -> list[arb]:
    """Both brackets for beta2 >= 0, linear in A and least at an end of [1, e]: S - 2 e A, then the second at A = e."""
    e = arb(1).exp()
    return [n_tokens - 1 - 2 * e * (e - 1), (1 - e).exp() * (n_tokens - 1 + 2 * e) - 2 * (e - 1)]


@alone
def slack_below(n_tokens: int) -> arb:
    """S - 2 e A - (e (T - 1 + 2A) + e^{1/2}) / 4 at S = T - 1 + 2A and A = e, where it is least on [1/2, e]."""
    e = arb(1).exp()
    return (n_tokens - 1 + 2 * e) * (1 - e / 4) - 2 * e * e - arb(0.5).exp() / 4


def inside(alpha1: ArrayLike, a2: ArrayLike, b1: ArrayLike, b2: ArrayLike, n_tokens: ArrayLike) -> NDArray[np.bool_]:
    """Whether each point lies in R. Raises ValueError for numbers that are not finite."""
    alpha1, a2, b1, b2 = (reals(name, x) for name, x in zip(NAMES, (alpha1, a2, b1, b2), strict=True))
    n_tokens = reals("n_tokens", n_tokens)
    with np.errstate(over="ignore", invalid="ignore"):
        own, before, more = np.exp(alpha1), np.exp(a2), np.abs(b2) - 1
        # B itself may overflow
        sizes = 2 * own * (b1 - 1) + np.where(more == 0, 0.0, before * more) <= n_tokens - 2
    signs = (a2 >= 0) & (b1 >= 0) & (b2 >= -b1 / 4)
    return (own >= 0.5) & (alpha1 <= 1) & signs & sizes


class Speeds(NamedTuple):
    """T alpha2' and T beta1' of the flow, and the same of its limit."""

    alpha2: NDArray[np.float64]
    beta1: NDArray[np.float64]
    limit_alpha2: NDArray[np.float64]
    limit_beta1: NDArray[np.float64]


@sized()
def speeds(alpha1: ArrayLike, a2: ArrayLike, b1: ArrayLike, b2: ArrayLike, n_tokens: ArrayLike) -> Speeds:
    """Both velocities at a point, times T; alpha2 at most 700. Raises ValueError as `exact.gradient` does."""
    n_tokens, a2, b1 = reals("n_tokens", n_tokens), reals("alpha2", a2, Range(high=_HIGHEST)), reals("beta1", b1)
    down = -n_tokens[..., None] * exact.gradient(alpha1, a2, b1, b2, n_tokens)
    return Speeds(down[..., 1], down[..., 2], b1 * np.exp(a2), np.expm1(a2))


@sized()
def earliest(limit: float, n_tokens: float, level: float) -> float:
    """s* T - 1 / log((T - 4) / (e^level - 1)), before which a flow that stays in R has a larger loss than `level`.

    At least 0, and rounded downwards: the quotient may be near 1, and the difference near 0. Raises ValueError for
    fewer than 44 tokens, or a level that is not below log(T - 4).
    """
    limit, n_tokens = real("limit", limit, NONNEGATIVE), real("n_tokens", n_tokens, Range(LEAST_TOKENS))
    level = real("level", level, Range(0.0, math.log(n_tokens - 4), open=True))
    most = math.log(n_tokens - 4)
    short = most - math.log(math.expm1(level)) - 2.0**-50 * most
    return max(0.0, limit * n_tokens * (1 - 2.0**-51) - 1 / short) if short > 0 else 0.0
