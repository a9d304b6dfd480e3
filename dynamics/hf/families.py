"""The attention of a transformers model: which of its modules, how many heads, which slopes - or why not.

Supported is what `dynamics.weights.families` declares with a class of attention, from ALiBi (bloom, mpt, and falcon,
whose bias is put into its keys) over rotary positions, whole or in part, with norms, clips or multipliers of queries
and keys, and learned positions (gpt2, opt, bert, in which every token sees all), to learned sink logits (gpt_oss) and
softcapped logits (gemma2). Whatever attends in another way (a learned bias) is refused.
transformers runs every MPT alike, whatever its attn_config says of slopes, QK-norm or prefixes: where that is not what
the checkpoint was trained with, its logits mean nothing, and it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from dynamics.hf import versions
from dynamics.weights import described
from dynamics.weights.families import FAMILIES, RUN
from dynamics.weights.kinds import KINDS
from dynamics.weights.layout import Config
from theory import alibi

if TYPE_CHECKING:
    from dynamics.hf.versions import PreTrainedModel

MPT_AS_RUN = {
    "alibi": True,
    "alibi_bias_max": 8,
    "attn_type": "multihead_attention",
    "prefix_lm": False,
    "qk_ln": False,
}


class WronglyRun(ValueError):
    """The attention that transformers computes or returns for this model differs from the model's own."""


class Heads(NamedTuple):
    """The attention of a transformers model: its modules by layer, the heads of each, and ALiBi's slopes or None.

    causal: whether a token sees none after it. sinks: the attribute of a module with its sink logits (n_heads,), or
    None. windows: how many tokens a query of each layer sees, itself among them; None for all. softcap: c of logits
    c tanh(x / c), or None.
    """

    family: str
    modules: list[nn.Module]
    n_heads: int
    n_kv_heads: int
    slopes: Tensor | None
    causal: bool = True
    sinks: str | None = None
    windows: tuple[int | None, ...] = ()
    softcap: float | None = None

    @property
    def n_layers(self) -> int:
        return len(self.modules)


def heads(model: PreTrainedModel) -> Heads:
    """What `replaced` replaces in this model; slopes are float64, (n_heads,).

    Raises: ValueError for an architecture, or a setting of it, whose attention is not plain softmax attention.
    """
    config = getattr(model, "config", None)
    name = getattr(config, "model_type", None)
    if name not in RUN:
        raise ValueError(
            f"the attention of {type(model).__name__} is none of {', '.join(RUN)}: {name!r} has no class of attention "
            "in dynamics.weights.families, and without it there are only head scores, of what the model returns"
        )
    family = FAMILIES[name]
    place = versions.place(family.module or name)
    modules = [m for m in model.modules() if (type(m).__module__, type(m).__name__) == (place, family.attention)]
    if not modules or [m.layer_idx for m in modules] != list(range(config.num_hidden_layers)):
        wanted = config.num_hidden_layers or "1 or more"
        raise ValueError(f"{len(modules)} layers of {family.attention} were found, not {wanted}")
    if family.causal and not all(getattr(one, "is_causal", True) for one in (config, *modules)):
        raise ValueError("is_causal is False: only causal attention can go through an attention function")
    if not family.causal and getattr(config, "is_decoder", False):
        raise ValueError(f"is_decoder is True: {name} is supported as an encoder only")
    if getattr(config, "pretraining_tp", 1) > 1 and getattr(config, "slow_but_exact", False):
        raise ValueError("slow_but_exact sums the output matrix in slices and without its bias: not supported")
    if name in KINDS:
        windows = described.windows(config.to_dict(), Path("config"))
    else:
        Config.of(config.to_dict(), Path("config"))
        windows = (getattr(config, "sliding_window", None),) * len(modules)
    if not family.windows:
        without_windows(windows)
    if name == "mpt":
        for setting, run in MPT_AS_RUN.items():
            if (given := getattr(config.attn_config, setting)) != run:
                raise WronglyRun(f"{setting} is {given!r}, but transformers runs every MPT with {run!r}")
    n_heads = config.num_attention_heads
    slopes = torch.tensor(alibi.slopes(n_heads), dtype=torch.float64) if family.alibi else None
    n_kv_heads = n_heads // getattr(modules[0], "num_key_value_groups", 1)  # a config may name more than is read
    if name == "falcon":
        n_kv_heads = _falcon_kv_heads(config, modules)
    softcap = getattr(modules[0], family.softcap) if family.softcap else None
    return Heads(name, modules, n_heads, n_kv_heads, slopes, family.causal, family.sinks, windows, softcap)


def _falcon_kv_heads(config: Any, modules: Sequence[nn.Module]) -> int:
    """Its key-value heads, whose number no one setting gives; with ALiBi the biases of heads stand in their keys."""
    found = modules[0].num_kv_heads
    if config.alibi and found != config.num_attention_heads:
        raise WronglyRun(
            f"alibi with {config.num_attention_heads} heads on {found} key-value heads: falcon rounds the bias of each "
            "head to bfloat16, and a shared key has place for one"
        )
    return found


def without_windows(windows: Sequence[int | None]) -> None:
    """Raise ValueError for the first layer that has a sliding window."""
    for layer, window in enumerate(windows):
        if window is not None:
            raise ValueError(f"layer {layer} has a sliding window of {window} tokens: only full attention is supported")
