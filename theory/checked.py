"""Checks of the arguments of public functions: a wrong argument raises ValueError with a message of one line.

A number is an int, a float, a Fraction or one of numpy's, sympy's or mpmath's that is real and finite; it becomes a
float64 before anything is computed. Booleans, strings, bytes, dates, complex numbers, masked arrays, balls and integers
beyond the range of a double are refused, in a list or an array too. A refusal is a ValueError of one line that names
the argument, what it must be, and the value.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
P = ParamSpec("P")
R = TypeVar("R")

_LONGEST = 60  # characters of a value in a message
_NOT_NUMBERS = (bool, np.bool_, np.timedelta64, np.datetime64)  # a timedelta64 is an integer to numpy
_BYTES = (bytes, bytearray, memoryview)


class Range(NamedTuple):
    """Finite numbers from low to high; `open` leaves out both ends, `nan` lets in what is not finite."""

    low: float = -math.inf
    high: float = math.inf
    open: bool = False
    nan: bool = False

    def must(self, several: bool = False) -> str:
        """The end of the error message "name must ..": the condition on one number, or on `several`."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            between = f"strictly between {self.low:g} and {self.high:g}"
            return f"lie {between}" if self.open else f"lie in [{self.low:g}, {self.high:g}]"
        limit = ""
        if math.isfinite(self.low):
            limit = f" {'>' if self.open else '>='} {self.low:g}"
        elif math.isfinite(self.high):
            limit = f" {'<' if self.open else '<='} {self.high:g}"
        return f"be finite numbers{limit} only" if several else f"be a finite number{limit}"

    def holds(self, value: float) -> bool:
        """Whether the number is finite and in the range; False for NaN."""
        inside = self.low < value < self.high if self.open else self.low <= value <= self.high
        return self.nan or (inside and math.isfinite(value))

    def each(self, values: Array) -> NDArray[np.bool_]:
        """`holds` of every entry."""
        finite = np.isfinite(values) | self.nan
        if math.isinf(self.low) and math.isinf(self.high):
            return finite
        over, under = (np.greater, np.less) if self.open else (np.greater_equal, np.less_equal)
        return finite & over(values, self.low) & under(values, self.high)


ANYTHING = Range(nan=True)  # infinities and NaN too
ANY = Range()
NONNEGATIVE = Range(0.0)
POSITIVE = Range(0.0, open=True)
SHARE = Range(0.0, 1.0, open=True)
UNIT = Range(0.0, 1.0)


def real(name: str, value: object, within: Range = ANY) -> float:
    """One real number as a float. Raises ValueError unless it is one, finite and in the range."""
    found = _float(value)
    if found is None or not within.holds(found):
        raise ValueError(f"{name} must {within.must()}, got {shown(value)}")
    return found


def reals(name: str, value: object, within: Range = ANY, shape: tuple[int, ...] | None = None) -> Array:
    """A number, or numbers in any nesting, as a float64 array, of this shape if one is given. Raises ValueError."""
    if shape is None and (number := _float(value)) is not None and within.holds(number):
        return np.asarray(number)
    found = _array(value)
    if found is None:
        raise ValueError(f"{name} must be a number or an array of numbers, got {shown(value)}")
    if shape is not None and found.shape != shape:
        raise ValueError(f"{name} has shape {found.shape}: expected {shape}")
    if not (good := within.each(found)).all():
        raise ValueError(f"{name} must {within.must(found.ndim > 0)}, got {float(found[~good][0])!r}")
    return found


