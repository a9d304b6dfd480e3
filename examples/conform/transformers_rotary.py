"""transformers: the rotary embedding of Llama, of whole heads, and of GPT-NeoX, of a part of each."""

from transformers import GPTNeoXConfig, LlamaConfig
from transformers.models.gpt_neox import modeling_gpt_neox as neox
from transformers.models.llama import modeling_llama as llama

PACKAGE = "transformers"
BACKEND = "torch"


def rope(x, positions, base, dims=None):
    parameters = {"rope_type": "default", "rope_theta": base}
    if dims is None:
        config = LlamaConfig(head_dim=x.shape[3], rope_parameters=parameters)
        return llama.apply_rotary_pos_emb(x, x, *llama.LlamaRotaryEmbedding(config)(x, positions))[0]
    parameters["partial_rotary_factor"] = (dims + 0.5) / x.shape[3]  # rounded down to dims channels
    config = GPTNeoXConfig(hidden_size=x.shape[3], num_attention_heads=1, rope_parameters=parameters)
    return neox.apply_rotary_pos_emb(x, x, *neox.GPTNeoXRotaryEmbedding(config)(x, positions))[0]
