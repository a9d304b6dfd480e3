"""Closed forms, constructions and bounds for attention: sympy truth and its numpy kernels (no torch, no plotting).

    import theory
    theory.landscape.loss(0.2, 0.8, 0.9, 0.1, n_tokens=100)

Each room is imported when it is first named.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theory import alibi, cache, induction, landscape, lowering, shift, sink, value_residual

__version__ = "0.1.0"
__all__ = ["alibi", "cache", "induction", "landscape", "lowering", "shift", "sink", "value_residual"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"theory has no room {name!r}: there are {', '.join(__all__)}")
    return importlib.import_module(f"theory.{name}")


def __dir__() -> list[str]:
    return list(__all__)
