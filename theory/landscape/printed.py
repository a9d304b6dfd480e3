"""The landscapes that were printed: Eq. 10 with its O(T) held constant, and what the listing of Appendix L draws.

Source: KV shifting (final), Eq. 10, Figure 2 and Appendix L. Both differ from the corrected loss by a few single slips,
each a flag of `Slips`, on the slice alpha2 = 1 - alpha1, beta2 = 1 - beta1. The constant called O(T) in the paper is
`rest` here. With no slip the field is the exact one at T = rest + 4, since T - 4 tokens are "others".
"""

import math
from typing import NamedTuple

import numpy as np

from theory.checked import NONNEGATIVE, Range, real
from theory.landscape.grid import Array, SliceGrid, Terms, evaluate, quotient, slice_axis


class Slips(NamedTuple):
    """One flag a slip; all False gives the exact loss."""

    rest_in_partition: bool = False  # S has the constant where it needs T - 2
    constant_rest: bool = False  # the denominator has the constant where it needs (T - 4) e^{1/S}
    exponential_rest: bool = False  # the denominator has e^constant there
    sum_for_product: bool = False  # a_2 + beta2 for a_2 beta2 in the repeated token
    alpha2_for_alpha1: bool = False  # e^{alpha2} for e^{alpha1} in the tokens i - 1 and T


EXACT = Slips()
EQUATION = Slips(rest_in_partition=True, constant_rest=True, alpha2_for_alpha1=True)
LISTING = Slips(rest_in_partition=True, exponential_rest=True, sum_for_product=True, alpha2_for_alpha1=True)

_LARGEST_REST = 500.0  # beyond it the exponential of the listing comes close to overflow


def printed_grid(
    rest: float,
    slips: Slips = LISTING,
    size: int = 201,
    alpha1: tuple[float, float] = (0.0, 1.0),
    beta1: tuple[float, float] = (0.0, 1.0),
) -> SliceGrid:
    """Loss and slice gradient with the given slips, O(T) = `rest`, on a uniform grid.

    Valid when: 0 <= rest, and rest <= 500 with `exponential_rest`. Raises ValueError otherwise, for `constant_rest`
    together with `exponential_rest`, and for the axes as `slice_axis` does.
    """
    if slips.constant_rest and slips.exponential_rest:
        raise ValueError("the rest of the denominator is either constant or exponential, not both")
    number = real("rest", rest, Range(0.0, _LARGEST_REST if slips.exponential_rest else math.inf))
    rows, columns = slice_axis(size, alpha1, "alpha1"), slice_axis(size, beta1, "beta1")
    return evaluate(rows, columns, _terms(rows, number, slips))


def _terms(alpha1: Array, rest: float, slips: Slips) -> Terms:
    """Exponents relative to the target's, whose numerator is 1 + beta1 (B - 1)."""
    own, previous, zero = np.exp(alpha1), np.exp(1.0 - alpha1), np.zeros_like(alpha1)
    s = 2 * own + previous + (rest if slips.rest_in_partition else rest + 2)
    ds = 2 * own - previous
    edge, d_edge = (previous, -previous) if slips.alpha2_for_alpha1 else (own, own)
    # rows: repeated token, edge tokens, the rest; numerator p + q beta1 over s, target's 1 + beta1 (B - 1) taken off
    p = np.stack([previous - 1, edge - 1, -1 + zero])
    q = np.stack([2 * own - 2 * previous + 1, 2 - edge - previous, 1 - previous])
    dp = np.stack([-previous, d_edge, zero])
    dq = np.stack([2 * own + 2 * previous, previous - d_edge, previous])
    if slips.sum_for_product:  # 2 a_1 beta1 + a_2 + (1 - beta1): the last term is not divided by s
        q[0], dq[0] = 2 * own - previous + 1, 2 * own + previous
    if not (slips.constant_rest or slips.exponential_rest):
        p[2] += 1.0  # (T - 4) e^{1/S}
    weight = np.array([[1.0], [2.0], [np.exp(rest) if slips.exponential_rest else rest]])
    terms = quotient(weight, (p, q), (dp, dq), s, ds)
    if slips.sum_for_product:
        terms.u[0] += 1.0
        terms.v[0] -= 1.0
    return terms


def loss(alpha1: float, beta1: float, rest: float, slips: Slips = LISTING) -> float:
    """The same loss at one point, term by term as printed; `printed_grid` is pinned to it.

    Raises ValueError for numbers that are not finite, a negative rest, and where an exponential overflows.
    """
    alpha1, beta1, rest = real("alpha1", alpha1), real("beta1", beta1), real("rest", rest, NONNEGATIVE)
    with np.errstate(all="ignore"):
        found = _loss(np.float64(alpha1), np.float64(beta1), np.float64(rest), slips)
    if not math.isfinite(found):
        raise ValueError(f"the loss as printed overflows at alpha1 = {alpha1:g}, beta1 = {beta1:g}, rest = {rest:g}")
    return found


def _loss(alpha1: np.float64, beta1: np.float64, rest: np.float64, slips: Slips) -> float:
    own, previous, beta2 = np.exp(alpha1), np.exp(1 - alpha1), 1 - beta1
    s = 2 * own + previous + (rest if slips.rest_in_partition else rest + 2)
    target = (previous * beta1 + beta2) / s
    edge = (beta1 + beta2 * (previous if slips.alpha2_for_alpha1 else own)) / s
    repeated = 2 * own * beta1 / s + (previous / s + beta2 if slips.sum_for_product else previous * beta2 / s)
    others = rest if slips.constant_rest else np.exp(rest) if slips.exponential_rest else rest * np.exp(1 / s)
    return float(np.log(np.exp(target) + 2 * np.exp(edge) + np.exp(repeated) + others) - target)
