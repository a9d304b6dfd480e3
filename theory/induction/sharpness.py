"""Proofs that the error bound of Theorem 3.2 is right and cannot be improved; r stands for e^{-p}.

Residuals are zero exactly when the statement is proved; arguments allow wrong variants.
"""

from collections.abc import Sequence

import sympy as sp

from theory.symbols import copy_slope, dim, sigma, slope

r = sp.Symbol("r", positive=True)
power = sp.Symbol("r^(s-1)", positive=True)
score = sp.Symbol("d/sigma", positive=True)
spread = sp.Symbol("c", positive=True)  # d e^{-p} / sigma, held fixed
match_weight = sp.Symbol("e^(d/sigma)", positive=True)
decay = sp.Symbol("e^(-m)", positive=True)

COPY_ERROR_BOUNDS = {
    "unit": sp.tanh(dim * sp.exp(-copy_slope) / (2 * sigma)),
    "symmetric": 2 * sp.tanh(dim * sp.exp(-copy_slope) / sigma),
    "ball": 2 * sp.tanh(sp.exp(-copy_slope) / sigma),
}


def copy_gap_residuals(supremum: sp.Expr = r) -> tuple[sp.Expr, ...]:
    """sup_s |1 / sum_{tau=0}^{s-2} e^{-p tau} - 1| = e^{-p}, exactly and not reached; Appendix A has r / (1 - r).

    1. The sum is (1 - r^{s-1}) / (1 - r): true for one term, and adding r^{s-1} steps it on.
    2. supremum - gap = q (1 - r) / (1 - q) with q = r^{s-1} in (0, r]: positive for 0 < r < 1.
    3. it tends to 0 as q -> 0.
    """
    total = (1 - power) / (1 - r)
    start = total.subs(power, r) - 1
    step = total.subs(power, power * r) - total - power
    gap = 1 - 1 / total
    slack = supremum - gap
    return (
        sp.cancel(start),
        sp.cancel(step),
        sp.cancel(slack - power * (1 - r) / (1 - power)),
        sp.cancel(sp.limit(sp.cancel(slack), power, 0)),
    )


def score_range_residual(low: int = 0, high: int = 1) -> sp.Expr:
    """Worst |x_L . (mean - x_{s-1})| / d on [low, high]^d, less (high - low): zero on [0, 1] and [-1, 1].

    It is linear in each argument and a sum over coordinates, so corners decide, one coordinate at a time.
    """
    corners = (sp.Integer(low), sp.Integer(high))
    worst = max(abs(last * (mean - own)) for last in corners for mean in corners for own in corners)
    return worst - (high - low)


def _copies(tokens: Sequence[int]) -> dict[int, sp.Expr]:
    """y_s for s = 2..L-1 in one dimension: weights r^j on x_{s-1-j}, normalised."""
    copies = {}
    for s in range(2, len(tokens)):
        total = sp.Add(*(r**j for j in range(s - 1)))
        copies[s] = sp.Add(*(r**j * tokens[s - 2 - j] for j in range(s - 1))) / total
    return copies


def first_order_error(tokens: Sequence[int]) -> sp.Expr:
    """Coefficient of (d / sigma) e^{-p} in IH - TF as p -> infinity, times the all-ones vector; tokens in {-1, 0, 1}.

    A rational function of e^{d/sigma} (`match_weight`) and e^{-m} (`decay`).
    """
    length, last = len(tokens), tokens[-1]
    weight = {s: match_weight ** (last * tokens[s - 2]) * decay ** (length - s) for s in range(2, length)}
    total = sp.Add(*weight.values())
    mean = sp.Add(*(weight[s] * tokens[s - 1] for s in weight)) / total
    tilt = {s: last * sp.diff(copy, r).subs(r, 0) for s, copy in _copies(tokens).items()}
    change = sp.Add(*(weight[s] / total * tilt[s] * (tokens[s - 1] - mean) for s in weight))
    return sp.cancel(-change)


def slope_witness_residual(domain: str, constant: sp.Expr) -> sp.Expr:
    """x = (low, 1, low, 1 | 1) at m = (1 - low) d / sigma: |IH - TF| / ((d/sigma) e^{-p}) -> 1/2 on [0,1], 2 on [-1,1].

    The limit is first p -> infinity, then d / sigma -> infinity. Zero for these constants, the slopes of the bounds.
    """
    low = 0 if domain == "unit" else -1
    error = first_order_error((low, 1, low, 1, 1)).subs(decay, match_weight ** (low - 1))
    return sp.limit(sp.Abs(sp.cancel(error)), match_weight, sp.oo) - constant


def flat_witness_residual(factor: sp.Expr = sp.S.One / 4) -> sp.Expr:
    """x = (0, 1, 1, 0 | 1) at any m: |IH - TF| / ((d/sigma) e^{-p}) -> sech^2(m/2) / 4; zero for `factor` 1/4."""
    error = sp.limit(first_order_error((0, 1, 1, 0, 1)), match_weight, sp.oo)
    claimed = factor / sp.cosh(slope / 2) ** 2
    return sp.simplify((error.subs(decay, sp.exp(-slope)) - claimed).rewrite(sp.exp))


def uniform_sharpness_residual(domain: str = "unit", lean: int = 1) -> sp.Expr:
    """Limit of |IH - TF| minus the bound as r -> 0 with d r / sigma = c fixed, any c > 0: zero, so the bound is sharp.

    x = (low, 1, low, 1 | 1), m = (1 - low)(d / sigma - lean c): the scores of tokens 3 and 4 differ by (1 - low) c in
    IH and by -(1 - low) c in TF, and token 2 loses all weight. `lean` = 0 gives up the balance, and tanh(c) / 2 is all.
    """
    low = 0 if domain == "unit" else -1
    tokens = (low, 1, low, 1, 1)
    product = spread / r
    m = (1 - low) * (product - lean * spread)

    def relative(keys, s):
        """Score of token s less that of token 4."""
        return sp.cancel(product * (keys[s] - keys[4]) - m * (4 - s))

    true = {s: sp.Integer(tokens[s - 2]) for s in (2, 3, 4)}
    copies = {s: copy for s, copy in _copies(tokens).items() if s in true}
    outputs = []
    for keys in (true, copies):
        if sp.limit(relative(keys, 2), r, 0) is not sp.S.NegativeInfinity:
            return sp.nan
        odds = sp.exp(sp.limit(relative(keys, 3), r, 0))
        outputs.append((odds * tokens[2] + tokens[3]) / (odds + 1))
    bound = sp.tanh(spread / 2) if domain == "unit" else 2 * sp.tanh(spread)
    return sp.simplify((outputs[1] - outputs[0] - bound).rewrite(sp.exp))
