"""keras-hub: the biases of Falcon's decoder, from its mask."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import torch
from keras_hub.src.models.falcon.falcon_transformer_decoder import FalconTransformerDecoder

BACKEND = "torch"


def alibi_slopes(n_heads):
    return alibi_bias(n_heads, 1, 2)[:, 0, 1]


def alibi_bias(n_heads, n_queries, n_keys, mask=None):
    given = torch.ones(1, n_keys) if mask is None else mask
    return FalconTransformerDecoder(n_heads, 4 * n_heads)._build_alibi_tensor(n_heads, given).squeeze(0)
