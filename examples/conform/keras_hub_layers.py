"""keras-hub: AlibiBias, RotaryEmbedding, and the attention of GPT-OSS with its sinks and its window."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import torch
from keras_hub.layers import AlibiBias, RotaryEmbedding
from keras_hub.src.layers.modeling.transformer_layer_utils import compute_causal_mask
from keras_hub.src.models.gpt_oss.gpt_oss_attention import GptOssAttention

PACKAGE = "keras-hub"
BACKEND = "torch"


def alibi_slopes(n_heads):
    return torch.tensor(AlibiBias()._get_slopes(n_heads))


def alibi_bias(n_heads, n_queries, n_keys):
    """Of scores of zero: its causal attention and its cache hand over all keys."""
    return AlibiBias()(torch.zeros(1, n_heads, n_queries, n_keys))[0]


def rope(x, positions, base):
    return RotaryEmbedding(max_wavelength=base, sequence_axis=2)(x, positions=positions)


def sink_attention(q, k, v, sinks, window=None):
    heads, groups, early = q.shape[1], k.shape[1], k.shape[2] - q.shape[2]
    layer = GptOssAttention(heads, groups, sliding_window=window, head_dim=q.shape[3])
    layer.build((None, None, heads * q.shape[3]))
    layer.sinks.assign(sinks)
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    k, v = (keras.ops.repeat(x, heads // groups, axis=2) for x in (k, v))
    mask = compute_causal_mask(len(q), k.shape[1], q.shape[1], early)
    return layer._compute_attention(q, k, v, mask.bool(), early).transpose(1, 2)
