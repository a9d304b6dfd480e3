"""Brute-force induction heads: loops over positions and coordinates in 50 digits, sharing nothing with `theory`.

Tokens are a list of L lists of d numbers; positions are 1-based, so `x[s - 1]` is x_s.
"""

import mpmath as mp

DIGITS = 50


def _dot(a, b):
    total = mp.mpf(0)
    for left, right in zip(a, b, strict=True):
        total += mp.mpf(left) * mp.mpf(right)
    return total


def _average(weights, rows):
    """Rows averaged with positive weights, one coordinate at a time."""
    total = mp.mpf(0)
    for weight in weights:
        total += weight
    mean = []
    for k in range(len(rows[0])):
        value = mp.mpf(0)
        for weight, row in zip(weights, rows, strict=True):
            value += weight * mp.mpf(row[k])
        mean.append(value / total)
    return mean


def induction_head(x, sigma, slope):
    """Eq. 7: for each s from 2 to L - 1, look how well the token before s fits the last token, and read token s."""
    with mp.workdps(DIGITS):
        length = len(x)
        weights, rows = [], []
        for s in range(2, length):
            score = _dot(x[length - 1], x[s - 2]) / mp.mpf(sigma) - mp.mpf(slope) * (length - s)
            weights.append(mp.exp(score))
            rows.append(x[s - 1])
        return _average(weights, rows)


def copied_tokens(x, copy_slope, itself):
    """y_1 .. y_L: what a first layer without queries and keys writes; `itself` lets a token see itself."""
    with mp.workdps(DIGITS):
        copies = []
        for s in range(1, len(x) + 1):
            seen = range(1, s + 1 if itself else s)
            weights = [mp.exp(-mp.mpf(copy_slope) * (s - tau)) for tau in seen]
            rows = [x[tau - 1] for tau in seen]
            copies.append(_average(weights, rows) if rows else [mp.mpf(0)] * len(x[0]))
        return copies


def two_layer(x, sigma, slope, copy_slope, itself=False, first=2, last_left_out=1):
    """The second layer over positions first .. L - last_left_out, matching the last token with the copies."""
    with mp.workdps(DIGITS):
        length = len(x)
        copies = copied_tokens(x, copy_slope, itself)
        weights, rows = [], []
        for s in range(first, length - last_left_out + 1):
            score = _dot(x[length - 1], copies[s - 1]) / mp.mpf(sigma) - mp.mpf(slope) * (length - s)
            weights.append(mp.exp(score))
            rows.append(x[s - 1])
        return _average(weights, rows)


def kv_shift(x, sigma, slope, positions, alpha=(0, 1), beta=(1, 0)):
    """Eq. 5-6 at the last position over the given 1-based positions; the token before the first is zero."""
    with mp.workdps(DIGITS):
        length, dim = len(x), len(x[0])
        weights, rows = [], []
        for s in positions:
            before = x[s - 2] if s > 1 else [0] * dim
            key = [mp.mpf(alpha[0]) * a + mp.mpf(alpha[1]) * b for a, b in zip(x[s - 1], before, strict=True)]
            rows.append([mp.mpf(beta[0]) * a + mp.mpf(beta[1]) * b for a, b in zip(x[s - 1], before, strict=True)])
            weights.append(mp.exp(_dot(x[length - 1], key) / mp.mpf(sigma) - mp.mpf(slope) * (length - s)))
        return _average(weights, rows)
