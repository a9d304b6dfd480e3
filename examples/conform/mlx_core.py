"""mlx: its fast attention, causal, plain and with sinks."""

import mlx.core as mx
import numpy as np

PACKAGE = "mlx"


def attention(q, k, v, sinks=None):
    given = map(mx.array, (q, k, v))
    sinks = None if sinks is None else mx.array(sinks)
    scale = q.shape[3] ** -0.5
    return np.array(mx.fast.scaled_dot_product_attention(*given, scale=scale, mask="causal", sinks=sinks))


def sink_attention(q, k, v, sinks):
    return attention(q, k, v, sinks)
