"""Configs that are not understood, out of range, or do not fit the weights: one line that names the field."""

import json

import pytest

from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import BAICHUAN, LLAMA, unreadable

SHAPES = files.llama_shapes(LLAMA)
SWA = {"sliding_window_layers": [0], "conv_window": 2, "num_key_value_heads": 2, "model_type": "baichuan_m1"}
MPT = {"model_type": "mpt", "d_model": 8, "n_layers": 1, "n_heads": 2, "vocab_size": 5, "attn_config": {"alibi": True}}
BLOOM = {"model_type": "bloom", "hidden_size": 8, "n_layer": 1, "n_head": 2, "vocab_size": 5}
CONFIGS = {
    "unknown": (LLAMA | {"model_type": "gpt_bigcode"}, ("model_type 'gpt_bigcode'", "mistral")),
    "no type": (LLAMA | {"model_type": None}, ("model_type None",)),
    "type a list": (LLAMA | {"model_type": []}, ("model_type []",)),
    "quantised": (LLAMA | {"quantization_config": {"bits": 4}}, ("quantised",)),
    "no width": ({key: LLAMA[key] for key in LLAMA if key != "hidden_size"}, ("hidden_size",)),
    "width a string": (LLAMA | {"hidden_size": "8"}, ("hidden_size", "'8'")),
    "width 0": (LLAMA | {"hidden_size": 0}, ("hidden_size", "got 0")),
    "width a fraction": (LLAMA | {"hidden_size": 8.5}, ("hidden_size", "8.5")),
    "layers": (LLAMA | {"num_hidden_layers": 10**9}, ("num_hidden_layers", "1000000000")),
    "more layers than the file": (LLAMA | {"num_hidden_layers": 3}, ("layers.2", "missing")),
    "fewer layers than the file": (LLAMA | {"num_hidden_layers": 1}, ("unknown tensor model.layers.1.",)),
    "heads do not divide": (
        LLAMA | {"num_attention_heads": 3, "num_key_value_heads": 3},
        ("8 is not a multiple of 3",),
    ),
    "groups do not divide": (LLAMA | {"num_key_value_heads": 3}, ("4 heads are not a multiple of 3",)),
    "odd rotary heads": (LLAMA | {"head_dim": 3}, ("even size, got 3",)),
    "biases missing": (LLAMA | {"attention_bias": True}, ("q_proj.bias is missing",)),
    "qwen2 biases missing": (LLAMA | {"model_type": "qwen2"}, ("q_proj.bias is missing",)),
    "qwen3 width of heads": (LLAMA | {"model_type": "qwen3"}, ("head_dim is missing",)),
    "qwen3 gains missing": (LLAMA | {"model_type": "qwen3", "head_dim": 2}, ("q_norm.weight is missing",)),
    "mistral groups": (
        LLAMA | {"model_type": "mistral", "num_key_value_heads": None},
        ("num_key_value_heads is missing",),
    ),
    "window 0": (LLAMA | {"model_type": "mistral", "sliding_window": 0}, ("sliding_window", "got 0")),
    "layer types": (
        LLAMA | {"model_type": "qwen2", "use_sliding_window": True, "layer_types": ["full_attention"]},
        ("layer_types has 1 entries for 2 layers",),
    ),
    "layer type": (LLAMA | {"layer_types": ["chunked_attention"] * 2}, ("layer_types", "chunked_attention")),
    "proportional": (LLAMA | {"rope_scaling": {"type": "proportional"}}, ("rotary scaling of type 'proportional'",)),
    "longrope": (LLAMA | {"rope_scaling": {"type": "longrope"}}, ("'longrope'", "original_max_position_embeddings")),
    "yarn without a factor": (LLAMA | {"rope_parameters": {"rope_type": "yarn"}}, ("'yarn'", "or factor")),
    "yarn of a negative factor": (LLAMA | {"rope_parameters": {"rope_type": "yarn", "factor": -1.0}}, ("factor", "-1")),
    "rope by layer": (LLAMA | {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, ("one set of rotary",)),
    "two ropes": (
        LLAMA | {"rope_parameters": {"rope_type": "default"}, "rope_scaling": {"type": "yarn"}},
        ("one set of rotary",),
    ),
    "rope a string": (LLAMA | {"rope_scaling": "yarn"}, ("must be objects",)),
    "partial rotation": (LLAMA | {"partial_rotary_factor": 0.5}, ("partial_rotary_factor 0.5",)),
    "baichuan untold": (BAICHUAN, ("RoPE or ALiBi?", "hidden_size 8")),
    "m1 window": (BAICHUAN | SWA | {"conv_window": 3}, ("conv_window", "got 3")),
    "m1 window size": (BAICHUAN | SWA, ("sliding_window is missing",)),
    "m1 window layer": (BAICHUAN | SWA | {"sliding_window_layers": [2]}, ("layers beyond 1",)),
    "m1 convolution missing": (BAICHUAN | SWA | {"sliding_window": 4}, ("missing",)),
    "mpt normed heads": (MPT | {"attn_config": {"alibi": True, "qk_ln": True}}, ("attn_config.qk_ln", "got True")),
    "mpt grouped": (
        MPT | {"attn_config": {"alibi": True, "attn_type": "multiquery_attention"}},
        ("attn_config.attn_type",),
    ),
    "mpt prefix": (MPT | {"attn_config": {"alibi": True, "prefix_lm": True}}, ("attn_config.prefix_lm",)),
    "mpt rotary": (MPT | {"attn_config": {"alibi": True, "rope": True}}, ("attn_config.rope",)),
    "mpt positions": (MPT | {"attn_config": {}}, ("attn_config.alibi",)),
    "mpt slopes": (MPT | {"attn_config": {"alibi": True, "alibi_bias_max": -8}}, ("attn_config.alibi_bias_max", "-8")),
    "mpt steep slopes": (MPT | {"attn_config": {"alibi": True, "alibi_bias_max": 7}}, ("alibi_bias_max", "7")),
    "mpt biases": (MPT | {"no_bias": False}, ("no_bias",)),
    "mpt norm": (MPT | {"norm_type": "rmsnorm"}, ("norm_type",)),
    "bloom two widths": (BLOOM | {"n_embed": 16}, ("hidden_size is 8 but n_embed is 16",)),
    "bloom two counts": (BLOOM | {"num_attention_heads": 4}, ("n_head is 2 but num_attention_heads is 4",)),
    "bloom heads": (BLOOM | {"n_head": 3}, ("8 is not a multiple of 3",)),
    "cohere gains missing": (LLAMA | {"model_type": "cohere", "use_qk_norm": True}, ("q_norm.weight is missing",)),
    "gpt2 reads another": (
        LLAMA | {"model_type": "gpt2", "add_cross_attention": True},
        ("add_cross_attention is True",),
    ),
    "gpt-oss rotation": (LLAMA | {"model_type": "gpt_oss"}, ("rope_parameters or rope_scaling is missing",)),
    "gpt-oss sinks missing": (
        LLAMA | {"model_type": "gpt_oss", "attention_bias": False, "rope_scaling": {"type": "default"}},
        ("self_attn.sinks is missing",),
    ),
    "granite scale": (LLAMA | {"model_type": "granite"}, ("attention_multiplier is missing",)),
    "gemma2 scale": (LLAMA | {"model_type": "gemma2"}, ("query_pre_attn_scalar is missing",)),
    "smollm3 positions": (LLAMA | {"model_type": "smollm3"}, ("no_rope_layers is missing",)),
    "smollm3 windows": (
        LLAMA | {"model_type": "smollm3", "no_rope_layers": [1, 0], "use_sliding_window": True, "sliding_window": 4},
        ("layer_types is missing",),
    ),
    "opt norm after": (
        LLAMA | {"model_type": "opt", "do_layer_norm_before": False},
        ("do_layer_norm_before is False",),
    ),
    "stablelm gains missing": (
        LLAMA | {"model_type": "stablelm", "qk_layernorm": True, "use_qkv_bias": False, "partial_rotary_factor": 1.0},
        ("q_layernorm.norms.0.weight is missing",),
    ),
    "gemma3 both ways": (
        LLAMA | {"model_type": "gemma3_text", "use_bidirectional_attention": True},
        ("use_bidirectional_attention is True",),
    ),
    "odd share": (
        LLAMA | {"model_type": "stablelm", "partial_rotary_factor": 0.6},
        ("even number of components, got 1",),
    ),
    "rope list": (LLAMA | {"model_type": "smollm3", "no_rope_layers": [1]}, ("has 1 entries, there is a layer 1",)),
    "longrope phi3": (
        LLAMA | {"model_type": "phi3", "rope_scaling": {"type": "longrope"}},
        ("rotary scaling of type 'longrope'",),
    ),
    "another's weights": (BLOOM, ("word_embeddings.weight is missing",)),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_config_that_is_not_understood_or_does_not_fit_is_refused(case, tmp_path, monkeypatch):
    config, parts = CONFIGS[case]
    files.write(tmp_path, LLAMA, files.random_tensors(SHAPES))
    (tmp_path / "config.json").write_text(json.dumps(config))
    unreadable(tmp_path, monkeypatch, *parts)


@pytest.mark.parametrize(
    ("change", "windows"),
    [
        ({"model_type": "gemma2", "query_pre_attn_scalar": 3}, [4, None]),
        (
            {
                "model_type": "gemma2",
                "query_pre_attn_scalar": 3,
                "layer_types": ["full_attention", "sliding_attention"],
            },
            [None, 4],
        ),
        ({"model_type": "gemma3_text", "query_pre_attn_scalar": 3, "sliding_window_pattern": 2}, [4, None]),
        ({"model_type": "gemma3_text", "query_pre_attn_scalar": 3}, [4, 4]),
        ({"model_type": "mixtral"}, [4, 4]),
        ({"model_type": "smollm3", "no_rope_layers": [1, 1]}, [None, None]),
        (
            {
                "model_type": "smollm3",
                "no_rope_layers": [1, 0],
                "use_sliding_window": True,
                "layer_types": ["full_attention", "sliding_attention"],
            },
            [None, 4],
        ),
        ({"model_type": "granite", "attention_multiplier": 0.3}, [None, None]),
    ],
    ids=str,
)
def test_windows_are_those_that_the_models_code_takes(change, windows, tmp_path):
    shapes = SHAPES | {f"model.layers.{layer}.self_attn.{name}_norm.weight": (2,) for layer in (0, 1) for name in "qk"
                       if change["model_type"] == "gemma3_text"}  # fmt: skip
    files.write(tmp_path, LLAMA | {"sliding_window": 4} | change, files.random_tensors(shapes))
    checkpoint = open_checkpoint(tmp_path)
    assert [checkpoint.small(layer).window for layer in (0, 1)] == windows


@pytest.mark.parametrize("name", ["input_layernorm.bias", "self_attn.q_norm.weight", "self_attn.q_proj.bias"])
def test_what_would_change_attention_is_never_let_stand(name, tmp_path):
    """A family that ignores its MLP does not ignore another bias or gain of its attention."""
    more = {f"model.layers.0.{name}": (8,), "model.layers.0.mlp.extra.weight": (3, 3)}
    granite = LLAMA | {"model_type": "granite", "attention_multiplier": 0.3}
    files.write(tmp_path, granite, files.random_tensors(SHAPES | more))
    refused(f"unknown tensor model.layers.0.{name}", open_checkpoint, tmp_path)
