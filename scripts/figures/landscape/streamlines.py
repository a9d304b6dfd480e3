"""Full-length, evenly spaced streamlines of several planar fields at once, as plain arrays.

Every candidate line of every panel is integrated in one batch (complex positions, midpoint rule, bilinear field); then,
panel by panel, lines are accepted from the longest down and cut where they enter a cell that an earlier one crossed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_STEP = 0.0125  # of the side of the unit square
_STEPS = 110  # either way: longer than the diagonal
_STILL = 4  # a line that comes no further than a step and a half in this many has reached a sink
_SHORTEST = 0.2


class Streamlines(NamedTuple):
    """Lines (n, 2) in the unit square, and each one's middle point (2,) and unit direction (2,) for its arrow."""

    lines: list[NDArray[np.float64]]
    middles: NDArray[np.float64]
    directions: NDArray[np.float64]


def streamlines(x: NDArray, y: NDArray, cells: int = 12, seed: int = 0) -> list[Streamlines]:
    """Streamlines of each field of a stack; x and y have shape (panel, size, size), axes (first, second) coordinate.

    Raises ValueError for shapes that are not such a stack, fewer than two cells, and numbers that are not finite.
    """
    if x.shape != y.shape or x.ndim != 3 or x.shape[1] != x.shape[2] or x.shape[1] < 2:
        raise ValueError(f"need two stacks of square fields of one shape, got {x.shape} and {y.shape}")
    if cells < 2:
        raise ValueError(f"cells must be >= 2, got {cells}")
    field = x + 1j * y
    if not np.isfinite(field).all():
        raise ValueError("the fields must be finite")
    panels = x.shape[0]
    starts = _starts(cells, seed)
    paths = _integrate(field, np.tile(starts, panels), np.repeat(np.arange(panels), starts.size))
    return [_select(part, cells) for part in np.split(paths, panels, axis=1)]


def _starts(cells: int, seed: int) -> NDArray[np.complex128]:
    """One start in each cell, moved off the centre by up to a quarter of a cell."""
    rng = np.random.default_rng(seed)
    first, second = (np.indices((cells, cells)) + 0.5 + rng.uniform(-0.25, 0.25, (2, cells, cells))) / cells
    return (first + 1j * second).ravel()


def _integrate(field: NDArray, starts: NDArray, panel: NDArray) -> NDArray[np.complex128]:
    """Positions (2 _STEPS + 1, line) from far upstream to far downstream; NaN beyond the ends of a line."""
    size = field.shape[1]
    flat, base = field.ravel(), np.concatenate([panel, panel]) * size * size
    way = np.repeat([1.0, -1.0], starts.size)
    lines = np.full((_STEPS + 1, way.size), np.nan, dtype=np.complex128)
    lines[0] = np.concatenate([starts, starts])
    alive = np.arange(way.size)
    for step in range(_STEPS):
        here = lines[step, alive]
        half = here + 0.5 * _STEP * way[alive] * _direction(flat, base[alive], size, here)
        new = here + _STEP * way[alive] * _direction(flat, base[alive], size, half)
        keep = (new.real >= 0) & (new.real <= 1) & (new.imag >= 0) & (new.imag <= 1)
        if step:  # a line that turns back has reached a floor narrower than a step
            keep &= ((new - here) * np.conj(here - lines[step - 1, alive])).real >= 0
        if step >= _STILL:
            before = step + 1 - _STILL
            stalled = np.abs(new - lines[before, alive]) <= 1.5 * _STEP
            lines[before + 1 : step + 1, alive[stalled]] = np.nan
            keep &= ~stalled
        alive = alive[keep]
        lines[step + 1, alive] = new[keep]
    down, up = lines[:, : starts.size], lines[:0:-1, starts.size :]
    return np.concatenate([up, down])


def _direction(flat: NDArray, base: NDArray, size: int, at: NDArray) -> NDArray[np.complex128]:
    """Unit vector of the bilinear field (zero where the field vanishes)."""
    first, second = np.clip(at.real, 0, 1) * (size - 1), np.clip(at.imag, 0, 1) * (size - 1)
    i, j = np.minimum(first.astype(np.intp), size - 2), np.minimum(second.astype(np.intp), size - 2)
    s, t = first - i, second - j
    corner = base + i * size + j
    low = flat[corner] * (1 - t) + flat[corner + 1] * t
    high = flat[corner + size] * (1 - t) + flat[corner + size + 1] * t
    value = low * (1 - s) + high * s
    length = np.abs(value)
    return value / np.where(length > 0, length, 1.0)


def _select(paths: NDArray[np.complex128], cells: int) -> Streamlines:
    present = ~np.isnan(paths.real)
    places = np.minimum((np.nan_to_num(paths.real) * cells).astype(int), cells - 1) * cells
    places += np.minimum((np.nan_to_num(paths.imag) * cells).astype(int), cells - 1)
    taken = np.zeros(cells * cells, dtype=bool)
    found = []
    for line in np.argsort(-present.sum(axis=0), kind="stable"):
        free = present[:, line] & ~taken[places[:, line]]
        if not free[_STEPS]:
            continue
        blocked = np.flatnonzero(~free)
        first = blocked[blocked < _STEPS].max(initial=-1) + 1
        end = blocked[blocked > _STEPS].min(initial=free.size)
        if (end - first) * _STEP < _SHORTEST:
            continue
        taken[places[first:end, line]] = True
        found.append(paths[first:end, line])
    return _with_arrows(found)


def _with_arrows(lines: list[NDArray[np.complex128]]) -> Streamlines:
    if not lines:  # a field that vanishes
        return Streamlines([], np.empty((0, 2)), np.empty((0, 2)))
    middles = np.array([line[line.size // 2] for line in lines])
    tangents = np.array([line[line.size // 2 + 1] - line[line.size // 2 - 1] for line in lines])
    units = tangents / np.abs(tangents)
    pair = [np.stack([z.real, z.imag], axis=-1) for z in (middles, units)]
    return Streamlines([np.stack([line.real, line.imag], axis=-1) for line in lines], *pair)
