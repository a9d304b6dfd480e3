"""Value residuals across layers: what ResFormer and its kin compute, smooth, store and drain."""

from theory.value_residual.cross_layer import attention_weights, averaged_attention, cross_layer_attention, own_mass
from theory.value_residual.cross_layer_bound import CrossHead, cross_layer_gap_bound, difference_range, worst_head
from theory.value_residual.drain import (
    drain_loss,
    drain_velocity,
    drained_value,
    stationary_weight,
    undecayed_norm_bound,
)
from theory.value_residual.equilibria import Equilibria, drain_equilibria, fold_ratios
from theory.value_residual.family import (
    all_layers,
    denseformer,
    identity_mapping,
    rescaled_projections,
    resformer,
    residual_values,
    svformer,
)
from theory.value_residual.memory import TABLE_4, model_parameters, svformer_cache, svformer_saving
from theory.value_residual.neutreno_stack import neutreno, neutreno_fixed_point, neutreno_radius, neutreno_threshold
from theory.value_residual.pagerank import constant_stack, residual_stack, spectral_map, stack_limit
from theory.value_residual.smoothing import (
    dobrushin,
    residual_diameter_bound,
    row_diameter,
    sink_collapse,
    sink_share,
)

__all__ = [
    "TABLE_4",
    "CrossHead",
    "Equilibria",
    "all_layers",
    "attention_weights",
    "averaged_attention",
    "constant_stack",
    "cross_layer_attention",
    "cross_layer_gap_bound",
    "denseformer",
    "difference_range",
    "dobrushin",
    "drain_equilibria",
    "drain_loss",
    "drain_velocity",
    "drained_value",
    "fold_ratios",
    "identity_mapping",
    "model_parameters",
    "neutreno",
    "neutreno_fixed_point",
    "neutreno_radius",
    "neutreno_threshold",
    "own_mass",
    "rescaled_projections",
    "resformer",
    "residual_diameter_bound",
    "residual_stack",
    "residual_values",
    "row_diameter",
    "sink_collapse",
    "sink_share",
    "spectral_map",
    "stack_limit",
    "stationary_weight",
    "svformer",
    "svformer_cache",
    "svformer_saving",
    "undecayed_norm_bound",
    "worst_head",
]


def __dir__() -> list[str]:
    return list(__all__)
