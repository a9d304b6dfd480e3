"""The families of decoders of one pattern, a line each: where the projections are, what is normed, how logits scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Order = Literal["interleaved", "concatenated", "grouped"]


class Gains(NamedTuple):
    """Norms of queries and keys before the rotation.

    query, key: names of their gains, {} standing for a head's number; over: what is normed as one, each "head" or the
    whole "width" of the projection; own: whether each head has gains of its own; layer_norm: LayerNorm in place of
    RMSNorm; asked: the setting without which there are none, "" where there always are.
    """

    query: str = "q_norm.weight"
    key: str = "k_norm.weight"
    over: Literal["head", "width"] = "head"
    own: bool = False
    layer_norm: bool = False
    asked: str = ""


class Kind(NamedTuple):
    """What distinguishes a model_type from the pattern of `dynamics.weights.described`. The fields:

    attention, norm: names of these modules in a layer. norm "": a norm without parameters; None: attention reads
        states that are not normed.
    layer_norm, norm_bias: whether the norm is a LayerNorm (else an RMSNorm), and whether it has a bias.
    offset: a number that is added to the stored gains.
    fused: the name of the projection that holds query, key and value together, and the order of its heads.
    transposed: whether a weight is stored as (d_in, d_out).
    biases: the config field that says whether query, key and value have biases, and the value where it is absent.
    gains: the norms of queries and keys.
    needs: settings of which one value is supported; this value also holds where the config does not give one.
    given: fields that the config must give, because the default of the class differs from ours; "a|b": one of them.
    reads: settings of the logits that this class does not ignore.
    fields: for a usual field its names in this config, the preferred name first.
    kv_heads: the number of key-value heads: as "given" in the config, "all" heads, or "one".
    position, pairs: the kind of position, and which channels are rotated together.
    share: the part of a head that is rotated where the config does not say (None: always the whole head).
    share_name: the field beside the rotary parameters that gives this part.
    rope_by_type: whether layers with a sliding window have rotary parameters of their own.
    windows: the layers with a sliding window where layer_types does not say: "all"; "asked", all; "qwen", from
        max_window_layers on; "unrotated", those without positions; a number n, all but every n-th. "asked", "qwen" and
        "unrotated" need use_sliding_window.
    typed: whether layer_types, if the config has it, decides in place of that rule. With "qwen" there is no window
        without use_sliding_window even so.
    sinks: the name of the learned sink logits.
    scale: "gpt2" if the logits are scaled as in GPT-2.
    root, ends: the prefix of the layers, and the tensors that must stand beside them.
    settled: a function of the config that returns changes of these fields.
    rounded: whether ALiBi's biases are rounded to bfloat16 in every format.
    rest: a pattern of all names in a layer beside attention and its norm; None: any name is accepted.
    quantised: methods of quantisation that leave the weights of attention in floats.
    nested: the config field that holds the text config.
    absent: the values that the class takes for fields that the config leaves out, where they matter here.
    """

    attention: str = "self_attn"
    norm: str | None = "input_layernorm"
    layer_norm: bool = False
    norm_bias: bool = False
    offset: float = 0.0
    fused: tuple[str, Order] | None = None
    transposed: bool = False
    biases: tuple[str, bool] = ("attention_bias", False)
    gains: Gains | None = None
    needs: Mapping[str, bool] = MappingProxyType({})
    given: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    kv_heads: Literal["given", "all", "one"] = "given"
    position: Literal["rope", "alibi", "learned"] = "rope"
    pairs: Literal["halves", "neighbours"] = "halves"
    share: float | None = None
    share_name: str = "partial_rotary_factor"
    rope_by_type: bool = False
    windows: Literal["all", "asked", "qwen", "unrotated"] | int | None = None
    typed: bool = False
    sinks: str = ""
    scale: Literal["", "gpt2"] = ""
    root: str = "layers."
    ends: tuple[str, ...] = ("embed_tokens.weight", "norm.weight")
    settled: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    rounded: bool = False
    rest: str | None = None
    quantised: tuple[str, ...] = ()
    nested: str = ""
    absent: Mapping[str, Any] = MappingProxyType({})


def _falcon(data: Mapping[str, Any]) -> dict[str, Any]:
    """The decoder architecture, new or old, and the position."""
    changes: dict[str, Any] = {"position": "alibi" if data.get("alibi") else "rope"}
    if data.get("new_decoder_architecture"):
        two = data.get("num_ln_in_parallel_attn") in (None, 2)
        return changes | {"norm": "ln_attn" if two else "input_layernorm", "fused": ("query_key_value", "grouped")}
    if data.get("multi_query", True):
        return changes | {"kv_heads": "one", "fused": ("query_key_value", "concatenated")}
    return changes | {"kv_heads": "all"}


_GEMMA = Kind(offset=1.0)
_LLAMA = Kind(rest=r"self_attn\.(?:o_proj\.(?:weight|bias)|rotary_emb\.inv_freq)|post_attention_layernorm\.weight|"
                   r"mlp\.(?:gate|up|down)_proj\.(?:weight|bias)")  # fmt: skip
_GEMMA3 = _GEMMA._replace(windows=6, typed=True, rope_by_type=True, gains=Gains(), given=("query_pre_attn_scalar",),
                          needs={"use_bidirectional_attention": False},
                          reads=("query_pre_attn_scalar", "sliding_window_pattern"))  # fmt: skip
_QWEN = _LLAMA._replace(windows="qwen", typed=True, given=("num_key_value_heads",))
_BLOCKS = {"num_hidden_layers": ("n_layer", "num_hidden_layers"),
           "num_attention_heads": ("n_head", "num_attention_heads")}  # fmt: skip
_NEOX = Kind("attention", layer_norm=True, norm_bias=True, fused=("query_key_value", "interleaved"), kv_heads="all")

KINDS = {
    "bloom": _NEOX._replace(
        attention="self_attention", biases=("", True), position="alibi", root="h.",
        fields=_BLOCKS | {"hidden_size": ("hidden_size", "n_embed"), "max_position_embeddings": ("seq_length",)},
        ends=("word_embeddings.weight", "word_embeddings_layernorm.weight", "ln_f.weight")),
    "cohere": Kind(layer_norm=True, pairs="neighbours", gains=Gains(own=True, layer_norm=True, asked="use_qk_norm")),
    "falcon": _NEOX._replace(
        attention="self_attention", biases=("bias", False), kv_heads="given", root="h.", settled=_falcon, rounded=True,
        fields=_BLOCKS | {"hidden_size": ("hidden_size", "n_embed"),
                          "num_key_value_heads": ("num_kv_heads", "n_head_kv")},
        ends=("word_embeddings.weight", "ln_f.weight")),
    "gemma": _GEMMA,
    "gemma2": _GEMMA._replace(windows=2, typed=True, given=("query_pre_attn_scalar",),
                              reads=("query_pre_attn_scalar", "attn_logit_softcapping"),
                              absent={"attn_logit_softcapping": 50.0}),
    "gemma3": _GEMMA3._replace(nested="text_config", absent={"num_attention_heads": 8, "num_key_value_heads": 4,
                                                             "head_dim": 256, "query_pre_attn_scalar": 256}),
    "gemma3_text": _GEMMA3,
    "gpt2": Kind("attn", "ln_1", layer_norm=True, norm_bias=True, fused=("c_attn", "concatenated"), transposed=True,
                 biases=("", True), needs={"add_cross_attention": False}, kv_heads="all", position="learned", root="h.",
                 scale="gpt2", ends=("wte.weight", "ln_f.weight"),
                 fields=_BLOCKS | {"hidden_size": ("n_embd", "hidden_size"),
                                   "max_position_embeddings": ("n_positions", "max_position_embeddings")}),
    "gpt_neox": _NEOX._replace(biases=("attention_bias", True), share=0.25, share_name="rotary_pct",
                               ends=("embed_in.weight", "final_layer_norm.weight")),
    "gpt_oss": Kind(biases=("attention_bias", True), windows=2, typed=True, sinks="sinks",
                    given=("rope_parameters|rope_scaling",), quantised=("mxfp4",)),
    "granite": Kind(given=("attention_multiplier",), reads=("attention_multiplier",)),
    "llama": _LLAMA,
    "mistral": _LLAMA._replace(biases=("", False), windows="all", typed=True, given=("num_key_value_heads",)),
    "mixtral": Kind(biases=("", False), windows="all"),
    "olmo": Kind(norm="", layer_norm=True, reads=("clip_qkv",), ends=("embed_tokens.weight",)),
    "olmo2": Kind(norm=None, gains=Gains(over="width")),
    "opt": Kind(norm="self_attn_layer_norm", layer_norm=True, norm_bias=True, biases=("enable_bias", True),
                needs={"do_layer_norm_before": True, "layer_norm_elementwise_affine": True}, kv_heads="all",
                position="learned", root="decoder.layers.", ends=("decoder.embed_tokens.weight",)),
    "phi3": Kind(fused=("qkv_proj", "concatenated"), biases=("", False), share=1.0, windows="all",
                 absent={"original_max_position_embeddings": 4096}),
    "qwen2": _QWEN._replace(biases=("", True)),
    "qwen3": _QWEN._replace(gains=Gains(), given=("num_key_value_heads", "head_dim")),
    "qwen3_moe": Kind(gains=Gains(), windows="asked"),
    "smollm3": Kind(windows="unrotated", typed=True, given=("no_rope_layers",), reads=("no_rope_layers",)),
    "stablelm": Kind(layer_norm=True, norm_bias=True, biases=("use_qkv_bias", False), share=0.25,
                     gains=Gains("q_layernorm.norms.{}.weight", "k_layernorm.norms.{}.weight", own=True,
                                 layer_norm=True, asked="qk_layernorm")),
}  # fmt: skip
