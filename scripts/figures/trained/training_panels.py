"""Panels of the training figure: paths on the theorem's map, losses by step, and the gap at the end by name."""

import textwrap

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from dynamics.heads.named import THRESHOLD
from dynamics.heads.theorem import GAPS

from ..palette import BLACK, CHAINED, DASHED, DOTTED, GREEN, SERIES, WORDS, styled

OFF = 1.0  # from the plane: marks are hollow beyond
_LEVELS = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 5.0, 10.0, 30.0)
_TICKS = (-1000, -100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100, 1000)
_CURVES = {
    "measured, whole vocabulary": {"color": GREEN, "linestyle": "-", "linewidth": 1.3},
    "measured, row's own tokens": {"color": GREEN, "linestyle": CHAINED, "linewidth": 0.9},
    "theorem, all heads": {"color": BLACK, "linestyle": DASHED, "linewidth": 1.3},
    "theorem, best head alone": {"color": BLACK, "linestyle": DOTTED, "linewidth": 0.8},
}
MARKS = 16  # of a path, about
_KEY = f"""●  a head within {OFF:g} of the plane      ○  farther off      ╌  a guess      □  unit box
★  its end, with over {THRESHOLD:g} of its attention on the successor      ■  its end, else"""


@styled
def draw_panels(data) -> Figure:
    """The figure of `fig_training.Data`."""
    figure = Figure(figsize=(7.0, 4.1))
    several = 1 < len(data.names) <= len(SERIES)  # else one look for all
    hues = [{"color": one.color} for one in SERIES[: len(data.names)]] if several else [{}] * len(data.names)
    _map(figure.add_axes((0.07, 0.335, 0.42, 0.59)), figure.add_axes((0.07, 0.205, 0.42, 0.02)), data, hues)
    _losses(figure.add_axes((0.56, 0.55, 0.425, 0.375)), data, hues)
    _gaps(figure.add_axes((0.72, 0.095, 0.265, 0.18)), data, hues)
    figure.text(0.04, 0.06, _KEY, va="center", linespacing=1.5)
    return figure


def _map(panel: Axes, place: Axes, data, hues: list[dict]) -> None:
    levels = sorted((*_LEVELS, float(data.guess)))
    colours = matplotlib.colormaps["viridis_r"].resampled(len(levels) + 1)
    plane = data.key, data.value, data.map.T
    norm = BoundaryNorm(levels, colours.N, extend="both")
    filled = panel.contourf(*plane, levels=levels, extend="both", cmap=colours, norm=norm)
    panel.contour(*plane, levels=[data.guess], colors=BLACK, linewidths=0.6, linestyles="--")
    panel.add_patch(Rectangle((0, 0), 1, 1, fill=False, linewidth=0.6))
    for run, hue in enumerate(hues):
        for head in np.flatnonzero(np.isfinite(data.successor[run])):
            _path(panel, data, (run, head), {"color": BLACK} | hue, filled)
    panel.set(xscale="symlog", yscale="symlog")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_ticks(_TICKS)
        axis.set_major_formatter("{x:g}")
    panel.minorticks_off()
    panel.set(xlim=data.key[[0, -1]], ylim=data.value[[0, -1]])
    panel.set_xlabel(r"key gain $\times\ \alpha_2$ (attends to the successor)")
    panel.set_ylabel(r"value gain $\times\ \beta_1$ (raises what it attends to)")
    panel.set_title(rf"(a) the loss of Theorem 3.4 at $T={data.tokens}$ and $\alpha_1=\beta_2=0$"
                    f"\nat the end heads lie up to {data.farthest:.2g} off this plane")  # fmt: skip
    bar = panel.figure.colorbar(filled, cax=place, orientation="horizontal", ticks=_LEVELS, format="{x:g}")
    bar.set_label("loss, nats: of the plane; in a mark, of the head at all four coordinates")
    guess = rf"a guess, $\log T={data.guess:.2f}$" + "\n▾"
    place.text(data.guess, 1, guess, ha="center", linespacing=0.9, transform=place.get_xaxis_transform())


def _path(panel: Axes, data, place: tuple[int, int], hue: dict, filled) -> None:
    """One head's line, marks on it, and its end: a star for an induction head, else a square."""
    run, head = place
    count = np.isfinite(data.steps[run]).sum()
    (_, x, y, _), own = data.theta[run, :count, head].T, filled.to_rgba(data.own[run, :count, head])
    panel.plot(x, y, linewidth=0.9, path_effects=[withStroke(linewidth=1.9, foreground="white")], **hue)
    off = data.distance[run, :count, head, None] > OFF
    faces, edges, widths = np.where(off, 1.0, own), np.where(off, own, (0, 0, 0, 1)), np.where(off, 1.2, 0.4)
    end = ("*", 60) if data.successor[place] > THRESHOLD else ("s", 20)
    for at, (marker, size) in ((np.s_[: -1 : 1 + count // MARKS], ("o", 14)), (np.s_[-1:], end)):
        panel.scatter(
            x[at], y[at], size, faces[at], marker=marker, edgecolors=edges[at], linewidths=widths[at, 0], zorder=3,
            path_effects=[withStroke(linewidth=2.2, foreground="white")],
        )  # fmt: skip


def _losses(panel: Axes, data, hues: list[dict]) -> None:
    found = data.losses[..., 0], data.losses[..., 1], data.predicted, data.best
    for (name, look), runs in zip(_CURVES.items(), found, strict=True):
        panel.plot([], [], label=name, **look | ({"color": WORDS} if hues[0] else {}))
        for steps, loss, hue in zip(data.steps, runs, hues, strict=True):
            few = int(np.isfinite(steps).sum() <= 2 * MARKS)
            panel.plot(steps, loss, marker="." * few, markersize=2.5, **look | hue)
    for name, hue in zip(data.names, hues, strict=True):
        if hue:
            panel.plot([], [], label=name, **hue)
    panel.set_yscale("symlog", linthresh=0.01, linscale=0.5)
    panel.set(xlim=(0, None), ylim=(0, None), xlabel="training step", ylabel="loss, nats")
    panel.yaxis.set_major_formatter("{x:g}")
    said = textwrap.shorten(str(data.said), 70, placeholder=" ..")
    panel.set_title(f"(b) measured and predicted loss{f', {len(hues)} runs' * (len(hues) > 1)}\n{said}")
    panel.legend(loc="upper left", bbox_to_anchor=(-0.12, -0.17), ncols=2)


def _gaps(panel: Axes, data, hues: list[dict]) -> None:
    rows, height = np.arange(len(GAPS)), 0.8 / len(hues)
    for number, (gaps, hue) in enumerate(zip(data.gaps, hues, strict=True)):
        panel.barh(rows - 0.4 + height * (number + 0.5), gaps, height, **{"color": GREEN} | hue)
    panel.axvline(0, color=BLACK, linewidth=0.5)
    means = data.gaps.mean(0).round(3) + 0.0  # no -0.000
    panel.set_yticks(rows, [f"{name} {gap:+.3f}" for name, gap in zip(GAPS, means, strict=True)])
    low, high = panel.get_xlim()
    panel.set_xlim(min(low, -0.01), max(high, 0.01))
    panel.locator_params(axis="x", nbins=4)
    panel.xaxis.set_major_formatter("{x:g}")
    panel.invert_yaxis()
    panel.set_xlabel("nats" + " (numbers: means of the runs)" * (len(hues) > 1))
    panel.set_title("(c) measured less predicted loss at the end is the sum of", x=0.2)
