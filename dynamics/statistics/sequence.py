"""Confidence sequences for the mean of differences: intervals that hold at all n at once, whoever looks and when.

Without an assumption on the differences no finite interval for their mean is valid. The caller names one of two
assumptions. Below x_i = d_i - m, and n is the number of differences.

"gaussian": d_1, d_2, .. are independent N(mu, sigma^2), sigma unknown (Lai 1976; Wang and Ramdas 2024, "Anytime-valid
t-tests and confidence sequences for Gaussian means with unknown variance"). With S = sum x_i, V = sum x_i^2 and the
effect size delta = (mu - m)/sigma ~ N(0, 1/c^2),

    e_n(m) = sqrt(c^2/(n + c^2)) (1 - S^2/((n + c^2) V))^(-n/2).

Derivation: the mean over delta of prod_i exp(-(x_i/sigma - delta)^2/2) is sqrt(c^2/(n + c^2)) exp(-U/(2 sigma^2)) with
U = V - S^2/(n + c^2); its integral against sigma^(-n) dsigma/sigma is proportional to U^(-n/2); e_n is that over the
same integral at delta = 0. Why it is a martingale: integrating against dsigma/sigma gives the density of
(x_1, .., x_n)/|x_1|, whose law depends on delta alone. So e_n is a likelihood ratio, mixed over delta against
delta = 0, of a sequence whose law at m = mu has no unknown in it: a martingale in the filtration of the ratios
x_i/|x_1|, of mean e_1 = 1. It is none in the filtration of the x_i. Ville: P(e_n(mu) >= 1/alpha for some n) <= alpha.
That event is about all n, so a stop that looks at more than the ratios does no harm. With
r = (alpha^2 c^2/(n + c^2))^(1/n) and W = sum (d_i - mean)^2, e_n(m) < 1/alpha is the same as

    |m - mean| < sqrt((1 - r)(n + c^2) W / (n (n - (1 - r)(n + c^2)))), or any m where n <= (1 - r)(n + c^2).

"symmetric": given |x_1|, |x_2|, .., the signs of x_i = d_i - mu are independent fair coins, as they are for independent
differences, each symmetric about mu, whose spreads and shapes may change; mu is the mean where there is one. R_i is the
rank of |x_i| among |x_1|, .., |x_i|, q_i = Phi^-1((1 + (R_i - 1/2)/i)/2) its normal score, and

    E_n(m) = mean over lambda of prod_i (1 + sign(x_i) tanh(lambda q_i)), lambda > 0 from a fixed finite list.

At m = mu each factor has mean 1 given all |x_j| and the signs before it, so E_n is a martingale of mean 1 in that
filtration. sign(x_i) R_i never grows with m: for j < i, sign(x_i) [|x_j| <= |x_i|] is constant but for falls at
(d_i + d_j)/2 and at d_i. So E_n(m) >= 2/alpha is a half-line of m, which ends at such an average; the other end is that
of -d, with 2/alpha again. The factor is exp(lambda s q)/cosh(lambda q); de la Pena (1999) has exp(lambda x - lambda^2
x^2/2), which is smaller and needs a unit. If variant and baseline are exchangeable, log(variant/baseline) is symmetric
about 0 exactly.

Measured: share of 20,000 sequences of 40 that never exclude the mean, alpha = 0.05, c = 1/2, gaussian / symmetric.
Normal 0.973 / 0.970, t with 3 degrees 0.984 / 0.972, normal with a tenth of them ten times as wide 0.986 / 0.970, drawn
from 16 shipped differences 0.969 / 0.965, spread growing tenfold 0.973 / 0.969, shrinking tenfold 0.979 / 0.973. Too
low: two values 0.861 / 0.970, exponential 0.875 / 0.905, lognormal 0.769 / 0.804. A skewed law is covered by neither.
At the arena's alpha = 5.9e-4 and n <= 12 a gaussian interval fails in 8.5e-3 of exponential sequences and in 2.4e-2 of
lognormal ones, 14 and 40 times alpha, and of normal ones in fewer than alpha. For any law within known bounds there are
intervals, too wide for tens of seeds. Student's 95 % intervals, looked at 39 times, hold in 0.684 of normal sequences.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Method = Literal["gaussian", "symmetric"]
C = 0.5
LARGEST, LARGEST_C = 1e100, 1e3
SIZES = 16  # effect sizes lambda in the list of "symmetric"


def intervals(differences: ArrayLike, alpha: float, method: Method, c: float = C) -> tuple[NDArray, NDArray]:
    """Lower and upper ends after each difference, of shape (n,) each; all hold at once with probability 1 - alpha.

    differences: (n,) in the order in which they came; for "gaussian" also (.., n). Ends are infinite where nothing is
    excluded: at n = 1 always, and under "gaussian" as long as all differences are equal, which it gives probability 0.
    Raises ValueError: no difference, one that is not finite or above 1e100, alpha outside (0, 1), c outside
    [1/1000, 1000], no such method.
    """
    d = _checked(differences, alpha, c)
    if method == "gaussian":
        return _gaussian(d, alpha, c)
    if method != "symmetric":
        raise ValueError(f"method must be gaussian or symmetric, got {method!r}")
    if d.ndim > 1:
        raise ValueError(f"method symmetric takes one sequence of differences, got shape {d.shape}")
    return _lower_end(d, alpha / 2, c), -_lower_end(-d, alpha / 2, c)


def running(low: NDArray, high: NDArray) -> tuple[NDArray, NDArray]:
    """Each interval met with all before it; low > high where they do not meet."""
    return np.maximum.accumulate(low, -1), np.minimum.accumulate(high, -1)


def can_exclude(n: int, alpha: float, method: Method, c: float = C) -> bool:
    """Whether n differences, the most favourable ones, can exclude anything at all."""
    d = np.arange(1.0, n + 1)  # its ranks as they come are the highest, from far below as from 0
    if method == "symmetric":
        return bool(symmetric_log_e(d, 0.0, c)[-1] >= -math.log(alpha / 2))
    return bool(intervals(d, alpha, method, c)[0][-1] > -np.inf)


def gaussian_log_e(differences: ArrayLike, mean: float, c: float = C) -> NDArray:
    """log e_n(mean) after each difference, (.., n); 0 as long as all differences equal the mean."""
    x = _checked(differences, 0.5, c) - mean
    n, total, squares = _counts(x), x.cumsum(-1), (x * x).cumsum(-1)
    share = np.divide(total**2, (n + c * c) * squares, out=np.zeros_like(x), where=squares > 0)
    share = np.minimum(share, n / (n + c * c))  # S^2 <= n V, where rounding and underflow keep it
    found = -np.log1p(n / (c * c)) / 2 - n / 2 * np.log1p(-share)
    return np.where(squares > 0, found, 0.0)


def symmetric_log_e(differences: ArrayLike, mean: ArrayLike, c: float = C) -> NDArray:
    """log E_n(mean) after each difference, (.., n), large where the centre is above mean; mean: a number or (..)."""
    x = _checked(differences, 0.5, c) - np.asarray(mean, dtype=float)[..., None]
    size, n = np.abs(x), x.shape[-1]
    rank = np.tril(size[..., None, :] <= size[..., :, None]).sum(-1)
    number = np.where(x > 0, rank, np.where(x < 0, -rank, 0)) + n
    log_factor = _log_factors(n, c)[np.arange(n), number]
    return _log_mean_exp(log_factor.cumsum(-2))


def _gaussian(d: NDArray, alpha: float, c: float) -> tuple[NDArray, NDArray]:
    n, first = _counts(d), d[..., :1]
    mean = first + (d - first).cumsum(-1) / n
    before = np.concatenate([first, mean[..., :-1]], -1)
    around = ((n - 1) / n * (d - before) ** 2).cumsum(-1)
    lost = -np.expm1((2 * math.log(alpha) - np.log1p(n / (c * c))) / n) * (n + c * c)
    bounded = (n > lost) & (n > 1) & (around > 0)
    half = np.full_like(d, np.inf)
    np.sqrt(np.divide(lost * around, n * (n - lost), where=bounded, out=half), out=half)
    return mean - half, mean + half


def _lower_end(d: NDArray, alpha: float, c: float) -> NDArray:
    """The largest m below which all is excluded, after each difference; -inf for none."""
    return np.array([_last_excluded(d[:n], -math.log(alpha), c) for n in range(1, len(d) + 1)])


def _last_excluded(d: NDArray, level: float, c: float) -> float:
    row, column = np.tril_indices(len(d))
    jumps = np.unique((d[row] + d[column]) / 2)
    between = np.concatenate([[jumps[0] - 1.0 - abs(jumps[0])], (jumps[1:] + jumps[:-1]) / 2])
    # E_n is constant between jumps and falls from one to the next: the excluded pieces come first.
    if symmetric_log_e(d, between[0], c)[-1] < level:
        return -math.inf
    return float(jumps[bisect_left(between, True, key=lambda m: bool(symmetric_log_e(d, m, c)[-1] < level)) - 1])


@lru_cache(16)
def _log_factors(n: int, c: float) -> NDArray:
    """log(1 + sign tanh(lambda q)) for the i-th difference of signed rank r, at [i - 1, r + n, lambda]."""
    sizes = ndtri((1 + (np.arange(SIZES) + 0.5) / SIZES) / 2) / c
    i, signed = np.arange(1, n + 1)[:, None], np.arange(-n, n + 1)
    rank = np.minimum(np.abs(signed), i)
    score = np.sign(signed) * ndtri((1 + np.maximum(rank - 0.5, 0) / i) / 2)
    bet = score[..., None] * sizes
    return bet - np.logaddexp(bet, -bet) + math.log(2)


def _log_mean_exp(values: NDArray) -> NDArray:
    top = values.max(-1)
    return top + np.log(np.exp(values - top[..., None]).mean(-1))


def _counts(d: NDArray) -> NDArray:
    return np.arange(1, d.shape[-1] + 1)


def _checked(differences: ArrayLike, alpha: float, c: float) -> NDArray:
    d = np.asarray(differences, dtype=float)
    if not d.ndim or not d.size:
        raise ValueError("a sequence needs at least one difference")
    wrong = d[~(np.abs(d) <= LARGEST)]
    if wrong.size:
        raise ValueError(f"differences must be finite and at most {LARGEST:g}, got {wrong[0]:g}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha}")
    if not 1 / LARGEST_C <= c <= LARGEST_C:
        raise ValueError(f"c must lie between {1 / LARGEST_C:g} and {LARGEST_C:g}, got {c}")
    return d
