"""Where something turns true along a line, for many lines at once: the borders of basins, without a grid's steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

ROUNDS, PARTS = 3, 16  # 64^2 parts of a panel's height are finer than its pixels; few rounds, as a call is dear


def bisected(true: Callable[[NDArray], NDArray], low: NDArray, high: NDArray) -> NDArray:
    """Heights between low (false) and high (true), one a line; beside low or high where all of a line is alike.

    true: of heights (number, lines); false below one height of each line and true above it.
    """
    for _ in range(ROUNDS):
        step = (high - low) / PARTS
        below = PARTS - 1 - true(low + step * np.arange(1, PARTS)[:, None]).sum(0)
        low, high = low + below * step, low + (below + 1) * step
    return (low + high) / 2
