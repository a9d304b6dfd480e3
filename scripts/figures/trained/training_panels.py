"""Panels of the training figure: paths on the theorem's map, losses by step, and the gap at the end by name."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter

from dynamics.heads.theorem import GAPS

from ..figure_files import STYLE
from ..palette import AID, BLACK, CHAINED, DASHED, DOTTED, GREEN, SERIES, WORDS

OFF = 1.0  # from the plane: marks are hollow beyond
ATTENDS = 0.5  # of its attention on the successor: an induction head
MARKS = 14  # of a path, at most
_LEVELS = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
_NEAR = 1.1  # a level so near to the guess gives way to it
_TICKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
_SMALLEST = 1e-3  # nats: the losses' axis is linear below
_CURVES = {
    "measured, whole vocabulary": {"linestyle": "-", "linewidth": 1.3},
    "measured, row's own tokens": {"linestyle": CHAINED, "linewidth": 0.9},
    "theorem, all heads": {"linestyle": DASHED, "linewidth": 1.3},
    "theorem, best head alone": {"linestyle": DOTTED, "linewidth": 0.8},
}


def draw_panels(data) -> Figure:
    """The figure of `fig_training.Data`."""
    with matplotlib.rc_context(fname=STYLE):
        figure = Figure(figsize=(7.0, 4.2))
        left, scale = figure.add_axes((0.062, 0.335, 0.42, 0.59)), _scale(data)
        _map(left, data, scale[0])
        _bar(figure.add_axes((0.062, 0.21, 0.42, 0.02)), data, left.collections[0], scale[0])
        for run, colour in enumerate(_colours(data, BLACK)):
            for head in np.flatnonzero(np.isfinite(data.theta[run, 0, :, 0])):
                _path(left, data, (run, head), colour, scale[1])
        _key(figure)
        _losses(figure.add_axes((0.56, 0.55, 0.425, 0.375)), data)
        _gaps(figure.add_axes((0.67, 0.09, 0.255, 0.18)), data)
        return figure


def _colours(data, alone: str) -> list[str]:
    """A colour a run, where so many can be told apart; else the one given."""
    several = 1 < len(data.names) <= len(SERIES)
    return [one.color for one in SERIES[: len(data.names)]] if several else [alone] * len(data.names)


def _scale(data):
    """The levels of the map, that of a guess among them, and the colour of a loss."""
    guess, most = float(data.guess), max(data.map.max(), np.nanmax(data.own))
    apart = [level for level in _LEVELS if level < most and max(level / guess, guess / level) > _NEAR]
    levels = sorted([*apart, guess])
    colours = matplotlib.colormaps["viridis_r"].resampled(len(levels) + 1)
    norm = BoundaryNorm(levels, colours.N, extend="both")
    return (levels, {"cmap": colours, "norm": norm}), lambda loss: colours(norm(loss))


def _map(panel: Axes, data, scale) -> None:
    levels, colours = scale
    panel.contourf(data.key, data.value, data.map.T, levels=levels, extend="both", **colours)
    panel.contour(data.key, data.value, data.map.T, levels=[data.guess], colors=BLACK, linewidths=0.6, linestyles="--")
    panel.add_patch(Rectangle((0, 0), 1, 1, fill=False, edgecolor=BLACK, linewidth=0.6))
    panel.set(xscale="symlog", yscale="symlog", xlim=data.key[[0, -1]], ylim=data.value[[0, -1]])
    ticks = [*(-tick for tick in reversed(_TICKS)), 0, *_TICKS]
    for axis, ends in ((panel.xaxis, data.key[[0, -1]]), (panel.yaxis, data.value[[0, -1]])):
        axis.set_ticks([tick for tick in ticks if ends[0] <= tick <= ends[1]])
        axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}".replace("-", "\N{MINUS SIGN}")))
    panel.minorticks_off()
    panel.set_xlabel(r"key gain $\times\ \alpha_2$ (attends to the successor)")
    panel.set_ylabel(r"value gain $\times\ \beta_1$ (raises what it attends to)", labelpad=0)
    panel.set_title(rf"(a) the loss of Theorem 3.4, $T={data.tokens}$, $\alpha_1=\beta_2=0$" + f"\n{_farthest(data)}")


def _farthest(data) -> str:
    """The largest distance from the plane at the end, in words."""
    ends = [data.distance[run, np.isfinite(steps).sum() - 1] for run, steps in enumerate(data.steps)]
    run, head = np.unravel_index(np.nanargmax(ends), np.shape(ends))
    whose = f"head {head}" + f" of {data.names[run]}" * (len(data.names) > 1)
    return f"farthest from this plane at the end: {whose}, by {ends[run][head]:.2g}"


def _bar(place: Axes, data, filled, scale) -> None:
    bar = place.figure.colorbar(filled, cax=place, orientation="horizontal")
    levels = [level for level in scale[0] if level != data.guess]
    bar.set_ticks(levels, labels=[f"{level:g}" for level in levels])
    bar.set_label("loss, nats: of the plane; in a mark, of that head at all four coordinates")
    above = place.get_xaxis_transform()
    place.plot([data.guess] * 2, [0, 1.4], color=BLACK, linestyle="--", linewidth=0.8, transform=above, clip_on=False)
    place.text(data.guess, 1.5, rf"guess, $\log T={data.guess:.2f}$", transform=above, ha="center", va="bottom")


def _path(panel: Axes, data, place: tuple[int, int], colour: str, shown) -> None:
    """One head's line, marks on it, and its end: a star for an induction head."""
    run, head = place
    attends = data.successor[place] > ATTENDS
    width = 1.3 if attends else 0.6
    (_, x, y, _), count = data.theta[run, :, head].T, np.isfinite(data.steps[run]).sum()
    panel.plot(x, y, color=colour, linewidth=width, path_effects=[withStroke(linewidth=width + 1, foreground="white")])
    for at in np.unique(np.linspace(0, count - 1, MARKS).round().astype(int)):
        marker, size = ("o", 3.5) if at < count - 1 else ("*", 8.5) if attends else ("s", 4.5)
        fill = shown(data.own[run, at, head])
        edge, face, width = (fill, "white", 1.3) if data.distance[run, at, head] > OFF else (BLACK, fill, 0.4)
        panel.plot(x[at], y[at], marker, markersize=size, mfc=face, mec=edge, mew=width, zorder=3 + (at == count - 1))


