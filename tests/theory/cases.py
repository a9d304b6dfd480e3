"""What the rooms of `theory` share in their tests: drawn numbers, a softmax, and how a refusal looks."""

import numpy as np
import pytest
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def leaves(found):
    """What is in tuples and lists, at any depth."""
    return [x for part in found for x in leaves(part)] if isinstance(found, tuple | list) else [found]


def refuses(call, words):
    """Its ValueError of one line, not a long one, that says so."""
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is ValueError and "\n" not in message and words in message, message
    assert len(message) < 400
    return message


def head(seed, keys, width=2, batch=()):
    """Logits (*batch, keys) and values (*batch, keys, width), of a seed or a generator."""
    rng = np.random.default_rng(seed)
    return rng.normal(scale=2.0, size=(*batch, keys)), rng.normal(size=(*batch, keys, width))
