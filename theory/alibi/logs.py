"""Sums of exponentials by their logarithms, for the ALiBi bounds."""

from __future__ import annotations

import math

from theory.checked import NONNEGATIVE, real


def log_sum_of_powers(count: float, slope: float) -> float:
    """ln sum_{j=1}^{count} e^{slope j}, for real count >= 0; -inf at 0."""
    if count == 0:
        return -math.inf
    if slope * max(count, 1.0) < 1e-16:
        return math.log(count)
    return log_expm1(slope * count) - log_1m_exp(slope)


def log_expm1(x: float) -> float:
    """ln(e^x - 1) for x >= 0; -inf at 0."""
    return x + log_1m_exp(x)


def log_1m_exp(x: float) -> float:
    """ln(1 - e^-x) for x >= 0; -inf at 0."""
    return math.log(-math.expm1(-x)) if x > 0 else -math.inf


def softplus(x: float) -> float:
    """ln(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def log_odds(share: float) -> float:
    """ln(1/share - 1)."""
    return math.log1p(-share) - math.log(share)


def odds_times_power(share: float, x: float) -> float:
    """(1/share - 1) e^x, inf where it overflows; sums of logarithms would lose digits."""
    return (1.0 - share) / share * math.exp(x) if x < 709.0 else math.inf


def gap_within(self_gap: float, logit_range: float) -> float:
    """A self gap as a float. Raises ValueError below 0 and above the logit range."""
    value = real("self_gap", self_gap, NONNEGATIVE)
    # float rounding may put the two a few units apart where they are equal
    if value > logit_range * (1 + 1e-9):
        raise ValueError(f"self_gap must be at most logit_range = {logit_range}, got {value}")
    return value
