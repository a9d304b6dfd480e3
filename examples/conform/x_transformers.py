"""x-transformers: its Attend, ALiBi, rotary embedding and ShiftTokens."""

from x_transformers.attend import Attend
from x_transformers.x_transformers import AlibiPositionalBias, RotaryEmbedding, ShiftTokens, apply_rotary_pos_emb

BACKEND, PAIRS = "torch", "neighbours"


def alibi_slopes(n_heads):
    return AlibiPositionalBias(n_heads).slopes.flatten()


def alibi_bias(n_heads, n_queries, n_keys):
    return AlibiPositionalBias(n_heads)(n_queries, n_keys)


def attention(q, k, v, mask=None):
    return Attend(causal=True)(q, k, v, mask=mask)[0]


def alibi_attention(q, k, v, mask=None):
    return Attend(causal=True)(q, k, v, mask=mask, attn_bias=alibi_bias(q.shape[1], q.shape[2], k.shape[2]))[0]


def sink_attention(q, k, v, sinks, mask=None):
    layer = Attend(causal=True, heads=len(sinks), head_learned_sink=True)
    layer.head_attn_sink.data.copy_(sinks)
    return layer(q, k, v, mask=mask)[0]


def rope(x, positions, base, dims=None):
    return apply_rotary_pos_emb(x, RotaryEmbedding(dims or x.shape[3], base=base)(positions)[0])


def shift(x, weights, mask=None):
    """It shifts shares of the channels, by 0, 1, ..: once all are copied, so that every one is shifted by each."""
    several = ShiftTokens(tuple(range(len(weights))), lambda parts, **_: parts)(x.repeat(1, 1, len(weights)), mask=mask)
    return sum(w * part for w, part in zip(weights, several.chunk(len(weights), dim=2), strict=True))
