"""Induction heads (KV shifting, Section 3.1): definition, constructions, bounds, and what is impossible."""

from theory.induction.bounds import (
    ball_discrepancy_bound,
    copy_error_bound,
    latest_successor_bound,
    matched_discrepancy_bound,
    printed_copy_error_bound,
    printed_softmax_change_bound,
    sharp_case,
    softmax_change_bound,
)
from theory.induction.family import attention_gap, head_weights, implements, value_lead
from theory.induction.family_bounds import attention_error_bound, key_shift_error, logit_lead_bound
from theory.induction.heads import Discrepancy, HeadSupport, discrepancy, induction_head, kv_shift_head, two_layer_alibi
from theory.induction.network import construction, two_layer_variant
from theory.induction.one_token import one_token_error, one_token_error_any_slope

__all__ = [
    "Discrepancy",
    "HeadSupport",
    "attention_error_bound",
    "attention_gap",
    "ball_discrepancy_bound",
    "construction",
    "copy_error_bound",
    "discrepancy",
    "head_weights",
    "implements",
    "induction_head",
    "key_shift_error",
    "kv_shift_head",
    "latest_successor_bound",
    "logit_lead_bound",
    "matched_discrepancy_bound",
    "one_token_error",
    "one_token_error_any_slope",
    "printed_copy_error_bound",
    "printed_softmax_change_bound",
    "sharp_case",
    "softmax_change_bound",
    "two_layer_alibi",
    "two_layer_variant",
    "value_lead",
]


def __dir__() -> list[str]:
    return list(__all__)
