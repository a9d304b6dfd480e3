"""Maps of the scores of a model's heads, a panel a kind and a cell a head, beside the heads that are chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from dynamics.heads.found import Found

from ..palette import BLACK, styled

WIDTH, HEIGHT, ACROSS = 6.8, 1.9, 3  # inches, inches of a row, panels of a row


class Data(NamedTuple):
    """By kind: scores (kinds, layers, heads), whether a head is chosen, and the score of even attention."""

    kinds: NDArray
    score: NDArray
    chosen: NDArray
    even: NDArray


def compute(found: Found) -> Data:
    """The arrays of the maps; the last kind is attention to key 0, by which no head is chosen."""
    scores = found.scores.values()
    idle = np.zeros(found.sink.shape, bool)
    return Data(
        np.array([*found.scores, "key 0"]),
        np.array([*(one.mean for one in scores), found.sink]),
        np.array([*(one.chosen for one in scores), idle]),
        np.array([*(one.even for one in scores), np.nan]),
    )


@styled
def draw(data: Data) -> Figure:
    """Cells from 0 to 1, a dot on each chosen head."""
    down = -(-len(data.kinds) // ACROSS)
    figure = Figure(figsize=(WIDTH, HEIGHT * down), layout="constrained")
    panels = figure.subplots(down, ACROSS, sharey=True).ravel()
    for panel in panels[len(data.kinds) :]:
        panel.set_axis_off()
    for panel, kind, score, chosen, even in zip(panels[: len(data.kinds)], *data, strict=True):
        cells = panel.imshow(score, cmap="viridis_r", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        layer, head = np.nonzero(chosen)
        panel.scatter(head, layer, s=8, facecolors="white", edgecolors=BLACK, linewidths=0.4)
        panel.set(xlabel="head", ylabel="layer", title=kind if np.isnan(even) else f"{kind}\neven {even:.2f}")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    figure.colorbar(cells, ax=panels, pad=0.02).set_label("score (dot: chosen)")
    return figure
