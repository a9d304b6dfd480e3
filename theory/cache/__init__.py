"""What a KV cache may forget: dropped tokens, error budgets, sizes, and the compensation token in their place."""

from theory.cache.budget import budget_saving, split_budget
from theory.cache.compensation import Token, attend_with_token, log_weight, token
from theory.cache.compensation_alibi import advance, decayed_token, mean_bias_log_gap
from theory.cache.compensation_bounds import (
    certified_log_mass_bound,
    error_bound,
    log_mass_bound,
    mass_gap_bound,
    mean_gap_bound,
    second_order_bound,
    total_error_bound,
    worst_share,
)
from theory.cache.compensation_rotary import log_gap_limit, mean_turn, unrotated_log_weight
from theory.cache.compensation_second_order import second_order_log_weight, second_order_token, second_order_value
from theory.cache.dropped import Truncation, attend, eviction_errors, output_error_bound, truncate, value_diameter
from theory.cache.dropped_flat import log_scope, mass_bound, mass_floor
from theory.cache.receipt import log_decay, log_mean_exp_bound, mean_value_radius, receipt_bound
from theory.cache.size import buffer_length, kept_share, protected_groups

__all__ = [
    "Token",
    "Truncation",
    "advance",
    "attend",
    "attend_with_token",
    "budget_saving",
    "buffer_length",
    "certified_log_mass_bound",
    "decayed_token",
    "error_bound",
    "eviction_errors",
    "kept_share",
    "log_decay",
    "log_gap_limit",
    "log_mass_bound",
    "log_mean_exp_bound",
    "log_scope",
    "log_weight",
    "mass_bound",
    "mass_floor",
    "mass_gap_bound",
    "mean_bias_log_gap",
    "mean_gap_bound",
    "mean_turn",
    "mean_value_radius",
    "output_error_bound",
    "protected_groups",
    "receipt_bound",
    "second_order_bound",
    "second_order_log_weight",
    "second_order_token",
    "second_order_value",
    "split_budget",
    "token",
    "total_error_bound",
    "truncate",
    "unrotated_log_weight",
    "value_diameter",
    "worst_share",
]


def __dir__() -> list[str]:
    return list(__all__)
