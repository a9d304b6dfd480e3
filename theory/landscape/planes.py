"""Loss and slopes on any plane of the four parameters, exact and as the paper prints them: what a figure draws.

Two parameters are the axes of the plane. Each of the other two is a number or an affine function of the axes, such as
alpha2 = 1 - alpha1. The slopes are the derivatives of L along the axes, with the other parameters moving along.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.checked import Range, choice, real, reals, whole
from theory.checked import position as checked_position
from theory.landscape.exact import Position, loss_and_gradient, printed_loss_and_gradient
from theory.landscape.grid import slice_grid
from theory.landscape.printed import EQUATION, LISTING, printed_grid
from theory.records import comparable

Array = NDArray[np.float64]

NAMES = ("alpha1", "alpha2", "beta1", "beta2")
ROWS = ("exact", "equation", "listing")
PLACES = ("interior", "first", "last", "end", "mean")
FIGURE_2 = {"alpha2": "1 - alpha1", "beta2": "1 - beta1"}

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TERM = re.compile(rf"([+-])(?:({_NUMBER})\*?)?({'|'.join(NAMES)})?")


@comparable
class Plane(NamedTuple):
    """The plane origin + first * along[0] + second * along[1] of (alpha1, alpha2, beta1, beta2).

    axes: names of the two coordinates. origin (4,): the parameters where both are 0. along (2, 4): their slopes.
    """

    axes: tuple[str, str]
    origin: Array
    along: Array

    def at(self, first: ArrayLike, second: ArrayLike) -> list[Array]:
        """The four parameters at the coordinates; one that a coordinate does not move does not broadcast with it."""
        moves = [np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)]
        return [
            sum((slope * move for slope, move in zip(slopes, moves, strict=True) if slope), np.asarray(start))
            for start, slopes in zip(self.origin, self.along.T, strict=True)
        ]

    def distance(self, theta: ArrayLike) -> Array:
        """How far points (..., 4) lie from the plane's points with the same coordinates: a largest difference."""
        points = reals("theta", theta)
        first, second = (points[..., NAMES.index(name)] for name in self.axes)
        return np.max([np.abs(points[..., k] - value) for k, value in enumerate(self.at(first, second))], axis=0)


@comparable
class Field(NamedTuple):
    """Loss and slopes on a grid of a plane, by row: "exact", "equation" (Eq. 10) or "listing" (Appendix L).

    first (n,), second (n,): the axes. loss, d_first, d_second (row, n, n): L and its slopes, in nats, indexed by row,
    first and second coordinate. absent: for each row, why it has no values (then they are NaN), or "".
    """

    plane: Plane
    n_tokens: float
    position: Position
    rows: tuple[str, ...]
    first: Array
    second: Array
    loss: Array
    d_first: Array
    d_second: Array
    absent: tuple[str, ...]


def plane(axes: Sequence[str] = ("alpha1", "beta1"), fixed: Mapping[str, float | str] | None = None) -> Plane:
    """The plane with these axes; `fixed` gives the other two parameters as numbers or affine in the axes.

    A text such as "1 - alpha1" or "0.5*beta1 + 2" is affine. Without `fixed`, (alpha1, beta1) have Figure 2's plane,
    alpha2 = 1 - alpha1 and beta2 = 1 - beta1.
    Raises ValueError for other names, equal axes, a parameter that is missing or given twice, and other texts.
    """
    if not isinstance(axes, list | tuple) or len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"axes must be two different names among {', '.join(NAMES)}, got {axes!r}")
    first, second = (choice("axes", name, NAMES) for name in axes)
    fixed = FIGURE_2 if fixed is None and (first, second) == ("alpha1", "beta1") else fixed or {}
    if not isinstance(fixed, Mapping):
        raise ValueError(f"fixed must give names their values, got {fixed!r}")
    rest = [name for name in NAMES if name not in (first, second)]
    if set(fixed) != set(rest):
        raise ValueError(f"the axes {first} and {second} need values of {' and '.join(rest)}, got {_given(fixed)}")
    forms = {first: (0.0, 1.0, 0.0), second: (0.0, 0.0, 1.0)}
    forms |= {name: _affine(name, fixed[name], (first, second)) for name in rest}
    table = np.array([forms[name] for name in NAMES])
    return Plane((first, second), table[:, 0].copy(), table[:, 1:].T.copy())


def _given(fixed: Mapping[str, float | str]) -> str:
    return " and ".join(map(str, fixed)) or "none"


def _affine(name: str, value: float | str, axes: tuple[str, str]) -> tuple[float, ...]:
    """(constant, slope in the first axis, slope in the second). Raises ValueError for anything not affine."""
    if not isinstance(value, str):
        return (real(name, value), 0.0, 0.0)
    text = re.sub(r"\s*([-+*])\s*", r"\1", value.strip())
    text = text if text.startswith(("+", "-")) else "+" + text
    found, at = {"": 0.0, axes[0]: 0.0, axes[1]: 0.0}, 0
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None or term[2] is term[3] is None or (term[3] or "") not in found or term[0].endswith("*"):
            raise ValueError(
                f"{name} must be a number or affine in {axes[0]} and {axes[1]}, such as 1 - {axes[0]}, got {value!r}"
            )
        found[term[3] or ""] += float(term[1] + (term[2] or "1"))
        at = term.end()
    return tuple(real(name, number) for number in found.values())


