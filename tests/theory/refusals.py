"""Values that public functions of `theory` refuse: function, argument, value, words; the rest is as in `entries`."""

TABLE = """
logit_ranges | norm | 'batch' | norm must be one of rms, layer, got 'batch'
dropped_mass_bound | window | -4 | window must be a finite number >= 0, got -4
dropped_mass_bound | n_tokens | -1 | n_tokens must be a finite number >= 0, got -1
masked_weight_bound | distance | 0 | distance must be a finite number > 0, got 0
masked_weight_bound | slope | -0.1 | slope must be a finite number >= 0, got -0.1
printed_scope | slope | 0.0 | slope must be a finite number > 0
printed_scope | eps | 2.0 | eps must lie strictly between 0 and 1
scope | slope | -0.1 | slope must be a finite number >= 0, got -0.1
scope | logit_range | -1.0 | logit_range must be a finite number >= 0, got -1.0
scope | eps | 0.0 | eps must lie strictly between 0 and 1, got 0.0
scope | eps | 1.0 | eps must lie strictly between 0 and 1, got 1.0
scope | slope | [0.1, -0.2] | slope must be a finite number >= 0, got -0.2
scope | slope | [0.1, True] | slope must be a number or an array of numbers
slopes | n_heads | 0 | n_heads must be a whole number >= 1, got 0
slopes | n_heads | 2.0 | n_heads must be a whole number >= 1, got 2.0
weight_bound | distance | -1 | distance must be a finite number >= 0, got -1
weight_bound | logit_range | 1.0 | self_gap must be at most logit_range = 1.0, got 2.0
weight_bound | self_gap | -2.0 | self_gap must be a finite number >= 0, got -2.0
window_for_mass | mass | 1.5 | mass must lie strictly between 0 and 1, got 1.5
window_for_mass | mass | [0.1, 1.5] | mass must lie strictly between 0 and 1, got 1.5
printed_condition | gamma | [1e+200, 1.0] | too large for its square
split_budget | slopes | [0.5, 0.0] | slopes
split_budget | slopes | [0.5] | costs
split_budget | slopes | 0.5 | shape
compare | token_value | [1.0, 2.0] | token_value
token | values | [[1.0, 1.0], [1.0, 1.0]] | must agree
token | biases | [1.0, 1.0] | biases
decayed_token | slope | -0.5 | slope
decayed_token | distances | [-1, 2] | distances
mean_bias_log_gap | n_dropped | 0 | n_dropped
mean_bias_log_gap | n_dropped | 1.5 | n_dropped
mean_bias_log_gap | slope | -0.5 | slope
certified_log_mass_bound | logit_range | 0.0 | logit_range
error_bound | token_mass | 1.5 | token_mass
error_bound | kept_distance | -1.0 | kept_distance
log_mass_bound | logit_range | -1.0 | logit_range
second_order_bound | logit_range | -1.0 | logit_range
total_error_bound | diameter | -1.0 | diameter
worst_share | logit_range | 0.0 | > 0
mean_turn | n_dropped | 0 | n_dropped
rotate | vectors | [1.0, 1.0, 1.0] | must agree
unrotated_log_weight | distances | [] | distances
unrotated_log_weight | mean_key | [1.0, 1.0] | query
output_error_bound | mass | 1.5 | [0, 1]
output_error_bound | mass | -0.1 | mass
value_diameter | w_v | [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]] | must agree
log_scope | eps | 1.0 | eps must lie strictly between 0 and 1
mass_bound | n_dropped | 0 | n_dropped
mass_bound | n_kept | 0 | n_kept
mass_floor | logit_range | -1.0 | logit_range
table_terms | alpha1 | 1e+200 | alpha1 must lie in
attention_error_bound | gap | 0.0 | gap must be
ball_discrepancy_bound | sigma | -1.0 | sigma
ball_discrepancy_bound | slope | -1.0 | slope
head_weights | value | (0, 1) | v0 not 0
implements | kernels | [(1, 2), (3, 4)] | kernels has shape (2, 2): expected (1, 2)
latest_successor_bound | slope | -1.0 | slope
latest_successor_bound | sigma | 0.0 | sigma
logit_lead_bound | value | (0, 1) | v0 not 0
one_token_error | length | 2 | length
one_token_error | slope | -1.0 | slope
printed_copy_error_bound | copy_slope | -1.0 | copy_slope
learning_time | n_tokens | 1e+308 | too large
logits | n_tokens | [5, 6] | n_tokens must be a whole number
late_state | beta1 | 0.0 | beta1 must be a finite number > 0
llama_ffn | hidden | 0 | >= 1
log_decay | slope | -1 | slope must be a finite number >= 0, got -1
log_decay | nearest | 0.5 | nearest must be a whole number >= 0, got 0.5
mean_value_radius | logit_width | -1 | logit_range must be a finite number >= 0, got -1
receipt_bound | largest | 1.5 | largest must lie in [0, 1], got 1.5
receipt_bound | radius | -1 | radius must be a finite number >= 0, got -1
reach_forget_gap | mass | 0.95 | mass must be at most 1/2, got 0.95
rotary_range | key_bias | [1.0] | key_bias has shape
causal_attention | logits | [[1.0, 2.0]] | logits has shape (1, 2): expected (..., l, l)
copy_weights | replaced | 0.6 | replaced must be at most 1 - weight, got 0.6 and 0.5
copy_weights | weight | 1.0 | weight must lie strictly between 0 and 1
divergence_bound | logit_range | -1.0 | logit_range must
drained_copy_gate | weight | 1.5 | weight must lie in
entropy_bound | length | 1 | first_importance must be at least 1/length = 1.0, got 0.5
eviction_counterexample | weight | 1.0 | weight must lie strictly between 0 and 1
first_token_bound | slope | -0.5 | slope must
first_token_bound | logit_range | 1.0 | self_gap must be at most logit_range
gate_witness | other_gate | 0.0 | other_gate must lie strictly between 0 and 1
importance_entropy | attention | [[2.0, -1.0], [0.5, 0.5]] | attention must lie in [0, 1], got 2.0
largest_divergence | length | 2.5 | length must be a whole number >= 1, got 2.5
largest_weight | length | 0 | length must be a whole number >= 1
largest_weight | logit_range | -1.0 | logit_range must be a finite number >= 0
level_witness | odds | 0.0 | odds must be a finite number > 0
logit_lead | cosine | -1.5 | cosine must lie in [-1, 1], got -1.5
logit_lead | query_norm | -1.0 | query_norm must be a finite number >= 0
masked_sink_length | slope | 0.0 | slope must be a finite number > 0
matching_sink_logit | gate | 1.0 | gate must lie strictly between 0 and 1
no_effect_value | weights | [0.0] | weights must lie strictly between 0 and 1
no_op_value | rests | [[1.0]] | weights (n,) and rests (n, d) must agree
norm_score | value | 1.0 | the vectors must be (..., d) of one d >= 1, got value ()
present_effect | weight | 1.5 | weight must lie in [0, 1], got 1.5
present_effect | rest | [1.0] | the vectors must be (..., d) of one d >= 1
range_for_weight | weight | 1.0 | weight must lie strictly between 0 and 1
removal_scale | weight | -0.1 | weight must lie strictly between 0 and 1
removed_effect | weight | 1.0 | weight must lie strictly between 0 and 1
rotary_copy_gap | frequencies | [1.0] | query (..., 2 p) and frequencies
rotary_copy_gap_bound | key | [1.0, 1.0] | the vectors must be
sink_length | weight | 0.0 | weight must lie strictly between 0 and 1
softmax_plus_one | logits | 1.0 | logits has shape (): expected (..., keys), keys >= 1
softmax_plus_one | logits | [] | logits has shape (0,)
token_importance | attention | [[1.0, 0.0]] | attention has shape (1, 2): expected
token_importance | attention | [[1.0, 0.5], [0.5, 0.5]] | every row of attention must sum to 1
uniform_causal_entropy | length | 1000001 | length must be a whole number in 1..1000000
zero_key_weight | logits | [] | logits has shape (0,)
buffer_length | length | 0 | length
kept_share | extra | -1 | extra
protected_groups | chosen | 9 | chosen
table_scope | biases | [1.0, 0.5] | nondecreasing
best_temperature | width | 0 | width must be a whole number >= 1, got 0
slope_in_temperature | temperature | -1 | temperature must be at least 0, got -1
attention_weights | logits | [1.0, 2.0] | logits has shape (2,): expected (..., queries, keys)
attention_weights | logits | [[1.0, 2.0]] | logits has shape (1, 2): a causal mask needs as many queries as keys
averaged_attention | values | [[1.0]] | and values (..., keys, d) must agree: got (2, 2) and (1, 1)
constant_stack | n_layers | 0 | n_layers must be a whole number >= 1, got 0
cross_layer_attention | other_logits | [[1.0, 2.0]] | other_logits has shape (1, 2): expected (2, 2)
cross_layer_attention | values | [1.0, 2.0] | values has shape (2,): expected (..., length, d)
cross_layer_gap_bound | logit_range | -1.0 | logit_range must be a finite number >= 0, got -1.0
cross_layer_gap_bound | diameter | [-1.0] | diameter must be finite numbers >= 0 only, got -1.0
dobrushin | attention | [[0.5, 0.4], [0.5, 0.4]] | attention must have rows that add up to 1, got a sum of 0.9
drain_equilibria | norm | 0.0 | norm must be a finite number > 0, got 0.0
drain_equilibria | decay | 0.0 | decay must be a finite number > 0, got 0.0
drain_loss | value | [[1.0]] | value has shape (1, 1): expected (d,)
drain_loss | value | [1.0] | first_value has shape (2,): expected (1,)
drain_velocity | variance | 0.0 | variance must be a finite number > 0, got 0.0
drain_velocity | decay | -1 | decay must be a finite number >= 0, got -1
drained_value | weight | 1.0 | weight must lie strictly between 0 and 1, got 1.0
drained_value | first_value | 1.0 | first_value has shape (): expected (d,)
fold_ratios | decay | 0.25 | decay must lie strictly between 0 and 0.25, got 0.25
model_parameters | vocab | 0 | vocab must be a whole number >= 1, got 0
neutreno | lam | -0.1 | lam must be a finite number >= 0, got -0.1
neutreno_fixed_point | lam | 0 | lam must be a finite number > 0, got 0
rescaled_projections | old | 0.0 | old must be a finite number other than 0, got 0.0
rescaled_projections | new | 0 | new must be a finite number other than 0, got 0
resformer | attention | [[1.0, 0.0], [0.5, 0.6]] | attention must have rows that add up to 1, got a sum of 1.1
resformer | attention | [[1.0, 0.0], [-0.5, 1.5]] | attention must be finite numbers >= 0 only, got -0.5
residual_diameter_bound | contraction | 1.5 | contraction must lie in [0, 1], got 1.5
residual_diameter_bound | diameter | -1.0 | diameter must be a finite number >= 0, got -1.0
residual_stack | lam | -1.0 | lam must be a finite number >= 0, got -1.0
row_diameter | values | [1.0] | values has shape (1,): expected (..., length, d)
sink_collapse | sink | 1.5 | sink must lie in [0, 1], got 1.5
sink_collapse | n_layers | 0 | n_layers must be a whole number >= 1, got 0
sink_share | attention | [[1.0, 0.0]] | attention has shape (1, 2): expected (..., length, length)
spectral_map | mu | 1.5 | mu must lie in [-1, 1], got 1.5
stack_limit | lam | 0.0 | lam must be a finite number > 0, got 0.0
stack_limit | values | [[1.0]] | and values (..., keys, d) must agree: got (2, 2) and (1, 1)
stationary_weight | norm | -1.0 | norm must be a finite number >= 0, got -1.0
svformer_cache | n_layers | 0 | n_layers must be a whole number >= 1, got 0
svformer_cache | anchors | 0 | anchors must be a whole number >= 1, got 0
svformer_cache | kv_heads | 3 | kv_heads must be a divisor of n_heads = 8, got 3
svformer_cache | d_key | 1.5 | d_key must be a whole number >= 1, got 1.5
svformer_saving | d_model | -1 | d_model must be a whole number >= 1, got -1
undecayed_norm_bound | time | -1.0 | time must be a finite number >= 0, got -1.0
worst_head | logit_range | 0.0 | logit_range must be a finite number >= 1e-300, got 0.0
"""
