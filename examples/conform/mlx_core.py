"""mlx: its ALiBi, rotary embedding and fast attention, causal and with sinks."""

import mlx.core as mx
import mlx.nn as nn
import numpy as np


def alibi_slopes(n_heads):
    return np.array(nn.ALiBi.create_alibi_slope(n_heads)).ravel()


def alibi_bias(n_heads, n_queries, n_keys):
    return np.array(nn.ALiBi()(mx.zeros((1, n_heads, n_queries, n_keys)), offset=n_keys - n_queries))[0]


def rope(x, positions, base, dims=None):
    if not (np.diff(positions, axis=1) == 1).all():
        raise NotImplementedError("positions that follow one another")
    layer = nn.RoPE(dims or x.shape[3], base=base)
    rows = zip(x, positions, strict=True)
    return np.stack([np.array(layer(mx.array(row)[None], offset=int(at[0])))[0] for row, at in rows])


def attention(q, k, v):
    return np.array(_fast(q, k, v))


def sink_attention(q, k, v, sinks):
    return np.array(_fast(q, k, v, sinks=mx.array(sinks)))


def _fast(q, k, v, **more):
    given = map(mx.array, (q, k, v))
    return mx.fast.scaled_dot_product_attention(*given, scale=q.shape[3] ** -0.5, mask="causal", **more)
