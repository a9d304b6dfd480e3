"""Sums of exponentials by their logarithms, for the ALiBi bounds."""

from __future__ import annotations

import math
from fractions import Fraction

from theory.checked import NONNEGATIVE, real


def less(rate: float, count: float | Fraction, other: float) -> float:
    """rate count - other, rounded once where the two cancel: there the rounding of a large product would be all."""
    found = float(rate * count) - other
    return float(Fraction(rate) * Fraction(count) - Fraction(other)) if abs(found) < other / 8 else found


def slack(size: float) -> float:
    """What terms of this total size may lose where they cancel: 0 up to 1000, where it is less than 1e-12."""
    return 2.0**-50 * max(size - 1000.0, 0.0)


def one_less(distance: float) -> float | Fraction:
    """distance - 1, without rounding."""
    return distance - 1 if distance < 2**53 else Fraction(distance) - 1


def log_sum_of_powers(count: float | Fraction, slope: float, other: float = 0.0) -> float:
    """ln sum_{j=1}^{count} e^{slope j} - other, for real count >= 0; -inf at 0."""
    if count == 0:
        return -math.inf
    if slope * max(count, 1.0) < 1e-16:
        return math.log(count) - other
    return less(slope, count, other) + (log_1m_exp(slope, count) - log_1m_exp(slope))


def log_expm1(x: float, times: float | Fraction = 1.0, other: float = 0.0) -> float:
    """ln(e^{x times} - 1) - other for x, times >= 0; -inf where one is 0."""
    return less(x, times, other) + log_1m_exp(x, times)


def log_1m_exp(x: float, times: float | Fraction = 1.0) -> float:
    """ln(1 - e^{-x times}) for x, times >= 0; -inf where one is 0."""
    product = float(x * times)
    if product > 1e-290:  # below, a product may have lost its digits
        return math.log1p(-math.exp(-product)) if product > 0.7 else math.log(-math.expm1(-product))
    return math.log(x) + math.log(times) if x > 0 and times > 0 else -math.inf


def softplus(x: float) -> float:
    """ln(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def log_odds(share: float) -> float:
    """ln(1/share - 1)."""
    # near 1/2 it vanishes, and 1 - 2 share is not rounded
    return 2 * math.atanh(1 - 2 * share) if 0.25 < share < 0.75 else math.log1p(-share) - math.log(share)


def odds_times_power(share: float, x: float) -> float:
    """(1/share - 1) e^x, inf where it overflows; sums of logarithms would lose digits."""
    odds = (1.0 - share) / share
    return odds * math.exp(x) if x < 700.0 else odds * math.exp(min(x, 1400.0) - 700.0) * math.exp(700.0)


def gap_within(self_gap: float, logit_range: float) -> float:
    """A self gap as a float. Raises ValueError below 0 and above the logit range."""
    value = real("self_gap", self_gap, NONNEGATIVE)
    # float rounding may put the two a few units apart where they are equal
    if value > logit_range * (1 + 1e-9):
        raise ValueError(f"self_gap must be at most logit_range = {logit_range}, got {value}")
    return value