def _key(figure: Figure) -> None:
    marks = (
        ("o", f"within {OFF:g} of the plane", {"mfc": AID, "mec": BLACK, "mew": 0.4}),
        ("o", f"hollow: further than {OFF:g} from it", {"mfc": "white", "mec": AID, "mew": 1.3}),
        ("*", f"end, successor gets over {ATTENDS:g}", {"mfc": AID, "mec": BLACK, "mew": 0.4, "ms": 7, "lw": 1.3}),
        ("s", "end of another head", {"mfc": AID, "mec": BLACK, "mew": 0.4, "ms": 4, "lw": 0.6}),
    )
    handles = [Line2D([], [], **{"color": BLACK, "lw": 0, "ms": 3.5, "marker": m, "label": l} | look) for m, l, look in marks]
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.05, 0.125), ncols=2)


def _losses(panel: Axes, data) -> None:
    found = data.losses[..., 0], data.losses[..., 1], data.predicted, data.best
    hues = [_colours(data, one) for one in (GREEN, GREEN, BLACK, BLACK)]
    for look, values, colours in zip(_CURVES.values(), found, hues, strict=True):
        for steps, one, colour in zip(data.steps, values, colours, strict=True):
            panel.plot(steps, one, color=colour, **look)
    panel.axhline(data.blind, color=AID, linewidth=0.6, zorder=0)
    panel.text(1, data.blind, "guess ", color=WORDS, transform=panel.get_yaxis_transform(), ha="right", va="bottom")
    least = min(np.nanmin(one) for one in found)
    panel.set_yscale("symlog", linthresh=_SMALLEST, linscale=0.5)
    panel.set(xlim=(0, np.nanmax(data.steps)), xlabel="training step", ylabel="loss, nats")
    panel.set_ylim(bottom=least / 2 if least > 2 * _SMALLEST else -_SMALLEST / 10)
    panel.yaxis.set_major_formatter(FuncFormatter(lambda loss, _: f"{loss:g}"))
    panel.set_title("\n".join(["(b) measured and predicted loss", *_words(data)]))
    alone = len(set(hues[0])) == 1
    handles = [Line2D([], [], color=hue[0] if alone else WORDS, label=name, **look)
               for hue, (name, look) in zip(hues, _CURVES.items(), strict=True)]  # fmt: skip
    if not alone:
        handles += [Line2D([], [], color=hue, label=" ".join(filter(None, one)))
                    for hue, one in zip(hues[0], zip(data.names, data.state, strict=True), strict=True)]  # fmt: skip
    panel.legend(handles=handles, loc="upper left", bbox_to_anchor=(-0.1, -0.17), ncols=2)


def _words(data) -> list[str]:
    """How many runs, where they stand if they are not finished, and what the theorem leaves out."""
    count, going = len(data.names), [one for one in data.state if one]
    said = [f"{count} {data.kind}"] * (count > 1)
    said += going if count == 1 else [f"{len(going)} not finished"] * bool(going)
    said += [f"outside the theorem: {one}" for one in sorted(set(data.outside) - {""})]
    return ["; ".join(said)]


def _gaps(panel: Axes, data) -> None:
    count, rows = len(data.names), np.arange(len(GAPS))
    for number, (gaps, colour) in enumerate(zip(data.gaps, _colours(data, GREEN), strict=True)):
        panel.barh(rows + 0.8 * ((number + 0.5) / count - 0.5), gaps, 0.8 / count, color=colour)
    panel.axvline(0, color=BLACK, linewidth=0.5)
    panel.set_yticks(rows, GAPS)
    panel.locator_params(axis="x", nbins=4)
    panel.set(ylim=(len(GAPS) - 0.5, -0.5), xlabel="adds to the loss, nats")
    for row, gap in zip(rows, data.gaps.mean(0), strict=True):
        panel.text(1.02, row, f"{gap:+.3f}", transform=panel.get_yaxis_transform(), va="center")
    panel.set_title("(c) from the predicted to the measured loss at the end" + ": means" * (count > 1))
