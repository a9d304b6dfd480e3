"""Panels of the trained scalar models: learning time on the scale of its limit, deviations against the width."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from ..palette import BLUE, CHAINED, DASHED, DOTTED, EXACT, MEASURED, WORDS, ordered, styled

TRAINED, THEORY, SHIFT, BOUND = MEASURED, EXACT, BLUE, WORDS
LOOKS = (("o", "-"), ("s", DASHED), ("^", CHAINED), ("", DOTTED), ("", "-"))  # of fig_learning_time.TOKENS


@styled
def draw_learning(data) -> Figure:
    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    _collapse(axes[0], data)
    _after(axes[1], data)
    _excess(axes[2], data)
    _ratio(axes[3], data)
    return figure


def _curves(panel: Axes, data, beyond: float) -> None:
    """Loss against the scaled time less `beyond`: a line a length, marks where models of that length were trained."""
    trained = dict(zip(data.trained_tokens, zip(data.trained_time, data.trained_loss, strict=True), strict=True))
    flows = zip(ordered(len(data.tokens)), data.tokens, LOOKS, data.scaled_time, data.scaled_loss, strict=True)
    for color, tokens, (marker, line), time, loss in flows:
        panel.plot(time - beyond, loss, color=color, linestyle=line, linewidth=1.2, label=f"flow, $T=${_name(tokens)}")
        if tokens in trained:
            time, loss = trained[tokens]
            panel.plot(time - beyond, loss, linestyle="", marker=marker, markersize=3, color=TRAINED, zorder=5,
                       markerfacecolor="white", markeredgewidth=0.7, label=f"trained, $T=${_name(tokens)}")  # fmt: skip
    panel.set(ylim=(0, 1.04), ylabel=r"loss, $L/\log T$")


def _name(tokens: int) -> str:
    return str(tokens) if tokens < 10_000 else f"$10^{{{np.log10(tokens):.0f}}}$"


def _collapse(panel: Axes, data) -> None:
    _curves(panel, data, 0)
    panel.set(xlim=(0, 1.6), xlabel=r"time over its limit, $t/(s^*T)$")
    panel.set_title("(a) every length learns at one scaled time")
    panel.legend(loc="lower left", handlelength=2.6)


def _after(panel: Axes, data) -> None:
    """Each curve carries its length where it has lost half."""
    _curves(panel, data, 1)
    for tokens, time, loss in zip(data.tokens, data.scaled_time, data.scaled_loss, strict=True):
        half = np.interp(-0.5, -loss, time) - 1
        plate = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        panel.text(half, 0.5, _name(tokens), ha="center", va="center", zorder=6, bbox=plate)
    panel.set(xscale="log", xlim=(1e-5, 0.6), xlabel=r"time beyond its limit over it, $t/(s^*T)-1$")
    panel.set_title("(b) the same after the limit, by $T$")


def _excess(panel: Axes, data) -> None:
    span = np.geomspace(data.lengths[0], data.lengths[-1], 50)
    panel.plot(span, 10 * np.log(span), color=BOUND, linestyle=DASHED, label=r"$10\,\log T$: flows lie below")
    panel.plot(data.lengths, data.excess, color=THEORY, linewidth=1.1, label="gradient flow")
    limit = float(data.limit) * data.trained_tokens
    _points(panel, data.trained_tokens, data.estimate.T - limit, "o", 2.6, label="trained")
    panel.set(xscale="log", yscale="log", xlim=(12, 1.3e5), ylim=(12, 150), xlabel="tokens in the sentence, $T$")
    panel.set_ylabel("$t-s^*T$ for the time $t$ to loss 0.1")
    panel.set_yticks([20, 50, 100], ["20", "50", "100"])
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_title("(c) the time beyond its limit $s^*T$")
    panel.legend(loc="upper left")


def _ratio(panel: Axes, data) -> None:
    """Lengths in order at equal steps; behind the line the other starts, each at a place of its own."""
    count = len(data.trained_tokens)
    places = np.append(np.arange(count), count + 0.6 + 1.3 * np.arange(len(data.others)))
    panel.axhline(0, color=THEORY, linewidth=1.1, label="gradient flow")
    ratio = data.estimate / data.flow_times[:, None]
    _points(panel, places[:count], 100 * (ratio.T - 1), "o", 2.8, label="trained, from (0.5, 0.5)")
    for place, marker, other in zip(places[count:], "s^", data.others, strict=True):
        start = f"({1 - other[1]:g}, {other[2]:g})"
        _points(panel, [place], 100 * (other[3:, None] - 1), marker, 2.8, label=f"trained, from {start}")
    panel.axvline(count - 0.2, ymax=0.7, color=BOUND, linewidth=0.5, linestyle=DOTTED)
    names = [*map(str, data.trained_tokens), *(f"{other[0]:g}" for other in data.others)]
    panel.set_xticks(places, [name if at % 2 == 0 or at >= count else "" for at, name in enumerate(names)])
    panel.set(xlim=(-0.6, places[-1] + 0.6), ylim=(-0.6, 1.15), xlabel="tokens in the sentence, $T$")
    panel.set_ylabel("trained less flow, % of the time")
    panel.set_title("(d) trained less flow (95 % together)")
    panel.legend(loc="upper left")


def _points(panel: Axes, place, ends, marker: str, size: float, label: str, color: str = TRAINED) -> None:
    """Values with the low and the high ends of their intervals."""
    value, low, high = ends
    panel.errorbar(place, value, (value - low, high - value), linestyle="", marker=marker, markersize=size, capsize=1.5,
                   color=color, markerfacecolor="white", elinewidth=0.8, label=label)  # fmt: skip


@styled
def draw_width(data) -> Figure:
    figure = Figure(figsize=(7.0, 2.75))
    axes = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.91, bottom=0.15, wspace=0.2)
    _moments(axes[0], data)
    _deviations(axes[1], data)
    return figure


def _moments(panel: Axes, data) -> None:
    """Mean and standard deviation of a sentence's loss: no band, as the law is skewed."""
    panel.plot(data.times, data.loss, color=BOUND, linestyle=DOTTED, label=r"$d=\infty$: mean, no deviation")
    mean, error, deviation = data.samples.T
    rows = ((data.mean, mean, 3 * error, "-", "o", "mean"),
            (data.deviation, deviation, 0 * error, DASHED, "s", "standard deviation"))  # fmt: skip
    for predicted, sampled, bar, line, marker, label in rows:
        panel.plot(data.times, predicted, color=THEORY, linestyle=line, linewidth=1.1, label=f"{label}, predicted")
        panel.errorbar(data.sample_times, sampled, bar, linestyle="", marker=marker, markersize=2.6, color=TRAINED,
                       markerfacecolor="white", elinewidth=0.8, label=f"{label}, sampled")  # fmt: skip
    panel.set(xlim=(0, data.times[-1]), ylim=(0, None), xlabel="time along the flow, $t$", ylabel="loss, nats")
    panel.set_title("(a) one sentence of $T=12$, fresh embeddings of width 64")
    panel.legend(loc="lower left", bbox_to_anchor=(0, 0.16))


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
        label = rf"{label}: $d^{{{found[0]:.3f}\pm{half:.3f}}}$"
        _points(panel, data.widths, (value, low, high), marker, 3, label, color)
    panel.set(xscale="log", yscale="log", xlim=tuple(span), xlabel="width of the embeddings, $d$")
    panel.set_ylabel("trained scalars less flow, $|\\Delta(\\alpha,\\beta)|$")
    panel.set_xticks(data.widths, [str(width) for width in data.widths])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_title("(b) 128 trained models a width, $t=6$")
    panel.legend(loc="lower left")
