"""Configs that are not understood, out of range, or do not fit the weights: one line that names the field."""

import pytest

from dynamics.weights.reader import open_checkpoint
from tests.dynamics.refusal import refused, rows
from tests.dynamics.weights import checkpoint_files as files
from tests.dynamics.weights.checkpoint_files import BAICHUAN, LLAMA, SHAPES, unreadable

SWA = {"sliding_window_layers": [0], "conv_window": 2, "num_key_value_heads": 2, "model_type": "baichuan_m1"}
MPT = {"model_type": "mpt", "d_model": 8, "n_layers": 1, "n_heads": 2, "vocab_size": 5, "attn_config": {"alibi": True}}
BLOOM = {"model_type": "bloom", "hidden_size": 8, "n_layer": 1, "n_head": 2, "vocab_size": 5}
LENGTHS = {"original_max_position_embeddings": 32, "max_position_embeddings": 4096}  # the latter is not read there
CONFIGS = [
    (
        LLAMA,
        {
            "model_type 'gpt_bigcode' is not one of bloom, llama, mistral": {"model_type": "gpt_bigcode"},
            "model_type None is not one of bloom": {"model_type": None},
            "model_type [] is not one of bloom": {"model_type": []},
            "quantised weights are not supported": {"quantization_config": {"bits": 4}},
            "hidden_size: Input should be a valid integer (got '8')": {"hidden_size": "8"},
            "hidden_size: Input should be greater than or equal to 1 (got 0)": {"hidden_size": 0},
            "num_hidden_layers: Input should be less than or equal to 2000 (got 1000000000)": {
                "num_hidden_layers": 10**9
            },
            "tensor model.layers.2.self_attn.q_proj.weight is missing": {"num_hidden_layers": 3},
            "unknown tensor model.layers.1.input_layernorm.weight": {"num_hidden_layers": 1},
            "width 8 is not a multiple of 3 heads": {"num_attention_heads": 3, "num_key_value_heads": 3},
            "4 heads are not a multiple of 3 key-value heads": {"num_key_value_heads": 3},
            "rotary heads have an even size, got 3": {"head_dim": 3},
            "rms_norm_eps: Input should be greater than or equal to 0 (got -0.5)": {"rms_norm_eps": -0.5},
            "rms_norm_eps: Input should be a valid number (got 'x')": {"rms_norm_eps": "x"},
            "dtype: Input should be 'float64', 'float32', 'float16', 'bfloat16' or 'auto' (got 'float23')": [
                {"dtype": "float23"},
                {"torch_dtype": "float23"},
            ],
            "is_causal: Input should be True (got False)": [
                {"is_causal": False},
                {"is_causal": False, "model_type": "mistral", "sliding_window": 4},
            ],
            "attention_chunk_size: Input should be None (got 4)": {"attention_chunk_size": 4},
            "sliding_window is 4: llama has no window in its masks, and its cache would drop keys": {
                "sliding_window": 4
            },
            "tensor model.layers.0.self_attn.q_proj.bias is missing": [
                {"attention_bias": True},
                {"model_type": "qwen2"},
            ],
            "head_dim is missing": {"model_type": "qwen3"},
            "tensor model.layers.0.self_attn.q_norm.weight is missing": [
                {"model_type": "qwen3", "head_dim": 2},
                {"model_type": "cohere", "use_qk_norm": True},
            ],
            "num_key_value_heads is missing": {"model_type": "mistral", "num_key_value_heads": None},
            "sliding_window: Input should be greater than or equal to 1 (got 0)": {
                "model_type": "mistral",
                "sliding_window": 0,
            },
            "layer_types has 1 entries for 2 layers": {
                "model_type": "qwen2",
                "use_sliding_window": True,
                "layer_types": ["full_attention"],
            },
            "layer_types.0: Input should be 'full_attention' or 'sliding_attention' (got 'chunked_attention')": {
                "layer_types": ["chunked_attention"] * 2
            },
            "rotary scaling of type 'proportional' is not supported": {"rope_scaling": {"type": "proportional"}},
            "rotary scaling of type 'longrope' needs attention_factor, or original_max_position_embeddings": [
                {"rope_scaling": {"type": "longrope"}},
                {"rope_scaling": LENGTHS | {"type": "longrope"}, "max_position_embeddings": None},
            ],
            "LongRoPE has 2 factors for 1 pairs of components": {
                "rope_scaling": LENGTHS | {"type": "longrope", "factor": 2.0, "long_factor": [1.0, 1.0]}
            },
            "rotary scaling of type 'yarn' needs attention_factor, or factor": {
                "rope_parameters": {"rope_type": "yarn"}
            },
            "factor: Input should be greater than 0 (got -1.0)": {
                "rope_parameters": {"rope_type": "yarn", "factor": -1.0}
            },
            "one set of rotary parameters for all layers is supported, not several": {
                "rope_parameters": {"full_attention": {"rope_type": "yarn"}}
            },
            "rope_parameters and rope_scaling are both given, and differ": {
                "rope_parameters": {"rope_type": "default"},
                "rope_scaling": {"type": "yarn"},
            },
            "rope_parameters and rope_scaling must be objects": {"rope_scaling": "yarn"},
            "a partial rotation is not supported, got partial_rotary_factor 0.5": {"partial_rotary_factor": 0.5},
            "add_cross_attention is True: only False is supported": {"model_type": "gpt2", "add_cross_attention": True},
            "rope_parameters or rope_scaling is missing": {"model_type": "gpt_oss"},
            "tensor model.layers.0.self_attn.sinks is missing": {
                "model_type": "gpt_oss",
                "attention_bias": False,
                "rope_scaling": {"type": "default"},
            },
            "attention_multiplier is missing": {"model_type": "granite"},
            "query_pre_attn_scalar is missing": {"model_type": "gemma2"},
            "no_rope_layers is missing": {"model_type": "smollm3"},
            "layer_norm_elementwise_affine is False: only True is supported": {
                "model_type": "opt",
                "layer_norm_elementwise_affine": False,
            },
            "do_layer_norm_before is False: only True is supported": {
                "model_type": "opt",
                "do_layer_norm_before": False,
            },
            "tensor model.layers.0.self_attn.q_layernorm.norms.0.weight is missing": {
                "model_type": "stablelm",
                "qk_layernorm": True,
                "use_qkv_bias": False,
                "partial_rotary_factor": 1.0,
            },
            "use_bidirectional_attention is True: only False is supported": {
                "model_type": "gemma3_text",
                "use_bidirectional_attention": True,
            },
            "rotary heads turn an even number of components, got 1": {
                "model_type": "stablelm",
                "partial_rotary_factor": 0.6,
            },
            "a list by layer has 1 entries, there is a layer 1": {"model_type": "smollm3", "no_rope_layers": [1]},
        },
    ),
    (
        {key: LLAMA[key] for key in LLAMA if key != "hidden_size"},
        {
            "hidden_size: Field required": {},
        },
    ),
    (
        BAICHUAN,
        {
            "RoPE or ALiBi? hidden_size 8 is neither 4096 nor 5120": {},
        },
    ),
    (
        BAICHUAN | SWA,
        {
            "conv_window: Input should be 2 (got 3)": {"conv_window": 3},
            "sliding_window is missing": {},
            "sliding_window_layers names layers beyond 1": {"sliding_window_layers": [2]},
            "tensor model.layers.0.self_attn.W_pack.weight is missing": {"sliding_window": 4},
        },
    ),
    (
        MPT,
        {
            "attn_config.qk_ln: Input should be False (got True)": {"attn_config": {"alibi": True, "qk_ln": True}},
            "attn_config.attn_type: Input should be 'multihead_attention' (got 'multiquery_attention')": {
                "attn_config": {"alibi": True, "attn_type": "multiquery_attention"}
            },
            "attn_config.prefix_lm: Input should be False (got True)": {
                "attn_config": {"alibi": True, "prefix_lm": True}
            },
            "attn_config.rope: Input should be False (got True)": {"attn_config": {"alibi": True, "rope": True}},
            "attn_config.alibi: Field required": {"attn_config": {}},
            "attn_config.alibi_bias_max: Input should be greater than or equal to 8 (got 7)": {
                "attn_config": {"alibi": True, "alibi_bias_max": 7}
            },
            "no_bias: Input should be True (got False)": {"no_bias": False},
            "n_heads is 2 but num_attention_heads is 4": {"num_attention_heads": 4},
            "max_seq_len: Input should be greater than or equal to 2 (got 1)": {"max_seq_len": 1},
            "is_causal: Input should be True (got False)": {"is_causal": False},
            "sliding_window: Input should be None (got 4)": {"sliding_window": 4},
            "norm_type: Input should be 'layernorm' or 'low_precision_layernorm' (got 'rmsnorm')": {
                "norm_type": "rmsnorm"
            },
        },
    ),
    (
        BLOOM,
        {
            "hidden_size is 8 but n_embed is 16": {"n_embed": 16},
            "n_head is 2 but num_attention_heads is 4": {"num_attention_heads": 4},
            "width 8 is not a multiple of 3 heads": {"n_head": 3},
            "tensor word_embeddings.weight is missing": {},
        },
    ),
]


@pytest.mark.parametrize(
    ("config", "words"),
    [(base | changes, words) for base, table in CONFIGS for words, changes in rows(table)],
)
def test_a_config_that_is_not_understood_or_does_not_fit_is_refused(config, words, folder, monkeypatch):
    files.write_config(folder, config)
    unreadable(folder, monkeypatch, words)


@pytest.mark.parametrize("name", ["input_layernorm.bias", "self_attn.q_norm.weight", "self_attn.q_proj.bias"])
def test_what_would_change_attention_is_never_let_stand(name, tmp_path):
    """A family that ignores its MLP does not ignore another bias or gain of its attention."""
    more = {f"model.layers.0.{name}": (8,), "model.layers.0.mlp.extra.weight": (3, 3)}
    granite = LLAMA | {"model_type": "granite", "attention_multiplier": 0.3}
    files.write(tmp_path, granite, files.random_tensors(SHAPES | more))
    refused(f"unknown tensor model.layers.0.{name}", open_checkpoint, tmp_path)
