"""Draws a field of `landscape.field` in layers, each switched by a bool or a dict of its options."""

import textwrap
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from theory.landscape.planes import NAMES, Field

from ..figure_files import STYLE
from ..palette import BLACK, DASHED, GREEN, PINK, RIGHT, WORDS
from .streamlines import Streamlines, streamlines

IDEAL = np.array([0.0, 1.0, 1.0, 0.0])  # the paper's induction head
SYMBOLS = dict(zip(NAMES, (r"$\alpha_1$", r"$\alpha_2$", r"$\beta_1$", r"$\beta_2$"), strict=True))
SHAPES = {"minimum": "o", "saddle": "X", "maximum": "^"}  # of certified critical points
OPTIONS: dict[str, dict[str, Any]] = {
    "angle": {"degrees": None, "cmap": "Oranges"},  # one hue from white, told from blue lines in lightness alone
    "contours": {"levels": None, "color": WORDS, "linewidth": 0.4},
    "descent": {"cells": 20, "seed": 0, "streams": None, "color": RIGHT, "linewidth": 0.6},
    "ideal": {"color": BLACK, "size": 4},
    "flow": {"starts": None, "t_end": 1e4, "color": PINK, "linewidth": 0.8},
    "points": {"theta": None, "color": BLACK, "marker": "P", "size": 4},
    "separatrices": {"proved": None, "color": BLACK, "linewidth": 1.0},
    "critical": {"proved": None, "color": GREEN, "size": 4.5},
    "labels": {"near": ((0.25, 0.72), (0.8, 0.62), (0.22, 0.2))},  # shares of the box near which a level is written
}
_LINES = 8  # contour lines a panel, about
_OFF = 0.01  # a path this far from the plane is dashed
_CONSTANT = 1e-13  # of the loss: a range that rounding may be


def landscape_plot(
    field: Field,
    row: int = 0,
    *,
    ax: Axes | None = None,
    angle: bool | Mapping[str, Any] = False,
    contours: bool | Mapping[str, Any] = True,
    descent: bool | Mapping[str, Any] = True,
    ideal: bool | Mapping[str, Any] = True,
    flow: bool | Mapping[str, Any] = False,
    points: bool | Mapping[str, Any] = False,
    separatrices: bool | Mapping[str, Any] = False,
    critical: bool | Mapping[str, Any] = False,
    labels: bool | Mapping[str, Any] = True,
) -> dict[str, list[Artist]]:
    """Draw one row of a field on `ax`, or on a new figure of 3.3 by 3.3 inches; return the artists by layer.

    Each layer is False, True or a dict of options (`OPTIONS` has the defaults). angle: shade by `degrees` (n, n).
    contours: levels of the loss; labels: their values. descent: streamlines of steepest descent within the plane, in
    its two coordinates. ideal: the induction head (0, 1; 1, 0) where it lies on the plane. flow: gradient flow of all
    four parameters from `starts`, (k, 4) or (k, 2) on the plane, projected; dashed where it is off the plane. points:
    `theta`, of the same shapes. critical: the critical points of the loss on the plane that interval arithmetic proves.
    separatrices: the lines of descent that end in its proved saddles. The last two are of the exact loss.
    Raises ValueError for an unknown option, a row without values, and starts or points of another shape.
    """
    asked = {
        "angle": angle,
        "contours": contours,
        "descent": descent,
        "ideal": ideal,
        "flow": flow,
        "points": points,
        "separatrices": separatrices,
        "critical": critical,
        "labels": labels,
    }
    chosen = {name: _options(name, value) for name, value in asked.items() if value is not False}
    if field.absent[row]:
        raise ValueError(f"the row {field.rows[row]} has no values: {field.absent[row]}")
    if ax is None:
        with rc_context(fname=STYLE):
            panel = Figure(figsize=(3.3, 3.3)).add_axes((0.13, 0.12, 0.84, 0.84))
            panel.set(xlabel=SYMBOLS[field.plane.axes[0]], ylabel=SYMBOLS[field.plane.axes[1]])
            return _drawn(panel, field, row, chosen)
    return _drawn(ax, field, row, chosen)


