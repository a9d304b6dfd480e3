"""Window, sinks and heavy hitters against caches that really drop: lists of kept tokens, walked one query at a time."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.razor.eviction import heavy_hitters, sink_window


def draw(seed, n_tokens, heads=2, kv_heads=2, dim=3):
    rng = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(2, h, n_tokens, dim, generator=rng, dtype=torch.float64)
                         for h in (heads, kv_heads, kv_heads))  # fmt: skip
    return query, key, value, {"scale": 0.7, "slopes": torch.rand(heads, generator=rng, dtype=torch.float64)}


def softmax_over(kept, t, query, key, scale, slope):
    scores = np.array([scale * float(query @ key[j]) - slope * (t - j) for j in kept])
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def walk(query, key, value, scale, slope, keep):
    """One head, one query after the other; `keep(kept, received)` says which tokens of the cache stay."""
    kept, received, out = [], {}, []
    for t in range(len(query)):
        kept, received[t] = keep([*kept, t], received), 0.0
        weights = softmax_over(kept, t, query[t], key, scale, slope)
        for j, weight in zip(kept, weights, strict=True):
            received[j] += weight
        out.append(sum(w * value[j] for w, j in zip(weights, kept, strict=True)))
    return torch.stack(out)


def check(function, keep, query, key, value, scale, slopes):
    found = function(0, query, key, value, scale=scale, slopes=slopes)
    group = query.shape[1] // key.shape[1]
    for b in range(query.shape[0]):
        for h in range(query.shape[1]):
            rows = query[b, h], key[b, h // group], value[b, h // group]
            slope = 0.0 if slopes is None else float(slopes[h])
            torch.testing.assert_close(found[b, h], walk(*rows, scale, slope, keep), rtol=1e-12, atol=1e-12)


@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(1, 5), st.booleans(), st.sampled_from([1, 2]))
def test_sinks_and_window_equal_a_cache_that_drops(seed, sinks, window, alibi, kv_heads):
    query, key, value, rest = draw(seed, 7, kv_heads=kv_heads)  # some budgets hold everything
    rest["slopes"] = rest["slopes"] if alibi else None
    check(sink_window(sinks, window), lambda kept, _: [j for j in kept if j < sinks or j > kept[-1] - window],
          query, key, value, **rest)  # fmt: skip


@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(1, 4), st.booleans())
def test_heavy_hitters_equal_a_cache_that_evicts_the_least_attended(seed, heavy, recent, alibi):
    query, key, value, rest = draw(seed, 6)
    rest["slopes"] = rest["slopes"] if alibi else None

    def keep(kept, received):
        if len(kept) <= heavy + recent:
            return kept
        least = min((j for j in kept if j <= kept[-1] - recent), key=lambda j: received[j])
        return [j for j in kept if j != least]

    check(heavy_hitters(heavy, recent), keep, query, key, value, **rest)
