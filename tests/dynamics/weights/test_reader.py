"""Checkpoints that transformers wrote: attention computed from what is read equals that inside the real model."""

import pytest
import torch

from dynamics.weights.reader import open_checkpoint
from tests.dynamics.weights.checkpoint_files import attention

LENGTH = 9
LLAMA = {
    "vocab_size": 11,
    "hidden_size": 24,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
}
WIDE = LLAMA | {"head_dim": 6}  # all heads together are wider than a state
BLOOM = {"vocab_size": 11, "hidden_size": 24, "n_layer": 2, "n_head": 6}
MPT = {"vocab_size": 11, "d_model": 24, "n_layers": 2, "n_heads": 6}
PLAIN = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}
HALF = {"rope_parameters": PLAIN["rope_parameters"] | {"partial_rotary_factor": 0.5}}
EVEN = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
BY_KIND = {"rope_parameters": {kind: PLAIN["rope_parameters"] for kind in ("full_attention", "sliding_attention")}}
GPT2 = {"vocab_size": 11, "n_embd": 24, "n_layer": 2, "n_head": 6, "bos_token_id": None, "eos_token_id": None}
FALCON = {"vocab_size": 11, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 6,
          "bos_token_id": None, "eos_token_id": None}  # fmt: skip
# angles as without
SHORT_YARN = {"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "truncate": False,
                                  "beta_fast": 2.4e-3, "beta_slow": 1e-9, "original_max_position_embeddings": 32}}
LONG = {"max_position_embeddings": 512, "original_max_position_embeddings": 64,
        "rope_parameters": {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0, 1.0],
                            "long_factor": [2.0, 2.0]}}  # fmt: skip
QWEN_WINDOW = {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}
GEMMA3 = WIDE | {"sliding_window": 4, "query_pre_attn_scalar": 3,
                 "layer_types": ["full_attention", "sliding_attention"]}
CASES = {
    "llama": ("Llama", LLAMA),
    "llama-biases": ("Llama", LLAMA | {"attention_bias": True, "mlp_bias": True}),
    "llama-head_dim": ("Llama", WIDE),
    "mistral": ("Mistral", LLAMA | {"sliding_window": 4}),
    "mistral-no-window": ("Mistral", LLAMA | {"sliding_window": None}),
    "qwen2": ("Qwen2", LLAMA),
    "qwen2-window": ("Qwen2", LLAMA | QWEN_WINDOW),
    "qwen3": ("Qwen3", WIDE),
    "qwen3-biases": ("Qwen3", WIDE | QWEN_WINDOW | {"attention_bias": True}),
    "bloom": ("Bloom", BLOOM),
    "mpt": ("Mpt", MPT),
    "gemma": ("Gemma", WIDE),
    "gemma2": ("Gemma2", WIDE | {"sliding_window": 4, "attn_logit_softcapping": 1.5}),
    "gemma3": ("Gemma3Text", GEMMA3 | BY_KIND),
    "granite": ("Granite", LLAMA | {"attention_multiplier": 0.7, "residual_multiplier": 0.3, "attention_bias": True}),
    "mixtral": ("Mixtral", LLAMA | PLAIN | {"head_dim": 4, "sliding_window": 4, "num_local_experts": 4}),
    "qwen3-moe": ("Qwen3Moe", WIDE | PLAIN | {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}),
    "smollm3": ("SmolLM3", LLAMA | PLAIN | {"no_rope_layers": [1, 0], "pad_token_id": None}),
    "cohere": ("Cohere", LLAMA | PLAIN | {"attention_bias": True}),
    "olmo": ("Olmo", LLAMA),
    "olmo-clip": ("Olmo", LLAMA | {"clip_qkv": 1.5}),
    "phi3": ("Phi3", LLAMA | HALF | {"sliding_window": 4, "pad_token_id": None}),
    "stablelm": ("StableLm", LLAMA | HALF | {"use_qkv_bias": True}),
    "gpt-neox": ("GPTNeoX", EVEN | HALF),
    "opt": ("OPT", EVEN | {"ffn_dim": 20, "word_embed_proj_dim": 24, "pad_token_id": None}),
    "gpt2": ("GPT2", GPT2),
    "gpt2-scales": ("GPT2", GPT2 | {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True}),
    "gpt-oss": ("GptOss", WIDE | SHORT_YARN | {"sliding_window": 4, "num_local_experts": 4}),
    "olmo2": ("Olmo2", LLAMA | {"attention_bias": True}),
    "falcon-alibi": ("Falcon", FALCON | {"alibi": True, "multi_query": False, "bias": True}),
    "falcon-alibi-grouped": ("Falcon", FALCON | {"alibi": True, "new_decoder_architecture": True, "num_kv_heads": 2}),
    "falcon": ("Falcon", FALCON),
    "falcon-grouped": ("Falcon", FALCON | {"new_decoder_architecture": True, "num_kv_heads": 3,
                                           "num_ln_in_parallel_attn": 1}),
    "cohere-norms": ("Cohere", LLAMA | PLAIN | {"use_qk_norm": True}),
    "stablelm-norms": ("StableLm", LLAMA | HALF | {"qk_layernorm": True}),
    "stablelm-one-key": ("StableLm", LLAMA | HALF | {"qk_layernorm": True, "num_key_value_heads": 1}),
    "llama-yarn": ("Llama", LLAMA | SHORT_YARN),
    "phi3-longrope": ("Phi3", LLAMA | LONG | {"pad_token_id": None}),
    "gemma3-yarn": ("Gemma3Text", GEMMA3 | {"rope_parameters": {"full_attention": SHORT_YARN["rope_parameters"],
                                                                "sliding_attention": PLAIN["rope_parameters"]}}),
    "mpt-scale": ("Mpt", MPT | {"attn_config": {"softmax_scale": 0.7}}),
}
# layers, norm, attention, output projection
PLACES = {
    "Bloom": ("transformer.h", "input_layernorm", "self_attention", "dense"),
    "Falcon": ("transformer.h", "input_layernorm", "self_attention", "dense"),
    "GPT2": ("transformer.h", "ln_1", "attn", "c_proj"),
    "Olmo2": ("model.layers", "self_attn.q_proj", "self_attn", "o_proj"),
    "Mpt": ("transformer.blocks", "norm_1", "attn", "out_proj"),
    "GPTNeoX": ("gpt_neox.layers", "input_layernorm", "attention", "dense"),
    "OPT": ("model.decoder.layers", "self_attn_layer_norm", "self_attn", "out_proj"),
}


