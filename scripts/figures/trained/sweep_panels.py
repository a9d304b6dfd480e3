"""Panels of a sweep's figure: accuracy with its quartiles against steps, and each run's steps to the level."""

import itertools
import re
import textwrap
import warnings

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ..palette import AID, BLACK, BLUE, DASHED, DOTTED, SERIES, WORDS, ordered, styled

DASHES = ("-", DASHED, DOTTED)
# The two models of the paper, whatever a sweep calls them: their colours are those of every figure.
VANILLA, SHIFTED = ("vanilla", "vanilla-1", "vanilla-2", "vanilla-4", "none"), ("kv-shift", "kv", "free", "window-2")
BANDS = 4  # curves: the bands of more hide each other, and the dots at the right say as much
SAME = 0.015  # of accuracy, about the width of a line: medians so near are one curve
WIDTH, ROW = 7.0, 0.17  # inches: two columns; a row of the right panel
LETTERS = 136  # of a line of the caption


@styled
def draw_panels(data) -> Figure:
    """The figure of `fig_sweep.Data`."""
    said = [str(data.caption), *(f"; {data.names[two]} runs as {data.names[one]} does" for one, two in alike(data))]
    caption = [line for part in "".join(said).split("\n") for line in textwrap.wrap(part, LETTERS)]
    top = 0.38 + 0.125 * len(caption)
    height = max(2.3, 0.65 + ROW * len(data.names)) + top - 0.14
    figure = Figure(figsize=(WIDTH, height))
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.15, 1)})
    longest = 0.062 * max(map(len, data.names))
    figure.subplots_adjust(0.06, 0.36 / height, 0.985, 1 - top / height, (0.55 + longest) / 2.9)
    figure.suptitle(str(data.title), fontsize=7, y=1 - 0.05 / height, va="top")
    figure.text(0.5, 1 - 0.2 / height, "\n".join(caption), color=WORDS, ha="center", va="top")
    _curves(left, data)
    _times(right, data)
    return figure


def looks(names: list[str]) -> list[dict]:
    """Colour and dashes of each variant: of names such as a.8, b.8 the part before the point chooses the dashes.

    A point between two digits is a decimal one, and parts nothing.
    Where there are no families, or one label is all they share, vanilla models are black and differ in dashes.
    """
    parts = [re.split(r"(?<!\d)\.|\.(?!\d)", name, maxsplit=1) for name in names]
    if all(len(part) == 2 for part in parts):
        dashes, labels = ([part[side] for part in parts] for side in (0, 1))
        if len(set(labels)) > 1:
            hues = _hues(list(dict.fromkeys(labels)))
            return [{"color": hues[label], "linestyle": DASHES[_rank(dashes, dash) % 3]} for dash, label in parts]
        names = dashes
    plain, others = ([name for name in names if (name in VANILLA) is kind] for kind in (True, False))
    looks = {name: {"color": BLACK, "linestyle": DASHES[number]} for number, name in enumerate(plain)}
    lines = itertools.cycle(one.line for one in SERIES)
    looks |= {name: {"color": hue, "linestyle": next(lines)} for name, hue in _hues(others).items()}
    return [looks[name] for name in names]


def _hues(labels: list[str]) -> dict[str, str]:
    """From dark to light for labels that are one word with different numbers, else one hue after the other."""
    numbers = [re.fullmatch(r"([a-z]*-?)[\d.]+", label) for label in labels]
    if len(labels) > 2 and all(numbers) and len({found and found[1] for found in numbers}) == 1:
        return dict(zip(labels, ordered(len(labels)), strict=True))
    known = dict.fromkeys(VANILLA, BLACK) | dict.fromkeys(SHIFTED, BLUE)
    rest = itertools.cycle(one.color for one in SERIES if one.color not in (BLACK, BLUE))
    return {label: known.get(label) or next(rest) for label in labels}


def _rank(values: list[str], value: str) -> int:
    return list(dict.fromkeys(values)).index(value)


def _curves(axes: Axes, data) -> None:
    styles, banded = looks(data.names.tolist()), len(data.names) <= BANDS
    beneath = [one for one, _ in alike(data)]
    for number, (name, style, runs) in enumerate(zip(data.names, styles, data.accuracy, strict=True)):
        seen = np.isfinite(runs).any(0)
        low, middle, high = np.nanquantile(runs[:, seen], (0.25, 0.5, 0.75), axis=0)
        axes.plot(data.steps[seen], middle, lw=3 if number in beneath else 1.1, label=str(name), **style)
        if banded:
            axes.fill_between(data.steps[seen], low, high, color=style["color"], alpha=0.18, lw=0)
    axes.axhline(data.level, color=WORDS, lw=0.5, ls=(0, (1, 2)))
    blind = dict(zip(data.blind.round(2).tolist(), (style["color"] for style in styles), strict=True))
    for share, colour in blind.items():  # where tasks differ, in the colour of their curves
        axes.axhline(share, color=colour if len(blind) > 1 else AID, lw=0.6, ls=DOTTED, zorder=0)
    axes.annotate(
        f"{100 * float(data.level):g} %", (0, data.level), (3, -8), ("axes fraction", "data"), "offset points",
        color=WORDS,
    )  # fmt: skip
    axes.set(xlim=(data.steps[0], data.steps[-1]), ylim=(-0.02, 1.02))
    _logarithmic(axes)
    axes.set_xlabel("training steps")
    axes.set_ylabel("held-out accuracy: median" + ", quartiles" * banded)


