"""transformers: its masks and sdpa attention, as its Llama-like models call them, with what is cached before."""

from types import SimpleNamespace

import torch
from transformers import DynamicCache, LlamaConfig
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask

BACKEND = "torch"


def attention(q, k, v, mask=None, segments=None, window=None):
    config = LlamaConfig(attn_implementation="sdpa")
    config.sliding_window = window
    seen, key, value = given(config, q, k, v, mask, segments)
    layer = SimpleNamespace(num_key_value_groups=q.shape[1] // k.shape[1], is_causal=True, training=False)
    return sdpa_attention_forward(layer, q, key, value, seen, scaling=q.shape[3] ** -0.5)[0].transpose(1, 2)


def given(config, q, k, v, mask, segments=None):
    """What a model of this configuration hands to its attention: the mask, and keys and values with those cached."""
    cache, early = DynamicCache(), k.shape[2] - q.shape[2]
    if early:
        cache.update(k[:, :, :early], v[:, :, :early], 0)
    make = create_causal_mask if config.sliding_window is None else create_sliding_window_causal_mask
    past = None if segments is not None else cache  # packed rows are looked for where there is no cache
    seen = make(config, q[:, 0], None if mask is None else mask.long(), past, _positions(q, early, segments))
    return seen, *cache.update(k[:, :, early:], v[:, :, early:], 0)


def _positions(q, early, segments):
    """From 0 in every document: that is how packed rows are known."""
    index = torch.arange(early, early + q.shape[2]).expand(len(q), -1)
    if segments is None:
        return index
    fresh = torch.diff(segments, dim=1, prepend=segments[:, :1] - 1) != 0
    return index - torch.where(fresh, index, 0).cummax(1).values
