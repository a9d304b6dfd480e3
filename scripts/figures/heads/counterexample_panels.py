"""Panels of the counterexample: states, query and keys in the plane; weight against distance."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..figure_files import STYLE
from ..palette import AID, BLACK, DASHED, EXACT, MEASURED, PRINTED, RIGHT, WORDS, WRONG

QUERY, KEY = RIGHT, WRONG


def draw_panels(data) -> Figure:
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(5.5, 2.4))
        left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1, 1.15)})
        figure.subplots_adjust(left=0.01, right=0.98, top=0.91, bottom=0.15, wspace=0.2)
        _plane(left, data)
        _weights(right, data)
        return figure


def _plane(panel: Axes, data) -> None:
    turn = np.linspace(0, np.pi, 100)
    radius = np.linalg.norm(data.states[0])
    panel.plot(radius * np.cos(turn), radius * np.sin(turn), color=AID, linewidth=0.6)
    panel.plot([-radius, radius], [0, 0], color=WORDS, linewidth=1.6, solid_capstyle="butt")
    panel.text(0, 1.5, r"normalised: $\|z\|^2=2$", ha="center", color=WORDS)
    panel.text(0, 0.14, r"post-norm: $x=(z_1,0)$", ha="center", color=WORDS)
    for name, at in zip("AB", data.states, strict=True):
        panel.plot(*at, marker="o", markersize=4, color=BLACK)
        panel.text(1.22 * at[0], 0, name, ha="center", va="center")
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
    panel.text(0, height - 0.13, label, ha="center", va="top", color=color)


def _weights(panel: Axes, data) -> None:
    panel.plot(data.distance, data.bound, color=EXACT, linewidth=1.0, label="bound,\nattained")
    panel.plot(data.distance[::3], data.weight[::3], linestyle="", marker="o", markersize=3, color=MEASURED,
               label="measured\nin torch")  # fmt: skip
    panel.axhline(data.eps, color=AID, linewidth=0.5, zorder=0)
    panel.text(1.5, data.eps * 0.42, r"$\epsilon=0.1$ %", color=WORDS)
    for at, name, color in ((data.printed, "printed $L_h$", PRINTED), (data.sharp, "sharp", EXACT)):
        panel.axvline(at, color=color, linestyle=DASHED, linewidth=0.9, zorder=0.5)
        panel.text(at - 1.6, 1.5e-6, f"{name}: {at:.1f}", rotation=90, ha="center", va="bottom", color=color)
    _beyond(panel, data)
    panel.set(yscale="log", xlim=(0, data.distance[-1]), ylim=(1e-6, 3), xlabel="distance of B (tokens)")
    panel.set_title("(b) attention to B in “B A … A”")
    panel.legend(loc="center right", bbox_to_anchor=(1.0, 0.6), handlelength=1.0)


def _beyond(panel: Axes, data) -> None:
    """The weight at the first distance beyond L_h, ringed and in words."""
    at = int(np.argmax(data.distance > data.printed))
    place = data.distance[at], data.weight[at]
    panel.plot(*place, linestyle="", marker="o", markersize=6.5, color=PRINTED, markerfacecolor="none", zorder=5)
    text = f"{100 * place[1]:.0f} % at {place[0]},\nbeyond $L_h$"
    panel.annotate(text, place, (54, 0.9), ha="left", va="center", color=PRINTED,
                   arrowprops={"arrowstyle": "-", "linewidth": 0.5, "shrinkB": 2.5, "color": PRINTED})  # fmt: skip
