"""transformers' Llama: rotary embedding of whole heads."""

from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

BACKEND = "torch"


def rope(x, positions, base):
    parameters = {"rope_type": "default", "rope_theta": base}
    config = LlamaConfig(head_dim=x.shape[3], rope_parameters=parameters)
    return apply_rotary_pos_emb(x, x, *LlamaRotaryEmbedding(config)(x, positions))[0]
