"""Panels of the saddle-node diagram: both branches against T, and the flow of the slice before and after."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from ..figure_files import STYLE
from ..palette import BLACK, BLUE, DASHED, FAINT, WORDS, WRONG, WRONG_AREA
from .flow_paths import draw_paths

SADDLE, MINIMUM, FLOW, LOST = BLUE, WRONG, WORDS, WRONG_AREA


def draw_panels(data) -> Figure:
    with matplotlib.rc_context(fname=STYLE):
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


def _diagram(panel: Axes, data, row: int, sign: float, title: str, label: str) -> None:
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


def _plane(panel: Axes, data, index: int) -> None:
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
