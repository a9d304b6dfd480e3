"""Public functions of `theory` that take numbers, with good arguments: what `test_checked` feeds with junk."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from theory import alibi, induction, landscape, shift
from theory.alibi import grams, grams_rotary, rotary, sharp, shifted
from theory.alibi import printed as alibi_printed
from theory.cache import (
    budget,
    compensation,
    compensation_alibi,
    compensation_bounds,
    compensation_rotary,
    compensation_second_order,
    dropped,
    dropped_flat,
    size,
)
from theory.induction import network
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


POINT = {"alpha1": 0.3, "alpha2": 0.7, "beta1": 0.4, "beta2": 0.6}
SENTENCE = {**POINT, "n_tokens": 9, "position": 4}
HEAD = {"w_q": np.eye(2), "w_k": np.ones((2, 2)), "gamma": np.ones(2), "norm_bias": np.full(2, 0.1)}
QUERY = {**HEAD, "query_bias": np.zeros(2)}
LAYER = {"w_q": np.ones((2, 2, 4)), "w_k": np.ones((1, 2, 4)), "gamma": np.ones(4), "norm_bias": np.ones(4),
         "query_bias": np.ones((2, 2))}  # fmt: skip
HEADED = {"logits": [0.0, 1.0, 2.0], "values": [[1.0], [2.0], [0.5]]}
TOKEN = {"keys": np.eye(3, 2), "values": np.ones((3, 1)), "biases": np.zeros(3), "centre": np.zeros(2)}
STAND_IN = compensation.token(**TOKEN)
SECOND = compensation_second_order.second_order_token(**TOKEN)
TEXT = {"x": np.eye(4), "sigma": 0.5, "slope": 0.1}
OPTIONAL = ("norm_bias", "query_bias", "key_bias", "position", "biases", "centre", "self_gap")

ENTRIES = [
    Entry(landscape.loss, SENTENCE),
    Entry(landscape.excess_loss, SENTENCE),
    Entry(landscape.gradient, SENTENCE),
    Entry(landscape.hessian, SENTENCE),
    Entry(landscape.logits, SENTENCE),
    Entry(landscape.printed_loss, {**POINT, "rest_scores": 7.0, "rest_logits": 5.0}),
    Entry(landscape.finite_width, SENTENCE),
    Entry(landscape.scaled_learning_time, {"alpha2": 0.5, "beta1": 0.5, "sigma": 2.0}),
    Entry(landscape.learning_time, {"alpha2": 0.5, "beta1": 0.5, "n_tokens": 9, "sigma": 2.0}),
    Entry(landscape.critical_point, {"n_tokens": 9}),
    Entry(landscape.box_minimum, {"n_tokens": 9}),
    Entry(grid.slice_grid, {"n_tokens": 9.5, "size": 4, "alpha1": (0.0, 1.0), "beta1": (0.0, 1.0)}),
    Entry(printed.printed_grid, {"rest": 4.0, "size": 4, "alpha1": (0.0, 1.0), "beta1": (0.0, 1.0)}),
    Entry(printed.loss, {"alpha1": 0.5, "beta1": 0.5, "rest": 4.0}),
    Entry(frozen_table.table_terms, {**POINT, "n_tokens": 6}, {"law": "mean"}),
    Entry(frozen_table.table_deviation, {"n_tokens": 6, "width": 4}),
    Entry(learning_order.inside, {"alpha1": 0.3, "a2": 0.7, "b1": 0.4, "b2": 0.6, "n_tokens": 60}),
    Entry(learning_order.speeds, {"alpha1": 0.3, "a2": 0.7, "b1": 0.4, "b2": 0.6, "n_tokens": 60}),
    Entry(learning_order.earliest, {"limit": 1.0, "n_tokens": 60, "level": 0.1}),
    Entry(symbolic.position_table, {"tokens": 5, "position": 2}),
    Entry(symbolic.mean_loss, {"tokens": 5}),
    Entry(late_rates.late_state, {"beta1": 2.0, "n_tokens": 9}),
    Entry(late_rates.late_velocity, {"log_beta1": 1.0, "state": [0.1, 2.0, 0.3], "n_tokens": 9}),
    Entry(late_field.late_terms, {"n_tokens": 4}),
    Entry(slice_branches.branch, {"beta": -0.5}),
    Entry(temperature.best_temperature, {"width": 4}),
    Entry(temperature.margin_density, {"width": 4}),
    Entry(temperature.slope_in_temperature, {"temperature": 3, "width": 4}, exact=("temperature",)),
    Entry(initialisation.coefficients, {"window": 3}),
    Entry(initialisation.lagged_moment, {"window": 3, "lag": 1}),
    Entry(initialisation.second_moment, {"window": 3}),
    Entry(initialisation.oldest_mean, {"window": 3}),
    Entry(initialisation.uniform_sum_cdf, {"count": 3, "level": Fraction(1, 2)}, exact=("level",)),
    Entry(parameters.llama_ffn, {"hidden": 512, "multiple": 256}),
    Entry(lambda **sizes: parameters.untied_parameters(parameters.Shape(**sizes)),
          {"hidden": 8, "layers": 1, "heads": 2, "kv_heads": 1, "ffn": 16, "vocab": 10}, symbols=True),
    Entry(shift.shift_matrix, {"length": 3}),
    Entry(shift.tokens, {"length": 3, "dim": 2}),
    Entry(alibi.slopes, {"n_heads": 8}),
    Entry(alibi.printed_scope, {**HEAD, "slope": 0.5, "eps": 0.01}),
    Entry(alibi.printed_scope_of_norm, {"product": 2.0, "gamma": [1.0, 2.0], "norm_bias": [0.1, 0.0], "slope": 0.5,
                                        "eps": 0.01}),
    Entry(alibi.spectral_range_of_norms, {"product": 2.0, "pull": 0.5, "gamma": [1.0, 2.0], "norm_bias": [0.1, 0.0]}),
    Entry(alibi.spectral_scope, {**QUERY, "slope": 0.5, "eps": 0.01}),
    Entry(alibi.weight_bound, {"distance": 4, "slope": 0.5, "logit_range": 3.0, "self_gap": 2.0}),
    Entry(alibi.log_weight_bound, {"distance": 4, "slope": 0.5, "logit_range": 3.0, "self_gap": 2.0}),
    Entry(alibi.masked_weight_bound, {"distance": 4, "slope": 0.5, "self_gap": 3.0}),
    Entry(alibi.scope, {"slope": 0.5, "logit_range": 3.0, "eps": 0.01}),
    Entry(alibi.dropped_mass_bound, {"window": 4, "slope": 0.5, "logit_range": 3.0, "n_tokens": 9}, free=("n_tokens",)),
    Entry(alibi.window_for_mass, {"slope": 0.5, "logit_range": 3.0, "mass": 0.01}),
    Entry(alibi.certified_logit_range, QUERY, {"norm": "rms"}),
    Entry(alibi.certified_self_gap, QUERY, {"norm": "rms"}),
    Entry(alibi.logit_range, QUERY, {"norm": "rms"}),
    Entry(alibi.extremes, QUERY, {"norm": "rms"}),
    Entry(alibi.self_gap, QUERY, {"norm": "rms"}),
    Entry(alibi_printed.printed_condition, {"gamma": [1.0, 1.0], "norm_bias": [0.3, 0.0]}, {"norm": "rms"}),
    Entry(grams.logit_ranges, LAYER, {"norm": "rms"}),
    Entry(grams.value_diameters, {"w_v": LAYER["w_q"], "gamma": np.ones(4)}, {"norm": "rms"}),
    Entry(grams_rotary.rotary_ranges, LAYER | {"key_bias": np.ones((1, 2))}, {"norm": "rms", "pairs": "halves"}),
    Entry(rotary.rotary_range, QUERY | {"key_bias": np.ones(2)}, {"norm": "rms", "pairs": "halves"}),
    Entry(rotary.rotary_range_normed, {"query_gain": np.ones(4), "key_gain": np.ones(4)}, {"pairs": "halves"}),
    Entry(sharp.sharp_weight, {"distance": 4, "slope": 0.5, "w_q": np.eye(2), "w_k": np.eye(2), "gamma": [1, 1]},
          {"norm": "rms"}),
    Entry(shifted.shifted_range, {"raw": 2.0, "coefficients": [0.5, 0.5]}),
    Entry(induction.induction_head, TEXT),
    Entry(induction.kv_shift_head, TEXT | {"alpha": (0.0, 1.0), "beta": (1.0, 0.0)}, {"support": "causal"}),
    Entry(induction.two_layer_alibi, TEXT | {"copy_slope": 3.0}),
    Entry(induction.discrepancy, TEXT),
    Entry(induction.copy_error_bound, {"dim": 4, "sigma": 0.5, "copy_slope": 3.0}, {"domain": "unit"}),
    Entry(induction.printed_copy_error_bound, {"dim": 4, "sigma": 0.5, "copy_slope": 3.0}),
    Entry(induction.sharp_case, {"dim": 4, "sigma": 0.5, "copy_slope": 3.0}, {"domain": "unit"}),
    Entry(induction.softmax_change_bound, {"change": [0.1, -0.2]}),
    Entry(induction.printed_softmax_change_bound, {"change": [0.1, -0.2]}),
    Entry(induction.matched_discrepancy_bound, {"length": 9, "match": 3, "sigma": 0.5, "slope": 0.1}),
    Entry(induction.ball_discrepancy_bound, {"length": 9, "sigma": 0.5, "slope": 0.1}),
    Entry(induction.latest_successor_bound, {"length": 9, "match": 3, "gap": 2, "sigma": 0.5, "slope": 0.1}),
    Entry(network.construction, {"dim": 2, "sigma": 0.5, "copy_slope": 3.0}, {"key": "repaired"}),
    Entry(dropped.attend, HEADED),
    Entry(dropped.truncate, HEADED, {"dropped": [True, False, False]}),
    Entry(dropped.output_error_bound, {"mass": 0.1, "value_diameter": 2.0}),
    Entry(dropped.value_diameter, {"w_v": np.eye(2), "gamma": np.ones(2)}, {"norm": "rms"}),
    Entry(dropped.eviction_errors, HEADED),
    Entry(budget.split_budget, {"slopes": [0.5, 0.25], "budget": 0.1, "costs": [1.0, 2.0],
                                           "logit_ranges": [1.0, 2.0]}, free=("costs", "logit_ranges")),
    Entry(budget.budget_saving, {"slopes": [0.5, 0.25]}),
    Entry(size.buffer_length, {"length": 9000}),
    Entry(size.kept_share, {"length": 9000, "protected": Fraction(3, 20), "extra": 4}),
    Entry(size.protected_groups, {"heads": 8, "chosen": 2, "group": 4}),
    Entry(dropped_flat.mass_bound, {"n_dropped": 9, "n_kept": 4, "logit_range": 3.0, "self_gap": 2.0}),
    Entry(dropped_flat.mass_floor, {"n_dropped": 9, "n_kept": 4, "logit_range": 3.0}),
    Entry(dropped_flat.log_scope, {"logit_range": 3.0, "eps": 0.01}),
    Entry(compensation.token, TOKEN),
    Entry(lambda query: compensation.log_weight(query, STAND_IN), {"query": [0.1, 0.2]}),
    Entry(compensation.attend_with_token, HEADED | {"weight": 0.5, "token_value": [1.0]}),
    Entry(compensation.compare, HEADED | {"weight": 0.5, "token_value": [1.0]}, {"dropped": [True, False, False]}),
    Entry(compensation_alibi.decayed_token, {"keys": np.eye(3, 2), "values": np.ones((3, 1)), "distances": [1, 2, 3],
                                             "slope": 0.5}),
    Entry(lambda **new: compensation_alibi.advance(STAND_IN, **new),
          {"key": [1.0, 0.0], "value": [2.0], "window": 3, "slope": 0.5}),
    Entry(compensation_alibi.mean_bias_log_gap, {"n_dropped": 9, "slope": 0.5}),
    Entry(compensation_bounds.log_mass_bound, {"logit_range": 3.0}),
    Entry(compensation_bounds.certified_log_mass_bound, {"logit_range": 3.0}),
    Entry(compensation_bounds.worst_share, {"logit_range": 3.0}),
    Entry(compensation_bounds.mass_gap_bound, {"logit_range": 3.0}),
    Entry(compensation_bounds.mean_gap_bound, {"logit_range": 3.0}),
    Entry(compensation_bounds.error_bound, {"logit_range": 3.0, "token_mass": 0.1, "kept_distance": 1.0,
                                            "dropped_diameter": 2.0}),
    Entry(compensation_bounds.total_error_bound, {"logit_range": 3.0, "diameter": 2.0}),
    Entry(compensation_bounds.second_order_bound, {"logit_range": 3.0}),
    Entry(compensation_rotary.rotate, {"vectors": np.ones((3, 4)), "positions": [0, 1, 2], "frequencies": [1.0, 0.1]}),
    Entry(compensation_rotary.mean_turn, {"n_dropped": 9, "frequencies": [1.0, 0.1]}),
    Entry(compensation_rotary.log_gap_limit, {"query": np.ones(4), "key": np.ones(4)}),
    Entry(compensation_rotary.unrotated_log_weight, {"query": np.ones(4), "mean_key": np.ones(4), "distances": [1, 2],
                                                     "frequencies": [1.0, 0.1]}),
    Entry(compensation_second_order.second_order_token, TOKEN),
    Entry(lambda query: compensation_second_order.second_order_log_weight(query, SECOND), {"query": [0.1, 0.2]}),
    Entry(lambda query: compensation_second_order.second_order_value(query, SECOND), {"query": [0.1, 0.2]}),
]  # fmt: skip
