"""Sums over the tokens of a head, token by token at 50 digits, and tokens to be dropped."""

import mpmath as mp
import numpy as np


def _weights(logits):
    return [mp.exp(mp.mpf(float(x))) for x in logits]


def log_sum(logits):
    """log sum e^x."""
    with mp.workdps(50):
        return float(mp.log(mp.fsum(_weights(logits))))


def mean(logits, values):
    """sum e^x v / sum e^x."""
    with mp.workdps(50):
        weights, columns = _weights(logits), np.transpose(values).astype(float).tolist()
        return np.array([float(mp.fdot(weights, column) / mp.fsum(weights)) for column in columns])


def mass(logits, dropped):
    """The share of the dropped tokens."""
    return mean(logits, np.transpose([dropped]))[0]


def dropped_tokens(seed):
    """A generator, keys (n, width) and values (n, 2)."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(1, 10)), int(rng.integers(1, 4))
    return rng, rng.normal(size=(n, width)), rng.normal(size=(n, 2))
