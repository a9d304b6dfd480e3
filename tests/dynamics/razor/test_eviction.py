"""Window, sinks and heavy hitters against caches that really drop: lists of kept tokens, walked one query at a time."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynamics.model.attention_function import full_attention, replaced
from dynamics.model.config import ModelConfig
from dynamics.model.decoder import InductionModel
from dynamics.razor.eviction import heavy_hitters, sink_window
from tests.dynamics.refusal import refused


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
    query, key, value, rest = draw(seed, 9, kv_heads=kv_heads)
    rest["slopes"] = rest["slopes"] if alibi else None
    check(sink_window(sinks, window), lambda kept, _: [j for j in kept if j < sinks or j > kept[-1] - window],
          query, key, value, **rest)  # fmt: skip


@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(1, 4), st.booleans())
def test_heavy_hitters_equal_a_cache_that_evicts_the_least_attended(seed, heavy, recent, alibi):
    query, key, value, rest = draw(seed, 9)
    rest["slopes"] = rest["slopes"] if alibi else None

    def keep(kept, received):
        if len(kept) <= heavy + recent:
            return kept
        least = min((j for j in kept if j <= kept[-1] - recent), key=lambda j: received[j])
        return [j for j in kept if j != least]

    check(heavy_hitters(heavy, recent), keep, query, key, value, **rest)


@pytest.mark.parametrize("function", [sink_window(0, 9), sink_window(9, 1), heavy_hitters(3, 6), heavy_hitters(8, 1)])
def test_budgets_that_hold_everything_change_nothing(function):
    query, key, value, rest = draw(3, 9)
    expected = full_attention(0, query, key, value, **rest)
    torch.testing.assert_close(function(0, query, key, value, **rest), expected, rtol=1e-12, atol=1e-12)


def test_heavy_hitters_of_no_size_are_a_window():
    query, key, value, rest = draw(4, 12)
    torch.testing.assert_close(heavy_hitters(0, 4)(0, query, key, value, **rest),
                               sink_window(0, 4)(0, query, key, value, **rest), rtol=1e-12, atol=1e-12)  # fmt: skip


def test_an_evicted_token_stays_evicted_and_no_later_token_is_seen():
    query, key, value, rest = draw(5, 12)
    whole = heavy_hitters(2, 2)(0, query, key, value, **rest)
    cut = heavy_hitters(2, 2)(0, *(part[:, :, :8] for part in (query, key, value)), **rest)
    torch.testing.assert_close(whole[:, :, :8], cut, rtol=1e-12, atol=1e-12)


def test_a_model_runs_under_each_policy():
    model = InductionModel(ModelConfig(vocab=20, width=8, n_heads=2, n_layers=2, shift="none", position="alibi")).eval()
    tokens = torch.randint(0, 20, (2, 12), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        plain = model(tokens)
        for function in (sink_window(1, 3), heavy_hitters(2, 2)):
            with replaced(model, function):
                changed = model(tokens)
            assert torch.allclose(changed[:, :4], plain[:, :4], atol=1e-5)
            assert not torch.allclose(changed[:, -1], plain[:, -1], atol=1e-4)
        assert torch.equal(model(tokens), plain)


def test_heavy_hitters_refuse_grouped_queries():
    query, key, value, rest = draw(0, 4, heads=2, kv_heads=1)
    refused("grouped queries", heavy_hitters(1, 1), 0, query, key, value, **rest)
