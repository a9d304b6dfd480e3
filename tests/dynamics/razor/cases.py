"""Random plans, streams of queries, keys and values, and the gap between a Razor cache and the masked computation."""

from fractions import Fraction

import torch
from hypothesis import strategies as st

from dynamics.razor.cache import RazorCache
from dynamics.razor.masked import MaskedAttention
from dynamics.razor.plan import RazorPlan
from theory import alibi

TOLERANCE = 1e-10
SCALE = 0.6
KINDS = ("none", "mean", "alibi", "centred")


@st.composite
def plans(draw, n_layers=1, n_heads=None, n_kv_heads=None, kinds=None):
    if n_kv_heads is None:
        n_kv_heads = draw(st.integers(1, 3))
        n_heads = n_kv_heads * draw(st.integers(1, 3))
    compensation = draw(st.sampled_from(kinds or KINDS))
    return RazorPlan(
        n_heads,
        n_kv_heads,
        tuple(draw(st.frozensets(st.integers(0, n_kv_heads - 1))) for _ in range(n_layers)),
        sinks=draw(st.integers(0, 4)),
        buffer=draw(st.integers(1, 6)),
        share=draw(st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1)])),
        compensation=compensation,
        prompt=draw(st.integers(int(compensation == "centred"), 12)),
        centre_queries=draw(st.integers(1, 5)),
    )


def small_plan(**changes):
    settings = {"sinks": 2, "buffer": 4, "share": Fraction(1, 5), "prompt": 5, "compensation": "mean"}
    return RazorPlan(4, 2, **{"full": (frozenset({1}),)} | settings | changes)


def sizes(longest=24):
    """Chunk sizes of at most `longest` tokens in all: a few large chunks, then many small ones."""
    return st.lists(st.integers(1, 8) | st.just(1), min_size=1, max_size=longest // 4)


def stream(plan, length, batch=2, seed=0):
    """query (batch, n_heads, length, 4), key and value (batch, n_kv_heads, length, 4), float64."""
    draw = torch.Generator().manual_seed(seed)
    heads = (plan.n_heads, plan.n_kv_heads, plan.n_kv_heads)
    return tuple(1.5 * torch.randn(batch, n, length, 4, generator=draw, dtype=torch.float64) for n in heads)


def part_of(tokens, first, last=None):
    """Queries, keys and values of tokens first..last - 1."""
    return [x[:, :, first:last] for x in tokens]


def chunked(tokens, chunks):
    """Queries, keys and values of one chunk after another; chunks: their sizes, or one for all."""
    return zip(*(x.split(chunks, dim=2) for x in tokens), strict=True)


def slopes_of(plan, with_alibi):
    needed = with_alibi or plan.compensation == "alibi"
    return torch.tensor(alibi.slopes(plan.n_heads), dtype=torch.float64) if needed else None


def decode(cache, tokens, chunks, slopes, layer=0, real=None, **more):
    """Outputs of a cache fed in chunks; real (batch, length): no pads are told of before there is one."""
    found, at = [], 0
    for part in chunked(tokens, chunks):
        seen = None if real is None else real[:, at : at + part[0].shape[2]]
        own = {} if real is None or (seen.all() and at == 0) else {"real": seen}
        found.append(cache(layer, *part, scale=SCALE, slopes=slopes, **own, **more))
        at += part[0].shape[2]
    return torch.cat(found, dim=2)


def cache_gap(plan, chunks, slopes, centres=None, seed=0, **more):
    """Largest difference of a cache fed in chunks and the masked computation on all tokens."""
    tokens = stream(plan, sum(chunks), seed=seed)
    found = decode(RazorCache(plan, centres), tokens, chunks, slopes, **more)
    expected = MaskedAttention(plan, centres)(0, *tokens, scale=SCALE, slopes=slopes, **more)
    return float((found - expected).abs().max())
