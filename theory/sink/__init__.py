"""Attention sinks: importance, entropy, reach, effect on the output, other denominators, one more token, the first."""

from theory.sink.atlas import drained_copy_gate, first_copy_output, merged_logit, sink_token_output
from theory.sink.denominators import (
    GateWitness,
    gate_witness,
    gated_output,
    level_witness,
    matching_sink_logit,
    sink_gate,
    sink_output,
    sink_softmax,
    softmax_plus_one,
    zero_token_output,
)
from theory.sink.effect import (
    Eviction,
    eviction_counterexample,
    eviction_score,
    no_effect_value,
    no_op_value,
    norm_score,
    present_effect,
    removal_scale,
    removed_effect,
)
from theory.sink.first_token import (
    CopyWeights,
    causal_attention,
    causal_leak,
    copy_weights,
    logit_lead,
    printed_causal_attention,
    rotary_copy_gap,
    rotary_copy_gap_bound,
    zero_key_weight,
)
from theory.sink.importance import (
    entropy_bound,
    importance_entropy,
    printed_importance,
    token_importance,
    uniform_causal_entropy,
)
from theory.sink.reach import (
    divergence_bound,
    first_token_bound,
    largest_divergence,
    largest_weight,
    masked_sink_length,
    range_for_weight,
    sink_length,
)

__all__ = [
    "CopyWeights",
    "Eviction",
    "GateWitness",
    "causal_attention",
    "causal_leak",
    "copy_weights",
    "divergence_bound",
    "drained_copy_gate",
    "entropy_bound",
    "eviction_counterexample",
    "eviction_score",
    "first_copy_output",
    "first_token_bound",
    "gate_witness",
    "gated_output",
    "importance_entropy",
    "largest_divergence",
    "largest_weight",
    "level_witness",
    "logit_lead",
    "masked_sink_length",
    "matching_sink_logit",
    "merged_logit",
    "no_effect_value",
    "no_op_value",
    "norm_score",
    "present_effect",
    "printed_causal_attention",
    "printed_importance",
    "range_for_weight",
    "removal_scale",
    "removed_effect",
    "rotary_copy_gap",
    "rotary_copy_gap_bound",
    "sink_gate",
    "sink_length",
    "sink_output",
    "sink_softmax",
    "sink_token_output",
    "softmax_plus_one",
    "token_importance",
    "uniform_causal_entropy",
    "zero_key_weight",
    "zero_token_output",
]


def __dir__() -> list[str]:
    return list(__all__)
