"""The loss landscape of the one-repeat sentence (KV shifting, Theorem 3.4): exact, as printed, and its flows."""

from theory.landscape.critical import BoxMinimum, CriticalPoint, box_minimum, critical_point
from theory.landscape.exact import (
    LearningTime,
    Position,
    ScaledTime,
    excess_loss,
    gradient,
    hessian,
    learning_time,
    logits,
    loss,
    loss_and_gradient,
    printed_loss,
    scaled_learning_time,
)
from theory.landscape.planes import Field, field, plane
from theory.landscape.width import FiniteWidth, finite_width

__all__ = [
    "BoxMinimum",
    "CriticalPoint",
    "Field",
    "FiniteWidth",
    "LearningTime",
    "Position",
    "ScaledTime",
    "box_minimum",
    "critical_point",
    "excess_loss",
    "field",
    "finite_width",
    "gradient",
    "hessian",
    "learning_time",
    "logits",
    "loss",
    "loss_and_gradient",
    "plane",
    "printed_loss",
    "scaled_learning_time",
]


def __dir__() -> list[str]:
    return list(__all__)
