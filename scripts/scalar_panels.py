"""Panels of the trained scalar models: learning time on the scale of its limit, deviations against the width."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from .figure_files import STYLE
from .palette import BLUE, DASHED, EXACT, MEASURED, WORDS, ordered

TRAINED, THEORY, SHIFT, BOUND = MEASURED, EXACT, BLUE, WORDS
MARKERS = {64: "o", 256: "s", 1024: "^"}  # of fig_learning_time.DRAWN


def draw_learning(data) -> Figure:
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(7.0, 2.6))
        axes = figure.subplots(1, 3, gridspec_kw={"width_ratios": (1.25, 1, 1)})
        figure.subplots_adjust(left=0.06, right=0.988, top=0.91, bottom=0.15, wspace=0.3)
        _collapse(axes[0], data)
        _excess(axes[1], data)
        _ratio(axes[2], data)
        return figure


def _collapse(panel: Axes, data) -> None:
    colors = ordered(len(data.tokens))
    for color, tokens, time, loss in zip(colors, data.tokens, data.scaled_time, data.scaled_loss, strict=True):
        power = int(np.log10(tokens))
        panel.plot(time, loss, color=color, linewidth=1.1, label=f"flow, $T=10^{power}$")
    for tokens, time, loss in zip(data.trained_tokens, data.trained_time, data.trained_loss, strict=True):
        if tokens in MARKERS:
            panel.plot(time, loss, linestyle="", marker=MARKERS[int(tokens)], markersize=2.4, color=TRAINED, zorder=5,
                       markerfacecolor="none", markeredgewidth=0.6, label=f"trained, $T={tokens}$")  # fmt: skip
    for index, (time, loss) in enumerate(zip(data.beneath_time, data.beneath_loss, strict=True)):
        panel.plot(time, loss, color=BOUND, linewidth=0.5, label=None if index else "flows of these $T$")
    panel.set(xlim=(0, 1.5), ylim=(0, 1.04), xlabel=r"time over its limit, $t/(s^*T)$", ylabel=r"loss, $L/\log T$")
    panel.set_title("(a) every length learns at one scaled time")
    panel.legend(loc="lower left", handlelength=1.6)


def _excess(panel: Axes, data) -> None:
    span = np.geomspace(data.lengths[0], data.lengths[-1], 50)
    panel.plot(span, 10 * np.log(span), color=BOUND, linestyle=DASHED, label=r"$10\,\log T$")
    panel.plot(data.lengths, data.excess, color=THEORY, linewidth=1.1, label="gradient flow")
    limit = float(data.limit) * data.trained_tokens
    value, low, high = data.estimate.T - limit
    panel.errorbar(data.trained_tokens, value, (value - low, high - value), linestyle="", marker="o", markersize=2.6,
                   color=TRAINED, markerfacecolor="white", elinewidth=0.8, capsize=1.5, label="trained")  # fmt: skip
    panel.set(xscale="log", yscale="log", xlim=(12, 1.3e5), ylim=(12, 150), xlabel="tokens in the sentence, $T$")
    panel.set_ylabel("$t-s^*T$ for the time $t$ to loss 0.1")
    panel.set_yticks([20, 50, 100], ["20", "50", "100"])
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_title("(b) the time beyond its limit $s^*T$")
    panel.legend(loc="upper left")


def _ratio(panel: Axes, data) -> None:
    panel.axhline(0, color=THEORY, linewidth=1.1, label="gradient flow")
    _points(panel, data.trained_tokens, data.estimate / data.flow_times[:, None], "o", "trained, from (0.5, 0.5)")
    for marker, aside, other in zip(("s", "^"), (0.85, 1.18), data.others, strict=True):
        start = f"from ({1 - other[1]:g}, {other[2]:g}), $T={other[0]:g}$"
        _points(panel, other[:1] * aside, other[None, 3:], marker, start)
    panel.set(xscale="log", xlim=(12, 1400), ylim=(-0.8, 1.35), xlabel="tokens in the sentence, $T$")
    panel.set_ylabel("trained less flow, % of the time")
    panel.set_xticks([16, 64, 256, 1024], ["16", "64", "256", "1024"])
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_title("(c) trained less flow (95 % together)")
    panel.legend(loc="upper left")


def _points(panel: Axes, place, ratio, marker: str, label: str) -> None:
    value, low, high = 100 * (ratio.T - 1)
    panel.errorbar(place, value, (value - low, high - value), linestyle="", marker=marker, markersize=2.8, capsize=1.5,
                   color=TRAINED, markerfacecolor="white", elinewidth=0.8, label=label)  # fmt: skip


def draw_width(data) -> Figure:
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(7.0, 2.75))
        axes = figure.subplots(1, 2)
        figure.subplots_adjust(left=0.06, right=0.985, top=0.91, bottom=0.15, wspace=0.2)
        _band(axes[0], data)
        _deviations(axes[1], data)
        return figure


def _band(panel: Axes, data) -> None:
    low, high = data.mean - 2 * data.deviation, data.mean + 2 * data.deviation
    panel.fill_between(data.times, low, high, color=THEORY, alpha=0.18, linewidth=0, label=r"predicted mean $\pm2$ sd")
    panel.plot(data.times, data.loss, color=BOUND, linestyle=DASHED, label=r"$d=\infty$")
    panel.plot(data.times, data.mean, color=THEORY, linewidth=1.1, label="predicted mean, $d=64$")
    mean, error, below, above = data.samples.T
    panel.errorbar(data.sample_times, mean, 3 * error, linestyle="", marker="o", markersize=2.6, color=TRAINED,
                   markerfacecolor="white", elinewidth=0.8, label="sampled mean")  # fmt: skip
    for index, edge in enumerate((below, above)):
        panel.plot(data.sample_times, edge, linestyle="", marker="_", markersize=5, color=TRAINED,
                   label="sampled mean $\\pm2$ sd" if index == 0 else None)  # fmt: skip
    panel.set(xlim=(0, data.times[-1]), xlabel="time along the flow, $t$", ylabel="loss of one sentence, nats")
    panel.set_title("(a) fresh embeddings of width 64, scalars on the flow ($T=12$)")
    panel.legend(loc="lower left")


def _deviations(panel: Axes, data) -> None:
    span = np.array([data.widths[0] / 1.3, data.widths[-1] * 1.3])
    rows = (
        (data.spread, -0.5, TRAINED, "o", "one frozen table (rms)"),
        (data.shift, -1.0, SHIFT, "s", r"mean over tables ($d\geq64$)"),
    )
    for (values, slope, color, marker, label), size, found in zip(rows, data.predicted, data.exponents, strict=True):
        value, low, high = np.abs(values.T)
        low, high = np.minimum(low, high), np.maximum(low, high)
        panel.plot(span, size * span**slope, color=color, linewidth=0.9,
                   label=rf"predicted, $d^{{{'-1/2' if slope == -0.5 else '-1'}}}$")  # fmt: skip
        half = (found[2] - found[1]) / 2
        panel.errorbar(data.widths, value, (value - low, high - value), linestyle="", marker=marker, markersize=3,
                       color=color, markerfacecolor="white", elinewidth=0.8, capsize=1.5,
                       label=rf"{label}: $d^{{{found[0]:.3f}\pm{half:.3f}}}$")  # fmt: skip
    panel.set(xscale="log", yscale="log", xlim=tuple(span), xlabel="width of the embeddings, $d$")
    panel.set_ylabel("trained scalars less flow, $|\\Delta(\\alpha,\\beta)|$")
    panel.set_xticks(data.widths, [str(width) for width in data.widths])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_title("(b) 128 trained models a width, $t=6$")
    panel.legend(loc="lower left")
