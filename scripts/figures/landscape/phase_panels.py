"""Panels of the phase portrait: basins of two planes of starts, and one path of each route."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from ..palette import AID, BLACK, DASHED, GREEN, PINK, RIGHT, RIGHT_AREA, SKY, WORDS, WRONG, WRONG_AREA, styled
from .flow_paths import draw_paths

INDUCTION, ANTI, CRITICAL = RIGHT, WRONG, GREEN
_BACKGROUND = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.8}
_PARAMETERS = (  # name, colour, dashes
    (r"$\alpha_1$", SKY, DASHED),
    (r"$\alpha_2$", SKY, "-"),
    (r"$\beta_1$", PINK, "-"),
    (r"$\beta_2$", PINK, DASHED),
)


@styled
def draw_panels(data) -> Figure:
    figure = Figure(figsize=(5.5, 5.0))
    axes = figure.subplots(2, 2, gridspec_kw={"height_ratios": (1.5, 1)})
    figure.subplots_adjust(left=0.08, right=0.985, top=0.935, bottom=0.075, wspace=0.2, hspace=0.56)
    _critical_plane(axes[0, 0], data)
    _slice_plane(axes[0, 1], data)
    for route, panel in enumerate(axes[1]):
        _route(panel, data, route)
    _keys(figure)
    return figure


def _plane(panel: Axes, data, plane: int, paths: np.ndarray, first: int) -> None:
    """Basins, and paths projected on the plane, in the colour of their end."""
    axis, limits = data.axes[plane], (data.axes[plane][0], data.axes[plane][-1])
    panel.set(facecolor=WRONG_AREA, aspect="equal")
    panel.fill_between(axis, data.border[plane], limits[1] + 2 * np.ptp(limits), color=RIGHT_AREA, linewidth=0)
    panel.plot(axis, data.border[plane], color=BLACK, linewidth=0.9)
    seen = np.moveaxis(paths, 1, 0)[..., [first, 2]]
    colors = [INDUCTION if path[-1, 1] > 0 else ANTI for path in seen]
    draw_paths(panel, seen, colors, *np.repeat(np.array(limits)[:, None], 2, axis=1))
    panel.set_ylabel(r"$\beta_1$", labelpad=-1)


def _critical_plane(panel: Axes, data) -> None:
    _plane(panel, data, 0, data.paths, 1)
    a2 = data.axes[0]
    panel.plot(a2, -np.sign(a2) * np.sqrt(2 * (a2 + np.exp(-a2) - 1)), color=BLACK, linewidth=0.7, linestyle=":")
    center = data.critical[[1, 2]]
    for column, style in ((0, "-"), (3, DASHED)):
        way = data.eigenvectors[[1, 2], column]
        panel.plot(*np.stack([center - 0.75 * way, center + 0.75 * way], axis=1), color=CRITICAL, linewidth=1.6,
                   linestyle=style)  # fmt: skip
    panel.plot(*center, marker="o", color=CRITICAL, markeredgecolor="white", markeredgewidth=0.5, markersize=4.5)
    panel.set_xlabel(r"$\alpha_2$ (start of the flow: dots)")
    panel.set_title(f"(a) plane of the critical point, $T={data.tokens}$\n"
                    r"$\alpha_1=\log(1-1/2T),\ \beta_2=0$")  # fmt: skip
    for text, at, color in (("induction", (0.97, 0.90), INDUCTION), ("anti-induction", (0.03, 0.05), ANTI)):
        panel.text(*at, text, transform=panel.transAxes, color=color, fontweight="bold",
                   ha="right" if at[0] > 0.5 else "left",
                   bbox=_BACKGROUND)  # fmt: skip


def _slice_plane(panel: Axes, data) -> None:
    _plane(panel, data, 1, data.slice_paths, 0)
    panel.add_patch(Rectangle((0, 0), 1, 1, fill=False, edgecolor=BLACK, linewidth=1.1))
    panel.plot([0], [1], marker="*", color=BLACK, markersize=5, clip_on=False)
    panel.set_yticks([-1, 0, 1, 2])
    words = f"box: {100 * data.box_share:.1f} % to\nanti-induction"
    panel.text(0.97, 0.03, words, transform=panel.transAxes, ha="right", bbox=_BACKGROUND)
    panel.set_xlabel(r"$\alpha_1$ (start of the flow: dots)")
    panel.set_title("(b) starts on the slice of Figure 2\n"
                    r"$\alpha_2=1-\alpha_1,\ \beta_2=1-\beta_1$")  # fmt: skip


def _route(panel: Axes, data, route: int) -> None:
    times, theta = data.example_times, data.examples[:, route]
    for (name, color, style), line in zip(_PARAMETERS, theta.T, strict=True):
        panel.plot(times, line, color=color, linestyle=style, linewidth=1.1, label=name)
    panel.plot(times, data.example_loss[:, route], color=BLACK, linewidth=1.3, linestyle=":", label="loss (nats)")
    start = theta[0, [0, 2]]
    name, color = (("induction", INDUCTION), ("anti-induction", ANTI))[route]
    panel.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    panel.set_title(rf"({'cd'[route]}) {name}, $(\alpha_1,\beta_1)=({start[0]:g},{start[1]:g})$",
                    color=color)  # fmt: skip
    panel.set(xscale="log", xlim=(0.1, times[-1]), xlabel="time $t$ of the flow")
    panel.set_xticks([0.1, 10, 1000])
    panel.axhline(0, color=AID, linewidth=0.4)
    if route == 0:
        panel.legend(frameon=False, loc="upper left", handlelength=2.2, labelspacing=0.15,
                     borderaxespad=0.2)  # fmt: skip


def _keys(figure: Figure) -> None:
    keys = [
        Line2D([], [], color=CRITICAL, marker="o", markersize=3.5, linewidth=1.4, label="critical point, way out"),
        Line2D([], [], color=CRITICAL, linewidth=1.4, linestyle=DASHED, label="way in (stable)"),
        Line2D([], [], color=BLACK, linewidth=0.9, label="boundary of the basins"),
        Line2D([], [], color=BLACK, linewidth=0.7, linestyle=":", label=r"its limit as $T\to\infty$"),
        Patch(fill=False, edgecolor=BLACK, linewidth=1.0, label="the paper's box"),
        Line2D([], [], color=BLACK, linewidth=0, marker="*", markersize=4.5, label="the paper's induction head"),
        Line2D([], [], color=WORDS, linewidth=0.6, marker=">", markersize=2.5, label="flow, projected: may cross"),
    ]
    figure.legend(handles=keys, loc="center", bbox_to_anchor=(0.5, 0.41), ncols=3,
                  columnspacing=1.0, handletextpad=0.4, labelspacing=0.2)  # fmt: skip
