"""Claims of the papers, and the small proof core that checks them.

`verify` and `decide` are the command line's verdicts as records: see `proofs_check.ledger.library`.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proofs_check.ledger.library import decide, verify

__all__ = ["decide", "verify"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'proofs_check' has no attribute {name!r}")
    return getattr(importlib.import_module("proofs_check.ledger.library"), name)


def __dir__() -> list[str]:
    return list(__all__)
