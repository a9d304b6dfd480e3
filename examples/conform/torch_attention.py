"""torch: scaled_dot_product_attention, told that it is causal; pads are told by an explicit mask."""

import torch
from torch.nn.functional import scaled_dot_product_attention

BACKEND = "torch"


def attention(q, k, v, mask=None):
    """is_causal=True lets query i see the keys 0 .. i; the explicit mask counts queries from the end of the keys."""
    if mask is None:
        return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    earlier = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    return scaled_dot_product_attention(q, k, v, earlier & mask[:, None, None], enable_gqa=True)