def whole(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """One whole number as an int, 8.0 included. Raises ValueError unless it is one, from least to most."""
    number = _float(value)
    if number is not None and isinstance(_scalar(value), numbers.Integral):
        return _ranged(name, value, int(_scalar(value)), least, most)
    if number is None or not math.isfinite(number) or number != math.floor(number):
        raise _not_whole(name, value, least, most)
    return _ranged(name, value, int(number), least, most)


def index(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """One whole number of an integer type as an int: unlike `whole` it refuses 8.0. Raises as `whole`."""
    if _float(value) is None or not isinstance(_scalar(value), numbers.Integral):
        raise _not_whole(name, value, least, most)
    return _ranged(name, value, int(_scalar(value)), least, most)


def position(value: object, tokens: int | None) -> int | str | None:
    """None (an interior position), "mean", or a place in 1..tokens as an int. Raises ValueError otherwise."""
    if value is None or (isinstance(value, str) and value == "mean"):
        return value
    whole_one = isinstance(_scalar(value), numbers.Integral) and _float(value) is not None
    if not whole_one or not 1 <= int(_scalar(value)) <= (math.inf if tokens is None else tokens):
        last = "n_tokens" if tokens is None else tokens
        raise ValueError(f'position must be None, "mean" or a whole number in 1..{last}, got {shown(value)}')
    return int(_scalar(value))


def wholes(name: str, value: object, least: int) -> Array:
    """Whole numbers in any nesting as a float64 array. Raises ValueError."""
    found = reals(name, value)
    scalar = _scalar(value)
    if isinstance(scalar, numbers.Integral) and int(scalar) != int(found):
        raise ValueError(f"{name} must be a whole number that a float can hold, got {shown(value)}")
    if not (good := (found == np.floor(found)) & (found >= least)).all():
        what = f"a whole number >= {least}" if found.ndim == 0 else f"whole numbers >= {least} only"
        raise ValueError(f"{name} must be {what}, got {float(found[~good][0]):g}")
    return found


def choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """One of some words. Raises ValueError for any other."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {shown(value)}")
    return value


def elementwise(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The function of numbers, for arrays as well: the named arguments broadcast, None stays None.

    Numbers alone give what the function gives; arrays give a float64 array, number by number, so every entry is what
    its numbers give, and a record of arrays where the function gives a record (no numbers: an empty array). What is an
    array for one entry has its axes last. Raises ValueError for shapes that do not broadcast, and as the function does
    for the first entry that it refuses.
    """

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        takes = inspect.signature(function)

        @wraps(function)
        def over_arrays(*args: Any, **kwargs: Any) -> Any:
            if not any(map(many, (*args, *kwargs.values()))):
                return function(*args, **kwargs)
            given = takes.bind(*args, **kwargs).arguments
            arrays = {name: reals(name, given[name]) for name in names if given.get(name) is not None}
            try:
                rows = np.broadcast_arrays(*arrays.values())
            except ValueError:
                shapes = ", ".join(f"{name} {values.shape}" for name, values in arrays.items())
                raise ValueError(f"the shapes do not broadcast: {shapes}") from None
            if not rows or not rows[0].ndim:
                return function(*args, **kwargs)
            entries = zip(*(row.ravel().tolist() for row in rows), strict=True)
            found = [function(**{**given, **dict(zip(arrays, entry, strict=True))}) for entry in entries]
            return _stacked(found, rows[0].shape)

        return over_arrays

    return wrap


def _stacked(found: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The results as one array; records as one record, field by field, and None where all are."""
    if found and isinstance(found[0], tuple):
        parts = [_stacked(column, shape) for column in zip(*found, strict=True)]
        return found[0].__class__(*parts) if hasattr(found[0], "_fields") else tuple(parts)
    if found and all(entry is None for entry in found):
        return None
    return np.array(found, dtype=np.float64).reshape(*shape, *np.shape(found[0] if found else 0.0))


def many(value: object) -> bool:
    """Whether an argument is handed more than one number, in any form."""
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) != 0


def sized(infinite: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function, with a ValueError where its result, or a step on the way, overflows or is not defined in float64.

    infinite: whether inf may be returned, as by a bound that says so.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def refusing(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                with np.errstate(over="raise", divide="raise", invalid="raise"):
                    found = function(*args, **kwargs)
            except (ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
                raise ValueError(f"the numbers are too large or too small for {function.__name__}: {error}") from None
            if not _settled(found, infinite):
                raise ValueError(f"the numbers are too large or too small for {function.__name__}: it overflows")
            return found

        return refusing

    return wrap


def _settled(found: object, infinite: bool) -> bool:
    """Whether no number in a result is NaN, nor infinite unless that is allowed."""
    if isinstance(found, tuple):
        return all(_settled(part, infinite) for part in found)
    if isinstance(found, float | np.floating | np.ndarray) and np.asarray(found).dtype.kind == "f":
        return not np.isnan(found).any() if infinite else bool(np.isfinite(found).all())
    return True


def shown(value: object) -> str:
    """The value in a message: one line, not a long one."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of {value.dtype} of shape {value.shape}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a repr may do anything; that of an int of more than 4300 digits refuses
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _ranged(name: str, value: object, number: int, least: int | None, most: int | None) -> int:
    if (least is not None and number < least) or (most is not None and number > most):
        raise _not_whole(name, value, least, most)
    return number


def _not_whole(name: str, value: object, least: int | None, most: int | None) -> ValueError:
    limits = "" if least is None and most is None else f" >= {least}" if most is None else f" in {least}..{most}"
    return ValueError(f"{name} must be a whole number{limits}, got {shown(value)}")


def _scalar(value: object) -> object:
    """The entry of an array without axes, else the value."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _float(value: object) -> float | None:
    """The value as a float, None if it is not a real number or too large for one."""
    if type(value) is float:
        return value
    value = _scalar(value) if type(value) is np.ndarray else value
    if not isinstance(value, numbers.Real) or isinstance(value, _NOT_NUMBERS):
        return None
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return None


def _array(value: object) -> Array | None:
    if isinstance(value, np.ndarray):
        return _from_array(value)
    if isinstance(value, numbers.Real):
        number = _float(value)
        return None if number is None else np.asarray(number)
    if isinstance(value, (*_BYTES, str)) or (isinstance(value, list | tuple) and not _plain(value)):
        return None
    try:
        return _from_array(np.asarray(value))
    except Exception:  # ragged lists, tensors that need a gradient, objects whose conversion fails
        return None


def _from_array(value: NDArray[Any]) -> Array | None:
    if isinstance(value, np.ma.MaskedArray):
        return None
    if value.dtype.kind in "iuf":
        with np.errstate(over="ignore"):  # a longdouble beyond the range of a double is not finite then
            return np.asarray(value, dtype=np.float64)
    if value.dtype.kind != "O":
        return None
    entries = [_float(entry) for entry in value.ravel()]
    return None if None in entries else np.array(entries, dtype=np.float64).reshape(value.shape)


def _plain(values: Sequence[object]) -> bool:
    """Whether no entry, at any depth, is what numpy would quietly make a number of."""
    for entry in values:
        if isinstance(entry, list | tuple):
            if not _plain(entry):
                return False
        elif isinstance(entry, np.ndarray):
            if _from_array(entry) is None:
                return False
        elif isinstance(entry, (*_NOT_NUMBERS, *_BYTES)):
            return False
    return True
