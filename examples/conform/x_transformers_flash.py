"""x-transformers with flash=True, which goes through torch's scaled_dot_product_attention."""

from x_transformers.attend import Attend
from x_transformers.x_transformers import AlibiPositionalBias

BACKEND = "torch"


def attention(q, k, v, mask=None):
    return Attend(causal=True, flash=True)(q, k, v, mask=mask)[0]


def alibi_attention(q, k, v, mask=None):
    bias = AlibiPositionalBias(q.shape[1])(q.shape[2], k.shape[2])
    return Attend(causal=True, flash=True)(q, k, v, mask=mask, attn_bias=bias)[0]
