"""The shift of Eq. 5: its algebra, its initial law, and how many parameters it adds."""

from theory.shift.algebra import Kernel, mixing_matrix, offset_weights, shift_matrix, shifted_attention, softmax, tokens

__all__ = [
    "Kernel",
    "mixing_matrix",
    "offset_weights",
    "shift_matrix",
    "shifted_attention",
    "softmax",
    "tokens",
]


def __dir__() -> list[str]:
    return list(__all__)
