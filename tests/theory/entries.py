"""Functions of `theory` that take numbers, with good arguments: what `test_checked` feeds with junk.

One name stands for one thing, so that a good value of it serves nearly every function: what is public is fed by itself.
"""

import inspect
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from scripts.pages import theory_table
from theory import alibi, induction, landscape, shift, sink, value_residual
from theory.alibi import grams, grams_rotary, reach, rotary, rounded, sharp, shifted, shifted_scope, sinks, tables
from theory.alibi import printed as alibi_printed
from theory.cache import (
    budget,
    compensation,
    compensation_alibi,
    compensation_rotary,
    compensation_second_order,
    dropped,
    size,
)
from theory.induction import network
from theory.induction.constructed import NAMES
from theory.landscape import (
    frozen_table,
    grid,
    late_field,
    late_rates,
    learning_order,
    printed,
    slice_branches,
    symbolic,
    temperature,
)
from theory.shift import initialisation, parameters


class Entry(NamedTuple):
    """`arguments` are numbers or arrays of them, `words` are not; `free` ones may be None, `exact` ones text."""

    function: Any
    arguments: dict[str, Any]
    words: dict[str, Any] = {}  # noqa: RUF012
    free: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    symbols: bool = False  # may stand for numbers

    def called(self, **changed):
        return self.function(**{**self.arguments, **self.words, **changed})


OPTIONAL = ("norm_bias", "query_bias", "key_bias", "position", "biases", "centre", "self_gap")
QUERY = {
    "w_q": np.eye(2),
    "w_k": np.ones((2, 2)),
    "gamma": np.ones(2),
    "norm_bias": np.full(2, 0.1),
    "query_bias": np.zeros(2),
}
LAYER = {
    "w_q": np.ones((2, 2, 4)),
    "w_k": np.ones((1, 2, 4)),
    "gamma": np.ones(4),
    "norm_bias": np.ones(4),
    "query_bias": np.ones((2, 2)),
}
TOKEN = {"keys": np.eye(3, 2), "values": np.ones((3, 1)), "biases": np.zeros(3), "centre": np.zeros(2)}
STAND_IN = compensation.token(**TOKEN)
SECOND = compensation_second_order.second_order_token(**TOKEN)
MIXING, VALUES = [[1.0, 0.0], [0.25, 0.75]], [[1.0, 2.0], [0.5, -1.0]]

