"""Tiny random transformers models of families that `dynamics.weights.families` does not name."""

import torch

from tests.dynamics.hf.models import GROUPS, OLD, SIZES, TOKENS, randomise

_GROUPS = SIZES | GROUPS
# Those with a window see 18 tokens in some layers or all; Jamba has attention in one of its two layers.
FAMILIES = {
    "CodeGen": OLD | {"rotary_dim": 4},
    "Cohere2": _GROUPS | {"sliding_window": 18, "layer_types": ["sliding_attention", "full_attention"]},
    "DistilBert": {"dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 128},
    "Electra": SIZES | {"embedding_size": 32},
    "GPTJ": OLD | {"rotary_dim": 4},
    "GPTNeo": {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "window_size": 18, "max_position_embeddings": 128,
               "attention_types": [[["global", "local"], 1]]},
    "ModernBert": SIZES | {"global_attn_every_n_layers": 2, "local_attention": 8},
    "Helium": _GROUPS | {"head_dim": 8},
    "Jamba": _GROUPS | {"use_mamba_kernels": False, "attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2},
    "Olmo3": _GROUPS | {"sliding_window": 18, "layer_types": ["sliding_attention", "full_attention"]},
    "Persimmon": SIZES,
    "Phi": SIZES,
    "Roberta": SIZES | {"pad_token_id": 1},
    "Starcoder2": _GROUPS | {"sliding_window": 18},
    "XLNet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48},
}  # fmt: skip
# The positions of 128 that a prompt can have, None where there is no limit.
LONGEST = {"Roberta": 126, "XLNet": None}
ENCODERS = ("DistilBert", "Electra", "ModernBert", "Roberta", "XLNet")


def model(name, seed=0, **changes):
    """A model without a head, in single precision, in evaluation mode."""
    import transformers

    sizes = {} if "text_config" in changes else TOKENS
    config = getattr(transformers, name + "Config")(**(sizes | FAMILIES.get(name, {}) | changes))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        built = transformers.AutoModel.from_config(config, dtype=torch.float32)
    randomise(built, seed)
    return built.eval()
