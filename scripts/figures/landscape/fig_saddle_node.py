"""Figure 2's slice has no critical point up to T = 10.81, then two, and starts that never learn (kv.beyond.slice.*).

Above: every critical point of the slice on all of R^2, a pair born at T = 10.8112 (for all real T <= 100 by proof).
Below: gradient flow held to the slice for one T on either side; shaded, the starts that never learn.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dynamics.flow.trajectories import gradient_flow
from theory.landscape.slice_branches import FOLD_BETA1, branch

from .bisection import bisected
from .saddle_panels import draw_panels

QUICK_SIZE, FULL_SIZE = 21, 61
UNIT = "starts a side"
TOKENS = (9, 15)
ALPHA1, BETA1 = (-1.0, 3.0), (-4.0, 3.0)
LEARNT, T_END = 0.1, 2e4
# as the claims kv.beyond.slice.fold, .saddle and .minimum enclose them: T, alpha1, beta1
FOLD = (10.8112, 1.0715, -0.6348)
PROVED = ((15, 0.9768, -0.2851), (50, 0.9830, -0.0836), (300, 0.9967, -0.0146),
          (15, 1.3192, -1.7223), (50, 1.5570, -16.409), (300, 1.5830, -233.92))  # fmt: skip


class Data(NamedTuple):
    """Branches by beta1, each from the fold outward; planes (panel, alpha1, beta1) of the flow held to the slice."""

    saddle: NDArray  # (3, points): alpha1, beta1, T
    minimum: NDArray
    fold: NDArray  # T, alpha1, beta1
    proved: NDArray  # rows T, alpha1, beta1
    tokens: NDArray
    alpha1: NDArray
    beta1: NDArray
    learns: NDArray  # whether the loss falls to 0.1
    border: NDArray  # (panel, alpha1): the beta1 above which it does
    paths: NDArray  # (panel, times, path, 2): alpha1, beta1
    points: NDArray  # (panel, 2, 2): alpha1, beta1 of saddle and minimum, NaN where there are none


def compute(size: int = QUICK_SIZE) -> Data:
    """Branches to T = 400 and the two planes, `size` starts a side."""
    saddle, minimum = (np.stack(branch(FOLD_BETA1 * np.geomspace(1, end, 60))) for end in (0.0175, 520.0))
    alpha1, beta1 = np.linspace(*ALPHA1, size), np.linspace(*BETA1, size)
    starts = np.stack(np.meshgrid(alpha1, beta1, indexing="ij"))
    few = np.stack(np.meshgrid(np.linspace(*ALPHA1, 8)[1:-1], np.linspace(*BETA1, 8)[1:-1], indexing="ij"))
    return Data(
        saddle, minimum, np.array(FOLD), np.array(PROVED), np.array(TOKENS), alpha1, beta1,
        np.array([_learns(starts, tokens) for tokens in TOKENS]),
        np.array([_border(alpha1, tokens) for tokens in TOKENS]),
        np.array([_paths(few, tokens) for tokens in TOKENS]),
        np.array([[_at(side, tokens) for side in (saddle, minimum)] for tokens in TOKENS]),
    )  # fmt: skip


def _rows(starts: NDArray) -> NDArray:
    return np.stack([starts[0], 1 - starts[0], starts[1], 1 - starts[1]], axis=-1).reshape(-1, 4)


def _learns(starts: NDArray, tokens: int) -> NDArray:
    flow = gradient_flow(
        _rows(starts), tokens, T_END, times=[T_END], mode="slice", levels=[LEARNT], rtol=1e-6, atol=1e-8
    )
    return ~np.isnan(flow.level_times[0]).reshape(starts[0].shape)


def _border(alpha1: NDArray, tokens: int) -> NDArray:
    low, high = (np.full_like(alpha1, end) for end in (BETA1[0] - 1, BETA1[1] + 1))
    return bisected(lambda beta1: _learns(np.stack(np.broadcast_arrays(alpha1, beta1)), tokens), low, high)


def _paths(starts: NDArray, tokens: int) -> NDArray:
    times = np.concatenate([[0.0], np.geomspace(0.1, 2000.0, 150)])
    return gradient_flow(_rows(starts), tokens, times[-1], times=times, mode="slice").theta[..., ::2]


def _at(side: NDArray, tokens: int) -> tuple[float, float]:
    """(alpha1, beta1) of a branch at this T, by interpolation: enough for a mark."""
    return tuple(np.interp(tokens, side[2], row, left=np.nan) for row in side[:2])


def draw(data: Data) -> Figure:
    """Two diagrams above, two planes below."""
    return draw_panels(data)
