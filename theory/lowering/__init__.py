"""From a sympy expression to numbers: numpy, torch and mpmath, or Arb balls, boxes and comparisons for proofs.

Its modules are what is public, each imported when it is first named: `theory.lowering.numeric.numeric(expr, args)`.
"""

import importlib
from types import ModuleType

__all__ = ["alone", "ball", "box", "numeric", "precision"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"theory.lowering has no module {name!r}: there are {', '.join(__all__)}")
    return importlib.import_module(f"theory.lowering.{name}")


def __dir__() -> list[str]:
    return list(__all__)
