"""Reach of a sink: the weight that an ALiBi head can give its first token, by context and slope (waiver.beyond.*).

(a) The most that a head of logit range 10 can give the first token: the bound, and, as marks, the context that reaches
it. (b) The longest context in which the first token can still have half of the weight, by the range of the logits.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from theory import sink

from ..palette import BLACK, ordered, styled

QUICK_SIZE, FULL_SIZE = 60, 400
UNIT = "points a curve"
SLOPES = (0.0, 1 / 256, 1 / 64, 1 / 16, 1 / 4)
NAMES = ("no positions", "1/256", "1/64", "1/16", "1/4")
RANGE, HALF = 10.0, 0.5
MARKS = (2, 8, 32, 128, 512, 2048, 8192, 32_768)
FLOOR = 1e-6


class Data(NamedTuple):
    """Weights by slope and length; lengths by slope and logit range."""

    slopes: NDArray
    lengths: NDArray
    bound: NDArray  # (slope, length)
    marks: NDArray
    reached: NDArray  # (slope, mark): the softmax of the context that is worst, summed term by term
    ranges: NDArray
    longest: NDArray  # (slope, range)


def compute(size: int = FULL_SIZE) -> Data:
    """The bounds of `theory.sink`, and the worst contexts written out."""
    lengths = np.unique(np.rint(np.geomspace(1, MARKS[-1], size)))
    slopes, ranges = np.array(SLOPES), np.linspace(0, 20, size)
    bound = sink.first_token_bound(lengths[None], slopes[:, None], RANGE)
    reached = np.array([[_worst(slope, length) for length in MARKS] for slope in SLOPES])
    return Data(slopes, lengths, bound, np.array(MARKS), reached, ranges,
                sink.sink_length(slopes[:, None], ranges[None], HALF))  # fmt: skip


def _worst(slope: float, length: int) -> float:
    """The first token's weight where its logit is RANGE above all others'."""
    logits = -slope * np.arange(length - 1, -1, -1.0)
    logits[0] += RANGE
    powers = np.exp(logits - logits.max())
    return float(powers[0] / powers.sum())


@styled
def draw(data: Data) -> Figure:
    """Two panels side by side, one key below."""
    colors = (BLACK, *ordered(len(NAMES) - 1))  # no slope, then the steeper the paler
    figure = Figure(figsize=(5.5, 2.5))
    panels = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.09, right=0.985, top=0.92, bottom=0.27, wspace=0.25)
    for index, (color, name) in enumerate(zip(colors, NAMES, strict=True)):
        panels[0].plot(data.lengths, data.bound[index], color=color, label=name)
        shown = data.reached[index] > FLOOR
        panels[0].plot(data.marks[shown], data.reached[index][shown], color=color, linestyle="", marker="o",
                       markersize=2.6, markerfacecolor="white", markeredgewidth=0.7)  # fmt: skip
        panels[1].plot(data.ranges, data.longest[index], color=color)
    panels[0].set(xscale="log", yscale="log", ylim=(FLOOR, 1.6), xlabel="tokens of the context",
                  ylabel="weight of the first token")  # fmt: skip
    panels[0].set_title(f"(a) at most, logit range {RANGE:g} (circles: reached)")
    panels[1].set(yscale="log", ylim=(1, 1e8), xlim=(0, 20), xlabel="range of the logits, $D$",
                  ylabel="longest context (tokens)")  # fmt: skip
    panels[1].set_title("(b) longest context with half of it")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncol=5,
                  title="ALiBi slope", columnspacing=1.2, handlelength=1.6,
                  labelspacing=0.3)  # fmt: skip
    return figure
