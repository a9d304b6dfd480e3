"""Figure 2's slice has no critical point up to T = 10.81, then two, and starts that never learn (kv.beyond.slice.*).

Above: every critical point of the slice on all of R^2, a pair born at T = 10.8112 (for all real T <= 100 by proof).
Below: gradient flow held to the slice for one T on either side; shaded, the starts that never learn.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from dynamics.flow.trajectories import gradient_flow
from theory.landscape.slice_branches import FOLD_BETA1, branch

from ..palette import BLACK, BLUE, DASHED, FAINT, WORDS, WRONG, WRONG_AREA, styled
from .bisection import bisected
from .flow_paths import draw_paths

QUICK_SIZE, FULL_SIZE = 21, 61
UNIT = "starts a side"
TOKENS = (9, 15)
ALPHA1, BETA1 = (-1.0, 3.0), (-4.0, 3.0)
LEARNT, T_END = 0.1, 2e4
# as the claims kv.beyond.slice.fold, .saddle and .minimum enclose them: T, alpha1, beta1
FOLD = (10.8112, 1.0715, -0.6348)
PROVED = ((15, 0.9768, -0.2851), (50, 0.9830, -0.0836), (300, 0.9967, -0.0146),
          (15, 1.3192, -1.7223), (50, 1.5570, -16.409), (300, 1.5830, -233.92))  # fmt: skip
SADDLE, MINIMUM, FLOW, LOST = BLUE, WRONG, WORDS, WRONG_AREA


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


@styled
def draw(data: Data) -> Figure:
    """Two diagrams above, two planes below."""
    figure = Figure(figsize=(5.5, 5.2))
    axes = figure.subplots(2, 2, gridspec_kw={"height_ratios": (1, 1.25)})
    figure.subplots_adjust(left=0.09, right=0.985, top=0.955, bottom=0.13, wspace=0.22, hspace=0.34)
    _diagram(axes[0, 0], data, 1, -1.0, r"(a) critical points: $-\beta_1$", r"$-\beta_1$")
    axes[0, 0].set(yscale="log")
    _diagram(axes[0, 1], data, 0, 1.0, r"(b) critical points: $\alpha_1$", r"$\alpha_1$")
    for index, panel in enumerate(axes[1]):
        _plane(panel, data, index)
    _keys(figure)
    return figure


def _diagram(panel: Axes, data: Data, row: int, sign: float, title: str, label: str) -> None:
    low = 4
    panel.axvspan(low, data.fold[0], color=FAINT, linewidth=0)
    panel.plot(data.saddle[2], sign * data.saddle[row], color=SADDLE, linestyle=DASHED, linewidth=1.1)
    panel.plot(data.minimum[2], sign * data.minimum[row], color=MINIMUM, linewidth=1.1)
    column = row + 1  # of T, alpha1, beta1
    panel.plot(data.proved[:, 0], sign * data.proved[:, column], linestyle="", marker="s", markersize=2.8,
               color=BLACK, markerfacecolor="white", markeredgewidth=0.7, zorder=5)  # fmt: skip
    panel.plot(data.fold[0], sign * data.fold[column], marker="o", markersize=4, color=BLACK, zorder=6)
    panel.set(xscale="log", xlim=(low, 400), xlabel="tokens in the sentence, $T$", ylabel=label)
    panel.set_xticks([4, 10, 30, 100, 300], ["4", "10", "30", "100", "300"])
    panel.minorticks_off()
    panel.set_title(title)
    middle = float(np.sqrt(low * data.fold[0]))
    panel.text(middle, 0.5, "no critical point", transform=panel.get_xaxis_transform(), ha="center",
               va="center", rotation=90)  # fmt: skip
    panel.annotate(f"$T_c={data.fold[0]:.2f}$", (data.fold[0], sign * data.fold[column]), (5, -2.5),
                   textcoords="offset points")  # fmt: skip


def _plane(panel: Axes, data: Data, index: int) -> None:
    low, high = (np.array([data.alpha1[end], data.beta1[end]]) for end in (0, -1))
    panel.fill_between(data.alpha1, low[1], np.clip(data.border[index], low[1], high[1]), color=LOST, linewidth=0)
    paths = np.moveaxis(data.paths[index], 1, 0)
    draw_paths(panel, paths, [FLOW] * len(paths), low, high)
    panel.add_patch(Rectangle((0, 0), 1, 1, fill=False, edgecolor=BLACK, linewidth=1.0))
    for at, color, marker in zip(data.points[index], (SADDLE, MINIMUM), ("X", "o"), strict=True):
        panel.plot(*at, marker=marker, markersize=5, color=color, markeredgecolor="white", markeredgewidth=0.5,
                   linestyle="", zorder=6)  # fmt: skip
    panel.set_xlabel(r"$\alpha_1$ (start of the flow: dots)")
    panel.set_ylabel(r"$\beta_1$", labelpad=-1)
    said = "every start learns" if data.learns[index].all() else "the shaded starts never learn"
    panel.set_title(f"({'cd'[index]}) $T={data.tokens[index]}$: {said}")


def _keys(figure: Figure) -> None:
    keys = [
        Line2D([], [], color=SADDLE, linestyle=DASHED, linewidth=1.1, marker="X", markersize=4, label="saddle"),
        Line2D([], [], color=MINIMUM, linewidth=1.1, marker="o", markersize=4, label="spurious minimum"),
        Line2D([], [], color=BLACK, linewidth=0, marker="s", markersize=3, markerfacecolor="white",
               markeredgewidth=0.7, label="enclosed"),
        Line2D([], [], color=FLOW, linewidth=0.6, marker=">", markersize=3, label="gradient flow"),
        Patch(facecolor=LOST, label="ends at the spurious minimum"),
        Patch(fill=False, edgecolor=BLACK, linewidth=1.0, label="the paper's box"),
    ]  # fmt: skip
    figure.legend(handles=keys, loc="lower center", ncols=3, borderaxespad=0.1,
                  columnspacing=1.0, handletextpad=0.5, handlelength=2.6)  # fmt: skip