WORDS = {
    "norm": "rms",
    "pairs": "halves",
    "support": "causal",
    "domain": "unit",
    "law": "mean",
    "member": "key",
    "mask": "causal",
    "head": alibi.Head(*QUERY.values()),
}
GOOD = QUERY | {
    "a2": 0.7,
    "alpha": (0.0, 1.0),
    "alpha1": 0.3,
    "alpha2": 0.7,
    "anchors": 2,
    "attention": MIXING,
    "b1": 0.4,
    "b2": 0.6,
    "before": -0.4,
    "beta": -0.5,
    "beta1": 0.4,
    "beta2": 0.6,
    "biases": [0.0, 1.0, 2.0],
    "budget": 0.1,
    "cap": 30.0,
    "centre": [0.0, 0.0],
    "change": [0.1, -0.2],
    "chosen": 2,
    "coefficients": [0.5, 0.5],
    "contraction": 0.75,
    "copy_slope": 3.0,
    "cosine": -1.0,
    "costs": [1.0, 2.0],
    "count": 5,
    "d_ffn": 56,
    "d_key": 64,
    "d_model": 16,
    "d_value": 32,
    "decay": 0.5,
    "diameter": 2.0,
    "dim": 4,
    "distance": 4,
    "distances": [1, 2, 3],
    "dropped_diameter": 2.0,
    "embedding": VALUES,
    "eps": 0.01,
    "error": 0.1,
    "extra": 4,
    "first_importance": 0.5,
    "first_value": [1.0, 0.0],
    "first_values": VALUES,
    "frequencies": [1.0, 0.1],
    "gap": 2,
    "gate": 0.5,
    "group": 4,
    "hidden": 512,
    "high": 1.0,
    "kept": np.ones(2),
    "kept_distance": 1.0,
    "kernels": [(0.5, 1.0)],
    "key": np.ones(4),
    "key_gain": np.ones(4),
    "key_norm": 1.0,
    "keys": TOKEN["keys"],
    "kv_heads": 2,
    "lag": 1,
    "lam": 0.4,
    "lambda1": 0.5,
    "lambda2": 2.0,
    "largest": 0.3,
    "largest_logit": 2.0,
    "lead": -1.0,
    "least": 0.1,
    "length": 9,
    "level": 0.1,
    "limit": 1.0,
    "log_beta1": 1.0,
    "log_ratio": 1.0,
    "logit": 0.3,
    "logit_range": 3.0,
    "logit_ranges": [1.0, 2.0],
    "logit_width": 2.0,
    "logits": [0.0, 1.0, 2.0],
    "low": 0.0,
    "mass": 0.01,
    "match": 3,
    "mean": 0.5,
    "mean_key": np.ones(4),
    "mu": 0.5,
    "multiple": 256,
    "n_dropped": 9,
    "n_heads": 8,
    "n_kept": 4,
    "n_layers": 5,
    "n_tokens": 9,
    "nearest": 3,
    "new": 2.0,
    "odds": 3.0,
    "offset": 4,
    "old": 1.0,
    "other_cosine": -0.1,
    "other_gate": 0.25,
    "other_logit": 1.0,
    "other_logits": [[1.0, 0.0], [0.3, 0.2]],
    "other_norm": 2.0,
    "other_values": [[0.0, 1.0], [2.0, 3.0]],
    "output": [0.0, 1.0],
    "own": 0.8,
    "position": 4,
    "positions": [0, 1, 2],
    "product": 2.0,
    "protected": Fraction(3, 20),
    "pull": 0.5,
    "query": np.ones(4),
    "query_gain": np.ones(4),
    "query_norm": 1.0,
    "radius": 1.0,
    "ratio": 0.5,
    "raw": 3.0,
    "replaced": 0.1,
    "rest": [0.0, 1.0],
    "rest_logits": 5.0,
    "rest_scores": 7.0,
    "rests": [[1.0], [2.0]],
    "returned": np.zeros(2),
    "roundings": 4,
    "scale": 3.0,
    "self_gap": 2.0,
    "share": 0.01,
    "sigma": 0.5,
    "sink": 0.25,
    "sink_logit": 0.5,
    "sink_value": [2.0],
    "size": 4,
    "slope": 0.5,
    "slopes": [0.5, 0.25],
    "state": [0.1, 2.0, 0.3],
    "temperature": 3,
    "terms": 64,
    "time": 3.0,
    "token_mass": 0.1,
    "token_value": [1.0],
    "tokens": 5,
    "unit": 2.0**-8,
    "value": [1.0, 2.0],
    "value_diameter": 2.0,
    "values": [[1.0], [2.0], [0.5]],
    "variance": 2.0,
    "vectors": np.ones((3, 4)),
    "vocab": 50277,
    "vocabulary": 4,
    "w_o": np.ones((2, 2)),
    "w_v": np.eye(2),
    "weight": 0.5,
    "weights": [0.5, 0.9],
    "width": 4,
    "window": 3,
    "x": np.eye(4),
}
BY_ROOM = {
    "induction": {"beta": (1.0, 0.0), "key": (0.0, 1.0), "query": (1.0, 0.0)},
    "landscape": {"rest": 4.0, "sigma": 2.0},
    "value_residual": {"logits": [[0.0, 1.0], [2.0, 0.5]], "norm": 0.5, "values": VALUES},
}
BOX = {"alpha1": (0.0, 1.0), "beta1": (0.0, 1.0)}
CHANGES = {
    grid.slice_grid: BOX,
    printed.printed_grid: BOX,
    learning_order.earliest: {"n_tokens": 60},
    grams.logit_ranges: LAYER,
    grams.value_diameters: {"w_v": LAYER["w_q"], "gamma": np.ones(4)},
    grams_rotary.rotary_ranges: LAYER | {"key_bias": np.ones((1, 2))},
    rotary.rotary_range: {"key_bias": np.ones(2)},
    size.protected_groups: {"heads": 8},
    sink.causal_attention: {"logits": np.eye(3)},
    sink.printed_causal_attention: {"logits": np.eye(3)},
    sink.causal_leak: {"logits": np.eye(3)},
    value_residual.all_layers: {"values": [VALUES, VALUES]},
    value_residual.identity_mapping: {"values": [VALUES, VALUES]},
    value_residual.denseformer: {
        "attention": [MIXING, MIXING],
        "values": [VALUES, VALUES],
        "coefficients": [0.2, 0.3, 0.5],
    },
    value_residual.residual_stack: {"attention": [MIXING, MIXING]},
    value_residual.fold_ratios: {"decay": 0.1},
    induction.kv_shift_head: dict.fromkeys(NAMES, np.eye(4)),
}
FREE = {
    induction.kv_shift_head: NAMES,
    alibi.dropped_mass_bound: ("n_tokens",),
    shifted_scope.shifted_dropped_mass: ("n_tokens",),
    budget.split_budget: ("costs", "logit_ranges"),
    value_residual.denseformer: ("embedding",),
    value_residual.spectral_map: ("n_layers",),
    value_residual.residual_diameter_bound: ("n_layers",),
}


