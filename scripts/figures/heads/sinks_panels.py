"""Three panels by layer: how concentrated attention is, what the first token is given, and how large it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from dynamics.sinks.measured import Measured

from ...commands.sinks_report import even
from ..palette import BLACK, BLUE, GREEN, PINK, VERMILION, styled

WIDTH, HEIGHT = 5.5, 2.4  # inches
FAR = 8.0  # norms that differ by more are shown on a logarithmic axis
EVEN = {"color": BLACK, "linestyle": "--", "linewidth": 0.6}
LIMIT = {"color": BLACK, "linestyle": ":", "linewidth": 0.6}


class Data(NamedTuple):
    """By layer, or by layer and head; the last three are numbers."""

    layers: NDArray
    entropy: NDArray  # (layer, head)
    first: NDArray  # (layer, head): mean weight of the first token
    share: NDArray  # (layer, head): of learned sink logits
    drain: NDArray
    peak: NDArray
    most: NDArray  # ln of the window
    even: NDArray  # the entropy of even attention
    even_first: NDArray  # what it gives the first token


def compute(found: Measured) -> Data:
    """The arrays of the panels."""
    heads, states = found.heads, found.states
    numbers = np.log(found.window), *even(found)
    return Data(
        np.array(found.layers), heads.entropy, heads.first, heads.sink_share, states.drain, states.peak,
        *map(np.array, numbers),
    )  # fmt: skip


@styled
def draw(data: Data) -> Figure:
    """Lines are means over the heads, dots the heads; one key below."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    panels = figure.subplots(1, 3)
    figure.subplots_adjust(left=0.065, right=0.985, top=0.92, bottom=0.3, wspace=0.25)
    _entropy(panels[0], data)
    _weights(panels[1], data)
    _norms(panels[2], data)
    for panel in panels:
        panel.set_xlabel("layer")
        panel.margins(x=0.08)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5, min_n_ticks=1))
    lines = {line.get_label(): line for panel in panels for line in panel.get_lines()}
    shown = {label: line for label, line in lines.items() if not label.startswith("_")}
    figure.legend(shown.values(), shown.keys(), loc="lower center", ncol=3,
                  columnspacing=1.4, handlelength=1.8, labelspacing=0.3)  # fmt: skip
    return figure


def _heads(panel: Axes, data: Data, values: NDArray, color: str, label: str, marker: str = "o") -> None:
    for head in values.T:
        panel.plot(data.layers, head, linestyle="", marker=marker, markersize=1.7, color=color, alpha=0.5,
                   markeredgewidth=0)  # fmt: skip
    panel.plot(data.layers, values.mean(1), color=color, label=label, marker=marker, markersize=2.8)


def _entropy(panel: Axes, data: Data) -> None:
    _heads(panel, data, data.entropy, BLUE, "mean (dots: heads)")
    panel.axhline(float(data.most), **LIMIT)
    panel.axhline(float(data.even), label="even attention", **EVEN)
    panel.set_title("(a) entropy (nats)")


def _weights(panel: Axes, data: Data) -> None:
    _heads(panel, data, 100 * data.first, BLUE, "mean (dots: heads)")
    if data.share.any():
        _heads(panel, data, 100 * data.share, VERMILION, "learned sink logits", "s")
    panel.axhline(100 * float(data.even_first), label="even attention", **EVEN)
    panel.set_title("(b) to first token (%)")
    panel.set_ylim(bottom=0)


def _norms(panel: Axes, data: Data) -> None:
    panel.plot(data.layers, data.peak, color=PINK, marker="^", markersize=2.8, label="norm of its state")
    panel.plot(data.layers, data.drain, color=GREEN, marker="v", markersize=2.8, label="norm of its value")
    panel.axhline(1, label="most (a), equal (c)", **LIMIT)
    panel.set_title("(c) first : others")
    ends = min(data.drain.min(), data.peak.min(), 1), max(data.drain.max(), data.peak.max(), 1)
    if ends[0] > 0 and ends[1] / ends[0] > FAR:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(numticks=6))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.yaxis.set_minor_formatter(NullFormatter())
    else:
        panel.set_ylim(bottom=0)