def _drawn(panel: Axes, field: Field, row: int, chosen: dict[str, dict[str, Any]]) -> dict[str, list[Artist]]:
    proofs = [chosen[name] for name in ("separatrices", "critical") if name in chosen]
    if any(options["proved"] is None for options in proofs):
        from proofs_check.kv.landscape.plane_points import critical_points

        points = critical_points(field.plane, field.n_tokens, field.position, box(field))
        for options in proofs:
            options["proved"] = points if options["proved"] is None else options["proved"]
    found = {name: draw(panel, field, row, **chosen[name]) for name, draw in _LAYERS.items() if name in chosen}
    _frame(panel, field)
    if "labels" in chosen and found.get("contours"):
        found["labels"] = _labels(panel, field, row, found["contours"][0], **chosen["labels"])
    return found


def _options(name: str, value: bool | Mapping[str, Any]) -> dict[str, Any]:
    given = {} if value is True else dict(value)
    if unknown := sorted(set(given) - set(OPTIONS[name])):
        raise ValueError(f"{name} has no option {unknown[0]!r}: it takes {', '.join(OPTIONS[name])}")
    return OPTIONS[name] | given


def box(field: Field) -> tuple[float, float, float, float]:
    """The ends of both axes."""
    return field.first[0], field.first[-1], field.second[0], field.second[-1]


def descent_of(field: Field, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Minus the slopes, in units of the box's sides."""
    left, right, low, high = box(field)
    return -field.d_first[row] / (right - left), -field.d_second[row] / (high - low)


def spacing(loss: np.ndarray) -> float:
    """1, 2 or 5 times a power of ten that gives about `_LINES` levels in the range of the loss."""
    raw = np.ptp(loss) / _LINES
    power = 10.0 ** np.floor(np.log10(raw))
    return float(power * min((1, 2, 5, 10), key=lambda nice: abs(np.log(nice * power / raw))))


def levels_of(loss: np.ndarray) -> np.ndarray:
    """The multiples of `spacing` in the range of the loss; none of a loss that is constant up to rounding."""
    if np.ptp(loss) <= _CONSTANT * np.abs(loss).max():
        return np.empty(0)
    step = spacing(loss)
    return step * np.arange(np.ceil(loss.min() / step), np.floor(loss.max() / step) + 1)


def digits_of(loss: np.ndarray) -> int:
    """Digits after the point that tell the levels apart."""
    return max(0, -int(np.floor(np.log10(spacing(loss)))))


def explain(panel: Axes, field: Field, row: int) -> None:
    """A panel without values says why."""
    _frame(panel, field)
    words = "\n".join(textwrap.wrap(field.absent[row], 24))
    panel.text(0.5, 0.5, words, transform=panel.transAxes, ha="center", va="center", color=WORDS)


def _angle(panel: Axes, field: Field, row: int, degrees: np.ndarray | None, cmap: str) -> list[Artist]:
    left, right, low, high = box(field)
    shown = np.full_like(field.loss[0], np.nan) if degrees is None else degrees
    aspect = "equal" if right - left == high - low else "auto"
    return [
        panel.imshow(
            shown.T, extent=(left, right, low, high), origin="lower", cmap=cmap, vmin=0, vmax=180, aspect=aspect
        )
    ]


def _contours(panel: Axes, field: Field, row: int, levels, color: str, linewidth: float) -> list[Artist]:
    loss = field.loss[row]
    chosen = levels_of(loss) if levels is None else levels
    if not len(chosen):
        return []
    return [panel.contour(field.first, field.second, loss.T, levels=chosen, colors=color, linewidths=linewidth)]


def _descent(
    panel: Axes, field: Field, row: int, cells: int, seed: int, streams: Streamlines | None, color: str, linewidth
) -> list[Artist]:
    if streams is None:
        x, y = descent_of(field, row)
        (streams,) = streamlines(x[None], y[None], cells, seed)
    left, right, low, high = box(field)
    corner, sides = np.array([left, low]), np.array([right - left, high - low])
    inches = panel.get_position().width * panel.get_figure().get_figwidth()
    lines = LineCollection([corner + sides * line for line in streams.lines], colors=color, linewidths=linewidth)
    heads = PolyCollection(corner + sides * _arrows(streams, 0.05 / inches), facecolors=color, linewidths=0)
    return [panel.add_collection(artist, autolim=False) for artist in (lines, heads)]


def _arrows(streams: Streamlines, length: float) -> np.ndarray:
    """Triangles (line, 3, 2) about the middle of each line, pointing downstream."""
    ahead, side = streams.directions * length / 2, streams.directions[:, ::-1] * (-0.4 * length, 0.4 * length)
    return np.stack([streams.middles + ahead, streams.middles - ahead + side, streams.middles - ahead - side], axis=1)


def _ideal(panel: Axes, field: Field, row: int, color: str, size: float) -> list[Artist]:
    left, right, low, high = box(field)
    first, second = (IDEAL[NAMES.index(name)] for name in field.plane.axes)
    if field.plane.distance(IDEAL) > 0 or not (left <= first <= right and low <= second <= high):
        return []
    return panel.plot([first], [second], marker="o", markersize=size, color=color, clip_on=False, zorder=5)


def _frame(panel: Axes, field: Field) -> None:
    left, right, low, high = box(field)
    if (left, right, low, high) == (0, 1, 0, 1):
        panel.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        panel.set_xticklabels(("0", "½", "1"))
        panel.set_yticklabels(("0", "½", "1"))
        return
    panel.set(xlim=(left, right), ylim=(low, high))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(4))


