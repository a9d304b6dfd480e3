"""Panels of the dissected models: scores over training, sinks, waivers, context."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ..heads.fig_waiver_token import SCHEMES
from ..palette import BLACK, MODELS, styled

SHORT = {"no positions": "none", "learned positions": "learnt"}


@styled
def draw_training(data) -> Figure:
    """(a) to (d) Scores over training."""
    figure = Figure(figsize=(5.5, 3.4))
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(left=0.1, right=0.985, top=0.945, bottom=0.17, hspace=0.36, wspace=0.26)
    over = {
        "(a) heads look one back": data.previous,
        "(b) no induction head": data.induction,
        "(c) no echo head": data.echo,
        "(d) repeats gain little": data.copied,
    }
    for panel, (title, values) in zip(panels.flat, over.items(), strict=True):
        _over_training(panel, data.steps, values)
        panel.set_title(title)
        panel.set_ylabel("4th below 1st (nats)" if values is data.copied else "attention, best")
    for panel in panels[1]:
        panel.set_xlabel("updates")
    _key(figure, data.entries)
    return figure


@styled
def draw_end(data) -> Figure:
    """(a) to (d) By layer; (e), (f) waivers by scheme; (g), (h) loss by place and by context."""
    figure = Figure(figsize=(5.5, 6.1))
    panels = figure.subplots(4, 2)
    figure.subplots_adjust(left=0.1, right=0.985, top=0.975, bottom=0.1, hspace=0.44, wspace=0.26)
    layers = (
        ("(a) first token: no sink", data.sink, data.even[0], "weight"),
        ("(b) importance is spread", data.entropy, data.even[1], "entropy (nats)"),
        ("(c) shifts: small value", data.drain, 1.0, "norm / others"),
        ("(d) first state: no peak", data.peak, 1.0, "norm / others"),
    )
    for panel, (title, values, level, unit) in zip(panels.flat, layers, strict=False):
        _by_layer(panel, values, float(level))
        panel.set(title=title, ylabel=unit)
    for panel in panels[1]:
        panel.set_xlabel("layer")
    _schemes(panels[2, 0], panels[2, 1], data)
    octaves = 2.0 ** np.arange(data.by_place.shape[2])
    _octaves(panels[3, 0], octaves, data.by_place)
    panels[3, 0].set(title="(g) by place: shifts lead", xlabel="place in document, from", ylabel="nats a byte")
    _octaves(panels[3, 1], data.contexts, data.by_context)
    panels[3, 1].set(title="(h) and from 8 bytes on", xlabel="bytes of context", ylabel="nats a byte")
    _key(figure, data.entries)
    return figure


def _over_training(panel: Axes, steps: NDArray, values: NDArray) -> None:
    """Means and ranges over seeds, (entry, seed, moment); the start stands left of the first moment."""
    along = np.array([steps[1] / 2, *steps[1:]])
    for (color, *_), one in zip(MODELS, values, strict=False):
        panel.plot(along, one.mean(0), color=color, linewidth=0.9)
        panel.fill_between(along, one.min(0), one.max(0), color=color, alpha=0.18, linewidth=0)
    ticks = [step for step in (3, 10, 30, 100, 300) if along[0] < step <= along[-1]]
    panel.set_xscale("log")
    panel.set_xticks([along[0], *ticks], ["0", *(str(step) for step in ticks)])
    panel.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    panel.set_ylim(min(0.0, float(values.min())), None)
    panel.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4))


def _by_layer(panel: Axes, values: NDArray, level: float) -> None:
    """(entry, seed, layer), entries side by side; dotted: what even attention or equal sizes would give."""
    layers = np.arange(1, values.shape[2] + 1)
    for row, ((color, marker, _), one) in enumerate(zip(MODELS, values, strict=False)):
        mean = one.mean(0)
        panel.errorbar(layers + 0.16 * (row - 1.5), mean, yerr=[mean - one.min(0), one.max(0) - mean], color=color,
                       marker=marker, markersize=2.8, linestyle="", elinewidth=0.8)  # fmt: skip
    panel.axhline(level, color=BLACK, linewidth=0.5, linestyle=":")
    panel.set_xticks(layers)


def _schemes(left: Axes, right: Axes, data) -> None:
    """What the later tokens lose; the weights of the first token and of the waiver, before and after: all vanilla."""
    names = [SCHEMES[str(scheme)] for scheme in data.schemes]
    for at in range(len(names)):
        lost = 100 * data.lost[at]
        left.plot(np.full(len(lost), at + 0.14), lost, linestyle="", marker=".", markersize=2.5, color=BLACK)
        left.plot(at - 0.14, lost.mean(), marker=MODELS[0].marker, color=BLACK, markersize=3.2)
        for values, shift in ((data.first[at], -0.17), (data.waiver[at], 0.17)):
            for value, face, size in zip(values.mean(0), ("none", BLACK), (4.6, 2.4), strict=True):
                right.plot(at + shift, value, marker="o" if shift < 0 else "s", color=BLACK, markersize=size,
                           markerfacecolor=face)  # fmt: skip
    left.axhline(0, color=BLACK, linewidth=0.5)
    left.margins(y=0.12)
    left.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(3))
    right.margins(y=0.12)
    left.set(title="(e) vanilla: a waiver costs little", ylabel="later loss (%)")
    right.set(title="(f) vanilla: ○ first, □ waiver", ylabel="weight")
    right.set_ylim(0, None)
    for panel in (left, right):
        panel.set_xticks(range(len(names)), [SHORT.get(name, name) for name in names])
        panel.set_xlim(-0.5, len(names) - 0.5)


def _octaves(panel: Axes, along: NDArray, values: NDArray) -> None:
    """Means and ranges over seeds against powers of two."""
    for (color, marker, _), one in zip(MODELS, values, strict=False):
        mean = one.mean(0)
        panel.errorbar(along, mean, yerr=[mean - one.min(0), one.max(0) - mean], color=color, marker=marker,
                       markersize=2.4, linewidth=0.8, elinewidth=0.7)  # fmt: skip
    panel.set_xscale("log", base=2)
    panel.set_xticks(along[::2], [f"{int(tick)}" for tick in along[::2]])
    panel.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())


def _key(figure: Figure, entries: NDArray) -> None:
    handles = [Line2D([], [], color=color, marker=marker, markersize=3.2, label=str(name))
               for (color, marker, _), name in zip(MODELS, entries, strict=False)]  # fmt: skip
    figure.legend(handles=handles, loc="lower center", ncols=4, columnspacing=1.4,
                  handlelength=1.6, handletextpad=0.4, borderaxespad=0.1, labelspacing=0.25)  # fmt: skip
