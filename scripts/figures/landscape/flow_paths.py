"""Paths of a flow in a panel: a dot at the start and an arrow head half way along the part that is seen."""

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

_SHORTEST = 0.12  # of the panel's diagonal: shorter paths have no room for a head


def draw_paths(panel: Axes, paths: NDArray, colors: list[str], low: NDArray, high: NDArray) -> None:
    """Paths (path, times, 2), one colour each, in a panel from `low` to `high` (first, second)."""
    for path, color in zip(paths, colors, strict=True):
        panel.plot(*path.T, color=color, linewidth=0.5)
        panel.plot(*path[0], marker="o", markersize=1.4, color=color, markeredgewidth=0)
        place = _middle((path - low) / (high - low))
        if place:
            head = {
                "arrowstyle": "-|>",
                "color": color,
                "linewidth": 0,
                "mutation_scale": 5,
                "shrinkA": 0,
                "shrinkB": 0,
            }
            panel.annotate("", path[place + 1], path[place - 1], arrowprops=head)
    panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _middle(path: NDArray) -> int:
    """Index half way along the part of the path inside the unit square, 0 if that part is short."""
    seen = ((path > 0.01) & (path < 0.99)).all(axis=1)
    last = len(path) if seen.all() else int(np.argmin(seen))
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(path[:last], axis=0).T)))
    return int(np.clip(np.searchsorted(along, 0.5 * along[-1]), 1, last - 2)) if along[-1] > _SHORTEST else 0
