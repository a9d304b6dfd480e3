"""TransformerLens 4: the biases of its bridges for BLOOM and Falcon."""

import torch
from transformer_lens.model_bridge.generalized_components.alibi_utils import build_alibi_slopes, build_alibi_tensor

BACKEND = "torch"


def alibi_slopes(n_heads):
    return build_alibi_slopes(n_heads, torch.device("cpu"))


def alibi_bias(n_heads, n_queries, n_keys, mask=None):
    found = build_alibi_tensor(torch.ones(1, n_keys).long() if mask is None else mask.long(), n_heads, torch.float32)
    return found[0] if mask is None else found
