"""Points at which false statements fail, smaller than those that a search comes upon."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.rigour.steps import Scripts, fails_at

# RMSNorm with gain (1, 0), W_Q^T W_K = -e_1 e_1^T: the query's state e_1 sqrt(2) would rather see the other token's.
TWO_TOKENS = {
    "n": 2, "d": 2, "e": 1, "c": 0, "h": ((-1, 0), (1, 0)), "g": (1, 0), "b": (0, 0), "p": ((1, 0),), "r": ((-1, 0),),
    "eps": Fraction(1, 2), "j": 1, "z": Fraction(1, 4),
}  # fmt: skip
ONE_DIRECTION = {"d": 3, "c": 0, "h": (1, 0, 0), "g": (1, 0, 0), "b": (0, 0, 0)}
POINTS: dict[str, dict[str, Any]] = {
    "razor.thm1": TWO_TOKENS,
    "razor.appA.last_step": {"n": 2, "s": (0, -1), "l": 1, "j": 1},
    "razor.eq7": ONE_DIRECTION,
    "razor.eq8": {**ONE_DIRECTION, "e": 1, "p": ((1, 0, 0),), "r": ((1, 0, 0),)},
}


SCRIPTS: dict[str, Callable[[], Scripts]] = {name: fails_at(**point) for name, point in POINTS.items()}
