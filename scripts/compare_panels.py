"""Panels of the comparison at equal memory: bits per byte and needles found against the share of the cache kept."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dynamics import comparison_plan as plan
from scripts.figure_files import STYLE

# Okabe and Ito's colours, a marker each, so that the lines differ in print and to all eyes.
LOOKS = {
    plan.RAZOR: ("#d55e00", "o", "-"), plan.DROPPING: ("#d55e00", "x", ":"), plan.RANDOM: ("#e69f00", "^", "-"),
    plan.NONE_PROTECTED: ("#e69f00", "v", ":"), plan.HEAVY: ("#009e73", "s", "-"),
    plan.STREAMING: ("#0072b2", "D", "-"),
    plan.WINDOW: ("#56b4e9", "P", ":"), plan.CENTRED: ("#cc79a7", "*", "-"), plan.DECAYED: ("#999999", "h", "-"),
}  # fmt: skip


def draw_panels(data) -> Figure:
    """Two panels over a shared key."""
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(3.4, 2.5))
        text, needles = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.135, right=0.985, top=0.93, bottom=0.36, wspace=0.34)
        _panel(text, data, 1000 * data.extra, "(a) text", "extra bits per 1000 bytes")
        _panel(needles, data, 100 * data.accuracy, "(b) needles found", "right answers (%)")
        needles.axhline(100 * data.full[1], color="black", linestyle="--", linewidth=0.6)
        text.axhline(0.0, color="black", linestyle="--", linewidth=0.6)
        text.set_yscale("symlog", linthresh=10)
        needles.set_ylim(-3, 103)
        handles, labels = needles.get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=3, fontsize=5.5, frameon=False, handlelength=2.2,
                      columnspacing=1.0)  # fmt: skip
        return figure


def _panel(panel: Axes, data, ends: np.ndarray, title: str, label: str) -> None:
    count = len(data.names)
    for index, name in enumerate(data.names):
        color, marker, line = LOOKS[str(name)]
        low, mean, high = np.moveaxis(ends[index], -1, 0)
        # Side by side, so that intervals can be told apart.
        memory = 100 * data.memory[index] * 1.012 ** (index - (count - 1) / 2)
        reach = np.nan_to_num([mean - low, high - mean])
        panel.errorbar(memory, mean, reach, color=color, marker=marker, linestyle=line, markersize=2.6,
                       elinewidth=0.4, label=str(name))  # fmt: skip
    panel.set(xscale="log", xlabel="entries kept (% of the full cache)", ylabel=label, title=title)
    panel.set_xticks([12.5, 25, 32, 50], ["12.5", "25", "32", "50"])
    panel.minorticks_off()
