"""transformers' GPT-NeoX: rotary embedding of a part of each head."""

from transformers import GPTNeoXConfig
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding, apply_rotary_pos_emb

BACKEND = "torch"


def rope(x, positions, base, dims=None):
    share = 1.0 if dims is None else dims / x.shape[3]
    parameters = {"rope_type": "default", "rope_theta": base, "partial_rotary_factor": share}
    config = GPTNeoXConfig(hidden_size=2 * x.shape[3], num_attention_heads=2, rope_parameters=parameters)
    return apply_rotary_pos_emb(x, x, *GPTNeoXRotaryEmbedding(config)(x, positions))[0]