def thetas(field: Field, rows: Any, name: str) -> np.ndarray:
    """Parameters (k, 4) of points given so, or by their two coordinates on the plane."""
    try:
        given = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {type(rows).__name__}") from None
    if given.ndim != 2 or given.shape[1] not in (2, 4) or not len(given) or not np.isfinite(given).all():
        raise ValueError(f"{name} must be finite numbers of shape (k, 4) or (k, 2), got shape {given.shape}")
    if given.shape[1] == 4:
        return given
    return np.stack(np.broadcast_arrays(*field.plane.at(*given.T)), axis=-1)


def _coordinates(field: Field, theta: np.ndarray) -> np.ndarray:
    return theta[..., [NAMES.index(name) for name in field.plane.axes]]


def _flow(panel: Axes, field: Field, row: int, starts, t_end: float, color: str, linewidth: float) -> list[Artist]:
    from dynamics.flow.trajectories import Status, gradient_flow

    rows = thetas(field, starts, "starts")
    times = np.concatenate([[0.0], np.geomspace(min(1e-2, t_end / 10), t_end, 400)])
    found = gradient_flow(rows, field.n_tokens, t_end, times=times, position=field.position)
    artists: list[Artist] = []
    for number, status in enumerate(found.status):
        if status is not Status.REACHED:
            warnings.warn(f"the path from start {number + 1} is left out: {status.value}", stacklevel=2)
            continue
        path = found.theta[:, number]
        at, off = _coordinates(field, path), field.plane.distance(path) > _OFF
        dashed = off[1:] | off[:-1]
        for pieces, style in ((dashed, DASHED), (~dashed, "-")):
            ends = np.append(pieces, False) | np.insert(pieces, 0, False)
            seen = np.where(ends[:, None], at, np.nan)
            artists += panel.plot(*seen.T, color=color, linewidth=linewidth, linestyle=style, zorder=3)
        artists += panel.plot(*at[0], marker="o", markersize=2, color=color, zorder=4)
    return artists


def _points(panel: Axes, field: Field, row: int, theta, color: str, marker: str, size: float) -> list[Artist]:
    places = _coordinates(field, thetas(field, theta, "points"))
    return panel.plot(*places.T, marker=marker, markersize=size, color=color, linewidth=0, zorder=6)


def _critical(panel: Axes, field: Field, row: int, proved, color: str, size: float) -> list[Artist]:
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.5, "markersize": size, "linewidth": 0, "zorder": 7}
    return [panel.plot(*point.place, marker=SHAPES[point.kind], color=color, **edge)[0] for point in proved]


def _separatrices(panel: Axes, field: Field, row: int, proved, color: str, linewidth: float) -> list[Artist]:
    from dynamics.flow.separatrix import separatrix

    artists: list[Artist] = []
    for point in proved:
        if point.kind == "saddle":
            for path in separatrix(field.plane, field.n_tokens, field.position, point.place, box(field)):
                artists += panel.plot(*path.T, color=color, linewidth=linewidth, zorder=4)
    return artists


def _labels(panel: Axes, field: Field, row: int, lines, near) -> list[Artist]:
    """Levels of the contours nearest to some places, over the streamlines."""
    if not len(levels_of(field.loss[row])):
        return []
    left, right, low, high = box(field)
    places = [(left + (right - left) * x, low + (high - low) * y) for x, y in near]
    texts = panel.clabel(lines, fmt=f"%.{digits_of(field.loss[row])}f", inline=False, manual=places, zorder=6)
    for text in texts:
        text.set_path_effects([withStroke(linewidth=1.6, foreground="white")])
    return list(texts)


_LAYERS = {
    "angle": _angle,
    "contours": _contours,
    "descent": _descent,
    "ideal": _ideal,
    "flow": _flow,
    "points": _points,
    "separatrices": _separatrices,
    "critical": _critical,
}
