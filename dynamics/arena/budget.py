"""Equal budgets by rule: a variant's MLP is made as wide as gives it the baseline's parameters."""

from dynamics.model.config import ModelConfig
from dynamics.model.sizes import parameters


def matched(config: ModelConfig, wanted: int) -> ModelConfig:
    """The same model with the MLP whose width brings its parameters nearest to `wanted`.

    They are affine in that width. Raises: ValueError where even an MLP of width 1 has more, or the model has none.
    """
    if not config.mlp_width:
        raise ValueError("parameters are matched by the width of the MLP, and there is none")
    one, two = (parameters(config.model_copy(update={"mlp_width": width})) for width in (1, 2))
    width = 1 + round((wanted - one) / (two - one))
    if width < 1:
        raise ValueError(f"{wanted} parameters leave no MLP: without one there are {2 * one - two}")
    return config.model_copy(update={"mlp_width": width})
