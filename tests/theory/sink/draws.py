"""Attention matrices, heads and refusals that the tests of this room share."""

import numpy as np
import pytest
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def causal(rng, length, scale=2.0, batch=()):
    """Random causal attention (*batch, length, length)."""
    logits = rng.normal(scale=scale, size=(*batch, length, length))
    return softmax(np.where(np.tri(length, dtype=bool), logits, -np.inf))


def head(rng, keys, width=2, batch=(), scale=2.0):
    """Logits (*batch, keys) and values (*batch, keys, width)."""
    return rng.normal(scale=scale, size=(*batch, keys)), rng.normal(size=(*batch, keys, width))


def refuses(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert type(caught.value) is ValueError and "\n" not in str(caught.value)
