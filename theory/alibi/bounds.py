"""How far an ALiBi head can see: slopes, the scope as printed, and bounds that are attained.

The head adds -slope * distance to the logit of a token. Its logits, over all post-norm states, spread at most by D for
one query (`logit_range`), and exceed the logit of the query's own token at most by D_s <= D (`self_gap`). All bounds
follow from one remark: given the query, a weight grows with its own logit and falls with every other one, and those
are chosen independently - except the query's own, which is forced.
Source: RazorAttention, Theorem 1 and Appendix A, whose bound is not true; what is proved instead is said below.
Everything is computed from logarithms: D reaches thousands. Distances, slopes, ranges, gaps and eps broadcast: numbers
give a float, arrays an array.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory.alibi import ranges
from theory.alibi.head import Head, checked, of_head, product_norm, spectral_range
from theory.alibi.logs import (
    gap_within,
    less,
    log_1m_exp,
    log_expm1,
    log_odds,
    log_sum_of_powers,
    odds_times_power,
    one_less,
    softplus,
)
from theory.checked import NONNEGATIVE, POSITIVE, SHARE, elementwise, index, real, reals, shown, sized
from theory.records import comparable


def slopes(n_heads: int) -> list[float]:
    """ALiBi's slopes: 2^(-8h/n) for h = 1..n, n a power of two; else those of the power below, then every other above.

    Source: Press et al. (arXiv:2108.12409), section 3 and the authors' recipe for other head counts.
    Raises: ValueError for n_heads < 1.
    """
    n_heads = index("n_heads", n_heads, 1)
    below = 1 << (n_heads.bit_length() - 1)
    first = [2.0 ** (-8.0 * h / below) for h in range(1, below + 1)]
    return first + [2.0 ** (-4.0 * h / below) for h in range(1, 2 * (n_heads - below), 2)]


@of_head("w_q w_k gamma norm_bias slope eps")
@elementwise("slope", "eps")
@sized()
def printed_scope(head: Head, slope: float, eps: float) -> float:
    """L_h = (2 ||W_Q^T W_K||_2 (||gamma||^2 + ||b||^2) - ln eps) / slope, as printed: not a bound in general.

    Source: RazorAttention, Theorem 1, Eq. 2 (which writes W_Q W_K; without 1/sqrt(d_head)).
    `theory.alibi.printed.printed_condition` decides for which gains and bias it is a bound for every head.
    Args: w_q, w_k (d_head, d_model); gamma, norm_bias (d_model,), norm_bias None for 0; slope > 0; eps in (0, 1).
    """
    weights = checked(head)
    product = product_norm(weights.w_q, weights.w_k)
    return printed_scope_of_norm(product, weights.gamma, weights.norm_bias, slope, eps)


@elementwise("product", "slope", "eps")
@sized()
def printed_scope_of_norm(
    product: float, gamma: ArrayLike, norm_bias: ArrayLike | None, slope: float, eps: float
) -> float:
    """`printed_scope` computed from one norm of the head, product = ||W_Q^T W_K||_2 >= 0; other arguments as there."""
    slope, eps = real("slope", slope, POSITIVE), real("eps", eps, SHARE)
    product, gains = real("product", product, NONNEGATIVE), reals("gamma", gamma)
    if gains.ndim != 1 or not gains.size:
        raise ValueError(f"gamma has shape {gains.shape}: expected (d_model,)")
    norms = float(gains @ gains)
    if norm_bias is not None:
        bias = reals("norm_bias", norm_bias, shape=gains.shape)
        norms = float(gains @ gains + bias @ bias)
    return (2 * product * norms - math.log(eps)) / slope


@of_head("w_q w_k gamma norm_bias slope eps query_bias")
@elementwise("slope", "eps")
@sized(infinite=True)
def spectral_scope(head: Head, slope: float, eps: float) -> float:
    """A valid scope from spectral norms alone: `scope` at D = 2 ||M|| r (r + ||b||), r = sqrt(d) max|gamma|.

    The repair of the printed form; M = W_Q^T W_K / sqrt(d_head). Arguments as in `printed_scope`; inf where it
    overflows.
    """
    return scope(slope, spectral_range(checked(head)), eps)


@elementwise("distance", "slope", "logit_range", "self_gap")
def weight_bound(distance: float, slope: float, logit_range: float, self_gap: float | None = None) -> float:
    """Bound on the attention to the token at this distance: 1/(1 + e^{slope n} (e^{-D_s} + g_n e^{-D})).

    n = distance, g_n = sum_{j=1}^{n-1} e^{-slope j}. Without self_gap, D_s = D: 1/(1 + e^{-D} phi(n)) with
    phi(n) = sum_{j=1}^{n} e^{slope j} = (e^{slope n} - 1)/(1 - e^{-slope}); then the supremum over contexts of every
    length > n, attained, wherever D_s = D. Strictly decreasing in n; the value underflows to 0 where the weight is
    below 5e-324 (`log_weight_bound` does not).
    Args: distance >= 0 (0 is the query itself); slope >= 0; logit_range >= 0; self_gap in [0, logit_range].
    Returns: a number in [0, 1]. Raises: ValueError for an argument outside of its range.
    """
    return math.exp(log_weight_bound(distance, slope, logit_range, self_gap))


@elementwise("distance", "slope", "logit_range", "self_gap")
def log_weight_bound(distance: float, slope: float, logit_range: float, self_gap: float | None = None) -> float:
    """The logarithm of `weight_bound`, finite for every distance unless slope * distance overflows: then -inf."""
    distance, slope = real("distance", distance, NONNEGATIVE), real("slope", slope, NONNEGATIVE)
    logit_range = real("logit_range", logit_range, NONNEGATIVE)
    gap = logit_range if self_gap is None else gap_within(self_gap, logit_range)
    if self_gap is None or distance < 1:
        return -softplus(log_sum_of_powers(distance, slope, logit_range))
    # e^{slope n} g_n = phi(n - 1): the tokens between
    if math.isinf(slope * distance):
        return -math.inf
    own = less(slope, distance, gap)
    between = log_sum_of_powers(one_less(distance), slope, logit_range)
    return -softplus(max(own, between) + math.log1p(math.exp(-abs(own - between))))


@elementwise("distance", "slope", "self_gap")
def masked_weight_bound(distance: float, slope: float, self_gap: float) -> float:
    """Bound on the same weight where any token between may be masked: 1/(1 + e^{slope n - D_s}), attained.

    Only the query's own token is then sure to be summed. Args: distance > 0; slope >= 0; self_gap >= 0.
    """
    distance, slope = real("distance", distance, POSITIVE), real("slope", slope, NONNEGATIVE)
    self_gap = real("self_gap", self_gap, NONNEGATIVE)
    return math.exp(-softplus(less(slope, distance, self_gap)))


@elementwise("slope", "logit_range", "eps")
def scope(slope: float, logit_range: float, eps: float) -> float:
    """The distance from which no weight exceeds eps: (1/slope) ln(1 + (1/eps - 1)(1 - e^{-slope}) e^D).

    The inverse of `weight_bound` without a self gap, so sharp wherever D_s = D. At slope 0 (no position, or a rotary
    head with D over all rotations) it is (1/eps - 1) e^D: no logarithm.
    Args: slope >= 0; logit_range >= 0; eps in (0, 1). Returns: a real number >= 0, inf where it overflows.
    """
    slope, eps = real("slope", slope, NONNEGATIVE), real("eps", eps, SHARE)
    logit_range = real("logit_range", logit_range, NONNEGATIVE)
    if slope < 1e-13:  # here the logarithms below would cancel
        odds = odds_times_power(eps, logit_range)
        if slope == 0 or odds * slope < 1e-17:  # ln(1 + x) is x there
            return odds
        if math.isfinite(odds):
            return math.log1p(odds * -math.expm1(-slope)) / slope
    return softplus(log_odds(eps) + logit_range + log_1m_exp(slope)) / slope


@elementwise("window", "slope", "logit_range", "n_tokens")
def dropped_mass_bound(window: float, slope: float, logit_range: float, n_tokens: float | None = None) -> float:
    """Bound on the total attention to distances >= window: 1/(1 + e^{-D} (e^{slope window} - 1)).

    The supremum over contexts of every length wherever D_s = D; for a context of n_tokens (the query among them) the
    e^{slope window} - 1 is divided by 1 - e^{-slope (n_tokens - window)}. Without a slope that leaves
    (n_tokens - window)/(n_tokens - window + window e^{-D}), and 1 for contexts of any length.
    Args: window >= 0, the number of tokens kept; slope >= 0; logit_range >= 0; n_tokens None for any length.
    Returns: a number in [0, 1]; 0 where n_tokens <= window.
    """
    window, slope = real("window", window, NONNEGATIVE), real("slope", slope, NONNEGATIVE)
    logit_range = real("logit_range", logit_range, NONNEGATIVE)
    if n_tokens is not None:
        n_tokens = real("n_tokens", n_tokens, NONNEGATIVE)
        if n_tokens <= window:
            return 0.0
    if window == 0:
        return 1.0
    if slope == 0:
        odds = (-math.inf if n_tokens is None else math.log(window) - math.log(n_tokens - window)) - logit_range
    else:
        odds = log_expm1(slope, window, logit_range)
        if n_tokens is not None:
            odds -= log_1m_exp(slope, n_tokens - window)
    return math.exp(-softplus(odds))


@elementwise("slope", "logit_range", "mass")
def window_for_mass(slope: float, logit_range: float, mass: float) -> float:
    """The window outside of which the total attention is at most mass: (1/slope) ln(1 + (1/mass - 1) e^D).

    At most (D - ln mass)/slope: the form of the printed scope bounds the mass of all tokens beyond it, not one weight.
    Args: slope >= 0; logit_range >= 0; mass in (0, 1). Returns: a real number > 0, inf at slope 0 and where
    it overflows.
    """
    mass, slope = real("mass", mass, SHARE), real("slope", slope, NONNEGATIVE)
    logit_range = real("logit_range", logit_range, NONNEGATIVE)
    return math.inf if slope == 0 else softplus(log_odds(mass) + logit_range) / slope


@comparable
class Scopes(NamedTuple):
    """How far a head sees: D, D_s, the sharp `scope` of D, and beside it `printed_scope` and `spectral_scope`.

    The scopes are numbers, or arrays of the shape that slope and eps have together.
    """

    logit_range: float
    self_gap: float
    scope: float | np.ndarray
    printed_scope: float | np.ndarray
    spectral_scope: float | np.ndarray


def head_scope(head: Head, slope: ArrayLike, eps: ArrayLike) -> Scopes:
    """From a head's matrices to its scope: `logit_range` and `self_gap`, then `scope` at that range.

    Args: slope > 0 and eps in (0, 1), which broadcast. The printed scope knows no query bias.
    Raises: ValueError as these functions do, among others for w_q or w_k that look transposed.
    """
    if not isinstance(head, Head):
        raise ValueError(f"head must be a Head, got {shown(head)}")
    wide = ranges.logit_range(head)
    return Scopes(
        wide,
        ranges.self_gap(head),
        scope(slope, wide, eps),
        printed_scope(head, slope, eps),
        spectral_scope(head, slope, eps),
    )
