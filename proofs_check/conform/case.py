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
    """told: its sizes in words; got() calls the adapter; expected() is asked for after it; axes: names of the axes.

    compared: where (default: everywhere); slack is added to the tolerance; mistakes() and conventions(): the numbers of
    known mistakes and of other readings, which a deviation then names; sizes: what a run reports, so many keys, heads.
    """

    told: str
    got: Callable[[], Any]
    expected: Callable[[], NDArray[Any]]
    axes: tuple[str, ...]
    compared: NDArray[np.bool_] | None = None
    slack: float = 0.0
    mistakes: Callable[[], Mapping[str, NDArray[Any]]] = dict
    conventions: Callable[[], Mapping[str, NDArray[Any]]] = dict
    sizes: Mapping[str, int] = {}


class Deviation(NamedTuple):
    """One line on the first place that is not as expected, and the convention by which all would be."""

    told: str
    convention: str | None = None


def tolerance(dtype: str, expected: NDArray[Any], slack: float = 0.0) -> float:
    """The largest difference that counts as rounding, absolute: relative to the largest number expected, or to 1."""
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return ROUNDINGS[dtype] * UNIT[dtype] * size + slack


def deviation(case: Case, dtype: str, by: str | None = None) -> Deviation | None:
    """None if all is as expected (by that convention), otherwise the first place, and of whom the numbers are."""
    got, expected = case.got(), case.expected()
    expected = expected if by is None else case.conventions().get(by, expected)
    if not isinstance(got, np.ndarray) or got.shape != expected.shape:
        shape = f"shape {got.shape}" if isinstance(got, np.ndarray) else f"a {type(got).__name__}"
        return Deviation(f"{case.told}: expected an array of shape {expected.shape}, got {shape}")
    compared = np.broadcast_to(True if case.compared is None else case.compared, got.shape)
    allowed = tolerance(dtype, np.where(compared, expected, 0.0), case.slack)
    wrong = compared & ~_near(got, expected, allowed)  # NaN is near nothing
    if not wrong.any():
        return None

    def alike(others):
        return next((name for name, other in others.items() if _near(got, other, allowed)[compared].all()), None)

    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = ", ".join(f"{name} {i}" for name, i in zip(case.axes, place, strict=True))
    convention = alike(case.conventions())
    name = convention or alike(case.mistakes())
    digits = next(n for n in (6, 10, 17) if n == 17 or _text(expected[place], n) != _text(got[place], n))
    told = f"{case.told}: {where}: expected {_text(expected[place], digits)}, got {_text(got[place], digits)}"
    return Deviation(told + (f"; these are {name}" if name else ""), convention)


def _near(got, expected, allowed):
    with np.errstate(invalid="ignore"):
        return np.abs(np.asarray(got, dtype=np.float64) - expected) <= allowed


def _text(number, digits):
    return str(bool(number)) if isinstance(number, np.bool_) else f"{float(number):.{digits}g}"
