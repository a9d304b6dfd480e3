"""torch: scaled_dot_product_attention, told that it is causal: query i sees the keys 0 .. i."""

from torch.nn.functional import scaled_dot_product_attention

PACKAGE = "torch"
BACKEND = "torch"


def attention(q, k, v):
    return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
