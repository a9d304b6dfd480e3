"""TransformerLens 4: the biases of its bridges for BLOOM and Falcon."""

import torch
from transformer_lens.model_bridge.generalized_components.alibi_utils import build_alibi_slopes, build_alibi_tensor

BACKEND = "torch"


def alibi_slopes(n_heads):
    return build_alibi_slopes(n_heads, torch.device("cpu"))


def alibi_bias(n_heads, n_queries, n_keys, mask=None):
    given = torch.ones(1, n_keys) if mask is None else mask
    return build_alibi_tensor(given.long(), n_heads, torch.float32).squeeze(0)