def alike(data) -> list[tuple[int, int]]:
    """Pairs of variants whose medians are one curve; the first is drawn wide beneath the second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a step that no run of a variant reached
        middle = np.nanmedian(data.accuracy, axis=1)
    near = (abs(middle[:, None] - middle) < SAME).all(-1)
    return [(int(one), int(two)) for one, two in zip(*np.nonzero(np.triu(near, 1)), strict=True)]


def _logarithmic(axes: Axes) -> None:
    """Steps on a logarithmic axis with plain numbers."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > 6 * low else (1, 1.5, 2, 3, 4, 5, 6, 8)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _times(axes: Axes, data) -> None:
    lowest = np.min(data.times, initial=data.budget.min(), where=np.isfinite(data.times))
    # Up to the budget only where a run or an interval goes so far.
    within = np.isfinite(data.median).all() and not np.isinf(data.times).any()
    first, edge = data.steps[0], 1.25 * (np.nanmax(data.times) if within else data.budget.max())
    start = lowest / (1.6 if lowest <= first else 1.3)
    styles = looks(data.names.tolist())
    for number, (style, times) in enumerate(zip(styles, data.times, strict=True)):
        colour, budget = style["color"], data.budget[number]
        row = number + np.linspace(-0.15, 0.3, len(times))
        arrived, late, early = np.isfinite(times) & (times > first), np.isinf(times), times == first
        axes.plot(times[arrived], row[arrived], "o", color=colour, ms=2.4, alpha=0.75, mew=0)
        axes.plot(times[early], row[early], "<", color=colour, ms=3, mfc="none", mew=0.6)
        axes.plot(np.full(late.sum(), budget), row[late], ">", color=colour, ms=3, mfc="none", mew=0.6)
        if np.sum(~np.isnan(times)) > 1:  # one seed has no interval
            _interval(axes, number - 0.3, data.median[number], (first, start, edge), colour)
        # The curve's colour and dashes, between the name and the panel.
        key = {"transform": axes.get_yaxis_transform(), "clip_on": False, "lw": 1.1}
        axes.plot([-0.065, -0.012], [number, number], **key, **style)
    axes.set(xlim=(start, edge), ylim=(len(data.times) - 0.5, -0.7))
    _logarithmic(axes)
    axes.set_yticks(range(len(data.names)), data.names.tolist())
    axes.set_xlabel(f"steps to {100 * float(data.level):g} % accuracy")
    axes.tick_params(axis="y", length=0, pad=16)
    marks, has_early = {"color": WORDS, "linestyle": "none", "mew": 0.6}, bool((data.times == first).any())
    axes.legend(
        handles=[
            Line2D([], [], marker="o", ms=2.4, label="a seed", **marks),
            Line2D([], [], marker=">", ms=3, mfc="none", label="not reached", **marks),
            *([Line2D([], [], marker="<", ms=3, mfc="none", label="by the first score", **marks)] * has_early),
            Line2D([], [], marker="|", ms=6, label="median, 95 % interval", color=WORDS, lw=0.9),
        ],
        loc="lower right", bbox_to_anchor=(1.02, 0.99), ncols=4, handlelength=1.0, columnspacing=0.8,
    )  # fmt: skip


def _interval(axes: Axes, at: float, median: np.ndarray, ends: tuple, colour: str) -> None:
    """Median as a tall tick and its interval as a bar above the dots, an arrow where an end is not known.

    ends: the first score, before which nothing is known, and both edges of the panel.
    """
    value, low, high = median
    first, left, right = ends
    if np.isinf(low):
        return
    arrow = {"arrowstyle": "->", "color": colour, "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    axes.plot([low, min(high, right)], [at, at], color=colour, lw=0.9)
    for unknown, tip, tail in ((low <= first, left, low), (np.isinf(high), right, low)):
        if unknown:
            axes.annotate("", (tip, at), (tail, at), annotation_clip=False, arrowprops=arrow)
    if first < value < np.inf:
        axes.plot(value, at, "|", color=colour, ms=6, mew=1.1)
