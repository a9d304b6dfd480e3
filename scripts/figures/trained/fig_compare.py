"""Quality against memory: ways to shrink the cache part in retrieval, hardly on text (razor.trained.*).

Above, what text costs beyond the full cache; below, needles found. Means of the shipped comparison over seeds with
Student's 95 % intervals (models differ most in retrieval); broken, the full cache.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dynamics.comparison import plan
from dynamics.comparison.record import read_comparison
from dynamics.comparison.statistics import lines

from ..palette import AMBER, BLACK, BLUE, FAINT, GREEN, PINK, SKY, VERMILION, styled

QUICK_SIZE, FULL_SIZE = 5, 9
UNIT = "policies"
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


class Data(NamedTuple):
    """Policies by name; arrays (policy, budget), the last axis of the intervals (low, mean, high)."""

    names: NDArray
    memory: NDArray  # share of the full cache
    extra: NDArray  # (policy, budget, 3): bits per byte above the full cache
    accuracy: NDArray  # (policy, budget, 3): share of needles found
    full: NDArray  # (3,): needles found with the full cache


def compute(size: int = FULL_SIZE) -> Data:
    """The first `size` of the policies, in the order of the figure's key."""
    order = (plan.RAZOR, plan.DROPPING, plan.RANDOM, plan.HEAVY, plan.STREAMING, plan.WINDOW, plan.NONE_PROTECTED,
             plan.CENTRED, plan.DECAYED)[:size]  # fmt: skip
    table = lines(read_comparison())
    rows = [[line for line in table if line.policy == policy] for policy in order]

    def ends(name: str) -> NDArray:
        found = [[getattr(line, name) for line in row] for row in rows]
        return np.array([[(e.low, e.value, e.high) for e in row] for row in found])

    whole = table[0].accuracy
    return Data(np.array(order), np.array([[line.share for line in row] for row in rows]), ends("extra"),
                ends("accuracy"), np.array([whole.low, whole.value, whole.high]))  # fmt: skip


@styled
def draw(data: Data) -> Figure:
    """Draw both panels."""
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


def _panel(panel: Axes, data: Data, ends: np.ndarray, title: str, label: str) -> None:
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
