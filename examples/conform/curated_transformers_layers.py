"""curated-transformers: its ALiBi, rotary embedding and scaled dot-product attention."""

import torch
from curated_transformers.layers import (
    AttentionLinearBiases,
    AttentionMask,
    RotaryEmbeddings,
    ScaledDotProductAttention,
)

BACKEND = "torch"


def alibi_slopes(n_heads):
    return _biases(n_heads).slopes.flatten()


def alibi_bias(n_heads, n_queries, n_keys):
    return _biases(n_heads).calculate_biases(n_keys)[0]


def attention(q, k, v, mask=None):
    return _attend(q, k, v, mask, None)


def alibi_attention(q, k, v, mask=None):
    return _attend(q, k, v, mask, _biases(q.shape[1]))


def rope(x, positions, base):
    return RotaryEmbeddings(x.shape[3], base=base)(x, positions=positions)


def _biases(n_heads):
    return AttentionLinearBiases(n_attention_heads=n_heads, is_causal=True, is_inverted=False)


def _attend(q, k, v, mask, biases):
    if k.shape[1] not in (1, q.shape[1]):
        raise NotImplementedError("groups of several heads are spread before they come here")
    seen = torch.ones(len(k), k.shape[2], dtype=torch.bool) if mask is None else mask
    layer = ScaledDotProductAttention(dropout_prob=0.0, linear_biases=biases)
    return layer(query=q, key=k, value=v, attention_mask=AttentionMask(seen), use_causal_mask=True)
