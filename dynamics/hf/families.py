"""The attention of a transformers model: which of its modules, how many heads, which slopes - or why not.

Supported, by the model_type of the configuration: bloom and mpt (ALiBi), llama, mistral, qwen2 and qwen3 (rotary, the
last with QK-norm). Whatever attends in another way (sliding windows, softcapped logits, a learned bias) is refused.
transformers runs every MPT alike, whatever its attn_config says of slopes, QK-norm or prefixes: where that is not what
the checkpoint was trained with, its logits mean nothing, and it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from theory import alibi

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ATTENTION = {
    "bloom": "BloomAttention",
    "llama": "LlamaAttention",
    "mistral": "MistralAttention",
    "mpt": "MptAttention",
    "qwen2": "Qwen2Attention",
    "qwen3": "Qwen3Attention",
}
MPT_AS_RUN = {
    "alibi": True,
    "alibi_bias_max": 8,
    "attn_type": "multihead_attention",
    "prefix_lm": False,
    "qk_ln": False,
}


class Heads(NamedTuple):
    """The attention of a transformers model: its modules by layer, the heads of each, and ALiBi's slopes or None."""

    family: str
    modules: list[nn.Module]
    n_heads: int
    n_kv_heads: int
    slopes: Tensor | None

    @property
    def n_layers(self) -> int:
        return len(self.modules)


def heads(model: PreTrainedModel) -> Heads:
    """What `replaced` replaces in this model; slopes are float64, (n_heads,).

    Raises: ValueError for an architecture, or a setting of it, whose attention is not plain causal softmax attention.
    """
    config = getattr(model, "config", None)
    family = getattr(config, "model_type", None)
    if family not in ATTENTION:
        raise ValueError(f"the attention of {type(model).__name__} is none of {', '.join(ATTENTION)}: {family!r}")
    place = f"transformers.models.{family}.modeling_{family}"
    modules = [m for m in model.modules() if (type(m).__module__, type(m).__name__) == (place, ATTENTION[family])]
    if [m.layer_idx for m in modules] != list(range(config.num_hidden_layers)):
        raise ValueError(f"{len(modules)} layers of {ATTENTION[family]} were found, not {config.num_hidden_layers}")
    if not getattr(config, "is_causal", True):
        raise ValueError("is_causal is False: only causal attention can go through an attention function")
    if getattr(config, "pretraining_tp", 1) > 1 and getattr(config, "slow_but_exact", False):
        raise ValueError("slow_but_exact sums the output matrix in slices and without its bias: not supported")
    for index, module in enumerate(modules):
        window = getattr(module, "sliding_window", getattr(config, "sliding_window", None))
        if window is not None:
            raise ValueError(f"layer {index} has a sliding window of {window} tokens: only full attention is supported")
    if family == "mpt":
        for name, run in MPT_AS_RUN.items():
            if (given := getattr(config.attn_config, name)) != run:
                raise ValueError(f"{name} is {given!r}, but transformers runs every MPT with {run!r}")
    n_heads = config.num_attention_heads
    if family not in ("bloom", "mpt"):
        return Heads(family, modules, n_heads, config.num_key_value_heads, None)
    return Heads(family, modules, n_heads, n_heads, torch.tensor(alibi.slopes(n_heads), dtype=torch.float64))