def fed(function):
    """The function with good values of what it takes."""
    good = GOOD | BY_ROOM.get(function.__module__.split(".")[1], {}) | CHANGES.get(function, {})
    names = inspect.signature(function).parameters
    words = {name: WORDS[name] for name in names if name in WORDS and name not in good}
    return Entry(function, {name: good[name] for name in names if name in good}, words, FREE.get(function, ()))


# They take sympy's numbers, a record or other words, or are a variant of `two_layer_alibi` with the same checks.
APART = {
    landscape.field,
    landscape.plane,
    shift.mixing_matrix,
    shift.offset_weights,
    shift.softmax,
    shift.shifted_attention,
    compensation_alibi.advance,
    compensation.log_weight,
    compensation_second_order.second_order_log_weight,
    compensation_second_order.second_order_value,
    induction.two_layer_variant,
    dropped.truncate,
    network.construction,
}
PUBLIC = [function for _, _, function in theory_table.functions() if function not in APART]
OTHERS = [
    grid.slice_grid,
    printed.printed_grid,
    printed.loss,
    frozen_table.table_terms,
    frozen_table.table_deviation,
    learning_order.inside,
    learning_order.speeds,
    learning_order.earliest,
    symbolic.position_table,
    late_rates.late_velocity,
    late_field.late_terms,
    slice_branches.branch,
    temperature.best_temperature,
    temperature.margin_density,
    initialisation.coefficients,
    initialisation.lagged_moment,
    parameters.llama_ffn,
    alibi_printed.printed_condition,
    grams.logit_ranges,
    grams.value_diameters,
    grams_rotary.rotary_ranges,
    rotary.rotary_range,
    rotary.rotary_range_normed,
    sharp.sharp_weight,
    rounded.product_error,
    rounded.turning_error,
    rounded.capping_error,
    rounded.weight_growth,
    sinks.sink_scope,
    sinks.sink_dropped_mass,
    tables.bfloat16,
    tables.rounded_biases,
    tables.table_scope,
    tables.table_window,
    tables.table_dropped_mass,
    shifted.shifted_range,
    shifted_scope.shifted_weight_bound,
    shifted_scope.log_shifted_odds,
    shifted_scope.shifted_scope,
    shifted_scope.shifted_window,
    shifted_scope.shifted_dropped_mass,
    shifted_scope.shifted_range_beyond,
    reach.reach_forget_gap,
    compensation_rotary.rotate,
]
DROPPED = {"dropped": [True, False, False]}
ENTRIES = [
    *map(fed, PUBLIC + OTHERS),
    fed(temperature.slope_in_temperature)._replace(exact=("temperature",)),
    fed(dropped.truncate)._replace(words=DROPPED),
    fed(compensation.compare)._replace(words=DROPPED),
    Entry(lambda **sizes: parameters.untied_parameters(parameters.Shape(**sizes)),
          {"hidden": 8, "layers": 1, "heads": 2, "kv_heads": 1, "ffn": 16, "vocab": 10}, symbols=True),
    Entry(network.construction, {"dim": 2, "sigma": 0.5, "copy_slope": 3.0}, {"key": "repaired"}),
    Entry(lambda query: compensation.log_weight(query, STAND_IN), {"query": [0.1, 0.2]}),
    Entry(lambda **new: compensation_alibi.advance(STAND_IN, **new),
          {"key": [1.0, 0.0], "value": [2.0], "window": 3, "slope": 0.5}),
    Entry(lambda query: compensation_second_order.second_order_log_weight(query, SECOND), {"query": [0.1, 0.2]}),
    Entry(lambda query: compensation_second_order.second_order_value(query, SECOND), {"query": [0.1, 0.2]}),
]  # fmt: skip
