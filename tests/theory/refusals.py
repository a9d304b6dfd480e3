"""Values that public functions of `theory` refuse: function, argument, value, words; the rest is as in `entries`."""

TABLE = """
all_layers | values | [[1.0, 2.0], [0.5, -1.0]] | values has shape (2, 2): expected (n_layers, length, d)
all_layers | attention | [[[1.0, 0.0], [0.25, 0.75]]] | attention has shape (1, 2, 2): expected (length, length)
attention_error_bound | gap | 0.0 | gap must be
attention_weights | logits | [1.0, 2.0] | logits has shape (2,): expected (..., queries, keys)
attention_weights | logits | [[1.0, 2.0]] | logits has shape (1, 2): a causal mask needs as many queries as keys
averaged_attention | values | [[1.0]] | and values (..., keys, d) must agree: got (2, 2) and (1, 1)
ball_discrepancy_bound | sigma | -1.0 | sigma
ball_discrepancy_bound | slope | -1.0 | slope
best_temperature | width | 0 | width must be a whole number >= 1, got 0
box_minimum | n_tokens | 3.999 | n_tokens must be a finite number >= 4, got 3.999
branch | beta | 0.0 | beta1 must lie
branch | beta | 1.0 | beta1 must lie
branch | beta | -1e4 | beta1 must lie
branch | beta | [-1.0, 0.0] | beta1 must lie
buffer_length | length | 0 | length
causal_attention | logits | [[1.0, 2.0]] | logits has shape (1, 2): expected (..., l, l)
certified_log_mass_bound | logit_range | 0.0 | logit_range
coefficients | window | 1 | window must be a whole number >= 2, got 1
compare | token_value | [1.0, 2.0] | token_value
compare | dropped | [True, True, True] | at least one
constant_stack | n_layers | 0 | n_layers must be a whole number >= 1, got 0
constant_stack | values | [[[1.0], [2.0]]] | values has shape (1, 2, 1): expected (length, d)
copy_weights | replaced | 0.6 | replaced must be at most 1 - weight, got 0.6 and 0.5
copy_weights | weight | 1.0 | weight must lie strictly between 0 and 1
critical_point | n_tokens | 3.999 | n_tokens must be a finite number >= 4, got 3.999
cross_layer_attention | other_logits | [[1.0, 2.0]] | other_logits has shape (1, 2): expected (2, 2)
cross_layer_attention | values | [1.0, 2.0] | values has shape (2,): expected (..., length, d)
cross_layer_attention | other_values | [[1.0]] | other_values has shape (1, 1): expected (2, 2)
cross_layer_gap_bound | logit_range | -1.0 | logit_range must be a finite number >= 0, got -1.0
cross_layer_gap_bound | diameter | [-1.0] | diameter must be finite numbers >= 0 only, got -1.0
decayed_token | slope | -0.5 | slope
decayed_token | distances | [-1, 2] | distances
decayed_token | distances | [1, 2] | biases
denseformer | attention | [[[1.0, 0.0], [0.25, 0.75]]] | attention has shape (1, 2, 2): expected (2, 2, 2)
denseformer | coefficients | [1.0, 1.0] | coefficients has shape (2,): expected (3,)
denseformer | embedding | None | coefficients has shape (3,): expected (2,)
denseformer | embedding | [[1.0]] | embedding has shape (1, 1): expected (2, 2)
discrepancy | sigma | 0.0 | sigma
discrepancy | sigma | -1.0 | sigma
discrepancy | slope | -0.1 | slope
discrepancy | x | [1.0, 1.0, 1.0, 1.0] | shape
discrepancy | x | [[1.0], [1.0]] | length >= 3
discrepancy | x | [[], [], [], []] | dim >= 1
divergence_bound | logit_range | -1.0 | logit_range must
dobrushin | attention | [[0.5, 0.4], [0.5, 0.4]] | attention must have rows that add up to 1, got a sum of 0.9
drain_equilibria | norm | 0.0 | norm must be a finite number > 0, got 0.0
drain_equilibria | decay | 0.0 | decay must be a finite number > 0, got 0.0
drain_loss | value | [[1.0]] | value has shape (1, 1): expected (d,)
drain_loss | value | [1.0] | first_value has shape (2,): expected (1,)
drain_velocity | variance | 0.0 | variance must be a finite number > 0, got 0.0
drain_velocity | decay | -1 | decay must be a finite number >= 0, got -1
drained_copy_gate | weight | 1.5 | weight must lie in
drained_value | weight | 1.0 | weight must lie strictly between 0 and 1, got 1.0
drained_value | first_value | 1.0 | first_value has shape (): expected (d,)
dropped_mass_bound | window | -4 | window must be a finite number >= 0, got -4
dropped_mass_bound | n_tokens | -1 | n_tokens must be a finite number >= 0, got -1
earliest | n_tokens | 43 | n_tokens must
earliest | level | 0.0 | level must
earliest | level | 7.0 | level must
entropy_bound | length | 1 | first_importance must be at least 1/length = 1.0, got 0.5
error_bound | token_mass | 1.5 | token_mass
error_bound | kept_distance | -1.0 | kept_distance
eviction_counterexample | weight | 1.0 | weight must lie strictly between 0 and 1
finite_width | n_tokens | 1 | n_tokens must be a whole number >= 2, got 1
finite_width | n_tokens | 4.5 | n_tokens must be a whole number >= 2, got 4.5
finite_width | position | 10 | whole number in 1..9, got 10
finite_width | position | 'end' | position must be None, "mean" or a whole number
finite_width | beta1 | 1e200 | beta1 must lie in [-1e+75, 1e+75], got 1e+200
first_token_bound | slope | -0.5 | slope must
first_token_bound | logit_range | 1.0 | self_gap must be at most logit_range
fold_ratios | decay | 0.25 | decay must lie strictly between 0 and 0.25, got 0.25
gate_witness | other_gate | 0.0 | other_gate must lie strictly between 0 and 1
head_weights | value | (0, 1) | v0 not 0
identity_mapping | values | [[[1.0, 2.0], [0.5, -1.0]]] | expected (n_layers, length, d) with n_layers >= 2
implements | kernels | [(1, 2), (3, 4)] | kernels has shape (2, 2): expected (1, 2)
importance_entropy | attention | [[2.0, -1.0], [0.5, 0.5]] | attention must lie in [0, 1], got 2.0
induction_head | sigma | 0.0 | sigma
induction_head | sigma | -1.0 | sigma
induction_head | slope | -0.1 | slope
induction_head | x | [1.0, 1.0, 1.0, 1.0] | shape
induction_head | x | [[1.0], [1.0]] | length >= 3
induction_head | x | [[], [], [], []] | dim >= 1
kept_share | extra | -1 | extra
kept_share | protected | 1.1 | protected
kv_shift_head | sigma | 0.0 | sigma
kv_shift_head | sigma | -1.0 | sigma
kv_shift_head | slope | -0.1 | slope
kv_shift_head | x | [1.0, 1.0, 1.0, 1.0] | shape
largest_divergence | length | 2.5 | length must be a whole number >= 1, got 2.5
largest_weight | length | 0 | length must be a whole number >= 1
largest_weight | logit_range | -1.0 | logit_range must be a finite number >= 0
latest_successor_bound | slope | -1.0 | slope
latest_successor_bound | sigma | 0.0 | sigma
learning_time | n_tokens | 1e+308 | too large
learning_time | n_tokens | 3 | n_tokens must be a finite number >= 4
level_witness | odds | 0.0 | odds must be a finite number > 0
llama_ffn | hidden | 0 | >= 1
log_decay | slope | -1 | slope must be a finite number >= 0, got -1
log_decay | nearest | 0.5 | nearest must be a whole number >= 0, got 0.5
log_mass_bound | logit_range | -1.0 | logit_range
log_scope | eps | 1.0 | eps must lie strictly between 0 and 1
log_shifted_odds | distance | 0 | distance must be a finite number >= 1
logit_lead | cosine | -1.5 | cosine must lie in [-1, 1], got -1.5
logit_lead | query_norm | -1.0 | query_norm must be a finite number >= 0
logit_lead_bound | value | (0, 1) | v0 not 0
logit_ranges | norm | 'batch' | norm must be one of rms, layer, got 'batch'
logits | n_tokens | [5, 6] | n_tokens must be a whole number
logits | position | 'mean' | position must be a whole number
margin_density | width | 0 | , got 0
margin_density | width | 3 | , got 3
masked_sink_length | slope | 0.0 | slope must be a finite number > 0
masked_weight_bound | distance | 0 | distance must be a finite number > 0, got 0
masked_weight_bound | slope | -0.1 | slope must be a finite number >= 0, got -0.1
mass_bound | n_dropped | 0 | n_dropped
mass_bound | n_kept | 0 | n_kept
mass_floor | logit_range | -1.0 | logit_range
matching_sink_logit | gate | 1.0 | gate must lie strictly between 0 and 1
mean_bias_log_gap | n_dropped | 0 | n_dropped
mean_bias_log_gap | n_dropped | 1.5 | n_dropped
mean_bias_log_gap | slope | -0.5 | slope
mean_turn | n_dropped | 0 | n_dropped
mean_value_radius | logit_width | -1 | logit_range must be a finite number >= 0, got -1
model_parameters | vocab | 0 | vocab must be a whole number >= 1, got 0
neutreno | lam | -0.1 | lam must be a finite number >= 0, got -0.1
neutreno_fixed_point | lam | 0 | lam must be a finite number > 0, got 0
neutreno_radius | attention | [[[1.0, 0.0], [0.5, 0.5]]] | attention has shape (1, 2, 2): expected (length, length)
neutreno_threshold | attention | [[1.0], [2.0]] | attention has shape (2, 1): expected (..., length, length)
no_effect_value | weights | [0.0] | weights must lie strictly between 0 and 1
no_op_value | rests | [[1.0]] | weights (n,) and rests (n, d) must agree
norm_score | value | 1.0 | the vectors must be (..., d) of one d >= 1, got value ()
one_token_error | length | 2 | length
one_token_error | slope | -1.0 | slope
output_error_bound | mass | 1.5 | [0, 1]
output_error_bound | mass | -0.1 | mass
position_table | tokens | 1 | must be a whole number
position_table | position | 0 | must be a whole number
position_table | position | 6 | must be a whole number
present_effect | weight | 1.5 | weight must lie in [0, 1], got 1.5
present_effect | rest | [1.0] | the vectors must be (..., d) of one d >= 1
printed_condition | gamma | [1e+200, 1.0] | too large for its square
printed_condition | gamma | [] | gamma has shape
printed_condition | gamma | [[1.0]] | gamma has shape
printed_condition | gamma | 1.0 | gamma has shape
printed_copy_error_bound | copy_slope | -1.0 | copy_slope
printed_grid | rest | -1 | in [0, 500]
printed_grid | rest | 501 | in [0, 500], got 501
printed_loss | rest_scores | -1 | >= 0
printed_scope | slope | 0.0 | slope must be a finite number > 0
printed_scope | eps | 2.0 | eps must lie strictly between 0 and 1
protected_groups | chosen | 9 | chosen
protected_groups | group | 3 | groups of 3
range_for_weight | weight | 1.0 | weight must lie strictly between 0 and 1
reach_forget_gap | mass | 0.95 | mass must be at most 1/2, got 0.95
receipt_bound | largest | 1.5 | largest must lie in [0, 1], got 1.5
receipt_bound | radius | -1 | radius must be a finite number >= 0, got -1
removal_scale | weight | -0.1 | weight must lie strictly between 0 and 1
removed_effect | weight | 1.0 | weight must lie strictly between 0 and 1
rescaled_projections | old | 0.0 | old must be a finite number other than 0, got 0.0
rescaled_projections | new | 0 | new must be a finite number other than 0, got 0
resformer | attention | [[1.0, 0.0], [0.5, 0.6]] | attention must have rows that add up to 1, got a sum of 1.1
resformer | attention | [[1.0, 0.0], [-0.5, 1.5]] | attention must be finite numbers >= 0 only, got -0.5
resformer | attention | [[1.0], [2.0]] | attention has shape (2, 1): expected (..., length, length)
resformer | attention | [[1, 0, 0], [0, 1, 0], [0, 0, 1]] | (..., keys, d) must agree: got (3, 3) and (2, 2)
resformer | first_values | [[1.0]] | first_values has shape (1, 1): expected (2, 2)
residual_diameter_bound | contraction | 1.5 | contraction must lie in [0, 1], got 1.5
residual_diameter_bound | diameter | -1.0 | diameter must be a finite number >= 0, got -1.0
residual_stack | lam | -1.0 | lam must be a finite number >= 0, got -1.0
residual_stack | attention | [[1.0, 0.0], [0.5, 0.5]] | (n_layers, length, length) and values (length, d) expected
rotary_copy_gap | frequencies | [1.0] | query (..., 2 p) and frequencies
rotary_copy_gap_bound | key | [1.0, 1.0] | the vectors must be
rotary_range | key_bias | [1.0] | key_bias has shape
rotary_range_normed | query_gain | [1.0, 2.0] | query_gain has shape
rotate | vectors | [1.0, 1.0, 1.0] | must agree
row_diameter | values | [1.0] | values has shape (1,): expected (..., length, d)
scaled_learning_time | sigma | 0.0 | sigma must be a finite number > 0
scope | slope | -0.1 | slope must be a finite number >= 0, got -0.1
scope | logit_range | -1.0 | logit_range must be a finite number >= 0, got -1.0
scope | eps | 0.0 | eps must lie strictly between 0 and 1, got 0.0
scope | eps | 1.0 | eps must lie strictly between 0 and 1, got 1.0
scope | slope | [0.1, -0.2] | slope must be a finite number >= 0, got -0.2
scope | slope | [0.1, True] | slope must be a number or an array of numbers
second_order_bound | logit_range | -1.0 | logit_range
sharp_weight | distance | 0 | distance must be a whole number >= 1
sharp_weight | distance | 1.5 | distance must be a whole number >= 1
shifted_range | coefficients | 2.0 | shape ()
shifted_range | raw | -1.0 | raw must be a finite number >= 0
shifted_weight_bound | distance | 0 | distance must be a finite number >= 1
sink_collapse | sink | 1.5 | sink must lie in [0, 1], got 1.5
sink_collapse | n_layers | 0 | n_layers must be a whole number >= 1, got 0
sink_length | weight | 0.0 | weight must lie strictly between 0 and 1
sink_share | attention | [[1.0, 0.0]] | attention has shape (1, 2): expected (..., length, length)
sink_token_output | sink_value | 1.0 | sink_value (..., d_v) must agree, got
sink_token_output | sink_value | [1.0, 2.0] | sink_value (..., d_v) must agree, got
slice_grid | n_tokens | 3.9 | >= 4, got 3.9
slice_grid | size | 1 | size must be a whole number >= 2, got 1
slice_grid | size | 2.5 | got 2.5
slice_grid | alpha1 | (1.0, 0.0) | alpha1 must run upwards
slice_grid | beta1 | (0.0, 11.0) | got 0.0 to 11.0
slope_in_temperature | temperature | -1 | temperature must be at least 0, got -1
slopes | n_heads | 0 | n_heads must be a whole number >= 1, got 0
slopes | n_heads | 2.0 | n_heads must be a whole number >= 1, got 2.0
softmax_plus_one | logits | 1.0 | logits has shape (): expected (..., keys), keys >= 1
softmax_plus_one | logits | [] | logits has shape (0,)
spectral_map | mu | 1.5 | mu must lie in [-1, 1], got 1.5
split_budget | slopes | [0.5, 0.0] | slopes
split_budget | slopes | [0.5] | costs
split_budget | slopes | 0.5 | shape
split_budget | budget | 3.0 | too large
split_budget | logit_ranges | [1.0] | logit_ranges
stack_limit | lam | 0.0 | lam must be a finite number > 0, got 0.0
stack_limit | values | [[1.0]] | and values (..., keys, d) must agree: got (2, 2) and (1, 1)
stack_limit | attention | [[[1.0, 0.0], [0.5, 0.5]]] | attention has shape (1, 2, 2): expected (length, length)
stationary_weight | norm | -1.0 | norm must be a finite number >= 0, got -1.0
svformer_cache | n_layers | 0 | n_layers must be a whole number >= 1, got 0
svformer_cache | anchors | 0 | anchors must be a whole number >= 1, got 0
svformer_cache | kv_heads | 3 | kv_heads must be a divisor of n_heads = 8, got 3
svformer_cache | d_key | 1.5 | d_key must be a whole number >= 1, got 1.5
svformer_cache | anchors | 6 | anchors must be a whole number in 1..5, got 6
svformer_saving | d_model | -1 | d_model must be a whole number >= 1, got -1
table_scope | biases | [1.0, 0.5] | nondecreasing
table_terms | alpha1 | 1e+200 | alpha1 must lie in
table_terms | n_tokens | 1 | n_tokens must be
table_terms | n_tokens | 4.5 | n_tokens must be
table_terms | law | '' | law must be
token | values | [[1.0, 1.0], [1.0, 1.0]] | must agree
token | biases | [1.0, 1.0] | biases
token | keys | [1.0, 1.0, 1.0] | must agree
token_importance | attention | [[1.0, 0.0]] | attention has shape (1, 2): expected
token_importance | attention | [[1.0, 0.5], [0.5, 0.5]] | every row of attention must sum to 1
total_error_bound | diameter | -1.0 | diameter
truncate | dropped | [True, True, True] | at least one
truncate | dropped | [False, False, False] | at least one
truncate | dropped | [0, 1, 0] | mask of shape
truncate | logits | [0.0] | must agree
two_layer_alibi | copy_slope | -1.0 | copy_slope
two_layer_alibi | sigma | 0.0 | sigma
two_layer_alibi | sigma | -1.0 | sigma
two_layer_alibi | slope | -0.1 | slope
two_layer_alibi | x | [1.0, 1.0, 1.0, 1.0] | shape
two_layer_alibi | x | [[1.0], [1.0]] | length >= 3
two_layer_alibi | x | [[], [], [], []] | dim >= 1
undecayed_norm_bound | time | -1.0 | time must be a finite number >= 0, got -1.0
uniform_causal_entropy | length | 1000001 | length must be a whole number in 1..1000000
unrotated_log_weight | distances | [] | distances
unrotated_log_weight | mean_key | [1.0, 1.0] | query
value_diameter | w_v | [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]] | must agree
value_diameter | gamma | [1.0] | must agree
weight_bound | distance | -1 | distance must be a finite number >= 0, got -1
weight_bound | logit_range | 1.0 | self_gap must be at most logit_range = 1.0, got 2.0
weight_bound | self_gap | -2.0 | self_gap must be a finite number >= 0, got -2.0
window_for_mass | mass | 1.5 | mass must lie strictly between 0 and 1, got 1.5
window_for_mass | mass | [0.1, 1.5] | mass must lie strictly between 0 and 1, got 1.5
worst_head | logit_range | 0.0 | logit_range must be a finite number >= 1e-300, got 0.0
worst_share | logit_range | 0.0 | > 0
zero_key_weight | logits | [] | logits has shape (0,)
zero_token_output | values | [1.0] | must agree
"""
