"""Numbers that public functions of `theory` refuse: function -> argument, value, words; the rest is as in `entries`."""


import numpy as np

from theory import alibi, induction, landscape, sink, value_residual
from theory.alibi import printed as alibi_printed
from theory.alibi import reach, rotary, tables
from theory.cache import (
    budget,
    compensation,
    compensation_alibi,
    compensation_bounds,
    compensation_rotary,
    dropped,
    dropped_flat,
    receipt,
    size,
)
from theory.landscape import frozen_table, late_rates, temperature
from theory.shift import parameters

REFUSED = {
    alibi.grams.logit_ranges: [("norm", "batch", "norm must be one of rms, layer, got 'batch'")],
    alibi.dropped_mass_bound: [
        ("window", -4, "window must be a finite number >= 0, got -4"),
        ("n_tokens", -1, "n_tokens must be a finite number >= 0, got -1"),
    ],
    alibi.masked_weight_bound: [
        ("distance", 0, "distance must be a finite number > 0, got 0"),
        ("slope", -0.1, "slope must be a finite number >= 0, got -0.1"),
    ],
    alibi.printed_scope: [
        ("slope", 0.0, "slope must be a finite number > 0"),
        ("eps", 2.0, "eps must lie strictly between 0 and 1"),
    ],
    alibi.scope: [
        ("slope", -0.1, "slope must be a finite number >= 0, got -0.1"),
        ("logit_range", -1.0, "logit_range must be a finite number >= 0, got -1.0"),
        ("eps", 0.0, "eps must lie strictly between 0 and 1, got 0.0"),
        ("eps", 1.0, "eps must lie strictly between 0 and 1, got 1.0"),
        ("slope", [0.1, -0.2], "slope must be a finite number >= 0, got -0.2"),
        ("slope", [0.1, True], "slope must be a number or an array of numbers"),
    ],
    alibi.slopes: [
        ("n_heads", 0, "n_heads must be a whole number >= 1, got 0"),
        ("n_heads", 2.0, "n_heads must be a whole number >= 1, got 2.0"),
    ],
    alibi.weight_bound: [
        ("distance", -1, "distance must be a finite number >= 0, got -1"),
        ("logit_range", 1.0, "self_gap must be at most logit_range = 1.0, got 2.0"),
        ("self_gap", -2.0, "self_gap must be a finite number >= 0, got -2.0"),
    ],
    alibi.window_for_mass: [
        ("mass", 1.5, "mass must lie strictly between 0 and 1, got 1.5"),
        ("mass", [0.1, 1.5], "mass must lie strictly between 0 and 1, got 1.5"),
    ],
    alibi_printed.printed_condition: [("gamma", [1e200, 1.0], "too large for its square")],
    budget.split_budget: [("slopes", [0.5, 0.0], "slopes"), ("slopes", [0.5], "costs"), ("slopes", 0.5, "shape")],
    compensation.compare: [("token_value", [1.0, 2.0], "token_value")],
    compensation.token: [
        ("values", np.ones((2, 2)), "must agree"),
        ("biases", np.ones(2), "biases"),
    ],
    compensation_alibi.decayed_token: [("slope", -0.5, "slope"), ("distances", [-1, 2], "distances")],
    compensation_alibi.mean_bias_log_gap: [
        ("n_dropped", 0, "n_dropped"),
        ("n_dropped", 1.5, "n_dropped"),
        ("slope", -0.5, "slope"),
    ],
    compensation_bounds.certified_log_mass_bound: [("logit_range", 0.0, "logit_range")],
    compensation_bounds.error_bound: [("token_mass", 1.5, "token_mass"), ("kept_distance", -1.0, "kept_distance")],
    compensation_bounds.log_mass_bound: [("logit_range", -1.0, "logit_range")],
    compensation_bounds.second_order_bound: [("logit_range", -1.0, "logit_range")],
    compensation_bounds.total_error_bound: [("diameter", -1.0, "diameter")],
    compensation_bounds.worst_share: [("logit_range", 0.0, "> 0")],
    compensation_rotary.mean_turn: [("n_dropped", 0, "n_dropped")],
    compensation_rotary.rotate: [("vectors", np.ones(3), "must agree")],
    compensation_rotary.unrotated_log_weight: [("distances", [], "distances"), ("mean_key", np.ones(2), "query")],
    dropped.output_error_bound: [
        ("mass", 1.5, "[0, 1]"),
        ("mass", -0.1, "mass"),
    ],
    dropped.value_diameter: [
        ("w_v", np.ones((2, 3)), "must agree"),
    ],
    dropped_flat.log_scope: [("eps", 1.0, "eps must lie strictly between 0 and 1")],
    dropped_flat.mass_bound: [("n_dropped", 0, "n_dropped"), ("n_kept", 0, "n_kept")],
    dropped_flat.mass_floor: [("logit_range", -1.0, "logit_range")],
    frozen_table.table_terms: [("alpha1", 1e200, "alpha1 must lie in")],
    induction.attention_error_bound: [("gap", 0.0, "gap must be")],
    induction.ball_discrepancy_bound: [("sigma", -1.0, "sigma"), ("slope", -1.0, "slope")],
    induction.head_weights: [("value", (0, 1), "v0 not 0")],
    induction.implements: [
        ("kernels", [(1, 2), (3, 4)], "kernels has shape (2, 2): expected (1, 2)"),
    ],
    induction.latest_successor_bound: [("slope", -1.0, "slope"), ("sigma", 0.0, "sigma")],
    induction.logit_lead_bound: [("value", (0, 1), "v0 not 0")],
    induction.one_token_error: [("length", 2, "length"), ("slope", -1.0, "slope")],
    induction.printed_copy_error_bound: [("copy_slope", -1.0, "copy_slope")],
    landscape.learning_time: [("n_tokens", 1e308, "too large")],
    landscape.logits: [("n_tokens", np.array([5, 6]), "n_tokens must be a whole number")],
    late_rates.late_state: [("beta1", 0.0, "beta1 must be a finite number > 0")],
    parameters.llama_ffn: [("hidden", 0, ">= 1")],
    receipt.log_decay: [
        ("slope", -1, "slope must be a finite number >= 0, got -1"),
        ("nearest", 0.5, "nearest must be a whole number >= 0, got 0.5"),
    ],
    receipt.mean_value_radius: [("logit_width", -1, "logit_range must be a finite number >= 0, got -1")],
    receipt.receipt_bound: [
        ("largest", 1.5, "largest must lie in [0, 1], got 1.5"),
        ("radius", -1, "radius must be a finite number >= 0, got -1"),
    ],
    reach.reach_forget_gap: [("mass", 0.95, "mass must be at most 1/2, got 0.95")],
    rotary.rotary_range: [
        ("key_bias", [1.0], "key_bias has shape"),
    ],
    sink.causal_attention: [("logits", [[1.0, 2.0]], "logits has shape (1, 2): expected (..., l, l)")],
    sink.copy_weights: [
        ("replaced", 0.6, "replaced must be at most 1 - weight, got 0.6 and 0.5"),
        ("weight", 1.0, "weight must lie strictly between 0 and 1"),
    ],
    sink.divergence_bound: [("logit_range", -1.0, "logit_range must")],
    sink.drained_copy_gate: [("weight", 1.5, "weight must lie in")],
    sink.entropy_bound: [("length", 1, "first_importance must be at least 1/length = 1.0, got 0.5")],
    sink.eviction_counterexample: [("weight", 1.0, "weight must lie strictly between 0 and 1")],
    sink.first_token_bound: [
        ("slope", -0.5, "slope must"),
        ("logit_range", 1.0, "self_gap must be at most logit_range"),
    ],
    sink.gate_witness: [("other_gate", 0.0, "other_gate must lie strictly between 0 and 1")],
    sink.importance_entropy: [("attention", [[2.0, -1.0], [0.5, 0.5]], "attention must lie in [0, 1], got 2.0")],
    sink.largest_divergence: [("length", 2.5, "length must be a whole number >= 1, got 2.5")],
    sink.largest_weight: [
        ("length", 0, "length must be a whole number >= 1"),
        ("logit_range", -1.0, "logit_range must be a finite number >= 0"),
    ],
    sink.level_witness: [("odds", 0.0, "odds must be a finite number > 0")],
    sink.logit_lead: [
        ("cosine", -1.5, "cosine must lie in [-1, 1], got -1.5"),
        ("query_norm", -1.0, "query_norm must be a finite number >= 0"),
    ],
    sink.masked_sink_length: [("slope", 0.0, "slope must be a finite number > 0")],
    sink.matching_sink_logit: [("gate", 1.0, "gate must lie strictly between 0 and 1")],
    sink.no_effect_value: [("weights", [0.0], "weights must lie strictly between 0 and 1")],
    sink.no_op_value: [("rests", [[1.0]], "weights (n,) and rests (n, d) must agree")],
    sink.norm_score: [("value", 1.0, "the vectors must be (..., d) of one d >= 1, got value ()")],
    sink.present_effect: [
        ("weight", 1.5, "weight must lie in [0, 1], got 1.5"),
        ("rest", [1.0], "the vectors must be (..., d) of one d >= 1"),
    ],
    sink.range_for_weight: [("weight", 1.0, "weight must lie strictly between 0 and 1")],
    sink.removal_scale: [("weight", -0.1, "weight must lie strictly between 0 and 1")],
    sink.removed_effect: [("weight", 1.0, "weight must lie strictly between 0 and 1")],
    sink.rotary_copy_gap: [("frequencies", [1.0], "query (..., 2 p) and frequencies")],
    sink.rotary_copy_gap_bound: [("key", np.ones(2), "the vectors must be")],
    sink.sink_length: [("weight", 0.0, "weight must lie strictly between 0 and 1")],
    sink.softmax_plus_one: [
        ("logits", 1.0, "logits has shape (): expected (..., keys), keys >= 1"),
        ("logits", [], "logits has shape (0,)"),
    ],
    sink.token_importance: [
        ("attention", [[1.0, 0.0]], "attention has shape (1, 2): expected"),
        ("attention", [[1.0, 0.5], [0.5, 0.5]], "every row of attention must sum to 1"),
    ],
    sink.uniform_causal_entropy: [("length", 10**6 + 1, "length must be a whole number in 1..1000000")],
    sink.zero_key_weight: [("logits", [], "logits has shape (0,)")],
    size.buffer_length: [("length", 0, "length")],
    size.kept_share: [("extra", -1, "extra")],
    size.protected_groups: [("chosen", 9, "chosen")],
    tables.table_scope: [("biases", [1.0, 0.5], "nondecreasing")],
    temperature.best_temperature: [("width", 0, "width must be a whole number >= 1, got 0")],
    temperature.slope_in_temperature: [("temperature", -1, "temperature must be at least 0, got -1")],
    value_residual.attention_weights: [
        ("logits", [1.0, 2.0], "logits has shape (2,): expected (..., queries, keys)"),
        ("logits", [[1.0, 2.0]], "logits has shape (1, 2): a causal mask needs as many queries as keys"),
    ],
    value_residual.averaged_attention: [
        ("values", [[1.0]], "logits (..., queries, keys) and values (..., keys, d) must agree: got (2, 2) and (1, 1)")
    ],
    value_residual.constant_stack: [
        ("n_layers", 0, "n_layers must be a whole number >= 1, got 0"),
    ],
    value_residual.cross_layer_attention: [
        ("other_logits", [[1.0, 2.0]], "other_logits has shape (1, 2): expected (2, 2)"),
        ("values", [1.0, 2.0], "values has shape (2,): expected (..., length, d)"),
    ],
    value_residual.cross_layer_gap_bound: [
        ("logit_range", -1.0, "logit_range must be a finite number >= 0, got -1.0"),
        ("diameter", [-1.0], "diameter must be finite numbers >= 0 only, got -1.0"),
    ],
    value_residual.dobrushin: [
        ("attention", [[0.5, 0.4]] * 2, "attention must have rows that add up to 1, got a sum of 0.9")
    ],
    value_residual.drain_equilibria: [
        ("norm", 0.0, "norm must be a finite number > 0, got 0.0"),
        ("decay", 0.0, "decay must be a finite number > 0, got 0.0"),
    ],
    value_residual.drain_loss: [
        ("value", [[1.0]], "value has shape (1, 1): expected (d,)"),
        ("value", [1.0], "first_value has shape (2,): expected (1,)"),
    ],
    value_residual.drain_velocity: [
        ("variance", 0.0, "variance must be a finite number > 0, got 0.0"),
        ("decay", -1, "decay must be a finite number >= 0, got -1"),
    ],
    value_residual.drained_value: [
        ("weight", 1.0, "weight must lie strictly between 0 and 1, got 1.0"),
        ("first_value", 1.0, "first_value has shape (): expected (d,)"),
    ],
    value_residual.fold_ratios: [("decay", 0.25, "decay must lie strictly between 0 and 0.25, got 0.25")],
    value_residual.model_parameters: [
        ("vocab", 0, "vocab must be a whole number >= 1, got 0"),
    ],
    value_residual.neutreno: [("lam", -0.1, "lam must be a finite number >= 0, got -0.1")],
    value_residual.neutreno_fixed_point: [("lam", 0, "lam must be a finite number > 0, got 0")],
    value_residual.rescaled_projections: [
        ("old", 0.0, "old must be a finite number other than 0, got 0.0"),
        ("new", 0, "new must be a finite number other than 0, got 0"),
    ],
    value_residual.resformer: [
        ("attention", [[1.0, 0.0], [0.5, 0.6]], "attention must have rows that add up to 1, got a sum of 1.1"),
        ("attention", [[1.0, 0.0], [-0.5, 1.5]], "attention must be finite numbers >= 0 only, got -0.5"),
    ],
    value_residual.residual_diameter_bound: [
        ("contraction", 1.5, "contraction must lie in [0, 1], got 1.5"),
        ("diameter", -1.0, "diameter must be a finite number >= 0, got -1.0"),
    ],
    value_residual.residual_stack: [("lam", -1.0, "lam must be a finite number >= 0, got -1.0")],
    value_residual.row_diameter: [("values", [1.0], "values has shape (1,): expected (..., length, d)")],
    value_residual.sink_collapse: [
        ("sink", 1.5, "sink must lie in [0, 1], got 1.5"),
        ("n_layers", 0, "n_layers must be a whole number >= 1, got 0"),
    ],
    value_residual.sink_share: [
        ("attention", [[1.0, 0.0]], "attention has shape (1, 2): expected (..., length, length)")
    ],
    value_residual.spectral_map: [("mu", 1.5, "mu must lie in [-1, 1], got 1.5")],
    value_residual.stack_limit: [
        ("lam", 0.0, "lam must be a finite number > 0, got 0.0"),
        (
            "values",
            [[1.0]],
            "attention (..., queries, keys) and values (..., keys, d) must agree: got (2, 2) and (1, 1)",
        ),
    ],
    value_residual.stationary_weight: [("norm", -1.0, "norm must be a finite number >= 0, got -1.0")],
    value_residual.svformer_cache: [
        ("n_layers", 0, "n_layers must be a whole number >= 1, got 0"),
        ("anchors", 0, "anchors must be a whole number >= 1, got 0"),
        ("kv_heads", 3, "kv_heads must be a divisor of n_heads = 8, got 3"),
        ("d_key", 1.5, "d_key must be a whole number >= 1, got 1.5"),
    ],
    value_residual.svformer_saving: [("d_model", -1, "d_model must be a whole number >= 1, got -1")],
    value_residual.undecayed_norm_bound: [("time", -1.0, "time must be a finite number >= 0, got -1.0")],
    value_residual.worst_head: [("logit_range", 0.0, "logit_range must be a finite number >= 1e-300, got 0.0")],
}
