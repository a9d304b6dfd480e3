"""Panels of attention against distance: bound, adversary, random contexts, text; the scopes as upright lines."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..palette import AID, BLUE, CHAINED, DASHED, DOTTED, EXACT, MEASURED, PRINTED, VERMILION, styled

BOUND, ADVERSARY, RANDOM, TEXT = EXACT, VERMILION, BLUE, MEASURED
SCOPES = (
    ("sharp", EXACT, CHAINED),
    ("printed", PRINTED, DASHED),
    ("spectral", AID, DOTTED),
)
EPS, LOWEST = 1e-3, 1e-7


@styled
def draw_panels(data) -> Figure:
    figure = Figure(figsize=(7.0, 2.6))
    panels = figure.subplots(1, 3, sharey=True)
    figure.subplots_adjust(left=0.06, right=0.99, top=0.93, bottom=0.3, wspace=0.06)
    _, layer, head = data.trained[:3].astype(int)
    titles = (
        "(a) built: the printed scope fails",
        "(b) random: it happens to hold",
        f"(c) trained, layer {layer}, head {head}: it holds",
    )
    for index, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        _panel(panel, data, index, title)
    for panel, reached in zip(panels, data.adversary, strict=False):
        panel.plot(data.attacked, reached, linestyle="", marker="o", markersize=3, color=ADVERSARY, zorder=4)
    _dots(panels[1], data.random, RANDOM)
    _dots(panels[2], data.measured, TEXT)
    _failure(panels[0], data)
    panels[0].set_ylabel("largest attention to one token")
    _keys(figure)
    return figure


def _failure(panel: Axes, data) -> None:
    """The weight just beyond the printed scope, in words and with a ring."""
    at = int(np.flatnonzero(data.attacked >= data.scopes[0, 1])[0])
    place = data.attacked[at], data.adversary[0, at]
    panel.plot(*place, linestyle="", marker="o", markersize=6, color=PRINTED, markerfacecolor="none", zorder=5)
    words = f"{100 * place[1]:.0f} % at {place[0]},\nbeyond the\nprinted scope"
    line = {"arrowstyle": "-", "linewidth": 0.5, "shrinkB": 3, "color": PRINTED}
    panel.annotate(words, place, (1.6, 5e-3), color=PRINTED, arrowprops=line)


def _panel(panel: Axes, data, index: int, title: str) -> None:
    panel.axhline(EPS, color=AID, linewidth=0.5, zorder=0)
    panel.plot(data.distance, data.bound[index], color=BOUND, linewidth=1.0)
    for at, (_, color, style) in zip(data.scopes[index], SCOPES, strict=True):
        panel.axvline(at, color=color, linestyle=style, linewidth=0.9)
    panel.set(xscale="log", yscale="log", xlim=(1, 4000), ylim=(LOWEST, 2), xlabel="distance (tokens)", title=title)
    panel.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    panel.minorticks_off()


def _dots(panel: Axes, weights, color: str) -> None:
    panel.plot(np.arange(1, len(weights)), weights[1:], linestyle="", marker=".", markersize=1.6, color=color)


def _keys(figure: Figure) -> None:
    keys = [
        Line2D([], [], color=BOUND, linewidth=1.0, label=r"bound from $D$ and $D_s$"),
        Line2D([], [], color=ADVERSARY, linestyle="", marker="o", markersize=3, label="adversary"),
        Line2D([], [], color=RANDOM, linestyle="", marker=".", markersize=3, label="random contexts"),
        Line2D([], [], color=TEXT, linestyle="", marker=".", markersize=3, label="held-out text"),
        Line2D([], [], color=AID, linewidth=0.5, label=r"$\epsilon=0.1$ %"),
        *(Line2D([], [], color=c, linestyle=s, linewidth=0.9, label=f"scope, {name}") for name, c, s in SCOPES),
    ]  # fmt: skip
    figure.legend(handles=keys, loc="lower center", ncols=4, borderaxespad=0.1,
                  columnspacing=1.6, handletextpad=0.5, handlelength=2.4)  # fmt: skip
