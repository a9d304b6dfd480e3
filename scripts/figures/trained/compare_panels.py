"""Panels of the comparison at equal memory: bits per byte and needles found against the share of the cache kept."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dynamics.comparison import plan

from ..figure_files import STYLE
from ..palette import AMBER, BLACK, BLUE, FAINT, GREEN, PINK, SKY, VERMILION

# Okabe and Ito's colours and black, a marker each, so that policies differ in print and to all eyes: no grey, which
# purple is to some.
LOOKS = {
    plan.RAZOR: (VERMILION, "o"),
    plan.DROPPING: (VERMILION, "x"),
    plan.RANDOM: (AMBER, "^"),
    plan.NONE_PROTECTED: (AMBER, "v"),
    plan.HEAVY: (GREEN, "s"),
    plan.STREAMING: (BLUE, "D"),
    plan.WINDOW: (SKY, "P"),
    plan.CENTRED: (PINK, "*"),
    plan.DECAYED: (BLACK, "h"),
}
WIDTH = 0.78  # of a budget's group of points


def draw_panels(data) -> Figure:
    """Two panels, a group of points a budget, over a shared key."""
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(5.5, 4.2))
        text, needles = figure.subplots(2, 1, sharex=True)
        figure.subplots_adjust(left=0.09, right=0.985, top=0.955, bottom=0.2, hspace=0.17)
        _panel(text, data, data.extra, "(a) text: bits above those of the full cache", "extra bits per byte")
        _panel(needles, data, 100 * data.accuracy, "(b) retrieval", "needles found (%)")
        needles.set_ylim(-4, 106)
        needles.set_xlabel("entries kept, of the full cache")
        needles.set_xticks(range(data.memory.shape[1]), _percent(data.memory))
        handles, labels = needles.get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=3, columnspacing=1.0)
        return figure


def _panel(panel: Axes, data, ends: np.ndarray, title: str, label: str) -> None:
    count, budgets = ends.shape[:2]
    groups = np.arange(budgets)
    panel.axhline(100.0 if "retrieval" in title else 0.0, color=BLACK, linestyle="--", linewidth=0.5)
    for index, name in enumerate(data.names):
        color, marker = LOOKS[str(name)]
        low, mean, high = np.moveaxis(ends[index, ::-1], -1, 0)  # the smallest budget first
        at = groups + WIDTH * ((index + 0.5) / count - 0.5)
        panel.errorbar(at, mean, np.nan_to_num([mean - low, high - mean]), color=color, marker=marker, linestyle="",
                       markersize=3.4, elinewidth=0.6, label=str(name))  # fmt: skip
    for edge in groups[:-1] + 0.5:
        panel.axvline(edge, color=FAINT, linewidth=0.5)
    panel.set(xlim=(-0.5, budgets - 0.5), ylabel=label, title=title)
    panel.tick_params(axis="x", length=0)


def _percent(memory: np.ndarray) -> list[str]:
    """The budgets, smallest first: the largest share of any policy, as 12.5 %."""
    return [f"{100 * share:.3g} %" for share in memory.max(axis=0)[::-1]]
