"""Tiny random transformers models of every supported family, and their formulas in double precision throughout."""

from contextlib import contextmanager
from unittest import mock

import torch

# Of most families.
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "max_position_embeddings": 128}  # fmt: skip
GROUPS = {"num_key_value_heads": 2}
TOKENS = {"vocab_size": 64, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
OLD = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128}
FAMILIES = {
    "bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 4},
    "mpt": {"d_model": 36, "n_layers": 2, "n_heads": 6, "max_seq_len": 64},
    "llama": GROUPS,
    "mistral": {"num_key_value_heads": 1, "sliding_window": None},
    "qwen2": {"num_key_value_heads": 4},
    "qwen3": GROUPS | {"num_attention_heads": 6, "head_dim": 6},
    "gpt2": OLD,
    "falcon": {},
    "cohere": GROUPS | {"use_qk_norm": True},
    "gemma": {"num_key_value_heads": 1, "head_dim": 6},
    "gemma3_text": GROUPS | {"head_dim": 8, "query_pre_attn_scalar": 5, "layer_types": ["full_attention"] * 2},
    "gpt_neox": {"rotary_pct": 0.5},
    "granite": GROUPS | {"attention_multiplier": 0.7, "embedding_multiplier": 3.0, "residual_multiplier": 0.5,
                         "logits_scaling": 2.0},
    "mixtral": GROUPS | {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None},
    "olmo": GROUPS | {"clip_qkv": 1.5},
    "olmo2": GROUPS,
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "phi3": GROUPS | {"partial_rotary_factor": 0.5, "sliding_window": None},
    "qwen3_moe": GROUPS | {"head_dim": 6, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    "smollm3": GROUPS | {"no_rope_layers": [1, 0]},
    "stablelm": GROUPS | {"partial_rotary_factor": 0.5, "qk_layernorm": True},
}  # fmt: skip
# Their attention hands over more than that of the others: learned sinks, a window, that it is not causal.
MEASURED = {
    "bert": {},
    "gpt_oss": GROUPS | {"head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8,
                         "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}},
    "gemma2": GROUPS | {"head_dim": 8, "query_pre_attn_scalar": 5, "sliding_window": 8, "attn_logit_softcapping": 2.0},
}  # fmt: skip
EXPERTS = ("gpt_oss", "mixtral", "qwen3_moe")  # whose grouped experts know no double precision


def config(family, **changes):
    from transformers import AutoConfig

    shape = (FAMILIES | MEASURED)[family]
    if family not in ("bloom", "mpt", "gpt2"):
        shape = SIZES | shape
    return AutoConfig.for_model(family, **TOKENS | shape | changes)


def model(family, seed=0, dtype=torch.float64, **changes):
    """A language model in evaluation mode, its weights large enough for attention that is far from uniform."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    kind = AutoModelForMaskedLM if family == "bert" else AutoModelForCausalLM
    if family in EXPERTS:
        changes |= {"experts_implementation": "eager"}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # sinks and router biases of gpt-oss begin as noise, to which more is added
        built = kind.from_config(config(family, **changes), dtype=torch.float32)
    randomise(built, seed)
    return built.to(dtype).eval()


def eager(family, **changes):
    """A model whose attention is written out, so that it returns weights."""
    built = model(family, **changes)
    if family not in ("bloom", "mpt"):
        built.set_attn_implementation("eager")
    return built


def sliding(window):
    """Families and settings with which layers have a sliding window: all, the second, the first."""
    return [
        ("mistral", {"sliding_window": window}),
        ("qwen2", {"use_sliding_window": True, "sliding_window": window, "max_window_layers": 1}),
        ("gemma3_text", {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": window}),
    ]


def randomise(built, seed):
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in built.parameters():
            noise = torch.randn(weight.shape, generator=draw)
            if weight.ndim > 1:
                weight.copy_(noise * (1.5 / weight.shape[1] ** 0.5))
            else:
                weight.add_(0.3 * noise)


def tokens(batch, length, seed=0):
    return torch.randint(64, (batch, length), generator=torch.Generator().manual_seed(seed))


@contextmanager
def double():
    """transformers' own code with double precision where it writes single: softmax, norms, angles, slopes."""
    with (
        mock.patch.object(torch, "float32", torch.float64),
        mock.patch.object(torch, "float", torch.float64),
        mock.patch.object(torch.Tensor, "float", torch.Tensor.double),
    ):
        yield
