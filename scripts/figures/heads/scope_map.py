"""Map of a checkpoint's scopes, a cell a head: the distance from which no token can weigh more than eps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from dynamics.scope.heads import HeadScope, Reach, Settings

from ..palette import BLACK, styled

WIDTH, HEIGHTS = 4.5, (1.9, 6.0)  # inches
FAR = 100  # contexts, from which on a scope is not worth a colour


class Data(NamedTuple):
    """Rows are layers, columns heads; NaN and False where a layer has fewer heads, or a head was not asked for."""

    scope: NDArray  # tokens, inf where there is no bound
    local: NDArray  # whether a window keeps the mass
    eps: NDArray
    context: NDArray
    model: NDArray  # its name


def compute(layers: Sequence[Sequence[HeadScope]], asked: Settings, model: str) -> Data:
    """The arrays of the map."""
    every = [head for heads in layers for head in heads]
    shape = 1 + max(head.layer for head in every), 1 + max(head.head for head in every)
    scope, local = np.full(shape, np.nan), np.zeros(shape, bool)
    for head in every:
        scope[head.layer, head.head] = head.scope
        local[head.layer, head.head] = head.reach is Reach.LOCAL
    return Data(scope, local, np.array(asked.eps), np.array(asked.context), np.array(model))


@styled
def draw(data: Data) -> Figure:
    """Cells by the logarithm of the scope, grey far beyond the context, dotted where a window is proved to do."""
    rows, columns = data.scope.shape
    vacuous = data.scope > FAR * data.context
    finite = data.scope[(data.scope > 0) & ~vacuous]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 10.0)
    norm = LogNorm(low, high if high > low else 10 * low)
    height = min(max(0.5 + WIDTH * 0.8 * rows / columns, HEIGHTS[0]), HEIGHTS[1])
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    panel = figure.add_subplot()
    panel.set_facecolor("white")
    colours = matplotlib.colormaps["viridis_r"]
    grey = np.where(vacuous, 0.7, np.nan)
    panel.imshow(grey, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    shown = np.where(vacuous, np.nan, np.maximum(data.scope, low))
    cells = panel.imshow(shown, cmap=colours, norm=norm, aspect="auto", interpolation="nearest")
    layer, head = np.nonzero(data.local)
    size = min(240 * height / max(rows, columns), 30) / 2
    panel.scatter(head, layer, s=size, facecolors="white", edgecolors=BLACK, linewidths=0.4)
    panel.set(xlabel="head (scopes in exact arithmetic)", ylabel="layer")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    bar = figure.colorbar(cells, ax=panel, pad=0.02)
    bar.set_label(f"scope at $\\epsilon$ = {float(data.eps):g} (tokens)")
    if low < float(data.context) < high:
        bar.ax.axhline(float(data.context), color=BLACK, linewidth=0.8)
    notes = [f"dot: local at a context of {int(data.context)} (line)"] * bool(len(layer))
    notes += [f"grey: over {FAR} contexts"] * bool(vacuous.any())
    said = "; ".join(notes) or f"no head is local at a context of {int(data.context)}"
    panel.set_title(f"{data.model}: {said}" if len(str(data.model)) + len(said) < 60 else f"{data.model}\n{said}")
    return figure