def place(position: Position | str, n_tokens: float) -> Position:
    """A position of `landscape.loss` by its name: interior, first (1), last (T - 1), end (T), mean, or as it is.

    Raises ValueError for other words, and for an interior position where n_tokens < 4 has none.
    """
    if position in (None, "interior"):
        if real("n_tokens", n_tokens, Range(2.0)) < 4:
            raise ValueError(f"T = {n_tokens:g} has no interior position: choose first, last, end, mean or an index")
        return None
    tokens = whole("n_tokens", n_tokens, 2)
    if isinstance(position, str):
        named = {"first": 1, "last": tokens - 1, "end": tokens, "mean": "mean"}
        position = named[choice("position", position, PLACES)]
    return checked_position(position, tokens)


def is_interior(position: Position, n_tokens: float) -> bool:
    """Whether it is a place from 2 to T - 2, all of which are alike."""
    return position is None or (isinstance(position, int) and 2 <= position <= n_tokens - 2)


def field(
    axes: Sequence[str],
    box: ArrayLike,
    n_tokens: float,
    *,
    fixed: Mapping[str, float | str] | None = None,
    position: Position | str = None,
    rows: Sequence[str] = ("exact",),
    size: int = 101,
) -> Field:
    """L and its slopes along `axes` on a grid of size x size points of the box (first from, to, second from, to).

    Rows: "exact" is the corrected loss for any T >= 2 and position (by name too: interior, first, last, end, mean);
    "equation" is Eq. 10 as printed with O(T) = T - 4, for an interior position; "listing" is what Appendix L draws, on
    Figure 2's plane with coordinates in [-10, 10] and T <= 504. A row that is not defined here is NaN, and says why.
    Raises ValueError for a box that does not run upwards, for axes and positions as `plane` and `place` do, and where
    no row is defined.
    """
    surface, where = plane(axes, fixed), place(position, n_tokens)
    ends, number = reals("box", box, shape=(4,)), whole("size", size, 2)
    if not (ends[0] < ends[1] and ends[2] < ends[3]):
        raise ValueError(f"box must run upwards in both coordinates, got {' '.join(f'{end:g}' for end in ends)}")
    names = tuple(choice("rows", row, ROWS) for row in ((rows,) if isinstance(rows, str) else rows))
    first, second = np.linspace(*ends[:2], number), np.linspace(*ends[2:], number)
    values = np.full((3, len(names), number, number), np.nan)
    absent = [""] * len(names)
    for index, name in enumerate(names):
        try:
            values[:, index] = _ENGINES[name](surface, first, second, n_tokens, where)
        except ValueError as why:
            absent[index] = str(why)
    if all(absent):
        raise ValueError(absent[0] if absent else "rows must name at least one")
    return Field(surface, float(n_tokens), where, names, first, second, *values, tuple(absent))


def _exact(surface: Plane, first: Array, second: Array, tokens: float, where: Position) -> Sequence[Array]:
    if where is None and _on_figure_2(surface, first, second):
        return slice_grid(tokens, first.size, (first[0], first[-1]), (second[0], second[-1]))[2:]
    return _along(surface, *loss_and_gradient(*surface.at(first[:, None], second), tokens, where))


def _equation(surface: Plane, first: Array, second: Array, tokens: float, where: Position) -> Sequence[Array]:
    rest = _interior_rest(tokens, where)
    if _on_figure_2(surface, first, second):
        return printed_grid(rest, EQUATION, first.size, (first[0], first[-1]), (second[0], second[-1]))[2:]
    return _along(surface, *printed_loss_and_gradient(*surface.at(first[:, None], second), rest, rest))


def _listing(surface: Plane, first: Array, second: Array, tokens: float, where: Position) -> Sequence[Array]:
    rest = _interior_rest(tokens, where)
    if not _on_figure_2(surface, first, second):
        raise ValueError("the listing draws alpha2 = 1 - alpha1, beta2 = 1 - beta1 in [-10, 10] only")
    if rest > 500:
        raise ValueError("the listing's exponential of O(T) overflows beyond T = 504")
    return printed_grid(rest, LISTING, first.size, (first[0], first[-1]), (second[0], second[-1]))[2:]


_ENGINES = {"exact": _exact, "equation": _equation, "listing": _listing}


def _interior_rest(tokens: float, where: Position) -> float:
    """O(T) = T - 4 of the printed forms, which are written for an interior position."""
    if not is_interior(where, tokens):
        raise ValueError("the printed forms are for an interior position")
    return tokens - 4.0


def _on_figure_2(surface: Plane, first: Array, second: Array) -> bool:
    """Whether the quicker grid of Figure 2's plane takes these axes."""
    near = max(-first[0], first[-1], -second[0], second[-1]) <= 10
    return near and surface == plane()


def _along(surface: Plane, loss: Array, gradient: Array) -> list[Array]:
    """The chain rule: dL/dfirst = sum_k dL/dtheta_k dtheta_k/dfirst, and so for the second axis."""
    slopes = [sum(slope * gradient[..., k] for k, slope in enumerate(slopes) if slope) for slopes in surface.along]
    return [loss, *slopes]
