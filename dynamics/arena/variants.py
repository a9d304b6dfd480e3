"""The contestants by name: what each changes of a vanilla model, and where it is from. No torch."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from dynamics.model.config import (
    CANON,
    KEY_OFFSET,
    ONE_KEY_ONE_VALUE,
    SMEAR,
    CrossLayer,
    Dense,
    Identity,
    Latent,
    Neutreno,
    Residual,
    Shared,
    cla,
)


class Variant(NamedTuple):
    """changes: settings of `ModelConfig`; words: what it is, in a line; source: where it is defined."""

    changes: Mapping[str, Any]
    words: str
    source: str


KV, RESFORMER = "KV shifting attention", "ResFormer"
CANON_PAPER = "Canon layers, arXiv:2512.17351"
DIFF_PAPER = "arXiv:2410.05258"
SHIFT: Mapping[str, Any] = {"shift": "kv"}
LATENT: Mapping[str, Any] = {"latent": Latent(size=24, rope=4)}  # half the width of the middle size, a third of a head

VARIANTS: dict[str, Variant] = {
    "vanilla": Variant({}, "softmax attention, RoPE", "Llama"),
    "kv-shift": Variant(SHIFT, "keys and values shifted, own coefficients", f"{KV}, Eq. 5"),
    "resformer": Variant(
        {"values": Residual()}, "half of each layer's values are the first layer's", f"{RESFORMER}, Eq. 7"
    ),
    "kv-shift+resformer": Variant({"values": Residual()} | SHIFT, "both", "neither paper"),
    "k-shift": Variant({"shift": "k"}, "keys shifted", f"{KV}, Figure 7a"),
    "v-shift": Variant({"shift": "v"}, "values shifted", f"{KV}, Figure 7a"),
    "qkv-shift": Variant({"shift": "qkv"}, "queries shifted too", f"{KV}, Appendix G"),
    "kv-window-3": Variant(SHIFT | {"window": 3}, "keys and values of three tokens", f"{KV}, Figure 7b"),
    "kv-gate": Variant(SHIFT | {"parameters": "gate"}, "coefficients in (0, 1) of sum 1", f"{KV}, Appendix F.1"),
    "smear": Variant({"past": SMEAR}, "a learnt share of the embedding before", "no paper of these"),
    "key-offset": Variant({"past": KEY_OFFSET}, "half of the key channels are the token before's", "no paper of these"),
    "canon-a": Variant({"past": CANON["A"]}, "four tokens mixed before the attention", CANON_PAPER),
    "canon-b": Variant({"past": CANON["B"]}, "queries, keys, values of four tokens", CANON_PAPER),
    "canon-abcd": Variant({"past": sum(CANON.values(), ())}, "Canon layers everywhere", CANON_PAPER),
    "resformer-learnt": Variant({"values": Residual(learnt=True)}, "lambda1 and lambda2 learnt", f"{RESFORMER}, 4.2"),
    "svformer": Variant({"values": Shared()}, "all layers read the first one's values", f"{RESFORMER}, Eq. 10"),
    "kv-shift+svformer": Variant({"values": Shared()} | SHIFT, "shared values, shifted by each layer", "neither paper"),
    "neutreno": Variant({"values": Neutreno()}, "0.4 (V_1 - V_n) added to the output", f"{RESFORMER}, Eq. 8"),
    "identity": Variant({"values": Identity()}, "the mean of earlier layers' values added", f"{RESFORMER}, Eq. 6"),
    "denseformer": Variant({"values": Dense()}, "each block reads a mixture of all below", "arXiv:2402.02622"),
    "cross-layer": Variant({"values": CrossLayer()}, "keys and values of the first layer too", f"{RESFORMER}, Eq. 2"),
    "gqa": Variant({"n_kv_heads": 2}, "two key-value heads", "arXiv:2305.13245"),
    "mqa": Variant({"n_kv_heads": 1}, "one key-value head", "arXiv:1911.02150"),
    "kv-shift+gqa": Variant(SHIFT | {"n_kv_heads": 2}, "two shifted key-value heads", KV),
    "cla-2": Variant({"values": cla(4)}, "two layers share keys and values", "arXiv:2405.12981"),
    "mla": Variant(LATENT, "keys and values of a latent half as wide", "arXiv:2405.04434"),
    "mla+one-key-one-value": Variant(
        LATENT | {"past": ONE_KEY_ONE_VALUE},
        "one head's key, another's value of the token before",
        f"{KV}, Appendix J",
    ),
    "mla+kv-shift": Variant(LATENT | SHIFT, "latent attention, keys and values shifted", "no paper of these"),
    "differential": Variant({"weights": "differential"}, "the difference of two softmaxes", DIFF_PAPER),
    "differential+qk-norm": Variant(
        {"weights": "differential", "qk_norm": True}, "queries and keys normed", DIFF_PAPER
    ),
    "selective": Variant({"weights": "selective"}, "logits lowered by what one head selects", "arXiv:2410.02703"),
    "plus-one": Variant({"weights": "plus_one"}, "softmax with one more in its sum", "waiver paper"),
    "sink": Variant({"weights": "sink"}, "softmax with a learnt sink a head", "gpt-oss"),
    "gated-output": Variant({"weights": "gate"}, "a sigmoid gate a head", "waiver paper"),
}
BASELINE = "vanilla"
