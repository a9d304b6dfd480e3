"""transformers' BLOOM (and Falcon): biases from the mask, one row for all queries."""

import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

PACKAGE = "transformers"
BACKEND = "torch"


def alibi_slopes(n_heads):
    return alibi_bias(n_heads, 1, 2)[:, 0, 1]


def alibi_bias(n_heads, n_queries, n_keys, mask=None):
    given = torch.ones(1, n_keys) if mask is None else mask.float()
    return build_alibi_tensor(given, n_heads, torch.float32).unflatten(0, (-1, n_heads)).squeeze(0)
