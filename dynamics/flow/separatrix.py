"""The lines of steepest descent on a plane that end in a saddle: they part the starts of that descent.

Gradient flow of all four parameters leaves the plane, and its projection may cross them.
"""

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from theory import landscape
from theory.landscape.exact import Position
from theory.landscape.planes import Plane

Array = NDArray[np.float64]

_AWAY, _LONGEST, _STEP = 1e-3, 6.0, 0.02  # of the box's sides: first move, length of a line, largest step


def separatrix(
    surface: Plane, n_tokens: float, position: Position, saddle: ArrayLike, box: tuple[float, float, float, float]
) -> list[Array]:
    """Both lines (points, 2) that flow into the saddle of L on the plane, from it back to the edge of the box.

    They leave it along the direction in which L curves upwards, and follow the exact slopes upwards by their length in
    units of the box's sides. A line that cannot be followed is dropped with a warning.
    """
    corner, sides = np.array([box[0], box[2]]), np.array([box[1] - box[0], box[3] - box[2]])

    def upwards(_: float, at: Array) -> Array:
        theta = surface.at(*(corner + sides * at))
        rise = surface.along @ landscape.gradient(*theta, n_tokens, position) / sides
        return rise / max(float(np.linalg.norm(rise)), 1e-300)

    def inside(_: float, at: Array) -> float:
        return float(min(at.min(), 1 - at.max()))

    inside.terminal = True
    start = (np.asarray(saddle, dtype=np.float64) - corner) / sides
    bend = landscape.hessian(*surface.at(*np.asarray(saddle)), n_tokens, position)
    way = np.linalg.eigh(surface.along @ bend @ surface.along.T)[1][:, 1] / sides
    way *= _AWAY / np.linalg.norm(way)
    lines = []
    for side in (1.0, -1.0):
        try:
            found = solve_ivp(upwards, (0.0, _LONGEST), start + side * way, events=inside, max_step=_STEP,
                              rtol=1e-8, atol=1e-10)  # fmt: skip
            why = found.message if not found.success else "the saddle is at the edge of the box"
        except ValueError as error:
            found, why = None, str(error)
        if found is None or not found.success or inside(0.0, start + side * way) < 0:
            warnings.warn(f"a separatrix is left out: {why}", stacklevel=2)
            continue
        lines.append(corner + sides * np.vstack([start, found.y.T]))
    return lines
