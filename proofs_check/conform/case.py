"""One case of a check: what is called, what must come out, and the first place where something else did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Half a unit in the last place, of 1, by dtype.
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
# In such units, of the largest number expected: sums of a few dozen products, logits up to about 8 whose errors the
# softmax hands on, and an exponential. Half precision keeps its sums in float32 on most hardware, and must be held
# tighter than that or nothing would fail; float64 is generous, for libraries that round a constant or two once more.
ROUNDINGS = {"float64": 4096.0, "float32": 256.0, "float16": 32.0, "bfloat16": 16.0}
# An angle is position * rate in float32, rounded two or three times: this much of the position, in radians.
ANGLE = 4 * UNIT["float32"]


class Case(NamedTuple):
    """sizes in words; got() calls the adapter; expected; compared: where (default: everywhere); axes: their names.

    slack is added to the tolerance; others are known wrong or different readings, which a failure then names.
    """

    sizes: str
    got: Callable[[], Any]
    expected: NDArray[Any]
    axes: tuple[str, ...]
    compared: NDArray[np.bool_] | None = None
    slack: float = 0.0
    others: Mapping[str, NDArray[Any]] = {}


def tolerance(dtype: str, expected: NDArray[Any], slack: float = 0.0) -> float:
    """The largest difference that counts as rounding, absolute: relative to the largest number expected, or to 1."""
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return ROUNDINGS[dtype] * UNIT[dtype] * size + slack


def deviation(case: Case, dtype: str) -> str | None:
    """None if all is as expected, otherwise one line: the sizes, the first place, expected and got."""
    got = case.got()
    if not isinstance(got, np.ndarray) or got.shape != case.expected.shape:
        shape = f"shape {got.shape}" if isinstance(got, np.ndarray) else f"a {type(got).__name__}"
        return f"{case.sizes}: expected an array of shape {case.expected.shape}, got {shape}"
    compared = np.broadcast_to(True if case.compared is None else case.compared, got.shape)
    expected = np.where(compared, case.expected, 0.0)
    allowed = tolerance(dtype, expected, case.slack)
    wrong = compared & ~_near(got, expected, allowed)  # NaN is near nothing
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = ", ".join(f"{name} {i}" for name, i in zip(case.axes, place, strict=True))
    also = [name for name, other in case.others.items() if _near(got, other, allowed)[compared].all()]
    told = f"; these are {also[0]}" if also else ""
    digits = next(n for n in (6, 10, 17) if n == 17 or _text(expected[place], n) != _text(got[place], n))
    return f"{case.sizes}: {where}: expected {_text(expected[place], digits)}, got {_text(got[place], digits)}{told}"


def _near(got: NDArray[Any], expected: NDArray[Any], allowed: float) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.abs(np.asarray(got, dtype=np.float64) - expected) <= allowed


def _text(number: Any, digits: int) -> str:
    return str(bool(number)) if isinstance(number, np.bool_) else f"{float(number):.{digits}g}"
