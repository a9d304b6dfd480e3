"""Sampled attentions, tokens for them, and a cache that holds some."""

import torch
from hypothesis import strategies as st
from torch import Tensor

from dynamics.model.attention import KVShiftAttention
from dynamics.model.cache import KVCache

TOLERANCE = 1e-12  # float64 rounding in sums of a few dozen terms of order one


def attention(seed: int = 0, **choices) -> KVShiftAttention:
    """A float64 attention of width 8 with coefficients of either sign."""
    generator = torch.Generator().manual_seed(seed)
    module = KVShiftAttention(8, choices.pop("n_heads", 2), generator=generator, **choices).double()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            scale = 1.0 if name in ("alpha", "beta", "gamma") else 0.5
            parameter.normal_(0.0, scale, generator=generator)
    return module


def tokens(batch: int, length: int, seed: int = 1) -> Tensor:
    return torch.randn(batch, length, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@st.composite
def attentions(draw) -> KVShiftAttention:
    window = draw(st.integers(1, 4))
    kinds = ["free", "clip", "gate"] if window == 2 else ["free", "clip"]
    kv_heads = draw(st.integers(1, 2))
    return attention(
        draw(st.integers(0, 10_000)),
        n_heads=kv_heads * draw(st.integers(1, 3)),
        n_kv_heads=kv_heads,
        head_dim=draw(st.sampled_from([2, 4])),
        window=window,
        shift=draw(st.sampled_from(["none", "k", "v", "kv", "qkv"])),
        parameters=draw(st.sampled_from(kinds)),
        position=draw(st.sampled_from(["rope", "alibi", "none"])),
        sliding_window=draw(st.none() | st.integers(1, 4)),
        start=draw(st.sampled_from(["zero", "carried", "learnt"])),
    )


def gap(left: Tensor, right: Tensor) -> float:
    assert left.shape == right.shape
    return (left - right).abs().max().item()


def filled(batch=2, capacity=None):
    cache = KVCache(capacity)
    with torch.no_grad():
        attention()(tokens(batch, 3), cache=cache)
    return cache
