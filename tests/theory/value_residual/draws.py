"""Random heads for the tests of this room."""

import numpy as np
from hypothesis import strategies as st

from tests.theory.cases import softmax

LAMBDAS = st.floats(0.01, 20.0)


def generator(seed):
    return np.random.default_rng(seed)


def attention(rng, *shape, causal=False, scale=2.0):
    """Softmax matrices (*shape[:-1], length, length) of normal logits."""
    length = shape[-1]
    logits = scale * rng.standard_normal((*shape, length))
    return softmax(np.where(np.tri(length) > 0, logits, -np.inf) if causal else logits)


def stack(rng, layers, scale=2.0):
    """Softmax matrices of the layers, for four tokens, and their first values, of width 2."""
    return attention(rng, layers, 4, scale=scale), rng.standard_normal((4, 2))


def close(left, right, tolerance=1e-12):
    """Whether two arrays differ by no more than that, of the larger one's size."""
    left, right = np.asarray(left), np.asarray(right)
    size = max(1.0, float(np.abs(left).max()), float(np.abs(right).max()))
    return left.shape == right.shape and bool((np.abs(left - right) <= tolerance * size).all())

