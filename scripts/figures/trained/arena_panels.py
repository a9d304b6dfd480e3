"""Panels of the arena: a row a comparison with its interval, and losses against parameters with their fitted laws."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..palette import BLACK, MODELS, VERDICTS, styled

# By the first words of an outcome: words of the key.
WORDS = {
    "better by": "better by {x} or more",
    "better": "better",
    "no difference": "no difference larger than {x}",
    "undecided": "undecided",
    "worse": "worse",
    "worse by": "worse by {x} or more",
}
ROW = 0.125  # inches a row


@styled
def draw_league(data) -> Figure:
    """Every variant against the baseline, the best on top, and what it costs."""
    rows = len(data.names)
    height = ROW * rows + 0.95
    figure = Figure(figsize=(5.5, height))
    panel = figure.subplots()
    figure.subplots_adjust(left=0.27, right=0.78, top=1 - 0.3 / height, bottom=0.7 / height)
    forest(panel, data, float(data.smallest))
    panel.set_xlabel("held-out loss against vanilla (%)")
    for at, title in ((1.11, "tokens/s\nof vanilla"), (1.32, "cache\nB/token")):
        panel.text(at, 1 + 0.03 / height, title, transform=panel.transAxes, ha="center", va="bottom")
    for row, (speed, cache) in enumerate(zip(data.speed, data.cache, strict=True)):
        for at, text in ((1.11, "" if np.isnan(speed) else f"{speed:.2f}"), (1.32, f"{cache:,}")):
            panel.text(at, row, text, transform=panel.get_yaxis_transform(), ha="center", va="center")
    key(figure, data.outcomes, 3, float(data.smallest))
    return figure


@styled
def draw_central(data) -> Figure:
    """(a) Losses at three sizes and their laws; (b) what a shift gains by how documents begin."""
    figure = Figure(figsize=(5.5, 4.8))
    scaling, leak = figure.subplots(2, 1, height_ratios=(1.25, 1))
    figure.subplots_adjust(left=0.125, right=0.975, top=0.955, bottom=0.145, hspace=0.42)
    _laws(scaling, data)
    leak.set_position((0.36, 0.145, 0.615, 0.315))
    forest(leak, data, float(data.smallest))
    leak.set_title("(b) KV shift by document and start", x=0.3)
    leak.set_xlabel("difference (%)")
    key(figure, data.outcomes, 3, float(data.smallest))
    return figure


def forest(panel: Axes, data, smallest: float) -> None:
    """Points with intervals, the first row on top; between the dotted lines differences are smaller than x."""
    for row, (low, mean, high) in enumerate(100 * data.ends):
        color, marker, _ = VERDICTS[look(str(data.outcomes[row]))]
        panel.errorbar(mean, row, xerr=[[mean - low], [high - mean]], color=color, marker=marker, markersize=3,
                       elinewidth=0.7)  # fmt: skip
    panel.axvline(0, color=BLACK, linewidth=0.5)
    for end in (-1, 1):
        panel.axvline(100 * smallest * end, color=BLACK, linewidth=0.5, linestyle=":")
    panel.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(7, integer=True))
    panel.set_yticks(range(len(data.names)), [str(name) for name in data.names])
    panel.set_ylim(len(data.names) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)


def look(outcome: str) -> str:
    """The verdict whose words begin it, the longest that do."""
    found = [words for words in VERDICTS if outcome.startswith(words)]
    return max(found, key=len) if found else "undecided"


def key(figure: Figure, outcomes: Sequence[str], columns: int, smallest: float) -> None:
    """The outcomes that occur."""
    seen, x = {look(str(outcome)) for outcome in outcomes}, f"{100 * smallest:g} %"
    handles = [
        Line2D([], [], color=color, marker=marker, linestyle="", markersize=3.4, label=WORDS[name].format(x=x))
        for name, (color, marker, _) in VERDICTS.items()
        if name in seen
    ]
    figure.legend(handles=handles, loc="lower center", ncols=columns, handlelength=1.0)


def _laws(panel: Axes, data) -> None:
    for (color, marker, line), name, losses, law in zip(MODELS, data.models, data.losses, data.laws, strict=False):
        (exponent, low, high), scale, middle = law[:3], law[3], law[4]
        mean, spread = np.nanmean(losses, 0), np.nanstd(losses, 0, ddof=1)
        label = f"{name}: {exponent:.3f} [{low:.3f}, {high:.3f}]"
        panel.errorbar(data.parameters / 1e3, mean, yerr=spread, color=color, marker=marker, markersize=3.2,
                       linestyle="", elinewidth=0.6, capsize=1.5, label=label)  # fmt: skip
        along = np.geomspace(*(data.parameters[[0, -1]] * (0.93, 1.07)), 50)
        panel.plot(along / 1e3, scale * (along / middle) ** -exponent, color=color, linestyle=line)
    panel.set(xscale="log", yscale="log", xlabel="parameters (thousands)", ylabel="held-out loss (nats a byte)")
    panel.set_title("(a) loss and its power law: exponent [95 % interval]")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_minor_locator(matplotlib.ticker.NullLocator())
    panel.set_xticks(data.parameters / 1e3, [f"{count / 1e3:.0f}" for count in data.parameters])
    ends = np.nanmean(data.losses, 1)
    ticks = np.round(np.linspace(ends.min(), ends.max(), 4), 2)
    panel.set_yticks(ticks, [f"{tick:.2f}" for tick in ticks])
    panel.legend(loc="lower left")
