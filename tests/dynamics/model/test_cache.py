"""What the cache of an attention holds."""

import torch

from dynamics.model.cache import KVCache
from tests.dynamics.model.kv_cases import attention, chunked, filled
from tests.dynamics.model.kv_cases import tokens as random_tokens
from tests.dynamics.refusal import refused


def test_cache_holds_one_mixed_key_a_token_and_window_less_one_raw_ones():
    module, cache = attention(n_heads=4, n_kv_heads=2, window=3), KVCache()
    chunked(module, random_tokens(2, 7), [4, 1, 2], cache)
    assert len(cache) == 7 and cache.key.shape == cache.value.shape == (2, 2, 7, 2)
    assert cache.previous("key").shape == cache.previous("value").shape == (2, 2, 2, 2)
    assert cache.previous("query") is None
    raw = module.k_proj(random_tokens(2, 7)[:, -2:]).unflatten(-1, (2, 2))
    assert torch.equal(cache.previous("key"), raw)


def test_cache_refused_chunk_leaves_it_unchanged():
    cache, module = filled(capacity=4), attention()
    key, raw = cache.key.clone(), cache.previous("key").clone()
    with torch.no_grad():
        refused("do not fit", module, random_tokens(2, 2), cache=cache)
    assert len(cache) == 3 and torch.equal(cache.key, key) and torch.equal(cache.previous("key"), raw)
