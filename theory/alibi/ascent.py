"""Ascent to a query whose own logit lies far below its best: the lower end of an enclosure of the self gap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize


def ascend(form: np.ndarray, pull: np.ndarray, radius2: float, starts: Sequence[np.ndarray]) -> np.ndarray:
    """A local maximiser on ||z||^2 = radius2 of sqrt(radius2) ||N^T z + a|| - (N^T z + a) . z, N = form, a = pull.

    Starts at the best of the given points, each put on the sphere, and of the mixtures of the first with each other.
    """
    radius = math.sqrt(radius2)

    def fall(point: np.ndarray) -> tuple[float, np.ndarray]:
        length = np.linalg.norm(point)
        z = point * (radius / length)
        v = form.T @ z + pull
        norm = float(np.linalg.norm(v))
        rise = radius * norm - float(v @ z)
        slope = (radius / norm if norm else 0.0) * (form @ v) - form @ z - v
        return -rise, -(radius / length) * (slope - z * float(slope @ z) / radius2)

    turns = np.linspace(0, math.pi, 32, endpoint=False)
    mixed = [starts[0] * math.cos(t) + other * math.sin(t) for other in starts[1:] for t in turns]
    tried = [point for point in (*starts, *mixed) if point.any()]
    best = min(tried, key=lambda point: fall(point)[0])
    options = {"maxiter": 2000, "ftol": 1e-16, "gtol": 1e-14 * max(abs(fall(best)[0]), 1.0)}
    found = minimize(fall, best, jac=True, method="L-BFGS-B", options=options)
    better = found.x if found.fun < fall(best)[0] else best
    return better * (radius / np.linalg.norm(better))
