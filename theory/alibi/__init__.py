"""ALiBi heads: slopes, logit ranges, how far a head can see, and where the printed scope holds."""

from theory.alibi.bounds import (
    Scopes,
    dropped_mass_bound,
    head_scope,
    log_weight_bound,
    masked_weight_bound,
    printed_scope,
    printed_scope_of_norm,
    scope,
    slopes,
    spectral_scope,
    weight_bound,
    window_for_mass,
)
from theory.alibi.head import Head, spectral_range_of_norms
from theory.alibi.ranges import Extremes, certified_logit_range, certified_self_gap, extremes, logit_range, self_gap
from theory.alibi.rounded import rounded_range

__all__ = [
    "Extremes",
    "Head",
    "Scopes",
    "certified_logit_range",
    "certified_self_gap",
    "dropped_mass_bound",
    "extremes",
    "head_scope",
    "log_weight_bound",
    "logit_range",
    "masked_weight_bound",
    "printed_scope",
    "printed_scope_of_norm",
    "rounded_range",
    "scope",
    "self_gap",
    "slopes",
    "spectral_range_of_norms",
    "spectral_scope",
    "weight_bound",
    "window_for_mass",
]


def __dir__() -> list[str]:
    return list(__all__)
