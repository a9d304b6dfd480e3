"""What is known of each family of models, once: its checkpoint on disk, its attention in transformers.

Neither torch nor transformers is imported here. `dynamics.weights.reader` reads checkpoints by it, and by it
`dynamics.hf.families` finds the attention of a model that transformers has built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dynamics.weights import baichuan, described, mpt
from dynamics.weights.layout import Layout


class Family(NamedTuple):
    """One model_type.

    layout, prefix: where a checkpoint keeps its projections, and what its names begin with (None: not read head by
    head). attention: the class of attention in transformers' modeling file (None: transformers has no such model), of
    the module `module`, the model_type if empty; interface: whether it calls transformers' AttentionInterface, or its
    forward has to be replaced. blocks, head: the places of the layers in the model without its head, and of the head.
    positions: the place of the learned positions in the model without its head, None where it has none.
    alibi, causal: the kind of attention. sinks: the attribute of the attention that holds one learned sink logit a
    head. windows: whether sliding windows are handed on. softcap: the attribute with the cap of its logits.
    """

    layout: Callable[[Mapping[str, Any], Path, str], Layout] | None = None
    prefix: str = ""
    attention: str | None = None
    module: str = ""
    interface: bool = True
    blocks: str = "layers"
    head: str = "lm_head"
    positions: str | None = None
    alibi: bool = False
    causal: bool = True
    sinks: str | None = None
    windows: bool = False
    softcap: str | None = None


_DESCRIBED = Family(described.layout, "model.")
_BLOOM = Family(described.layout, "transformer.", interface=False, alibi=True)

FAMILIES = {
    "bloom": _BLOOM._replace(attention="BloomAttention", blocks="h"),
    "llama": _DESCRIBED._replace(attention="LlamaAttention"),
    "mistral": _DESCRIBED._replace(attention="MistralAttention", windows=True),
    "mpt": _BLOOM._replace(layout=mpt.layout, attention="MptAttention", blocks="blocks"),
    "qwen2": _DESCRIBED._replace(attention="Qwen2Attention", windows=True),
    "qwen3": _DESCRIBED._replace(attention="Qwen3Attention", windows=True),
    "baichuan": _DESCRIBED._replace(layout=baichuan.baichuan),
    "baichuan_m1": _DESCRIBED._replace(layout=baichuan.baichuan_m1),
    "bert": Family(
        attention="BertSelfAttention", blocks="encoder.layer", head="cls", positions="embeddings.position_embeddings",
        causal=False,
    ),
    "falcon": Family(described.layout, "transformer.", attention="FalconAttention", interface=False, blocks="h"),
    "gpt2": Family(described.layout, "transformer.", attention="GPT2Attention", blocks="h", positions="wpe"),
    "gpt_oss": _DESCRIBED._replace(attention="GptOssAttention", sinks="sinks", windows=True),
    "cohere": _DESCRIBED._replace(attention="CohereAttention"),
    "gemma": _DESCRIBED._replace(attention="GemmaAttention"),
    "gemma2": _DESCRIBED._replace(attention="Gemma2Attention", windows=True, softcap="attn_logit_softcapping"),
    "gemma3": Family(described.layout, "language_model.model."),
    "gemma3_text": _DESCRIBED._replace(attention="Gemma3Attention", module="gemma3", windows=True),
    "gpt_neox": _DESCRIBED._replace(prefix="gpt_neox.", attention="GPTNeoXAttention"),
    "granite": _DESCRIBED._replace(attention="GraniteAttention"),
    "mixtral": _DESCRIBED._replace(attention="MixtralAttention", windows=True),
    "olmo": _DESCRIBED._replace(attention="OlmoAttention"),
    "olmo2": _DESCRIBED._replace(attention="Olmo2Attention"),
    "opt": _DESCRIBED._replace(attention="OPTAttention", blocks="decoder.layers", positions="decoder.embed_positions"),
    "phi3": _DESCRIBED._replace(attention="Phi3Attention", windows=True),
    "qwen3_moe": _DESCRIBED._replace(attention="Qwen3MoeAttention", windows=True),
    "smollm3": _DESCRIBED._replace(attention="SmolLM3Attention", windows=True),
    "stablelm": _DESCRIBED._replace(attention="StableLmAttention"),
}
READ = tuple(name for name, family in FAMILIES.items() if family.layout is not None)
RUN = tuple(name for name, family in FAMILIES.items() if family.attention is not None)
