"""Panels of the counterexample: states, query and keys in the plane; weight against distance."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .figure_files import STYLE

QUERY, KEY, BOUND, PRINTED, WEIGHT = "#0072b2", "#d55e00", "black", "#7b3294", "#009e73"


def draw_panels(data) -> Figure:
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(3.4, 1.75))
        left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1, 1.15)})
        figure.subplots_adjust(left=0.01, right=0.985, top=0.9, bottom=0.175, wspace=0.24)
        _plane(left, data)
        _weights(right, data)
        return figure


def _plane(panel: Axes, data) -> None:
    turn = np.linspace(0, np.pi, 100)
    radius = np.linalg.norm(data.states[0])
    panel.plot(radius * np.cos(turn), radius * np.sin(turn), color="#bbbbbb", linewidth=0.6)
    panel.plot([-radius, radius], [0, 0], color="#555555", linewidth=1.6, solid_capstyle="butt")
    panel.text(0, 1.5, r"normalised: $\|z\|^2=2$", ha="center", fontsize=5.5, color="#777777")
    panel.text(0, 0.14, r"post-norm: $x=(z_1,0)$", ha="center", fontsize=5.5, color="#333333")
    for name, at in zip("AB", data.states, strict=True):
        panel.plot(*at, marker="o", markersize=4, color="black")
        panel.text(1.22 * at[0], 0, name, ha="center", va="center", fontsize=7)
    # arrows along the axis, moved off it one below the other; the query five times shorter than it is
    _arrow(panel, data.query / 5, -0.4, QUERY, r"query $q_A$ (drawn at 1/5)")
    _arrow(panel, data.keys[1], -1.0, KEY, r"key $k_B$:  " + _product(data, 1, "B"))
    _arrow(panel, data.keys[0], -1.6, KEY, r"key $k_A$:  " + _product(data, 0, "A"))
    panel.set(xlim=(-2.3, 2.3), ylim=(-2.15, 1.75), title="(a) query and keys")
    panel.set_aspect("equal")
    panel.axis("off")


def _product(data, word: int, name: str) -> str:
    return rf"$q_A\cdot k_{name}={data.query @ data.keys[word]:+.0f}$"


def _arrow(panel: Axes, vector, height: float, color: str, label: str) -> None:
    panel.annotate("", (vector[0], height), (0, height),
                   arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0,
                               "mutation_scale": 6})  # fmt: skip
    panel.plot(0, height, marker="|", markersize=4, color=color)
    panel.text(0, height - 0.13, label, ha="center", va="top", fontsize=5.5, color=color)


def _weights(panel: Axes, data) -> None:
    panel.plot(data.distance, data.bound, color=BOUND, linewidth=1.0, label="bound,\nattained")
    panel.plot(data.distance[::3], data.weight[::3], linestyle="", marker="o", markersize=2.4, color=WEIGHT,
               label="measured\nin torch")  # fmt: skip
    panel.axhline(data.eps, color="#bbbbbb", linewidth=0.5, zorder=0)
    panel.text(1.5, data.eps * 0.42, r"$\epsilon=0.1$ %", fontsize=5.5, color="#777777")
    for at, name, color in ((data.printed, "printed $L_h$", PRINTED), (data.sharp, "sharp", BOUND)):
        panel.axvline(at, color=color, linestyle=(0, (3, 1.5)), linewidth=0.9, zorder=0.5)
        panel.text(
            at - 2, 1.5e-6, f"{name}: {at:.1f}", rotation=90, ha="center", va="bottom", fontsize=5.5, color=color
        )
    _beyond(panel, data)
    panel.set(yscale="log", xlim=(0, data.distance[-1]), ylim=(1e-6, 3), xlabel="distance of B (tokens)")
    panel.set_title("(b) attention to B in “B A … A”")
    panel.legend(
        loc="center right",
        bbox_to_anchor=(1.0, 0.66),
        fontsize=5.5,
        frameon=False,
        borderaxespad=0.2,
        handlelength=0.9,
        handletextpad=0.4,
    )


def _beyond(panel: Axes, data) -> None:
    """The weight at the first distance beyond L_h, ringed and in words."""
    at = int(np.argmax(data.distance > data.printed))
    place = data.distance[at], data.weight[at]
    panel.plot(*place, linestyle="", marker="o", markersize=5, color=PRINTED, markerfacecolor="none", zorder=5)
    text = f"{100 * place[1]:.0f} % at {place[0]},\nbeyond $L_h$"
    panel.annotate(text, place, (54, 0.9), ha="left", va="center", fontsize=5.5, color=PRINTED,
                   arrowprops={"arrowstyle": "-", "linewidth": 0.5, "shrinkB": 2.5, "color": PRINTED})  # fmt: skip
