"""Critical points of the exact loss on a plane of the parameters, each proved by Krawczyk's operator."""

from collections import Counter
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.optimize import root

from proofs_check.evidence.certified import unique_zero
from proofs_check.evidence.margin import Undecided
from theory import landscape, symbols
from theory.landscape.exact import Position
from theory.landscape.planes import Plane
from theory.landscape.symbolic import interior_table, loss, position_table
from theory.lowering.ball import BallFunction
from theory.lowering.box import Box
from theory.lowering.precision import working

_GRID = 81  # points a side of the search
_SAME = 1e-9  # of the sides: candidates so near are one
_REACHES = Fraction(1, 1000), Fraction(1, 10**5), Fraction(1, 10**8)  # of the sides: boxes tried about a candidate


class CriticalPoint(NamedTuple):
    """A point of the plane near which, by proof, the slopes of L along the plane have exactly one zero.

    place: its coordinates; kind: "minimum", "saddle" or "maximum" on the plane; enclosure: a box that holds it.
    """

    place: tuple[float, float]
    kind: str
    enclosure: Box


def critical_points(
    surface: Plane, n_tokens: float, position: Position, box: tuple[float, float, float, float]
) -> list[CriticalPoint]:
    """The critical points of L on the plane that are found in the box and proved; others may exist.

    Candidates are where both slopes change sign on a grid, made better by Powell's method. The coordinates that define
    the plane are taken as the exact numbers that their floats are.
    """
    axes = [next(symbol for symbol in symbols.PARAMETERS if symbol.name == name) for name in surface.axes]
    exact = _loss(surface, axes, n_tokens, position)
    slopes = [sp.diff(exact, axis) for axis in axes]
    if set().union(*(slope.free_symbols for slope in slopes)) != set(axes):
        return []  # along one axis the loss is constant, and no critical point stands alone
    places = _candidates(surface, n_tokens, position, box)
    return [point for place in places if (point := _proved(slopes, axes, place, box)) is not None]


def _loss(surface: Plane, axes: list[sp.Symbol], n_tokens: float, position: Position) -> sp.Expr:
    """L on the plane, in the symbols of its axes."""
    values = {}
    for symbol, start, slopes in zip(symbols.PARAMETERS, surface.origin, surface.along.T, strict=True):
        values[symbol] = _rational(start) + sum(_rational(k) * axis for k, axis in zip(slopes, axes, strict=True))
    size = int(n_tokens)
    if position is None:
        full = loss(interior_table(_rational(n_tokens)))
    elif position == "mean":  # all but the ends have one and the same loss
        places = Counter(place if place in (1, size - 1) else 2 for place in range(1, size))
        full = sum(times * loss(position_table(size, place)) for place, times in places.items()) / (size - 1)
    else:
        full = loss(position_table(size, position))
    return full.subs(values, simultaneous=True)


def _rational(number: float) -> sp.Rational:
    return sp.Rational(Fraction(float(number)))


def _candidates(surface: Plane, n_tokens: float, position: Position, box) -> list[NDArray[np.float64]]:
    def slopes(at: NDArray[np.float64]) -> NDArray[np.float64]:
        gradient = landscape.gradient(*surface.at(*at), n_tokens, position)
        return np.moveaxis(gradient @ surface.along.T, -1, 0)

    axes = np.linspace(*box[:2], _GRID), np.linspace(*box[2:], _GRID)
    signs = np.sign(slopes(np.stack(np.meshgrid(*axes, indexing="ij"))))
    corners = np.stack([signs[:, i : _GRID - 1 + i, j : _GRID - 1 + j] for i in (0, 1) for j in (0, 1)])
    # both slopes change sign, and neither underflows at all four corners
    mixed = ((np.abs(corners.sum(0)) < 4) & corners.any(0)).all(0)
    sides = np.array([box[1] - box[0], box[3] - box[2]])
    places: list[NDArray[np.float64]] = []
    for i, j in zip(*np.nonzero(mixed), strict=True):
        start = np.array([axes[0][i : i + 2].mean(), axes[1][j : j + 2].mean()])
        try:
            found = root(slopes, start, tol=1e-13).x
        except ValueError:  # it went to where the loss overflows
            continue
        inside = np.isfinite(found).all() and box[0] <= found[0] <= box[1] and box[2] <= found[1] <= box[3]
        if inside and not any((np.abs(found - other) <= _SAME * sides).all() for other in places):
            places.append(found)
    return places


def _proved(slopes: list[sp.Expr], axes: list[sp.Symbol], place, box) -> CriticalPoint | None:
    sides = box[1] - box[0], box[3] - box[2]
    for reach in _REACHES:
        around = {}
        for axis, x, side in zip(axes, place, sides, strict=True):
            middle, width = Fraction(float(x)), reach * Fraction(side)
            around[axis.name] = (middle - width, middle + width)
        with suppress(Undecided):
            enclosure = unique_zero(Box(around), *slopes)
            kind, middle = _kind(slopes, axes, enclosure), enclosure.center()
            return kind and CriticalPoint(tuple(float(middle[axis.name]) for axis in axes), kind, enclosure)
    return None


def _kind(slopes: list[sp.Expr], axes: list[sp.Symbol], enclosure: Box) -> str | None:
    """By the signs of the Hessian's determinant and of its first entry on the whole enclosure."""
    bends = [sp.diff(slopes[0], axes[0]), sp.diff(slopes[0], axes[1]), sp.diff(slopes[1], axes[1])]
    with working(128):
        ends = BallFunction(bends, tuple(axis.name for axis in axes)).on(enclosure)
        a, b, c = (low.union(high) for low, high in ends)
        determinant = a * c - b * b
        if determinant < 0:
            return "saddle"
        if determinant > 0 and (a > 0 or a < 0):
            return "minimum" if a > 0 else "maximum"
    return None
