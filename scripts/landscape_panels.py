"""Panels of the landscape figure: contour lines, streamlines with arrows, the angle to the exact field as colour."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from .figure_files import STYLE
from .palette import BLACK, RIGHT, WORDS
from .streamlines import Streamlines, streamlines

# A single-hue ramp that starts at white, under blue lines: told apart in lightness alone.
_SHADES, _FLOW, _LEVEL, _HEAD = "Oranges", RIGHT, WORDS, BLACK
_WIDTH = 5.5  # inches, a column and a half
_LINES = 8  # contour lines a panel, about
_LABELLED = (0.25, 0.72), (0.8, 0.62), (0.22, 0.2)  # near which places a contour has its level


def draw_panels(data, rows: tuple[str, ...], cells: int | None = None) -> Figure:
    """One panel for each (row, T) of the data; `cells` a side, each crossed by one streamline (default: by columns)."""
    with matplotlib.rc_context(fname=STYLE):
        return _figure(data, rows, cells or min(24, 42 // len(data.tokens)))


def _figure(data, rows: tuple[str, ...], cells: int) -> Figure:
    figure, axes = _layout(len(rows), len(data.tokens))
    size = data.loss.shape[-1]
    down = [-field.reshape(-1, size, size) for field in (data.d_alpha1, data.d_beta1)]
    flows = iter(streamlines(*down, cells=cells, seed=int(data.seed)))
    for row, name in enumerate(rows):
        for column, tokens in enumerate(data.tokens):
            shade = _panel(axes[row, column], data, row, column, next(flows))
            axes[row, column].set_title(_title(data, row, column, tokens))
        axes[row, 0].set_ylabel(name + "\n" + r"$\beta_1$", linespacing=1.1)
    for panel in axes[-1]:
        panel.set_xlabel(r"$\alpha_1$")
    _keys(figure, shade)
    return figure


def _layout(rows: int, columns: int) -> tuple[Figure, np.ndarray]:
    """Square panels of equal size, by inches, so that no text is ever scaled."""
    left, right, bottom, top, across, between = 0.68, 0.08, 0.9, 0.32, 0.14, 0.34
    side = (_WIDTH - left - right - across * (columns - 1)) / columns
    height = bottom + top + rows * side + (rows - 1) * between
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left / _WIDTH, bottom / height, 1 - right / _WIDTH, 1 - top / height, across / side, between / side
    )
    return figure, axes


def _keys(figure: Figure, shade: AxesImage) -> None:
    height = figure.get_figheight()
    place = figure.add_axes((0.3, 0.47 / height, 0.5, 0.06 / height))
    bar = figure.colorbar(shade, cax=place, orientation="horizontal")
    bar.set_ticks([0, 45, 90, 135, 180])
    bar.set_label("angle to the exact descent, in degrees (mean and max: panel titles)")
    keys = [
        Line2D([], [], color=_FLOW, linewidth=0.7, marker=">", markersize=3.4, label="gradient descent"),
        Line2D([], [], color=_LEVEL, linewidth=0.4, label="contour of the loss in nats (range and step: titles)"),
        Line2D([], [], color=_HEAD, linewidth=0, marker="o", markersize=4, label="induction head (0, 1)"),
    ]
    figure.legend(handles=keys, loc="lower center", ncols=3, borderaxespad=0.1)


def _title(data, row: int, column: int, tokens: int) -> str:
    """What stands above, and the levels of the contours in nats: the lowest, the highest, the step."""
    loss, angle = data.loss[row, column], data.angle[row, column]
    step, levels = _spacing(loss), _levels(loss)
    first = f"$T={tokens}$" if row == 0 else f"mean {angle.mean():.0f}°, max {angle.max():.0f}°"
    digits = max(0, -int(np.floor(np.log10(step))))
    return f"{first}\n{levels[0]:.{digits}f} to {levels[-1]:.{digits}f} by {step:g}"


def _panel(panel: Axes, data, row: int, column: int, flow: Streamlines) -> AxesImage:
    loss = data.loss[row, column]
    angle = data.angle[row, column].T if row else np.full_like(loss, np.nan)  # the exact field has none to itself
    shade = panel.imshow(angle, extent=(0, 1, 0, 1), origin="lower", cmap=_SHADES, vmin=0, vmax=180, aspect="equal")
    lines = panel.contour(data.alpha1, data.beta1, loss.T, levels=_levels(loss), colors=_LEVEL, linewidths=0.4)
    panel.add_collection(LineCollection(flow.lines, colors=_FLOW, linewidths=0.6), autolim=False)
    inches = panel.get_position().width * _WIDTH
    panel.add_collection(PolyCollection(_arrows(flow, 0.05 / inches), facecolors=_FLOW, linewidths=0), autolim=False)
    panel.plot([0], [1], marker="o", markersize=4, color=_HEAD, clip_on=False, zorder=5)
    panel.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    panel.set_xticklabels(("0", "½", "1"))
    panel.set_yticklabels(("0", "½", "1"))
    _label(panel, lines, loss)
    return shade


def _label(panel: Axes, lines: QuadContourSet, loss: np.ndarray) -> None:
    """Levels of the contours nearest to `_LABELLED`, over the streamlines."""
    digits = max(0, -int(np.floor(np.log10(_spacing(loss)))))
    for text in panel.clabel(lines, fmt=f"%.{digits}f", inline=False, manual=_LABELLED, zorder=6):
        text.set_path_effects([withStroke(linewidth=1.6, foreground="white")])


def _spacing(loss: np.ndarray) -> float:
    """1, 2 or 5 times a power of ten that gives about `_LINES` levels in the range of the loss."""
    raw = np.ptp(loss) / _LINES
    power = 10.0 ** np.floor(np.log10(raw))
    return float(power * min((1, 2, 5, 10), key=lambda nice: abs(np.log(nice * power / raw))))


def _levels(loss: np.ndarray) -> np.ndarray:
    step = _spacing(loss)
    return step * np.arange(np.ceil(loss.min() / step), np.floor(loss.max() / step) + 1)


def _arrows(flow: Streamlines, length: float) -> np.ndarray:
    """Triangles (line, 3, 2) about the middle of each line, pointing downstream."""
    ahead, side = flow.directions * length / 2, flow.directions[:, ::-1] * (-0.4 * length, 0.4 * length)
    return np.stack([flow.middles + ahead, flow.middles - ahead + side, flow.middles - ahead - side], axis=1)
