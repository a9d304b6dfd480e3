"""Sampled attentions and the gaps that are zero for a right implementation."""

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


def lengths() -> st.SearchStrategy[list[int]]:
    """Lengths of chunks or of documents."""
    return st.lists(st.integers(1, 4), min_size=1, max_size=3)


def gap(left: Tensor, right: Tensor) -> float:
    assert left.shape == right.shape
    return (left - right).abs().max().item()


def chunked(module: KVShiftAttention, x: Tensor, sizes: list[int], cache: KVCache, padding: Tensor | None = None):
    """Outputs of consecutive chunks through one cache, joined."""
    parts, first = [], True
    for chunk in x.split(sizes, dim=1):
        parts.append(module(chunk, cache=cache, padding=padding if first else None))
        first = False
    return torch.cat(parts, dim=1)


def chunked_gap(module: KVShiftAttention, sizes: list[int], cache: KVCache | None = None) -> float:
    x = tokens(2, sum(sizes))
    return gap(chunked(module, x, sizes, KVCache() if cache is None else cache), module(x))


def packed_gap(module: KVShiftAttention, sizes: list[int], pads: int = 0) -> float:
    """Documents of the given sizes packed after some left pads, outputs and weights against each one run alone."""
    x = tokens(1, pads + sum(sizes))
    # Ids alternate between two values: a document is a run of equal ids, not an id.
    ids = torch.cat([torch.zeros(pads, dtype=torch.long)] + [torch.full((n,), i % 2) for i, n in enumerate(sizes)])
    extra = {"segment_ids": ids[None], "padding": torch.tensor([pads]) if pads else None}
    whole, shown = module(x, **extra), module.weights(x, **extra)
    alone, weights, end = torch.zeros_like(whole), torch.zeros_like(shown), pads
    for document in x[:, pads:].split(sizes, dim=1):
        here = slice(end, end := end + document.shape[1])
        alone[:, here], weights[..., here, here] = module(document), module.weights(document)
    return max(gap(whole[:, pads:], alone[:, pads:]), gap(shown, weights))


def padded_gap(module: KVShiftAttention, real: list[int], sizes: list[int] | None = None) -> float:
    """Rows of `real` tokens behind left pads (run in chunks if sizes are given), against each one run alone."""
    length = max(real) if sizes is None else sum(sizes)
    x, padding = tokens(len(real), length), torch.tensor([length - n for n in real])
    out = module(x, padding=padding) if sizes is None else chunked(module, x, sizes, KVCache(), padding)
    shown = module.weights(x, padding=padding)
    alone, weights = torch.zeros_like(out), torch.zeros_like(shown)
    for i, n in enumerate(real):
        if n:
            row, here = x[i : i + 1, length - n :], slice(length - n, None)
            alone[i, here], weights[i, :, here, here] = module(row)[0], module.weights(row)[0]
    return max(gap(out, alone), gap(shown, weights))


def beam_gap(module: KVShiftAttention, sizes: list[int], beams: list[int], cache: KVCache | None = None) -> float:
    """Chunks, then a reordering of the sequences, then two tokens more, against the reordered sequences run whole."""
    cache = KVCache() if cache is None else cache
    x, more = tokens(3, sum(sizes)), tokens(len(beams), 2, seed=2)
    padding = torch.tensor([0, 1, 0])
    chunked(module, x, sizes, cache, padding)
    cache.reorder(torch.tensor(beams))
    out = torch.cat([module(more[:, :1], cache=cache), module(more[:, 1:], cache=cache)], dim=1)
    whole = module(torch.cat([x[beams], more], dim=1), padding=padding[beams])
    return gap(out, whole[:, -2:])


def filled(batch=2, capacity=None):
    cache = KVCache(capacity)
    with torch.no_grad():
        attention()(tokens(batch, 3), cache=cache)
    return cache
