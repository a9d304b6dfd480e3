"""TransformerLens up to 3.9: AbstractAttention's ALiBi; later releases take transformers' own."""

from transformer_lens.components.abstract_attention import AbstractAttention

PACKAGE = "transformer-lens"
BACKEND = "torch"


def alibi_slopes(n_heads):
    return AbstractAttention.create_alibi_multipliers(n_heads)


def alibi_bias(n_heads, n_queries, n_keys):
    """Its attention takes the last rows."""
    return AbstractAttention.create_alibi_bias(n_heads, n_keys)[:, n_keys - n_queries :]
