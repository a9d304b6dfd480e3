"""What the cache of an attention holds."""

import torch

from tests.dynamics.model.kv_cases import attention, filled
from tests.dynamics.model.kv_cases import tokens as random_tokens
from tests.dynamics.refusal import refused


def test_cache_refused_chunk_leaves_it_unchanged():
    cache, module = filled(capacity=4), attention()
    key, raw = cache.key.clone(), cache.previous("key").clone()
    with torch.no_grad():
        refused("do not fit", module, random_tokens(2, 2), cache=cache)
    assert len(cache) == 3 and torch.equal(cache.key, key) and torch.equal(cache.previous("key"), raw)
