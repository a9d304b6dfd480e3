"""Panels of the heads figure: the plane that no gauge changes, and counts as in Table 5."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from ..palette import BLACK, WORDS, styled

_ATTENTION = matplotlib.colormaps["cividis"]
_BACKED = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
_LEVELS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_TICKS = (-10, -3, -1, 0, 1, 3, 10, 30)
_TITLES = ("(b) {} heads, start", "{} heads, trained", "paper, 2.9B: {} heads")
_SIGNS = ((r"$\alpha_1>\alpha_2$", r"$\leq$"), (r"$\beta_1>\beta_2$", r"$\leq$"))


@styled
def draw_panels(data) -> Figure:
    figure = Figure(figsize=(5.5, 3.9))
    _plane(figure.add_axes((0.08, 0.21, 0.61, 0.735)), data)
    for number, counts in enumerate(data.cells):
        _cells(figure.add_axes((0.805, 0.76 - 0.275 * number, 0.13, 0.185)), counts, _TITLES[number])
    _key(figure, int(data.tokens))
    return figure


def _plane(panel: Axes, data) -> None:
    lines = panel.contour(data.alpha2, data.beta1, data.chance.T, levels=_LEVELS, colors=WORDS, linewidths=0.35)
    panel.clabel(lines, (0.05, 0.3, 0.9), fmt="%g", inline_spacing=1)
    panel.axhline(0, color=BLACK, linewidth=0.5)
    panel.axvline(0, color=BLACK, linewidth=0.5)
    order = np.argsort(data.successor)
    colours = _ATTENTION(np.clip(data.successor[order], 0, 1))
    panel.scatter(*data.gained[order].T, s=9, c=colours, edgecolors=BLACK, linewidths=0.25, zorder=4)
    panel.set(xlim=data.alpha2[[0, -1]], ylim=data.beta1[[0, -1]])
    panel.set_xlabel(r"key gain $\times\ \alpha_2$")
    panel.set_ylabel(r"value gain $\times\ \beta_1$")
    for scale, ticks in ((panel.set_xscale, panel.set_xticks), (panel.set_yscale, panel.set_yticks)):
        scale("symlog", linthresh=1.0, linscale=0.8)
        ticks(_TICKS, [f"{tick:g}".replace("-", "\N{MINUS SIGN}") for tick in _TICKS])
    panel.minorticks_off()
    panel.text(0.87, 0.505, "induction:\nattend, raise", **_corner(panel, "right", "bottom"))
    panel.text(0.03, 0.46, "anti-induction:\navoid, lower", **_corner(panel, "left", "top"))
    panel.text(0.97, 0.04, "attend, lower: fails", **_corner(panel, "right", "bottom"))
    panel.text(0.03, 0.97, "avoid, raise: fails", **_corner(panel, "left", "top"))
    panel.set_title(f"(a) {len(data.gained)} trained heads: attend the successor? raise it?")


def _corner(panel: Axes, across: str, up: str) -> dict:
    return {"transform": panel.transAxes, "ha": across, "va": up, "bbox": _BACKED}


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
    place = figure.add_axes((0.08, 0.085, 0.3, 0.02))
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), _ATTENTION), cax=place, orientation="horizontal")
    bar.set_label("mean attention to the successor $x_{i+1}$")
    lines = f"lines: the theorem's chance of the right\nanswer in sentences of $T={tokens}$ tokens"
    figure.text(0.98, 0.06, lines, va="center", ha="right")