def random_model(hf, name, config, head="ForCausalLM", size=1.0):
    """A model with weights of this times no particular size, and biases and gains that are not 0 and 1."""
    made = getattr(hf, f"{name}Config")(**config)
    made._attn_implementation = made._experts_implementation = "eager"
    name = name.removesuffix("Text")
    model = (getattr(hf, name + head, None) or getattr(hf, name + "LMHeadModel"))(made).eval()
    generator = torch.Generator().manual_seed(len(name))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.4, generator=generator)
            if parameter.ndim == 1:
                parameter += 0.5
            else:
                parameter *= size
    return model


def inside(model, name, **given):
    """What really enters each norm, the attention weights, what enters the output projection, and rotary angles."""
    root, norm, block, out = PLACES.get(name, ("model.layers", "input_layernorm", "self_attn", "o_proj"))
    seen = []
    for layer in model.get_submodule(root):
        record = {}
        seen.append(record)
        entrance = norm if hasattr(layer, norm.split(".")[0]) else "ln_attn"
        layer.get_submodule(entrance).register_forward_pre_hook(lambda _, x, r=record: r.update(hidden=x[0][0]))
        attention_module = getattr(layer, block)
        attention_module.register_forward_pre_hook(
            lambda _, x, named, r=record: r.update(turns=named.get("position_embeddings")), with_kwargs=True
        )
        attention_module.register_forward_hook(lambda _, x, y, r=record: r.update(weights=y[1][0]))
        getattr(attention_module, out).register_forward_pre_hook(lambda _, x, r=record: r.update(mean=x[0][0]))
    given = given or {"input_ids": torch.arange(LENGTH)[None] % model.config.vocab_size}
    with torch.no_grad():
        model(**given, output_attentions=True)
    return seen


def eps_of(model):
    """Of its norms; OLMo has none with a setting."""
    names = "eps", "variance_epsilon"
    return next((getattr(one, name) for one in model.modules() for name in names if hasattr(one, name)), 1e-5)


def largest_difference(checkpoint, records, eps):
    worst = 0.0
    for layer, record in enumerate(records):
        weights, mean = attention(checkpoint, layer, record["hidden"], eps)
        worst = max(worst, (weights - record["weights"]).abs().max().item())
        scale = record["mean"].abs().max().item()
        worst = max(worst, (mean.flatten(1) - record["mean"]).abs().max().item() / scale)
    return worst


@pytest.mark.parametrize("case", CASES)
def test_attention_from_a_checkpoint_is_that_of_the_real_model(case, hf, tmp_path):
    name, config = CASES[case]
    model = random_model(hf, name, config)
    model.save_pretrained(tmp_path)
    checkpoint = open_checkpoint(tmp_path)
    records = inside(model.double(), name)
    assert len(records) == checkpoint.architecture.n_layers == 2
    # float32 softmax and norms inside transformers
    assert largest_difference(checkpoint, records, eps_of(model)) < 3e-6
