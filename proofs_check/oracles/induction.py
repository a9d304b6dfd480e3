"""Brute-force induction heads: loops over positions and coordinates in 50 digits, sharing nothing with `theory`.

Tokens are a list of L lists of d numbers; positions are 1-based, so `x[s - 1]` is x_s.
"""

import mpmath as mp

DIGITS = 50


def _average(weights, rows):
    """Rows averaged with positive weights, one coordinate at a time."""
    return [mp.fdot(weights, column) / mp.fsum(weights) for column in zip(*rows, strict=True)]


def _attended(x, sigma, slope, positions, keys, values):
    """What the last token reads of the values at these positions, with the keys there."""
    weights = []
    for s, key in zip(positions, keys, strict=True):
        weights.append(mp.exp(mp.fdot(x[-1], key) / mp.mpf(sigma) - mp.mpf(slope) * (len(x) - s)))
    return _average(weights, values)


def induction_head(x, sigma, slope):
    """Eq. 7: for each s from 2 to L - 1, look how well the token before s fits the last token, and read token s."""
    with mp.workdps(DIGITS):
        return _attended(x, sigma, slope, range(2, len(x)), x[:-2], x[1:-1])


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
        places = slice(first - 1, len(x) - last_left_out)
        copies = copied_tokens(x, copy_slope, itself)
        return _attended(x, sigma, slope, range(first, len(x) - last_left_out + 1), copies[places], x[places])


def kv_shift(x, sigma, slope, positions, alpha=(0, 1), beta=(1, 0)):
    """Eq. 5-6 at the last position over the given 1-based positions; the token before the first is zero."""
    with mp.workdps(DIGITS):
        pairs = [(x[s - 1], x[s - 2] if s > 1 else [0] * len(x[0])) for s in positions]

        def mixed(own, before):
            return [[own * a + before * b for a, b in zip(*pair, strict=True)] for pair in pairs]

        return _attended(x, sigma, slope, positions, mixed(*map(mp.mpf, alpha)), mixed(*map(mp.mpf, beta)))
