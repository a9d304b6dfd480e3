"""Panels of the heads figure: the slice of Figure 2, the plane that no gauge changes, and counts as in Table 5."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..figure_files import STYLE
from ..palette import AID, BLACK, VERMILION, WORDS

_ATTENTION = matplotlib.colormaps["cividis"]
_BACKED = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
_LEVELS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_TICKS = (-10, -3, -1, 0, 1, 3, 10, 30)
_SHARES = ("−∞", "−1", "0", "½", "1", "2", "∞")
_TITLES = ("(c) {} heads, start", "{} heads, trained", "paper, 2.9B: {} heads")
_SIGNS = ((r"$\alpha_1>\alpha_2$", r"$\leq$"), (r"$\beta_1>\beta_2$", r"$\leq$"))


def draw_panels(data) -> Figure:
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(7.0, 3.1))
        left, middle = (figure.add_axes((x, 0.245, 0.335, 0.68)) for x in (0.067, 0.465))
        _slice(left, data)
        _plane(middle, data)
        for number, counts in enumerate(data.cells):
            _cells(figure.add_axes((0.875, 0.72 - 0.317 * number, 0.085, 0.205)), counts, _TITLES[number])
        _key(figure, int(data.tokens))
        return figure


def _colours(data) -> np.ndarray:
    return _ATTENTION(np.clip(data.successor, 0, 1))


def _slice(panel: Axes, data) -> None:
    panel.contour(data.angle, data.angle, data.slice_chance.T, levels=_LEVELS, colors=WORDS, linewidths=0.35)
    panel.add_patch(Rectangle((-45, -45), 90, 90, fill=False, edgecolor=BLACK, linewidth=0.9))
    # From the start to the nearest copy of the end: a path through infinity leaves by one edge.
    ends = data.start + (data.place - data.start + 90) % 180 - 90
    panel.add_collection(
        LineCollection(np.stack([data.start, ends], axis=1), colors=AID, linewidths=0.25, alpha=0.6), autolim=False
    )
    _dots(panel, data, data.place)
    panel.plot([-45], [45], marker="*", markersize=8, color=VERMILION, markeredgecolor="white", markeredgewidth=0.5)
    panel.set(xlim=(-90, 90), ylim=(-90, 90))
    ticks = np.degrees(np.arctan(2 * np.array([-np.inf, -1, 0, 0.5, 1, 2, np.inf]) - 1))
    panel.set_xticks(ticks, _SHARES)
    panel.set_yticks(ticks, _SHARES)
    panel.set_xlabel(r"$\alpha_1/(\alpha_1+\alpha_2)$")
    panel.set_ylabel(r"$\beta_1/(\beta_1+\beta_2)$", labelpad=-1)
    panel.set_title(f"(a) the slice of Fig. 2: {len(data.place)} heads, from start to end")


def _plane(panel: Axes, data) -> None:
    lines = panel.contour(data.alpha2, data.beta1, data.chance.T, levels=_LEVELS, colors=WORDS, linewidths=0.35)
    panel.clabel(lines, (0.05, 0.3, 0.9), fmt="%g", inline_spacing=1)
    panel.axhline(0, color=BLACK, linewidth=0.5)
    panel.axvline(0, color=BLACK, linewidth=0.5)
    _dots(panel, data, data.gained)
    panel.set(xlim=data.alpha2[[0, -1]], ylim=data.beta1[[0, -1]])
    panel.set_xlabel(r"key gain $\times\ \alpha_2$")
    panel.set_ylabel(r"value gain $\times\ \beta_1$")
    for scale, ticks in ((panel.set_xscale, panel.set_xticks), (panel.set_yscale, panel.set_yticks)):
        scale("symlog", linthresh=1.0, linscale=0.8)
        ticks(_TICKS, [f"{tick:g}".replace("-", "\N{MINUS SIGN}") for tick in _TICKS])
    panel.minorticks_off()
    panel.text(0.83, 0.525, "induction:\nattend, raise", **_corner(panel, "right", "bottom"))
    panel.text(0.03, 0.46, "anti-induction:\navoid, lower", **_corner(panel, "left", "top"))
    panel.text(0.97, 0.04, "attend, lower: fails", **_corner(panel, "right", "bottom"))
    panel.text(0.03, 0.97, "avoid, raise: fails", **_corner(panel, "left", "top"))
    panel.set_title("(b) gauge-free: attend the successor? raise it?")


def _corner(panel: Axes, across: str, up: str) -> dict:
    return {"transform": panel.transAxes, "ha": across, "va": up, "bbox": _BACKED}


def _dots(panel: Axes, data, places: np.ndarray) -> None:
    order = np.argsort(data.successor)
    panel.scatter(*places[order].T, s=7, c=_colours(data)[order], edgecolors=BLACK, linewidths=0.25, zorder=4)


def _cells(panel: Axes, counts: np.ndarray, title: str) -> None:
    share = counts / counts.sum()
    panel.imshow(share, cmap="Blues", vmin=0, vmax=0.75)
    for (row, column), part in np.ndenumerate(share):
        colour = "white" if part > 0.4 else BLACK
        panel.text(column, row, f"{100 * part:.0f} %", ha="center", va="center", color=colour)
    panel.set_xticks((0, 1), _SIGNS[0])
    panel.set_yticks((0, 1), _SIGNS[1])
    panel.tick_params(length=0)
    panel.set_title(title.format(int(counts.sum())))


def _key(figure: Figure, tokens: int) -> None:
    place = figure.add_axes((0.25, 0.085, 0.25, 0.022))
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), _ATTENTION), cax=place, orientation="horizontal")
    bar.set_label("mean attention of a head to the successor $x_{i+1}$")
    figure.text(0.062, 0.07, "★ induction head (0, 1)\n□ box of the initial law", va="center")
    lines = f"lines: the theorem's chance of the right\nanswer in sentences of $T={tokens}$ tokens"
    figure.text(0.8, 0.07, lines, va="center", ha="right")
