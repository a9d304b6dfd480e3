"""Panels of the landscape figure, one for each row and number of tokens, and what their lines mean."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..palette import DASHED, styled
from .landscape_plot import OPTIONS, SHAPES, SYMBOLS, descent_of, digits_of, explain, landscape_plot, levels_of, spacing
from .streamlines import Streamlines, streamlines

NAMES = {"exact": "Exact loss", "equation": "Eq. 10 as printed", "listing": "Listing once it runs"}
_COLUMN, _WIDE, _TWO_COLUMNS = 3.3, 5.5, 7.0  # inches
_ACROSS = 3  # panels side by side


class _Space(NamedTuple):
    """Inches about and between the panels."""

    width: float
    left: float
    right: float
    bottom: float
    top: float
    across: float
    between: float


@styled
def draw_panels(data, cells: int | None = None) -> Figure:
    """One panel for each (row, T) of the data; `cells` a side, each crossed by one streamline (default: by columns)."""
    shape = len(data.fields[0].rows), len(data.fields)
    table = min(shape) > 1  # rows by columns; else one list, a few panels a line
    places = list(np.ndindex(shape))
    columns = shape[1] if table else min(len(places), _ACROSS)
    figure, panels = _layout(data, len(places), columns, table)
    flows = _flows(data, places, cells or min(24, 42 // columns))
    drawn: dict[str, list] = {}
    for panel, (row, column) in zip(panels, places, strict=True):
        field = data.fields[column]
        if (row, column) in flows:
            for layer, artists in _panel(panel, data, row, column, flows[row, column]).items():
                drawn[layer] = drawn.get(layer, []) + artists
        else:
            explain(panel, field, row)
        panel.set_title(_title(data, row, column, table))
        if not table or column == 0:
            name = _row_name(field.rows[row]) + "\n" if table else ""
            panel.set_ylabel(name + SYMBOLS[field.plane.axes[1]], linespacing=1.1)
        if not table or row == shape[0] - 1:
            panel.set_xlabel(SYMBOLS[field.plane.axes[0]])
    if data.title:
        figure.suptitle(data.title, y=1 - 0.06 / figure.get_figheight(), va="top")
    _keys(figure, drawn)
    return figure


def _row_name(row: str) -> str:
    return NAMES[row] if row == "exact" else NAMES[row] + ",\n$O(T)=T-4$"


def _flows(data, places: list[tuple[int, int]], cells: int) -> dict[tuple[int, int], Streamlines]:
    """The streamlines of all panels that have values, traced at once."""
    seen = [(row, column) for row, column in places if not data.fields[column].absent[row]]
    down = zip(*(descent_of(data.fields[column], row) for row, column in seen), strict=True)
    return dict(zip(seen, streamlines(*map(np.array, down), cells=cells, seed=data.seed), strict=True))


def _layout(data, count: int, columns: int, table: bool) -> tuple[Figure, list[Axes]]:
    """Square panels of equal size, by inches, so that no text is ever scaled."""
    lines = -(-count // columns)
    extra = sum(map(bool, data.layers.values())) + (0 if data.proved is None else 4)
    narrow = count == 1 and data.angle is None
    keys = (0.9 if data.angle is not None else 0.5) + 0.13 * (-(-(3 + extra) // (2 if narrow else 3)) - 1)
    head = 0.2 * bool(data.title)
    if table:
        space = _Space(_WIDE, 0.68, 0.08, keys, 0.32 + head, 0.14, 0.34)
    else:
        titles = 0.32 + 0.12 * (data.angle is not None)
        space = _Space(_COLUMN if count == 1 else _TWO_COLUMNS, 0.42, 0.1, keys, titles + head, 0.42, titles + 0.34)
    side = (space.width - space.left - space.right - space.across * (columns - 1)) / columns
    if count == 1:  # the figure is a square
        side = min(side, space.width - space.bottom - space.top)
        margin = (space.width - side) / 2
        space = space._replace(left=max(space.left, margin), right=space.width - side - max(space.left, margin))
    height = space.bottom + space.top + lines * side + (lines - 1) * space.between
    figure = Figure(figsize=(space.width, height))
    axes = figure.subplots(lines, columns, sharex=table, sharey=table, squeeze=False)
    figure.subplots_adjust(
        space.left / space.width,
        space.bottom / height,
        1 - space.right / space.width,
        1 - space.top / height,
        space.across / side,
        space.between / side,
    )
    for unused in axes.flat[count:]:
        unused.remove()
    return figure, list(axes.flat[:count])


def _panel(panel: Axes, data, row: int, column: int, flow: Streamlines) -> dict[str, list]:
    """Draw one field; return its artists by layer."""
    layers = dict(data.layers)
    if data.angle is not None:  # the exact field has none to itself
        exact = data.fields[column].rows[row] == "exact"
        layers["angle"] = {"degrees": None if exact else data.angle[row, column]}
    if data.proved is not None and data.fields[column].rows[row] == "exact":
        layers["critical"] = layers["separatrices"] = {"proved": data.proved[column]}
    return landscape_plot(data.fields[column], row, ax=panel, descent={"streams": flow}, **layers)


def _title(data, row: int, column: int, table: bool) -> str:
    """What stands above, and the levels of the contours in nats: the lowest, the highest, the step."""
    field = data.fields[column]
    name = "" if table else NAMES[field.rows[row]] + ", "
    lines = [f"{name}$T={field.n_tokens:.0f}$"] if row == 0 or not table else []
    if field.absent[row]:
        return "\n".join(lines)
    if data.angle is not None and (row > 0 if table else field.rows[row] != "exact"):
        angle = data.angle[row, column]
        lines.append(f"mean {angle.mean():.0f}°, max {angle.max():.0f}°")
    loss = field.loss[row]
    levels = levels_of(loss)
    if not len(levels):
        return "\n".join([*lines, f"{loss.mean():.6g} everywhere"])
    digits = digits_of(loss)
    return "\n".join([*lines, f"{levels[0]:.{digits}f} to {levels[-1]:.{digits}f} by {spacing(loss):g}"])


def _keys(figure: Figure, drawn: dict[str, list]) -> None:
    width, height = figure.get_size_inches()
    if "angle" in drawn:
        place = figure.add_axes((0.3, 0.47 / height, 0.5, 0.06 / height))
        bar = figure.colorbar(drawn["angle"][-1], cax=place, orientation="horizontal")
        bar.set_ticks([0, 45, 90, 135, 180])
        bar.set_label("angle to the exact descent, in degrees (mean and max: panel titles)")
    narrow = width == _COLUMN
    handles = _handles(drawn, "" if narrow else " (range and step: titles)")
    figure.legend(handles=handles, loc="lower center", ncols=2 if narrow else 3, borderaxespad=0.1)


def _ideal(drawn: dict[str, list]) -> str:
    """The induction head with its coordinates."""
    places = [f"({x:g}, {y:g})" for artist in drawn.get("ideal", [])[:1] for x, y in artist.get_xydata()]
    return " ".join(["induction head", *places])


def _handles(drawn: dict[str, list], where: str) -> list[Line2D]:
    """A line of the legend for each layer that has artists."""
    keys = []
    for layer, label, look in (
        ("descent", "gradient descent", {"linewidth": 0.7, "marker": ">", "markersize": 3.4}),
        ("contours", "contour of the loss in nats" + where, {"linewidth": 0.4}),
        ("ideal", _ideal(drawn), {"linewidth": 0, "marker": "o", "markersize": 4}),
        ("flow", "flow of all four, projected", {"linewidth": 0.8, "linestyle": DASHED}),
        ("points", "points given", {"linewidth": 0, "marker": "P", "markersize": 4}),
        ("separatrices", "separatrix of the descent", {"linewidth": 1.0}),
    ):
        if drawn.get(layer):
            keys.append(Line2D([], [], color=OPTIONS[layer]["color"], label=label, **look))
    markers = {artist.get_marker() for artist in drawn.get("critical", [])}
    for kind, marker in SHAPES.items():
        if marker in markers:
            color = OPTIONS["critical"]["color"]
            keys.append(Line2D([], [], color=color, linewidth=0, marker=marker, markersize=4, label=f"{kind}, proved"))
    return keys
