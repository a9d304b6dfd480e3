"""Sharp error bounds for the heads of KV shifting, Section 3.1, beside the bounds as printed. Arguments broadcast.

Write r = e^{-p}. Layer 1 puts the share (1 - r) / (1 - r^{s-1}) on x_{s-1}, so it misses by less than r, and the scores
of layer 2 are off by x_L . (mean - x_{s-1}) / sigma times that. A change of the scores of range w moves at most
tanh(w / 4) of a softmax (two blocks of positions are the worst case), and a mean moves by that times the range of a
coordinate. The steps are proved in `theory.induction.sharpness`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from theory.checked import NONNEGATIVE, POSITIVE, choice, elementwise, real, reals, sized, whole, wholes
from theory.induction.network import Array
from theory.records import comparable

Domain = Literal["unit", "symmetric", "ball"]
LARGEST = np.finfo(np.float64).max


@comparable
class SharpCase(NamedTuple):
    """Tokens (5, dim) and the slope m at which the error reaches `copy_error_bound` as e^{-p} -> 0."""

    x: Array
    slope: float


@sized()
def copy_error_bound(dim: ArrayLike, sigma: ArrayLike, copy_slope: ArrayLike, domain: Domain) -> Array:
    """Bound on |IH - TF| in each coordinate, every length and every slope m >= 0, p = copy_slope.

    tanh(d e^{-p} / (2 sigma)) for tokens in [0, 1]^d ("unit"), 2 tanh(d e^{-p} / sigma) in [-1, 1]^d ("symmetric") and
    2 tanh(e^{-p} / sigma) in the Euclidean unit ball ("ball").
    Source: sharpens KV shifting, Theorem 3.2 and the last line of Appendix A, which has no bound without such a domain.
    Valid when: layer 1 is strictly causal and layer 2 sees {2..L-1}. Not reached; the supremum in the limit
    p -> infinity with d e^{-p} / sigma held at any value (`sharp_case`).
    Raises ValueError unless dim >= 1 is whole, sigma > 0, copy_slope >= 0, all finite.
    """
    choice("domain", domain, get_args(Domain))
    size = wholes("dim", dim, 1)
    sigma = reals("sigma", sigma, POSITIVE)
    across = np.ones_like(size) if domain == "ball" else size
    missed = _missed(across, sigma, reals("copy_slope", copy_slope, NONNEGATIVE))
    return np.tanh(missed / 2.0) if domain == "unit" else 2.0 * np.tanh(missed)


@sized(infinite=True)
def printed_copy_error_bound(dim: ArrayLike, sigma: ArrayLike, copy_slope: ArrayLike) -> Array:
    """4 (d / sigma) e^{-p} / (1 - e^{-p}), the last line of Appendix A; at least 8 times the sharp one on [0, 1]^d.

    Infinite where it overflows.
    Raises ValueError unless dim >= 1 is whole, sigma > 0, copy_slope > 0 (at 0 it is infinite), all finite.
    """
    size = wholes("dim", dim, 1)
    sigma = reals("sigma", sigma, POSITIVE)
    copy_slope = reals("copy_slope", copy_slope, POSITIVE)
    with np.errstate(over="ignore"):
        return 4.0 * _missed(size, sigma, copy_slope) / -np.expm1(-copy_slope)


def _missed(size: Array, sigma: Array, copy_slope: Array) -> Array:
    """(d / sigma) e^{-p}, inf where it overflows: neither factor alone has to be a float."""
    (top, i), (bottom, j) = np.frexp(size), np.frexp(sigma)
    near = np.minimum(copy_slope, 600.0)
    far = np.minimum(copy_slope - near, 4000.0)  # where e^-p is 0 at any d / sigma
    halvings = np.rint(far / np.log(2.0))
    power = np.exp(-near) * np.exp(halvings * np.log(2.0) - far)
    with np.errstate(over="ignore"):
        return np.ldexp(top / bottom * power, i - j - halvings.astype(int))


@sized()
def softmax_change_bound(change: ArrayLike) -> Array:
    """||softmax(u) - softmax(v)||_1 <= 2 tanh((max(u - v) - min(u - v)) / 4); `change` is u - v, positions last.

    Reached by two positions at u = -v. Source: sharpens the "Lemma D.1" that Appendix A of KV shifting quotes.
    Raises ValueError for an empty or infinite `change`.
    """
    change = reals("change", change)
    if change.ndim < 1 or change.shape[-1] < 1:
        raise ValueError(f"change must have at least one position, got shape {change.shape}")
    return 2.0 * np.tanh(np.max(change, axis=-1) / 4.0 - np.min(change, axis=-1) / 4.0)


def printed_softmax_change_bound(change: ArrayLike) -> Array:
    """2 sup_s |u_s - v_s|, as Appendix A uses it; at least twice `softmax_change_bound`, inf where it overflows."""
    softmax_change_bound(change)
    with np.errstate(over="ignore"):  # an infinite bound is still one
        return 2.0 * np.max(np.abs(reals("change", change)), axis=-1)


@elementwise("sigma", "copy_slope")
@sized()
def sharp_case(dim: int, sigma: float, copy_slope: float, domain: Domain) -> SharpCase:
    """Tokens of length 5 whose error tends to `copy_error_bound` as p -> infinity with d e^{-p} / sigma fixed.

    The tokens are low, high, low, high, high. Token 3 follows a high one and loses score, token 4 follows a low one and
    gains some; m is set so that their scores in IH differ by +c and in TF by -c, the balanced worst case.
    Raises ValueError as `copy_error_bound` does.
    """
    copy_error_bound(dim, sigma, copy_slope, domain)
    dim, sigma = whole("dim", dim, 1), real("sigma", sigma, POSITIVE)
    copy_slope = real("copy_slope", copy_slope, NONNEGATIVE)
    low = 0.0 if domain == "unit" else -1.0
    token = np.ones(dim) if domain != "ball" else np.eye(dim)[0]
    product = (dim if domain != "ball" else 1) / sigma
    ratio = np.exp(-copy_slope)
    lost = ratio / (1.0 + ratio) + ratio / (1.0 + ratio + ratio**2)  # of token 3 and of token 4
    slope = (1.0 - low) * product * (1.0 - lost / 2.0)
    return SharpCase(np.array([low, 1.0, low, 1.0, 1.0])[:, None] * token, float(slope))


@sized(infinite=True)
def matched_discrepancy_bound(length: ArrayLike, match: ArrayLike, sigma: ArrayLike, slope: ArrayLike) -> Array:
    """epsilon <= 2 e^{-1/sigma + m (L - i - 1)} for orthonormal tokens, x_i = x_L, i = match <= L - 2, x_{L-1} != x_L.

    Infinite where it overflows. The exponent is rounded upwards where 1/sigma exceeds 1000, by 2^-50 of the excess.
    Source: KV shifting, Theorem 3.3 under the causal mask. Raises ValueError unless 1 <= match <= length - 2,
    sigma > 0, slope >= 0.
    """
    length, match = wholes("length", length, 3), wholes("match", match, 1)
    if not (match <= length - 2).all():
        raise ValueError(f"match must lie in 1..length - 2, got {match} with length {length}")
    sigma, slope = reals("sigma", sigma, POSITIVE), reals("slope", slope, NONNEGATIVE)
    with np.errstate(over="ignore"):
        return 2.0 * np.exp(_lead(slope, length - match - 1.0, sigma))


def _lead(slope: Array, places: Array, sigma: Array) -> Array:
    """m places - 1/sigma, rounded upwards by 2^-50 of the excess of 1/sigma over 1000: large ones may cancel."""
    other = 1.0 / sigma
    one = np.where(np.isinf(other) & (slope * sigma * places < 0.5), 0.0, slope * places)  # both may overflow
    other = np.minimum(other, LARGEST)
    return one - other + 2.0**-50 * np.maximum(other - 1000.0, 0.0)


@sized()
def ball_discrepancy_bound(length: ArrayLike, sigma: ArrayLike, slope: ArrayLike) -> Array:
    """epsilon <= a / (a + Z) for tokens in the unit ball.

    a = e^{-m(L-1)} + e^{1/sigma}, Z = e^{-1/sigma} sum_{j=1}^{L-2} e^{-mj}.
    Reached at x_1 = .. = x_{L-2} = -u, x_{L-1} = x_L = u with |u| = 1.
    For L -> infinity it tends to t / (1 + t), t = e^{2/sigma} (e^m - 1).
    Source: KV shifting, Theorem 3.3 under the causal mask. Raises ValueError unless length >= 3, sigma > 0, slope >= 0.
    """
    length = wholes("length", length, 3)
    sigma, slope = reals("sigma", sigma, POSITIVE), reals("slope", slope, NONNEGATIVE)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        inverse = 1.0 / sigma
        geometric = np.exp(-slope) * np.expm1(-slope * (length - 2.0)) / np.expm1(-slope)
        terms = np.where(slope > 0, geometric, length - 2.0)
        ends = np.exp(-slope * (length - 1.0) - inverse) + 1.0  # everything divided by e^{1/sigma}
        return ends / (ends + np.exp(-2.0 * inverse) * terms)


@sized()
def latest_successor_bound(
    length: ArrayLike, match: ArrayLike, gap: ArrayLike, sigma: ArrayLike, slope: ArrayLike
) -> Array:
    """Least weight of IH on x_{i+1}: 1 / (1 + (L - 3) max(e^{-m gap}, e^{m (L - i - 2) - 1/sigma})).

    For orthonormal tokens, i = match <= L - 2 the latest x_i = x_L before L - 1, `gap` at most its distance to the one
    before. So IH reads the latest match when m gap and 1/sigma - m (L - i - 2) both grow faster than log L. The last
    exponent is rounded as in `matched_discrepancy_bound`.
    Source: repairs the sentence after Definition 3.1, which lets m -> 0; the weights of two matches then become equal.
    Raises ValueError unless 1 <= match <= length - 2, gap >= 1, sigma > 0, slope >= 0.
    """
    length, match = wholes("length", length, 3), wholes("match", match, 1)
    if not (match <= length - 2).all():
        raise ValueError(f"match must lie in 1..length - 2, got {match} with length {length}")
    gap = wholes("gap", gap, 1)
    sigma, slope = reals("sigma", sigma, POSITIVE), reals("slope", slope, NONNEGATIVE)
    others = length - 3.0
    with np.errstate(over="ignore"):
        power = np.maximum(-slope * gap, _lead(slope, length - match - 2.0, sigma))
    return np.where(others > 0, np.exp(-np.logaddexp(0.0, np.log(np.maximum(others, 1.0)) + power)), 1.0)
